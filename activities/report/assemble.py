"""Assembling the report: pure code over what was written and what is stored.

Models write claims; everything else is decided here: which claims are kept
(`activities.verification.quote_check`), their ids, how references are numbered, what comes first in the
summary, and which limitations the report states.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict

from activities.candidates.types import Candidate, CandidateFindings
from activities.publication import PublishInput
from activities.report.answers import answers_of, giving_first
from activities.report.brief import brief
from activities.report.candidates import check_candidates
from activities.report.certainty import certainty
from activities.report.claims import CheckedDrafts, check_drafts
from activities.report.confidence import (
    Judged,
    confidence,
    confidence_reasons,
    is_unjudged,
    limited_to,
    most_allowed,
    of_sections,
    short_of,
)
from activities.report.contexts import contexts
from activities.report.formats.citations import Citations
from activities.report.formats.prose import section_text, summary_text
from activities.report.formats.statements import as_statement, sentences
from activities.report.formats.text import clean
from activities.report.limitations import limitations, why_unanswered
from activities.report.near import near_passages, not_mentioned
from activities.report.references import reference_of
from activities.report.schema import (
    Methodology,
    QuestionParts,
    QuoteContext,
    Reference,
    Report,
    ReportSection,
    Verification,
)
from activities.report.strength import with_strength
from activities.report.summary import summary_claims
from activities.report.unused import unused_works
from activities.report.works import work_rows
from activities.text.drug_findings import finding
from activities.text.drugs import names_a_treatment
from activities.text.independence import studies
from activities.text.pico import parts_of
from activities.text.uses import asks_for_a_new_use
from activities.types import Claim, Evidence, Statement, Support
from activities.verification.quote_check import Checked, QuoteChecker

_OF_AN_ANSWER = ("brief_works", "brief_direction")
"""Sentences of the short answer that only a report that answers the question has."""


def build_report(
    step: PublishInput,
    documents: Mapping[str, Evidence],
    notes: Sequence[Statement | str] = (),
    findings: Mapping[str, CandidateFindings] | None = None,
) -> Report:
    """Check, number and render. `documents` are the cited items by evidence id, with the standing they have
    now; `notes` are further limitations; `findings` is what was looked up of candidates, by name. Any output
    of a model yields a report."""
    checker = QuoteChecker(documents)
    done = check_drafts(step.sections, checker)
    candidates = check_candidates(step.candidates, checker, documents, findings or {}, step.question)
    cited = [documents[name] for name in _number(done.claims, candidates.kept)]
    study = studies(cited)
    claims = {claim.id: with_strength(claim, documents, study) for claim in done.claims}

    answers, first = answers_of(step.question, list(claims.values()), documents)
    short = set(step.models) == {"extractive"}
    giving = () if first or not short else giving_first(step.question, list(claims.values()), documents)
    leading = tuple(dict.fromkeys(_of_candidates(candidates.kept, claims))) if short else ()
    on_drugs = [c for c in claims.values() if c.id in leading or _finds_of_a_drug(c.text)] if leading else ()
    summary = summary_claims(
        step.question, on_drugs or list(claims.values()), documents, (*leading, *giving, *first)
    )
    numbers = _number([*summary, *claims.values()], candidates.kept)
    origins = {ref.evidence_id: ref.from_run for ref in step.evidence}
    references = _references(numbers, documents, study, origins)
    citations = Citations.of(references)
    verified = len(done.kept)
    near = () if claims else near_passages(step.sections, documents, checker)
    unmentioned = () if claims else not_mentioned(step.sections)
    unanswered = None if claims else why_unanswered(step, done.dropped, unmentioned, near=bool(near))
    said = [as_statement(note) for note in notes]
    if step.profile == "drug_repurposing" and verified and not candidates.kept:
        said.append(Statement(code="no_candidate"))
    retracted = _retracted([*done.checked, *candidates.checked], documents)
    if candidates.kept and not claims:
        said.append(Statement(code="candidates_stand_alone", values={"candidates": len(candidates.kept)}))
    statements = limitations(
        step,
        references=references,
        dropped=done.dropped,
        unanswered=unanswered,
        quotes_refused=sum(len(item.refused) for item in done.kept),
        retracted=retracted,
        notes=[*said, *candidates.statements],
    )
    quoted = [Support(evidence_id=passage.work.evidence_id, quote=passage.quote) for passage in near]
    around = contexts([*claims.values(), *candidates.kept], documents, quoted)
    refused = [item for item in done.checked if not item.kept]
    rows = work_rows(step.sections, [documents[r.evidence_id] for r in references], checker)
    kept = list(claims.values())
    direct = done.of_question(step.question)
    lacking = None
    sought = step.profile == "drug_repurposing"
    new_use = sought and asks_for_a_new_use(step.question)  # what is in use already is no answer
    if short and not candidates.kept:
        named_already = bool(answers) and not new_use
        lacking = short_of(step.question, direct, kept, named=named_already, candidates=sought)
    judged = Judged(step.confidence, step.confidence_reasons)
    if len(step.sections) > 1 and not step.confidence_reasons:  # each section was judged by itself
        filled = sum(bool(section.paragraphs) for section in done.sections)
        judged = of_sections(step, cited, filled, divided=direct is None)
    if is_unjudged(step):
        judged = Judged(0.0, ())
    most = most_allowed(kept, documents)
    named = () if new_use and not candidates.kept else answers
    answer = (
        brief(step.question, kept, summary, rows, references, named, candidates.kept, giving) if short else ()
    )
    if lacking:
        answer = tuple(part for part in answer if part.statement.code not in _OF_AN_ANSWER)
    return Report(
        run_id=step.run_id,
        question=step.question,
        mode=step.mode,
        profile=step.profile,
        title=clean(step.title) or clean(step.question)[:200] or "Research report",
        executive_summary=summary_text(summary, citations, unanswered, answer),
        summary_claims=tuple(claim.id for claim in summary),
        answers=answers,
        brief=answer,
        unanswered=unanswered,
        not_mentioned=unmentioned,
        near=near,
        sections=_sections(done, claims, citations),
        candidates=tuple(candidates.kept),
        references=_with_pages(references, around),
        works=rows,
        certainty=certainty(step.question, rows, references),
        contexts=around,
        unused=unused_works(step, numbers, done.dropped, {item.evidence_id for item in retracted}),
        methodology=_methodology(step, len(references)),
        verification=Verification(
            claims=verified + len(done.dropped),
            verified=verified,
            repaired=sum(item.repaired for item in done.kept),
            dropped=tuple(done.dropped),
        ),
        limitations=sentences(statements),
        statements=statements,
        confidence=confidence(limited_to(judged, most), verified, len(refused), lacking),
        confidence_reasons=confidence_reasons(
            step, judged.reasons, kept, verified, len(refused), lacking, most
        ),
        stop_reason=step.stop_reason,
        generated_at=step.generated_at,
        draft=step.draft,
    )


def _finds_of_a_drug(text: str) -> bool:
    return names_a_treatment(text) and finding(text) != "none"


def _of_candidates(candidates: Sequence[Candidate], claims: Mapping[str, Claim]) -> Iterator[str]:
    """Ids of the claims that quote what speaks for the candidates, in their order."""
    for candidate in candidates:
        for support in candidate.support:
            yield from (name for name, claim in claims.items() if support in claim.support)


def _sections(
    done: CheckedDrafts, claims: Mapping[str, Claim], citations: Citations
) -> tuple[ReportSection, ...]:
    made = []
    for section in done.sections:
        paragraphs = [[claims[claim.id] for claim in paragraph] for paragraph in section.paragraphs]
        made.append(
            ReportSection(
                id=section.section_id,
                title=section.title,
                key_question=clean(section.planned.section.key_question),
                markdown=section_text(paragraphs, citations, section.empty_because),
                status=section.status,
                claims=tuple(claim for paragraph in paragraphs for claim in paragraph),
                paragraphs=tuple(tuple(claim.id for claim in paragraph) for paragraph in paragraphs),
                empty_because=section.empty_because,
            )
        )
    return tuple(made)


def _number(claims: Iterable[Claim], candidates: Iterable[Candidate]) -> dict[str, int]:
    """Evidence id -> number, by first appearance over the whole report."""
    numbers: dict[str, int] = {}
    supports: list[tuple[Support, ...]] = [item.support for item in claims]
    supports += [candidate.quotes for candidate in candidates]
    for support in supports:
        for item in support:
            numbers.setdefault(item.evidence_id, len(numbers) + 1)
    return numbers


def _references(
    numbers: Mapping[str, int],
    documents: Mapping[str, Evidence],
    study: Mapping[str, int],
    origins: Mapping[str, str],
) -> tuple[Reference, ...]:
    return tuple(
        reference_of(documents[name], number, study.get(name, 0), origins.get(name, ""))
        for name, number in numbers.items()
    )


def _with_pages(references: Iterable[Reference], around: Iterable[QuoteContext]) -> tuple[Reference, ...]:
    """The references with the pages of their quotes."""
    pages: dict[str, set[int]] = {}
    for context in around:
        if context.page:
            pages.setdefault(context.evidence_id, set()).add(context.page)
    return tuple(
        r.model_copy(update={"pages": tuple(sorted(pages.get(r.evidence_id, ())))}) for r in references
    )


def _methodology(step: PublishInput, included: int) -> Methodology:
    cost = step.usage.cost_microusd
    return Methodology(
        question_parts=QuestionParts.model_validate(asdict(parts_of(step.question))),
        searches=step.searches,
        counts=step.counts.model_copy(update={"included": included}),
        iterations=step.iterations,
        tokens=step.usage.tokens,
        model_calls=step.usage.calls,
        cost_usd=None if cost is None else cost / 1_000_000,
        models=step.models,
        # concurrent steps end in any order; two runs that did the same must report the same
        prompt_versions=tuple(sorted(step.prompt_versions)),
        plan_hash=step.plan_hash,
        approvals=step.approvals,
        filters=step.filters,
        results_per_search=step.results_per_search,
    )


def _retracted(checked: Iterable[Checked], documents: Mapping[str, Evidence]) -> list[Evidence]:
    ids = dict.fromkeys(identity for item in checked for identity in item.retracted)
    return [documents[identity] for identity in ids]
