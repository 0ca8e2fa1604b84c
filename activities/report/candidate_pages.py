"""The page of a candidate: every field with its source, from what was looked up and from what the run cites.

Invariants:

- An entry has the address of a record, or the id of a cited item with the passage that says it.
- A field without an entry says why: nothing was found, a source did not answer, or nothing was asked.
- What a page says is made again from the same entries when a report is revised: entries of look-ups are kept,
  those of cited items are read from the items as they are now.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from activities.candidates import reading
from activities.candidates.fields import FIELDS
from activities.candidates.status import CODES, STOPPED_TRIALS, foremost
from activities.contracts.candidates import (
    Candidate,
    CandidateField,
    CandidateFieldName,
    CandidateFindings,
    FieldEntry,
)
from activities.contracts.evidence import Evidence, Grade, Statement
from activities.report.schema import JudgedWork
from activities.report.strength import design_name, is_in_people, kind_of, strength
from activities.text.entities import of_kind, resolve, synonyms
from activities.text.evidence_strength import TYPE_NAMES, WEIGHT, weight
from activities.text.independence import independent, studies

Said = Mapping[str, tuple[Evidence, str]]
"""A field's name, or an indication, -> the item and the passage in which it is said."""
VOCABULARY = "vocabulary"
NAMES = 6
"""Other names that are shown from the vocabularies."""
_LITERATURE: Mapping[CandidateFieldName, str] = {"literature_for": "support", "literature_against": "against"}


_STATED: Mapping[CandidateFieldName, str] = {"regulatory": "regulatory_status", "trials": "trial_status"}
"""Fields that no record tells, but words of a writer that a cited work says."""


def page(
    candidate: Candidate,
    items: Sequence[Evidence],
    basis: Said,
    findings: CandidateFindings | None,
    question: str,
    *,
    judged: bool,
) -> Candidate:
    """The candidate with its fields, and with what they say in its older keys where those were empty.
    `judged`: whether a model read the works for what they say of it."""
    field_of = {field.name: field for field in (findings.fields if findings else candidate.fields)}
    own = _own_entries(candidate, items, basis, question)
    for name, attribute in _STATED.items():
        stated = getattr(candidate, attribute)
        known = own[name] or (name in field_of and field_of[name].entries)
        if not known and stated and stated not in CODES and attribute in basis:
            own[name] = [_quoted(*basis[attribute], text=stated).replace(code="stated")]
    fields = tuple(
        _field(name, field_of.get(name), own.get(name, []), read=judged and about.read)
        for name, about in FIELDS.items()
    )
    by_name = {field.name: field for field in fields}
    trial = next((entry for entry in by_name["trials"].entries if entry.values.get("nct")), None)
    mechanism = next(iter(by_name["mechanism"].entries), None)
    return candidate.replace(
        fields=fields,
        looked_up="",
        regulatory_status=foremost(entry.code for entry in by_name["regulatory"].entries)
        or ("" if candidate.regulatory_status in CODES else candidate.regulatory_status),
        mechanism=candidate.mechanism or (mechanism.text if mechanism else ""),
        current_indications=candidate.current_indications
        or tuple(entry.text for entry in by_name["indications"].entries[:1]),
        trial_status=candidate.trial_status
        or ", ".join(filter(None, (trial.values.get("phase", ""), trial.code)) if trial else ()),
    )


def _level(work: Evidence, judged: JudgedWork | None) -> tuple[int, float, int]:
    """Less for stronger evidence: by its grade, its weight, and the order of the levels of evidence."""
    grades, kinds = get_args(Grade), list(WEIGHT)
    return grades.index(strength(work, judged)), -weight(work), kinds.index(kind_of(work, judged))


def quality(
    candidate: Candidate, documents: Mapping[str, Evidence], judged: Mapping[str, JudgedWork]
) -> tuple[Statement, ...]:
    """What the grade of a candidate's evidence follows from."""
    works = [documents[key] for key in dict.fromkeys(s.evidence_id for s in candidate.support)]
    sound = [work for work in works if work.standing not in ("concern", "retracted")]
    reasons: list[Statement] = []
    if sound:
        best = min(sound, key=lambda work: _level(work, judged.get(work.evidence_id)))
        design = design_name(best, judged.get(best.evidence_id)) or TYPE_NAMES[best.evidence_type]
        reasons.append(Statement.of("quality_best", design=design, grade=candidate.evidence_quality))
        count = independent(sound, studies(sound))
        reasons.append(Statement.of("quality_studies", works=len(sound), studies=count))
    if works and not any(is_in_people(work, judged.get(work.evidence_id)) for work in works):
        reasons.append(Statement.of("quality_no_people"))
    if len(works) > len(sound):
        reasons.append(Statement.of("quality_concern", works=len(works) - len(sound)))
    against = len(dict.fromkeys(s.evidence_id for s in candidate.against))
    if against:
        reasons.append(Statement.of("quality_against", works=against))
    trials = next((field.entries for field in candidate.fields if field.name == "trials"), ())
    stopped = sum(entry.code in STOPPED_TRIALS for entry in trials)
    if stopped:
        reasons.append(Statement.of("quality_stopped_trials", trials=stopped))
    return tuple(reasons)


