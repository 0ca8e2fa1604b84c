"""Candidates for repurposing: those that a verified quote names, and the fields of them that are supported.

- A candidate stays only with a verified quote from an item that names it.
- Fields passed the gate when they were written. Here, like quotes, they are looked up in the items that the
  candidate cites and that still stand; where none is left, the field falls, and the report states it.
- What speaks for a candidate decides the grade of its evidence; quotes of labels, approvals and registrations
  count for nothing there.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import cast, get_args

from activities.candidates import reading
from activities.candidates.fields import CODES, FIELDS, STOPPED_TRIALS
from activities.candidates.passages import Passages
from activities.contracts.candidates import PART as CANDIDATES
from activities.contracts.candidates import (
    Candidate,
    CandidateField,
    CandidateFieldName,
    CandidateFindings,
    FieldEntry,
)
from activities.contracts.errors import StoreError
from activities.contracts.evidence import Evidence, Grade, Statement, Support
from activities.contracts.publish import PublishInput
from activities.evidence_store import EvidenceStore
from activities.logs import log
from activities.messages import N_, _
from activities.report.claims import Checks, reasons_text
from activities.report.evidence_lines import as_evidence
from activities.report.formats import candidate_words
from activities.report.formats.blocks import Chapter
from activities.report.formats.references import Quotes
from activities.report.formats.text import clean
from activities.report.independence import studies
from activities.report.parts import ReportPart
from activities.report.schema import JudgedWork, Report
from activities.report.strength import (
    TYPE_NAMES,
    WEIGHT,
    best_grade,
    design_name,
    is_in_people,
    kind_of,
    strength,
    weight,
)
from activities.text.entities import entities_of_kind, names_drug, resolve
from activities.text.normal_form import normalise

Said = Mapping[str, tuple[Evidence, str]]
"""A field's name, or an indication, -> the item and the passage in which it is said."""
_SIDES = ("support", "against", "records", "safety")
_FIELDS = ("target", "pathway", "mechanism", "proposed_mechanism", "regulatory_status", "trial_status")


class CandidatesReport(ReportPart):
    """Shows the candidates that a verified quote names, with a page of each."""

    async def read_stored(
        self, store: EvidenceStore, step: PublishInput, *, patient: bool
    ) -> tuple[Mapping[str, CandidateFindings], Iterable[Statement]]:
        findings: dict[str, CandidateFindings] = {}
        notes: list[Statement] = []
        for candidate in CANDIDATES.of_input(step):
            if not candidate.looked_up:
                continue
            try:
                data = await store.get_bytes(candidate.looked_up)
                findings[candidate.name] = CandidateFindings.model_validate_json(data)
            except (StoreError, ValueError) as error:
                if patient and isinstance(error, StoreError):
                    raise
                log.warning("findings_unreadable", name=candidate.name, error=str(error))
                reason = N_("what was found cannot be read from the store")
                notes.append(Statement.of("candidate_not_looked_up", reason=reason, name=candidate.name))
        return findings, notes

    def cited_ids(self, step: PublishInput) -> Iterable[str]:
        return (quote.evidence_id for candidate in CANDIDATES.of_input(step) for quote in candidate.quotes)

    def without_works(self, step: PublishInput, works: Collection[str]) -> tuple[Candidate, ...]:
        def strip(candidate: Candidate) -> Candidate:
            sides = {side: getattr(candidate, side) for side in _SIDES}
            return candidate.replace(
                **{side: tuple(q for q in sides[side] if q.evidence_id not in works) for side in sides}
            )

        return tuple(map(strip, CANDIDATES.of_input(step)))

    def check(
        self, step: PublishInput, checks: Checks, judgements: Iterable[JudgedWork], data: object
    ) -> tuple[Candidate, ...]:
        findings = cast(Mapping[str, CandidateFindings], data or {})
        by_id = {work.evidence_id: work for work in judgements}
        by_model, candidates = step.written_by == "model", []
        for candidate in CANDIDATES.of_input(step):
            result = _with_checked_quotes(candidate, checks)
            if result is None:
                continue
            items, works = (
                [checks.documents[key] for key in dict.fromkeys(quote.evidence_id for quote in quotes)]
                for quotes in (result.quotes, result.support)
            )
            result = result.replace(evidence_quality=best_grade(works, by_id))
            result, empty_fields, basis = _with_checked_fields(result, items)
            if empty_fields:
                checks.statements.append(
                    Statement.of("candidate_fields_unchecked", name=result.name, fields=empty_fields)
                )
            looked_up = findings.get(candidate.name)
            result = page(result, items, basis, looked_up, step.question, by_model=by_model)
            reasons = quality(result, works, by_id) if by_model else ()
            candidates.append(result.replace(quality_reasons=reasons))
        return tuple(candidates)

    def remarks(self, report: Report, *, has_claims: bool) -> Iterable[Statement]:
        candidates = CANDIDATES.of_report(report)
        if has_claims and not candidates and report.profile == "drug_repurposing":
            yield Statement.of("no_candidate")
        if candidates and not has_claims:
            yield Statement.of("candidates_stand_alone", candidates=len(candidates))

    def quotes(self, report: Report) -> Iterable[Support]:
        return (quote for candidate in CANDIDATES.of_report(report) for quote in candidate.quotes)

    def chapters(self, report: Report, quotes: Quotes, *, with_pictures: bool) -> Iterable[Chapter]:
        yield Chapter("candidates", _("Candidates"), (*candidate_words.blocks(report, quotes),))

    def problems(
        self, report: Report, items: Mapping[str, Mapping[str, object]]
    ) -> Mapping[str, Iterable[tuple[str, ...]]]:
        return {
            "candidate": (tuple(_problems(candidate, items)) for candidate in CANDIDATES.of_report(report))
        }


