"""Assembling the report: pure code over what was written and what is stored.

Models write; code checks what may stand (`check`), gives numbers (`number`), takes from records what they say
of the works (`describe`), and states limits (`state`). It reads no language: which claims answer, and which
way, is what the writer and the judge said.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from activities.analysis.conclusions import unpooled
from activities.contracts.appraisal import Conclusion
from activities.contracts.candidates import CandidateFindings
from activities.contracts.evidence import Claim, Evidence, Statement, Support, kind_of_source
from activities.contracts.judge import Table
from activities.contracts.profile import STUDIES, Words
from activities.contracts.publish import PublishInput
from activities.contracts.write import Passage
from activities.report import conclusions
from activities.report.candidates import CheckedCandidates, check_candidates
from activities.report.claims import (
    CheckedDrafts,
    CheckedSection,
    check_drafts,
    of_role,
    with_contradictions,
)
from activities.report.edited import CheckedEdit, check_edited
from activities.report.formats.prose import Citations, section_text, summary_text
from activities.report.formats.statements import as_statement, sentence, sentences
from activities.report.formats.text import clean
from activities.report.judged import checked_table, judged_works
from activities.report.limitations import limitations, why_unanswered
from activities.report.same_study import joined
from activities.report.schema import (
    DescribedWork,
    JudgedWork,
    Methodology,
    QuoteContext,
    QuotedPassage,
    Reference,
    Report,
    ReportSection,
    Verification,
)
from activities.report.works import (
    contexts,
    described,
    references,
    unused_works,
    with_strength,
    words_for,
)
from activities.text.independence import studies
from activities.verification.quote_check import QuoteChecker


@dataclass(slots=True)
class _Checked:
    """Everything that stands."""

    drafts: CheckedDrafts
    candidates: CheckedCandidates
    edit: CheckedEdit
    answer: tuple[Claim, ...]
    judgements: tuple[JudgedWork, ...]
    table: Table
    reservations: tuple[Claim, ...]
    conclusions: tuple[Conclusion, ...] = ()
    written: int = 0
    """Sentences that were written."""
    study: Mapping[str, int] = field(default_factory=dict)
    words: Words = STUDIES
    works: tuple[DescribedWork, ...] = ()

    @property
    def sections(self) -> list[CheckedSection]:
        return self.drafts.sections


def build_report(
    step: PublishInput,
    documents: Mapping[str, Evidence],
    notes: Sequence[Statement | str] = (),
    findings: Mapping[str, CandidateFindings] | None = None,
) -> Report:
    """The report of what was written. `documents` are the cited and judged items by evidence id, with the
    standing they have now; `notes` are further limitations; `findings` is what was looked up of candidates,
    by name. Any output of a model yields a report."""
    checked = _check(step, documents, findings or {})
    around = contexts(_quotes(checked), documents)
    cited = _number(step, checked, documents, around)
    return _state(step, checked, documents, cited, around, [as_statement(note) for note in notes])


def _check(
    step: PublishInput, documents: Mapping[str, Evidence], findings: Mapping[str, CandidateFindings]
) -> _Checked:
    """Leave out what a check refuses, with its reason."""
    checker = QuoteChecker(documents)
    done = check_drafts(step.sections, checker, documents)
    written = sum(section.drafted for section in done.sections)
    done.dropped += [of_role(refused) for refused in step.refused]
    edit = CheckedEdit()
    if step.edited is not None and step.written_by == "model":
        edit = check_edited(step.edited, done, checker)
    done.sections = with_contradictions(done.sections, step.edited.contradictions if step.edited else ())
    judged = step.written_by == "model"
    candidates = check_candidates(step.candidates, checker, documents, findings, step.question, judged=judged)
    done.dropped += candidates.dropped
    reservations = {one.text.casefold(): one for section in done.sections for one in section.reservations}
    judgements = judged_works(step.judgements, step.evidence, documents, checker, done)
    return _Checked(
        drafts=done,
        candidates=candidates,
        edit=edit,
        answer=_answer(step, done, edit),
        judgements=judgements,
        table=checked_table(step.table, documents, checker, done),
        reservations=tuple(reservations.values()),
        conclusions=conclusions.conclusions(step, documents, judgements, checker),
        written=written,
    )


def _answer(step: PublishInput, done: CheckedDrafts, edit: CheckedEdit) -> tuple[Claim, ...]:
    """The direct answer: that of the only section, or the editor's with the first sentence of the answer of
    each section that it says nothing of. An answer of which nothing is left says that the works do not settle
    the question."""
    if step.written_by == "extractive":
        return ()
    if len(done.sections) == 1 and not edit.answer:
        answer = done.sections[0].answer
    else:
        answer = edit.answer
        for section in done.sections:
            own = {claim.id for claim in (*section.answer, *section.claims)}
            if section.answer and not any(own & set(claim.rests_on) for claim in answer):
                first = section.answer[0]
                again = first.replace(id=f"a{len(answer) + 1}", rests_on=(first.id,), contradicts=())
                answer = (*answer, again)
    if not answer and done.claims and any(section.planned.draft.answer for section in done.sections):
        return (Claim(id="a1", text=sentence(Statement.of("not_settled")), kind="missing"),)
    return answer


def _ordered(judged: Iterable[JudgedWork], numbers: Mapping[str, int]) -> tuple[JudgedWork, ...]:
    """Works that answer most directly first, then by their reference: sections end in any order."""
    last = len(numbers) + 1
    return tuple(sorted(judged, key=lambda w: (-w.answers, numbers.get(w.evidence_id, last), w.evidence_id)))


def _quotes(checked: _Checked) -> list[Support]:
    """Every quote of what stands, in the order of the page: that is the order of the numbers."""
    edit = checked.edit
    quotes = [s for claim in (*checked.answer, *edit.summary, *edit.mechanism) for s in claim.support]
    for section in checked.sections:
        quotes += [s for claim in (*section.answer, *section.claims) for s in claim.support]
        quotes += [
            Support(evidence_id=passage.evidence_id, quote=quote)
            for passage in section.related
            for quote in passage.quotes
        ]
    quotes += [support for candidate in checked.candidates.kept for support in candidate.quotes]
    quotes += conclusions.supports(checked.conclusions)
    quotes += [c.support for row in checked.table.rows for c in row.cells.values() if c.support]
    return quotes


def _number(
    step: PublishInput,
    checked: _Checked,
    documents: Mapping[str, Evidence],
    around: Iterable[QuoteContext],
) -> tuple[Reference, ...]:
    """The references, and beside each claim the strength of what it cites."""
    quotes = _quotes(checked)
    cited = [documents[name] for name in dict.fromkeys(s.evidence_id for s in quotes)]
    study = checked.study = joined(studies(cited), cited)
    origins = {ref.evidence_id: ref.from_run for ref in step.evidence}
    checked.words = words_for(step.words, cited, step.searches)
    by_model = step.written_by == "model"
    judged = {work.evidence_id: work for work in checked.judgements}
    checked.works = described(cited, judged, graded=by_model and checked.words.graded)
    if by_model:
        grades = {work.evidence_id: work.strength for work in checked.works}

        def graded(claims: Iterable[Claim]) -> tuple[Claim, ...]:
            return tuple(with_strength(claim, grades, documents, study) for claim in claims)

        edit = checked.edit
        checked.answer = graded(checked.answer)
        checked.edit = replace(edit, summary=graded(edit.summary), mechanism=graded(edit.mechanism))
        checked.drafts.sections = [
            replace(section, paragraphs=tuple(map(graded, section.paragraphs)), answer=graded(section.answer))
            for section in checked.sections
        ]
    return references(quotes, documents, study, origins, around)


def _state(
    step: PublishInput,
    checked: _Checked,
    documents: Mapping[str, Evidence],
    cited: tuple[Reference, ...],
    around: tuple[QuoteContext, ...],
    notes: Sequence[Statement],
) -> Report:
    """The report with its counts and its limits."""
    done, edit = checked.drafts, checked.edit
    citations = Citations.of(cited)
    claims = done.standing
    refused = sum(item.kind in ("claim", "wording") for item in done.dropped)
    unanswered = None if claims else why_unanswered(step, refused)
    by = Counter(claim.stands_by for claim in claims)
    verification = Verification(
        claims=max(checked.written, len(claims)),
        verified=len(claims),
        repaired=done.repaired,
        replaced=done.replaced,
        dropped=tuple(done.dropped),
        by_quote=by["quote"],
        by_reader=by["reader"],
        computed=by["computation"],
        fell=sum(section.lost for section in done.sections),
        reader=step.reader,
    )
    retracted = dict.fromkeys((*done.retracted, *checked.candidates.retracted))
    said = list(notes)
    if step.profile == "drug_repurposing" and claims and not checked.candidates.kept:
        said.append(Statement.of("no_candidate"))
    if checked.candidates.kept and not claims:
        said.append(Statement.of("candidates_stand_alone", candidates=len(checked.candidates.kept)))
    if any(map(unpooled, checked.conclusions)):
        said.append(Statement.of("nothing_pooled"))
    statements = limitations(
        step,
        references=cited,
        words=checked.words,
        sections=checked.sections,
        verification=verification,
        unanswered=unanswered,
        quotes_refused=done.quotes_refused,
        retracted=[documents[name] for name in retracted],
        notes=[*said, *checked.candidates.statements],
    )
    numbers = {reference.evidence_id: reference.number for reference in cited}
    report = Report(
        run_id=step.run_id,
        question=step.question,
        asked=step.asked,
        continues=step.continues,
        mode=step.mode,
        profile=step.profile,
        title=edit.title or clean(step.title) or clean(step.question)[:200] or "Research report",
        written_by=step.written_by,
        answer=checked.answer,
        executive_summary="",
        summary=edit.summary,
        mechanism=edit.mechanism,
        reservations=tuple(one.text for one in checked.reservations),
        unanswered=unanswered,
        sections=_sections(checked, citations, numbers),
        candidates=tuple(checked.candidates.kept),
        references=cited,
        sources_used=dict(Counter(one.source for one in cited).most_common()),
        kinds_used=dict(Counter(kind_of_source(one.evidence_type) for one in cited).most_common()),
        judgements=_ordered(checked.judgements, numbers),
        table=checked.table,
        conclusions=checked.conclusions,
        works=checked.works,
        words=checked.words,
        length=step.length,
        contexts=around,
        unused=unused_works(step, numbers, done.dropped, checked.judgements, retracted),
        methodology=_methodology(step, cited),
        verification=verification,
        limitations=sentences(statements),
        statements=statements,
        confidence=_confidence(step, claims),
        confidence_reasons=_confidence_reasons(step, claims),
        stop_reason=step.stop_reason,
        disputes=step.disputes,
        generated_at=step.generated_at,
        draft=step.draft,
    )
    return report.replace(executive_summary=summary_text(report))


def _sections(
    checked: _Checked, citations: Citations, numbers: Mapping[str, int]
) -> tuple[ReportSection, ...]:
    def shown(passages: Iterable[Passage]) -> tuple[QuotedPassage, ...]:
        return tuple(
            QuotedPassage(number=numbers[passage.evidence_id], **passage.model_dump()) for passage in passages
        )

    return tuple(
        ReportSection(
            id=section.section_id,
            title=section.title,
            key_question=clean(section.planned.section.key_question),
            lead=checked.edit.leads.get(section.section_id, ""),
            answer=section.answer if len(checked.sections) > 1 else (),
            markdown=section_text(section.paragraphs, citations, section.empty_because),
            status=section.status,
            claims=section.claims,
            paragraphs=tuple(tuple(claim.id for claim in paragraph) for paragraph in section.paragraphs),
            passages=shown(section.passages),
            related=shown(section.related),
            empty_because=section.empty_because,
        )
        for section in checked.sections
    )


def _confidence(step: PublishInput, claims: Sequence[Claim]) -> float | None:
    """The judged confidence; none without a model, and none where nothing stands: there is no answer to be
    confident of."""
    if step.written_by == "extractive" or step.confidence is None or not claims:
        return None
    return round(step.confidence, 4)


def _confidence_reasons(step: PublishInput, claims: Sequence[Claim]) -> tuple[Statement, ...]:
    if step.written_by == "extractive" or not claims:
        return ()
    found = list(step.confidence_reasons)
    disputed = sum(bool(claim.contradicts) for claim in claims)
    if disputed:
        found.append(Statement.of("confidence_contradictions", claims=disputed))
    return tuple(found)


def _methodology(step: PublishInput, cited: Sequence[Reference]) -> Methodology:
    cost = step.usage.cost_microusd
    return Methodology(
        searches=step.searches,
        counts=step.counts.replace(included=len(cited)),
        iterations=step.iterations,
        spent_by=step.spent_by,
        tokens=step.usage.tokens,
        model_calls=step.usage.calls,
        cost_usd=None if cost is None else cost / 1_000_000,
        seconds=step.seconds,
        estimate=step.estimate,
        models=step.models,
        # concurrent steps end in any order; two runs that did the same must report the same
        prompt_versions=tuple(sorted(step.prompt_versions)),
        plan_hash=step.plan_hash,
        readings=step.readings,
        approvals=step.approvals,
        filters=step.filters,
        results_per_search=step.results_per_search,
        read_in_full=tuple(reference.evidence_id for reference in cited if reference.full_text),
    )
