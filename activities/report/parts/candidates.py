"""Candidates for repurposing: which are named by a verified quote, and which of their fields are supported.

Invariants:

- A candidate stays only with a verified quote from an item that names it.
- Mechanism, indications and status passed the gate when they were written. Here, like quotes, they are looked
  up in the items that the candidate cites and that still stand; where none is left, the field falls, and the
  report states which fields did.
- What speaks for a candidate decides the grade of its evidence; quotes of labels, approvals and registrations
  say where it stands, and count for nothing there.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import cast

from activities.candidates.status import CODES
from activities.contracts.candidates import PART as CANDIDATES
from activities.contracts.candidates import Candidate, CandidateFindings
from activities.contracts.errors import StoreError
from activities.contracts.evidence import Evidence, Statement, Support
from activities.contracts.publish import PublishInput
from activities.evidence_store import EvidenceStore
from activities.logs import log
from activities.messages import N_, _
from activities.report.candidate_pages import Said, page, quality
from activities.report.claims import Checks, reasons_text
from activities.report.evidence_lines import as_evidence
from activities.report.formats import candidate_words
from activities.report.formats.blocks import Chapter
from activities.report.formats.quotes import Quotes
from activities.report.formats.text import clean
from activities.report.parts import ReportPart
from activities.report.schema import JudgedWork, Report
from activities.report.strength import best_grade
from activities.text.drugs import names_drug
from activities.text.normal_form import normalise
from activities.verification.field_places import passages_of, place_of, stems

_SIDES = ("support", "against", "records", "safety")
_FIELDS = ("target", "pathway", "mechanism", "proposed_mechanism", "regulatory_status", "trial_status")


class CandidatesReport(ReportPart):
    """Shows the candidates that a verified quote names, with a page of each."""

    async def read_stored(
        self, store: EvidenceStore, step: PublishInput, *, patient: bool
    ) -> tuple[Mapping[str, CandidateFindings], Iterable[Statement]]:
        """Read what was looked up of each candidate, by name."""
        findings: dict[str, CandidateFindings] = {}
        notes: list[Statement] = []
        for candidate in CANDIDATES.given(step):
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

    def cited(self, step: PublishInput) -> Iterable[str]:
        return (quote.evidence_id for one in CANDIDATES.given(step) for quote in one.quotes)

    def without(self, step: PublishInput, works: Collection[str]) -> tuple[Candidate, ...]:
        def rest(one: Candidate) -> Candidate:
            sides = {side: getattr(one, side) for side in _SIDES}
            return one.replace(
                **{side: tuple(q for q in sides[side] if q.evidence_id not in works) for side in sides}
            )

        return tuple(map(rest, CANDIDATES.given(step)))

    def check(
        self, step: PublishInput, checks: Checks, judgements: Iterable[JudgedWork], stored: object
    ) -> tuple[Candidate, ...]:
        return check_candidates(
            CANDIDATES.given(step),
            checks,
            cast(Mapping[str, CandidateFindings], stored or {}),
            step.question,
            judgements=judgements,
            judged=step.written_by == "model",
        )

    def remarks(self, report: Report, *, has_claims: bool) -> Iterable[Statement]:
        shown = CANDIDATES.shown(report)
        if has_claims and not shown and report.profile == "drug_repurposing":
            yield Statement.of("no_candidate")
        if shown and not has_claims:
            yield Statement.of("candidates_stand_alone", candidates=len(shown))

    def quotes(self, report: Report) -> Iterable[Support]:
        return (quote for one in CANDIDATES.shown(report) for quote in one.quotes)

    def chapters(self, report: Report, quotes: Quotes, *, drawn: bool) -> Iterable[Chapter]:
        yield Chapter("candidates", _("Candidates"), (*candidate_words.blocks(report, quotes),))

    def problems(
        self, report: Report, items: Mapping[str, Mapping[str, object]]
    ) -> Mapping[str, Iterable[tuple[str, ...]]]:
        return {"candidate": (tuple(_problems(one, items)) for one in CANDIDATES.shown(report))}


def _problems(candidate: Candidate, items: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    """Mechanism, indications and status that neither a cited item nor a record says."""
    cited = dict.fromkeys(s.evidence_id for s in candidate.quotes)
    works = [as_evidence(items[name]) for name in cited if name in items]
    for name in fields_not_said(candidate, works) if candidate.support else ():
        yield f"candidate {candidate.name}: no item it cites says its {name.replace('_', ' ')}"


def check_candidates(
    candidates: Iterable[Candidate],
    checks: Checks,
    findings: Mapping[str, CandidateFindings],
    question: str,
    *,
    judgements: Iterable[JudgedWork] = (),
    judged: bool,
) -> tuple[Candidate, ...]:
    """Check quotes, names and fields of every candidate, and make its page. `findings`: what was looked up,
    by the candidate's name. `judged`: whether a model put it forward, so that its evidence has a quality."""
    documents, made = checks.documents, []
    by_id = {work.evidence_id: work for work in judgements}
    for candidate in candidates:
        result = checks.supports(candidate.support)
        names = [normalise(n).casefold() for n in (candidate.name, candidate.generic_name) if clean(n)]
        said = {s.evidence_id: documents[s.evidence_id] for s in result.support}
        texts = {key: normalise(f"{item.title} {item.text}") for key, item in said.items()}
        naming = {key for key, text in texts.items() if any(names_drug(text, one) for one in names)}
        support = tuple(s for s in result.support if s.evidence_id in naming)
        name = clean(candidate.name) or clean(candidate.generic_name)
        if not support or not name:
            never = [Statement.of("never_named")] if result.support else []
            codes = [*dict.fromkeys(result.refused), *never] or [Statement.of("cites_nothing")]
            name = name or "without a name"
            checks.drop(name, codes, "hypothesis", "", (s.evidence_id for s in candidate.support))
            left_out = Statement.of("candidate_left_out", name=name, reason=reasons_text(codes))
            checks.statements.append(left_out)
            continue
        kept = candidate.replace(
            name=name,
            support=support,
            against=checks.supports(candidate.against).support,
            records=checks.supports(candidate.records).support,
            safety=checks.supports(candidate.safety).support,
            search_suggestions=tuple(filter(None, map(clean, candidate.search_suggestions))),
        )
        items = [documents[key] for key in dict.fromkeys(s.evidence_id for s in kept.quotes)]
        works = [documents[key] for key in dict.fromkeys(s.evidence_id for s in support)]
        kept = kept.replace(evidence_quality=best_grade(works, by_id))
        kept, removed, basis = _with_checked_fields(kept, items)
        if removed:
            checks.statements.append(Statement.of("candidate_fields_unchecked", name=name, fields=removed))
        kept = page(kept, items, basis, findings.get(candidate.name), question, judged=judged)
        reasons = quality(kept, documents, by_id) if judged else ()
        made.append(kept.replace(quality_reasons=reasons))
    return tuple(made)