def _problems(candidate: Candidate, items: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    """Name mechanism, indications and status that neither a cited item nor a record says."""
    ids = dict.fromkeys(s.evidence_id for s in candidate.quotes)
    works = [as_evidence(items[name]) for name in ids if name in items]
    for name in _with_checked_fields(candidate, works)[1] if candidate.support else ():
        yield f"candidate {candidate.name}: no item it cites says its {name.replace('_', ' ')}"


def _with_checked_quotes(candidate: Candidate, checks: Checks) -> Candidate | None:
    """Return a candidate with the quotes that stand; None where none is of an item that names it."""
    result = checks.supports(candidate.support)
    names = [normalise(n).casefold() for n in (candidate.name, candidate.generic_name) if clean(n)]
    items = {s.evidence_id: checks.documents[s.evidence_id] for s in result.support}
    texts = {key: normalise(f"{item.title} {item.text}") for key, item in items.items()}
    naming = {key for key, text in texts.items() if any(names_drug(text, drug) for drug in names)}
    support = tuple(s for s in result.support if s.evidence_id in naming)
    name = clean(candidate.name) or clean(candidate.generic_name)
    if support and name:
        sides = {side: checks.supports(getattr(candidate, side)).support for side in _SIDES[1:]}
        tests = tuple(filter(None, map(clean, candidate.search_suggestions)))
        return candidate.replace(name=name, support=support, search_suggestions=tests, **sides)
    never = [Statement.of("never_named")] if result.support else []
    codes = [*dict.fromkeys(result.refused), *never] or [Statement.of("cites_nothing")]
    name = name or "without a name"
    checks.drop(name, codes, "hypothesis", "", (s.evidence_id for s in candidate.support))
    checks.statements.append(Statement.of("candidate_left_out", name=name, reason=reasons_text(codes)))
    return None


def _with_checked_fields(
    candidate: Candidate, items: Sequence[Evidence]
) -> tuple[Candidate, tuple[str, ...], Said]:
    """Leave out fields that no item says; return also their names, and where others are said."""
    passages = Passages(items, candidate.name, candidate.generic_name)
    update: dict[str, object] = {}
    empty_fields: list[str] = []
    basis: dict[str, tuple[Evidence, str]] = {}
    for name in _FIELDS:
        text = getattr(candidate, name)
        if name == "regulatory_status" and text in CODES:
            continue  # a code follows from records, and the page is made from them again
        found_in = passages.places_of(text)
        if found_in is None:
            update[name] = ""
            empty_fields.append(name)
        elif text and found_in:
            basis[name] = found_in[0]
    places = [(text, passages.places_of(text)) for text in candidate.current_indications]
    indications = tuple(text for text, place in places if place is not None)
    if indications != candidate.current_indications:
        update["current_indications"] = indications
        empty_fields.append("current_indications")
    basis |= {text: place[0] for text, place in places if place}
    return candidate.replace(**update), tuple(empty_fields), basis


VOCABULARY = "vocabulary"
NAMES = 6
"""Other names that are shown from the vocabularies."""
_LITERATURE: Mapping[CandidateFieldName, str] = {
    "safety": "safety",
    "literature_for": "support",
    "literature_against": "against",
}
"""Fields that are quotes of cited works."""

_STATED: Mapping[CandidateFieldName, str] = {"regulatory": "regulatory_status", "trials": "trial_status"}
"""Fields that no record tells, but words of a writer that a cited work says."""


def page(
    candidate: Candidate,
    items: Sequence[Evidence],
    basis: Said,
    findings: CandidateFindings | None,
    question: str,
    *,
    by_model: bool,
) -> Candidate:
    """Fill the fields of a candidate.

    `by_model`: a model read the works for what they say of it.
    """
    by_name = {field.name: field for field in (findings.fields if findings else candidate.fields)}
    entries = _own_entries(candidate, items, basis, question)
    for name, attribute in _STATED.items():
        stated = getattr(candidate, attribute)
        looked_up = by_name[name].entries if name in by_name else ()
        if stated and stated not in CODES and attribute in basis and not (entries[name] or looked_up):
            entries[name] = [_entry(basis[attribute], stated, code="stated")]
    fields = {
        name: _field(name, by_name.get(name), entries[name], is_read=by_model and about.read)
        for name, about in FIELDS.items()
    }
    return candidate.replace(fields=tuple(fields.values()), looked_up="")


def _level(work: Evidence, judgement: JudgedWork | None) -> tuple[int, float, int]:
    """Order works by grade, weight and level of evidence, the strongest first."""
    grades, kinds = get_args(Grade), list(WEIGHT)
    return grades.index(strength(work, judgement)), -weight(work), kinds.index(kind_of(work, judgement))


def quality(
    candidate: Candidate, works: Sequence[Evidence], judgements: Mapping[str, JudgedWork]
) -> tuple[Statement, ...]:
    """State what the grade of a candidate's evidence follows from. `works`: those in its favour."""
    sound_works = [work for work in works if work.standing not in ("concern", "retracted")]
    reasons: list[Statement] = []
    if sound_works:
        best_work = min(sound_works, key=lambda work: _level(work, judgements.get(work.evidence_id)))
        design = (
            design_name(best_work, judgements.get(best_work.evidence_id))
            or TYPE_NAMES[best_work.evidence_type]
        )
        reasons.append(Statement.of("quality_best", design=design, grade=candidate.evidence_quality))
        count = len(set(studies(sound_works).values()))
        reasons.append(Statement.of("quality_studies", works=len(sound_works), studies=count))
    if works and not any(is_in_people(work, judgements.get(work.evidence_id)) for work in works):
        reasons.append(Statement.of("quality_no_people"))
    trials = next((field.entries for field in candidate.fields if field.name == "trials"), ())
    statements = (
        Statement.of("quality_concern", works=len(works) - len(sound_works)),
        Statement.of("quality_against", works=len({s.evidence_id for s in candidate.against})),
        Statement.of("quality_stopped_trials", trials=sum(e.code in STOPPED_TRIALS for e in trials)),
    )
    return (*reasons, *(statement for statement in statements if any(statement.values.values())))


def _field(
    name: CandidateFieldName,
    field: CandidateField | None,
    stated_entries: Iterable[FieldEntry],
    *,
    is_read: bool,
) -> CandidateField:
    """Put entries of cited items before those that were looked up, each once."""
    looked_up = [e for e in field.entries if not e.evidence_id and e.source != VOCABULARY] if field else []
    entries = unique_entries((*stated_entries, *looked_up))
    if name == "regulatory":
        entries = _by_authority(entries)
    if name == "trials":
        entries = sorted(entries, key=reading.trial_order)[: reading.MAX_TRIALS]
    silent_sources = field.silent if field else ()
    if entries:
        return CandidateField(
            name=name, status="found", entries=tuple(entries), silent=silent_sources, read=is_read
        )
    if name in ("literature_for", "literature_against"):
        return CandidateField(name=name, status="not_found")
    status = field.status if field and field.status != "found" else "not_looked_up"
    return CandidateField(name=name, status=status, silent=silent_sources, read=is_read)


def unique_entries(entries: Iterable[FieldEntry]) -> list[FieldEntry]:
    """Keep of entries that say the same of one record the first, with the longer text."""
    rows: list[FieldEntry] = []
    for entry in entries:
        place = next((place for place, other in enumerate(rows) if _is_same(entry, other)), None)
        if place is None:
            rows.append(entry)
            continue
        other = rows[place]
        longer = max(other, entry, key=lambda e: len(e.text))
        quote = longer.quote or other.quote or entry.quote
        rows[place] = other.replace(text=longer.text, code=other.code or entry.code, quote=quote)
    return rows


def _is_same(entry: FieldEntry, other: FieldEntry) -> bool:
    """Tell whether two entries say the same of one record, or one the beginning of the other."""
    same_record = (entry.url or entry.evidence_id) == (other.url or other.evidence_id)
    shorter, longer = sorted((entry.text.casefold(), other.text.casefold()), key=len)
    differ = entry.code and other.code and entry.code != other.code
    return same_record and not differ and bool(shorter) and longer.startswith(shorter)


def _by_authority(entries: Sequence[FieldEntry]) -> list[FieldEntry]:
    """Put the status first that says most; a label adds nothing to the application it belongs to."""
    applied = any(entry.values.get("application") for entry in entries)
    shown_entries = [entry for entry in entries if not (applied and entry.code == "labelled")]

    def rank(entry: FieldEntry) -> tuple[int, bool, str]:
        code: Sequence[str] = CODES
        place = code.index(entry.code) if entry.code in code else len(code)
        return place, entry.values.get("application", "A").startswith("A"), entry.values.get("date", "9")

    return sorted(shown_entries, key=rank)


def _own_entries(
    candidate: Candidate, items: Sequence[Evidence], basis: Said, question: str
) -> dict[CandidateFieldName, list[FieldEntry]]:
    """Collect what the vocabularies and the cited items say."""
    name = candidate.generic_name or candidate.name
    documents = {item.evidence_id: item for item in items}
    entries: dict[CandidateFieldName, list[FieldEntry]] = {key: [] for key in FIELDS}
    entity = resolve(name)
    if entity is not None and entity.kind == "drug":
        text = "; ".join((entity.name, *entity.synonyms[:NAMES]))
        entries["names"].append(FieldEntry(text=text, source=VOCABULARY))
    chain = candidate.proposed_mechanism or candidate.mechanism
    mechanism_field = "proposed_mechanism" if candidate.proposed_mechanism else "mechanism"
    stated: tuple[tuple[CandidateFieldName, str, str], ...] = (
        ("mechanism", mechanism_field, chain if candidate.mechanism or " -> " in chain else ""),
        ("targets", "target", candidate.target),
        ("pathways", "pathway", candidate.pathway),
    )
    for key, attribute, text in stated:
        if text and attribute in basis:
            entries[key].append(_entry(basis[attribute], text))
    together: dict[tuple[str, str], list[str]] = {}
    for text in candidate.current_indications:
        if text in basis:
            together.setdefault((basis[text][0].evidence_id, basis[text][1]), []).append(text)
    entries["indications"] += [_entry(basis[texts[0]], "; ".join(texts)) for texts in together.values()]
    for key, attribute in _LITERATURE.items():
        entries[key] += [
            _entry((documents[s.evidence_id], s.quote), s.quote, code="stated" if key == "safety" else "")
            for s in getattr(candidate, attribute)
            if s.evidence_id in documents
        ]
    for item in items:
        for key, rows in _of_record(item, name, question):
            entries[key] += [entry.replace(evidence_id=item.evidence_id) for entry in rows]
    return entries


def _entry(place: tuple[Evidence, str], text: str, *, code: str = "") -> FieldEntry:
    item, passage = place
    return FieldEntry(
        text=" ".join(text.split()),
        code=code,
        source=item.source,
        url=item.url,
        evidence_id=item.evidence_id,
        quote=passage if passage in item.text else "",
    )


def _of_record(
    item: Evidence, name: str, question: str
) -> list[tuple[CandidateFieldName, Sequence[FieldEntry]]]:
    """Read a label, an approval or a registration among the cited items."""
    if item.evidence_type == "trial_registration":
        return [("trials", reading.trials([item], name))]
    if item.evidence_type == "regulatory":
        return [("regulatory", list(reading.applications(reading.records_of_drug([item], name))))]
    if item.evidence_type == "drug_label" and reading.records_of_drug([item], name):
        diseases = frozenset(entity.id for entity in entities_of_kind(question, ("disease",)))
        return [
            ("mechanism", list(reading.label_mechanism(item))),
            ("indications", list(reading.indications(item, diseases))),
            ("regulatory", [reading.label_entry(item)]),
            ("safety", list(reading.label_safety(item))),
        ]
    return []


PART = CandidatesReport("candidates")