def _field(
    name: CandidateFieldName, field: CandidateField | None, own: Iterable[FieldEntry], *, read: bool
) -> CandidateField:
    """Entries of cited items before those that were looked up, each once."""
    looked_up = [e for e in field.entries if not e.evidence_id and e.source != VOCABULARY] if field else []
    entries = _each_once((*own, *looked_up))
    if name == "regulatory":
        entries = _by_authority(entries)
    if name == "trials":
        entries = sorted(entries, key=reading.trial_order)[: reading.TRIALS]
    silent = field.silent if field else ()
    if entries:
        return CandidateField(name=name, status="found", entries=tuple(entries), silent=silent, read=read)
    if name in _LITERATURE:
        return CandidateField(name=name, status="not_found")
    status = field.status if field and field.status != "found" else "not_looked_up"
    return CandidateField(name=name, status=status, silent=silent, read=read)


def _each_once(entries: Iterable[FieldEntry]) -> list[FieldEntry]:
    """Entries without those that say the same of one record. Of two the first is kept, which is that of a
    cited item, with the longer text."""
    kept: list[FieldEntry] = []
    for entry in entries:
        for place, other in enumerate(kept):
            if _is_same(entry, other):
                longer = max(other, entry, key=lambda e: len(e.text))
                kept[place] = other.replace(
                    text=longer.text,
                    code=other.code or entry.code,
                    quote=longer.quote or other.quote or entry.quote,
                )
                break
        else:
            kept.append(entry)
    return kept


def _is_same(one: FieldEntry, other: FieldEntry) -> bool:
    """Whether two entries say the same of one record, or one the beginning of the other."""
    if (one.url or one.evidence_id) != (other.url or other.evidence_id) or (
        one.code and other.code and one.code != other.code
    ):
        return False
    shorter, longer = sorted((one.text.casefold(), other.text.casefold()), key=len)
    return bool(shorter) and longer.startswith(shorter)


def _by_authority(entries: Sequence[FieldEntry]) -> list[FieldEntry]:
    """The status that says most first, new drugs' applications before generics'. A label adds nothing to the
    application it belongs to."""
    applied = any(entry.values.get("application") for entry in entries)
    kept = [entry for entry in entries if not (applied and entry.code == "labelled")]

    def rank(entry: FieldEntry) -> tuple[int, bool, str]:
        code: Sequence[str] = CODES
        place = code.index(entry.code) if entry.code in code else len(code)
        return place, entry.values.get("application", "A").startswith("A"), entry.values.get("date", "9")

    return sorted(kept, key=rank)


def _own_entries(
    candidate: Candidate, items: Sequence[Evidence], basis: Said, question: str
) -> dict[CandidateFieldName, list[FieldEntry]]:
    """What the vocabularies and the cited items say."""
    name = candidate.generic_name or candidate.name
    documents = {item.evidence_id: item for item in items}
    entries: dict[CandidateFieldName, list[FieldEntry]] = {key: [] for key in FIELDS}
    entity = resolve(name)
    if entity is not None and entity.kind == "drug":
        text = "; ".join((entity.name, *synonyms(entity.name, NAMES)))
        entries["names"].append(FieldEntry(text=text, source=VOCABULARY))
    chain = candidate.proposed_mechanism or candidate.mechanism
    which = "proposed_mechanism" if candidate.proposed_mechanism else "mechanism"
    if (candidate.mechanism or " -> " in chain) and which in basis:
        entries["mechanism"].append(_quoted(*basis[which], text=chain))
    if candidate.target and "target" in basis:
        entries["targets"].append(_quoted(*basis["target"], text=candidate.target))
    if candidate.pathway and "pathway" in basis:
        entries["pathways"].append(_quoted(*basis["pathway"], text=candidate.pathway))
    entries["safety"] += [
        _quoted(documents[s.evidence_id], s.quote, text=s.quote).replace(code="stated")
        for s in candidate.safety
        if s.evidence_id in documents
    ]
    together: dict[tuple[str, str], list[str]] = {}
    for text in candidate.current_indications:
        if text in basis:
            together.setdefault((basis[text][0].evidence_id, basis[text][1]), []).append(text)
    entries["indications"] += [
        _quoted(*basis[texts[0]], text="; ".join(texts)) for texts in together.values()
    ]
    for key, attribute in _LITERATURE.items():
        entries[key] += [
            _quoted(documents[s.evidence_id], s.quote, text=s.quote)
            for s in getattr(candidate, attribute)
            if s.evidence_id in documents
        ]
    for item in items:
        for key, rows in _of_record(item, name, question):
            entries[key] += [entry.replace(evidence_id=item.evidence_id) for entry in rows]
    return entries


def _quoted(item: Evidence, passage: str, *, text: str) -> FieldEntry:
    quote = passage if passage in item.text else ""
    return FieldEntry(
        text=" ".join(text.split()),
        source=item.source,
        url=item.url,
        evidence_id=item.evidence_id,
        quote=quote,
    )


def _of_record(
    item: Evidence, name: str, question: str
) -> list[tuple[CandidateFieldName, Sequence[FieldEntry]]]:
    """What a label, an approval or a registration among the cited items says."""
    if item.evidence_type == "trial_registration":
        return [("trials", reading.trials([item], name))]
    if item.evidence_type == "regulatory":
        return [("regulatory", list(reading.applications(reading.of_drug([item], name))))]
    if item.evidence_type == "drug_label" and reading.of_drug([item], name):
        diseases = frozenset(entity.id for entity in of_kind(question, ("disease",)))
        return [
            ("mechanism", list(reading.label_mechanism(item))),
            ("indications", list(reading.indications(item, diseases))),
            ("regulatory", [reading.labelled(item)]),
            ("safety", list(reading.label_safety(item))),
        ]
    return []