def _with_checked_fields(
    candidate: Candidate, items: Sequence[Evidence]
) -> tuple[Candidate, tuple[str, ...], Said]:
    """The candidate without the fields that none of its items says, the names of those fields, and the
    passage in which each of the others is said."""
    passages = passages_of(items)
    name_stems = stems(f"{candidate.name} {candidate.generic_name}")
    update: dict[str, object] = {}
    removed: list[str] = []
    basis: dict[str, tuple[Evidence, str]] = {}
    for name in _FIELDS:
        text = getattr(candidate, name)
        if name == "regulatory_status" and text in CODES:
            continue  # a code follows from records, and the page is made from them again
        found_in = place_of(text, passages, name_stems)
        if found_in is None:
            update[name] = ""
            removed.append(name)
        elif text and found_in:
            basis[name] = found_in[0][:2]
    places = [(text, place_of(text, passages, name_stems)) for text in candidate.current_indications]
    indications = tuple(text for text, place in places if place is not None)
    if indications != candidate.current_indications:
        update["current_indications"] = indications
        removed.append("current_indications")
    basis |= {text: place[0][:2] for text, place in places if place}
    return candidate.replace(**update), tuple(removed), basis


def fields_not_said(candidate: Candidate, items: Sequence[Evidence]) -> tuple[str, ...]:
    """The names of the fields of a published candidate that neither an item it cites says nor a record that
    was looked up for its page."""
    rest, removed, _basis = _with_checked_fields(candidate, items)
    entries = [e for field in candidate.fields for e in field.entries if not e.evidence_id]
    texts = {e.text for e in entries} | {e.code for e in entries}
    texts |= {", ".join(filter(None, (e.values.get("phase", ""), e.code))) for e in entries}

    def values(name: str) -> set[str]:
        value = getattr(candidate, name)
        return {value} if isinstance(value, str) else set(value) - set(rest.current_indications)

    return tuple(name for name in removed if not values(name) <= texts)


PART = CandidatesReport("candidates")
