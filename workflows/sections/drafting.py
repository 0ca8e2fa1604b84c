"""Drafts of the sections of a long report, once the research of all is done.

Over few works one call writes all sections and the answer. Else the items are divided among the sections,
which are written at the same time; the editor's pass over all claims afterwards writes the answer, removes
repetition.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile, zip_longest
from typing import Literal

from temporalio.exceptions import ApplicationError, FailureError, is_cancelled_exception

from activities.contracts.evidence import Claim, EvidenceRef, ReportPlanSection
from activities.contracts.judge import WorkJudgement
from activities.contracts.publish import PlannedSection
from activities.contracts.step import Role
from activities.contracts.stop_reasons import StopReason, in_short, worst
from activities.contracts.write import SectionDraft, WriteInput, drafts_by_section
from activities.messages import plural
from activities.report.claims import draft_claims
from activities.roles.allowances import MAX_WRITER_ITEMS
from activities.roles.assessment import MIN_ANSWERS
from workflows.amounts import needs
from workflows.context import RunPart
from workflows.part_state import CandidatesState
from workflows.rules.dedup import merge, repeated_documents
from workflows.rules.payload_limits import input_refs, without_history
from workflows.run import RunParts
from workflows.sections.types import SectionFindings
from workflows.steps.policy import run_all
from workflows.steps.writing import judgements_of
from workflows.types import Outcome

MERGED = ("evidence", "works", "relevant", "searches", "notes", "events", "history", "refused")
"""Findings of a section that are part of the run's and not kept twice."""


def best_judgements(
    rows: Iterable[WorkJudgement], current: Mapping[str, WorkJudgement], earlier: Iterable[WorkJudgement]
) -> Iterator[WorkJudgement]:
    """Yield the judgements of a section that the report tells of works.

    Those that answer more than `current` ones, and of those that answer as much the ones that no section
    before it in the report has (`earlier`): which section ended first does not decide.
    """
    pairs = {(judgement.evidence_id, judgement.answers) for judgement in earlier}
    for judgement in rows:
        other = current.get(judgement.evidence_id)
        grade = other.answers if other else -1
        is_first = (judgement.evidence_id, judgement.answers) not in pairs
        if grade < judgement.answers or (grade == judgement.answers and is_first):
            yield judgement


class SectionResults(RunPart):
    """Takes in what sections return."""

    def accept(self, section: ReportPlanSection, outcome: Outcome) -> None:
        """Charge the lease of a section that ended with an outcome, and merge its findings."""
        findings = outcome.findings or self._no_findings(section, "failed", "all_sources_failed")
        self.context.budget.close_lease(section.id, findings.by_role, findings.spent_microusd)
        self._merge(section, findings, in_short(findings.stop_reason))

    def accept_failure(self, section: ReportPlanSection, error: FailureError) -> None:
        """Record a section whose workflow ended without findings.

        What it may have spent stays reserved.
        """
        if is_cancelled_exception(error):
            findings, note = self._no_findings(section, "cancelled", "cancelled"), "it was cancelled"
        else:
            findings = self._no_findings(section, "failed", "all_sources_failed")
            note = f"it failed: {_root_message(error)}"
        self.context.budget.withhold(section.id, findings.by_role, findings.spent_microusd)
        self._merge(section, findings, note)

    def skip(self, section: ReportPlanSection, stop: StopReason) -> None:
        """Record a section that was never started, because of `stop`."""
        reason = "the time was used up" if stop == "timeout" else "the reviewer asked to finish"
        findings = self._no_findings(section, "cancelled", stop)
        self._merge(section, findings, f"{reason} before it was begun")

    def rank_relevant(self) -> None:
        """Rank the run's evidence: the best item of each section before the second best of any.

        Sections take turns as in the outline: which of them ended first does not decide.
        """
        state = self.state
        ranked_ids = (state.sections.found.get(section.id, ()) for section in self.context.outline)
        ranks = zip_longest(*ranked_ids)
        state.evidence.relevant = list(dict.fromkeys(name for rank in ranks for name in rank if name))

    def overall_stop(self) -> StopReason:
        """Return the run's stop reason from those of its sections."""
        state = self.state
        if state.people.finish:
            return "finished_by_reviewer"
        return worst([findings.stop_reason for findings in state.sections.findings.values()])

    def evidence_of(self, section: ReportPlanSection) -> tuple[EvidenceRef, ...]:
        """Return the run's items that a section found, in the section's own order; never retracted work."""
        state = self.state
        order = {name: place for place, name in enumerate(state.sections.found.get(section.id, ()))}
        refs = [r for r in state.evidence.refs if section.id in r.sections and r.standing != "retracted"]
        return tuple(sorted(refs, key=lambda r: order.get(r.evidence_id, len(order))))

    def planned(self, section: ReportPlanSection, draft: SectionDraft) -> PlannedSection:
        """Return a section of the report, with the status of its research."""
        state = self.state
        findings, progress = state.sections.findings.get(section.id), state.sections.progress.get(section.id)
        return PlannedSection(
            section=section,
            draft=draft,
            status=findings.status if findings else "cancelled" if state.people.cancelled else "failed",
            note=(progress.note if progress else "") or "it was not begun",
        )

    def _no_findings(
        self, section: ReportPlanSection, status: Literal["failed", "cancelled"], stop: StopReason
    ) -> SectionFindings:
        """Empty findings, with the usage that the section had reported."""
        progress = self.state.sections.progress[section.id]
        return SectionFindings(
            section_id=section.id,
            status=status,
            stop_reason=stop,
            by_role=progress.by_role,
            spent_microusd=progress.spent_microusd,
        )

    def _merge(self, section: ReportPlanSection, findings: SectionFindings, note: str) -> None:
        """Unite a section's findings with the run's. Its judgements follow the ids that works have there."""
        state, budget = self.state, self.context.budget
        state.evidence.most_items = state.items
        repeated_count = repeated_documents(state.evidence.refs, findings.works)
        quoted_ids = {name for planned in state.draft.sections.values() for name in planned.draft.cited}
        merged = merge(state.evidence.refs, findings.evidence, section.id, quoted_ids)
        state.evidence.refs = list(merged.refs)
        ids = (merged.kept_as[ref.evidence_id] for ref in findings.evidence)
        state.sections.found[section.id] = list(dict.fromkeys(ids))
        works = (merged.kept_as.get(name, name) for name in findings.works)
        state.evidence.works = list(dict.fromkeys([*state.evidence.works, *works]))
        state.evidence.add_facts(findings.facts)
        state.evidence.identified += findings.identified - repeated_count
        state.evidence.duplicates = max(state.evidence.identified - len(state.evidence.works), 0)
        state.evidence.searches += findings.searches
        budget.iterations = max(budget.iterations, findings.iterations)
        state.models.names += [m for m in findings.models if m not in state.models.names]
        state.models.prompt_versions += [
            v for v in findings.prompt_versions if v not in state.models.prompt_versions
        ]
        for statement in findings.notes:
            self.events.add_statement(statement)
        judgements = tuple(rename(judgement, merged.kept_as) for judgement in findings.judgements)
        repeated_count = sum(judgement.evidence_id in state.evidence.judgements for judgement in judgements)
        screened_count = state.evidence.screened + max(findings.screened - repeated_count, 0)
        state.evidence.screened = min(screened_count, len(state.evidence.works))
        before = [part.id for part in takewhile(lambda part: part.id != section.id, self.context.outline)]
        earlier = (state.sections.findings[name] for name in before if name in state.sections.findings)
        earlier_judgements = [judgement for part in earlier for judgement in part.judgements]
        state.evidence.judgements.update(
            (judgement.evidence_id, judgement)
            for judgement in best_judgements(judgements, state.evidence.judgements, earlier_judgements)
        )
        state.evidence.refused += findings.refused
        emptied = dict.fromkeys(MERGED, ())
        state.sections.findings[section.id] = findings.model_copy(
            update={**emptied, "judgements": judgements}
        )
        progress = state.sections.progress[section.id]
        state.sections.progress[section.id] = progress.replace(
            status=findings.status,
            phase="done",
            iteration=findings.iterations,
            evidence=max(progress.evidence, len(findings.evidence)),
            searches=max(progress.searches, len(findings.searches)),
            by_role=findings.by_role,
            note=note,
        )
        relevant = set(findings.relevant)
        pool = {ref.evidence_id: ref for ref in state.sections.pool.get(section.id, ())}
        pool |= {r.evidence_id: without_history(r) for r in findings.evidence if r.evidence_id in relevant}
        state.sections.pool[section.id] = list(pool.values())
        state.loop.memory.adopt(findings.history)
        self.events.adopt_events(section.id, findings.events)
        self.events.emit(
            "section_complete",
            f"{section.title}: {note}",
            section_id=section.id,
            title=section.title,
            status=findings.status,
            stop_reason=findings.stop_reason,
            evidence=len(findings.evidence),
            iterations=findings.iterations,
            confidence=findings.confidence,
            tokens=sum(usage.tokens for usage in findings.by_role.values()),
        )


def rename(judgement: WorkJudgement, names: Mapping[str, str]) -> WorkJudgement:
    """Return a judgement whose work goes by the id given in `names`."""
    name = names.get(judgement.evidence_id, judgement.evidence_id)
    support = tuple(quote.replace(evidence_id=name) for quote in judgement.support)
    return judgement.replace(evidence_id=name, support=support)


def _root_message(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    message = error.message if isinstance(error, ApplicationError) else str(error)
    return " ".join(message.split())[:200]


MAX_FOR_ONE_CALL = MAX_WRITER_ITEMS
"""Works that answer, up to which one call writes all sections: as many as it is shown."""
MAX_NEAREST = 12
"""Works that a section quotes at most without a model."""
MAX_WRITTEN_CLAIMS = 20
"""Claims of sections that are written that a writer is shown, the latest ones."""


class SectionDrafting(RunPart):
    """Drafts every section of a long report."""

    def __init__(self, run: RunParts, results: SectionResults) -> None:
        super().__init__(run)
        self.results = results

    def calls_to_write(self) -> tuple[Role, ...]:
        """Return the model calls that the report still needs.

        Draft and check of each section, and the editor.
        """
        count = len(self.context.outline) or self.request.limits.max_sections
        open_count = max(count - len(self.state.draft.sections), 0)
        section: tuple[Role, ...] = ("writer", "verifier")
        return (*section * open_count, "editor")

    async def draft_all(self, use_model: bool) -> None:
        """Draft every section that has no draft yet."""
        drafts = self.state.draft.sections
        sections = [section for section in self.context.outline if section.id not in drafts]
        if not sections:
            return
        await self.boundary(use_model)
        if use_model:
            read_in_full = self.run.parts.full_texts.read
            await run_all(read_in_full(self.results.evidence_of(section)) for section in sections)
        await self.run.parts.act("before_answer", use_model)
        is_whole = bool(self.state.draft.begun.get("")) if not use_model else not drafts
        if is_whole and (evidence := self._works_for_one_call()):
            await self._draft_whole(evidence, use_model)
            return
        self.events.set_phase("writing", f"{plural(len(sections), 'section')} at once")
        slots = asyncio.Semaphore(self._at_once())

        async def draft(section: ReportPlanSection) -> None:
            async with slots:
                await self._draft(section, use_model)

        await run_all(draft(section) for section in sections)

    def _at_once(self) -> int:
        """Return how many sections are written at once: as many calls as the budget holds, at least one."""
        writer = needs(self.models.allowance("writer"), self.models.price("writer"))

        def holds(calls: int) -> bool:
            spend = writer.map_kinds(lambda _, amount: amount * calls)
            return self.context.budget.refusal(spend, writing=True) is None

        limit = self.request.limits.max_parallel_sections
        return next((calls for calls in range(limit, 1, -1) if holds(calls)), 1)

    async def boundary(self, use_model: bool) -> None:
        """Pause or continue as new at a step boundary, where a run that goes on paying may."""
        if use_model:
            if self.context.history_is_long():
                await self.context.continue_as_new()
            await self.gates.checkpoint()

    def _works_for_one_call(self) -> tuple[EvidenceRef, ...]:
        """Return the works of all sections where one call can write from all that answer.

        None where a section found works and none of them was judged.
        """
        state = self.state
        by_id, refs = state.evidence.judgements, state.evidence.usable_refs
        answer_count = sum(by_id[name].answers >= MIN_ANSWERS for name in refs if name in by_id)
        has_several = len(self.context.outline) > 1 and self.models.asks_model("writer")
        are_judged = all(by_id.keys() & names for names in map(set, state.sections.found.values()) if names)
        if not (has_several and are_judged and 0 < answer_count <= MAX_FOR_ONE_CALL):
            return ()
        relevant = [refs[name] for name in state.evidence.relevant if name in refs]
        judged_refs = (ref for name, ref in refs.items() if name in by_id)
        by_grade = sorted(judged_refs, key=lambda ref: -by_id[ref.evidence_id].answers)
        works = {ref.evidence_id: ref for ref in (*relevant, *by_grade)}
        return input_refs(tuple(works.values()), MAX_WRITER_ITEMS)

    async def _draft_whole(self, evidence: tuple[EvidenceRef, ...], use_model: bool) -> None:
        """Have all sections and the answer written in one call."""
        state, outline, writing = self.state, self.context.outline, self.run.writing
        self.events.set_phase("writing", f"{plural(len(outline), 'section')} in one call")
        findings = state.sections.findings
        section_facts = (fact for part in outline if part.id in findings for fact in findings[part.id].facts)
        step = WriteInput(
            **self.context.step_inputs(
                question=self.context.run_question,
                facts=dict.fromkeys((*section_facts, *state.evidence.facts)),
                instruction=writing.instructions(),
            ),
            section_id=outline[0].id,
            title=state.question.plan.report_title if state.question.plan else "",
            evidence=evidence,
            outline=tuple(outline),
            stop_reason=state.stop_reason or self.results.overall_stop(),
            hypotheses=tuple(state.part(CandidatesState).hypotheses),
            judgements=judgements_of(evidence, state.evidence.judgements),
            left_open=tuple(dict.fromkeys(gap for part in outline for gap in state.left_open(part.id))),
        )
        drafts = drafts_by_section(await writing.write(step, use_model), [section.id for section in outline])
        for section in outline:
            state.draft.sections[section.id] = self.results.planned(section, drafts[section.id])

    async def _draft(self, section: ReportPlanSection, use_model: bool) -> None:
        state, draft = self.state, SectionDraft(title=section.title)
        evidence, shared_ids = self._evidence(section)
        if evidence:
            findings = state.sections.findings.get(section.id)
            judgements = {j.evidence_id: j for j in findings.judgements} if findings else {}
            other_questions = (part.key_question for part in self.context.outline if part.id != section.id)
            # what the manager of its sub-team holds for known, first, and last asked for
            facts = dict.fromkeys((*(findings.facts if findings else ()), *state.evidence.facts))
            step = WriteInput(
                **self.context.step_inputs(
                    section=section,
                    facts=facts,
                    instruction=findings.instruction if findings else "",
                ),
                section=section.id,
                section_id=section.id,
                title=section.title,
                evidence=evidence,
                shared=shared_ids,
                other_sections=tuple(other_questions),
                written=self._written_claims(section),
                stop_reason=state.stop_reason
                or (findings.stop_reason if findings else "sufficient_evidence"),
                hypotheses=tuple(state.part(CandidatesState).hypotheses),
                judgements=judgements_of(evidence, judgements),
                left_open=state.left_open(section.id),
            )
            draft = await self.run.writing.write(step, use_model)
        state.draft.sections[section.id] = self.results.planned(section, draft)

    def _written_claims(self, section: ReportPlanSection) -> tuple[Claim, ...]:
        """Return the latest claims of the other sections that are written, without their quotes."""
        drafts = (other.draft for name, other in self.state.draft.sections.items() if name != section.id)
        claims = [claim for draft in drafts for claim in draft_claims(draft)[1]]
        return tuple(claim.replace(support=()) for claim in claims[-MAX_WRITTEN_CLAIMS:])

    def _evidence(self, section: ReportPlanSection) -> tuple[tuple[EvidenceRef, ...], tuple[str, ...]]:
        """Return what a section is written from, and the ids of items of other sections."""
        state, refs = self.state, self.results.evidence_of(section)
        owners = state.sections.owners
        if not self.models.asks_model("writer"):
            owners = {**nearest_first(self.context.outline, state.sections.found), **owners}
        state.sections.owners = divide(self.context.outline, state.sections.found, owners)
        owners = state.sections.owners
        other_ids = {r.evidence_id for r in refs if owners.get(r.evidence_id) not in (section.id, None)}
        in_order = sorted(refs, key=lambda ref: ref.evidence_id in other_ids)
        evidence = input_refs(in_order, MAX_WRITER_ITEMS)
        return evidence, tuple(ref.evidence_id for ref in evidence if ref.evidence_id in other_ids)


def nearest_first(
    sections: Sequence[ReportPlanSection], by_section: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Evidence id -> section that quotes it, without a model.

    The first of the outline to which it is among the nearest, so that the question itself comes before its
    aspects.
    """
    owners: dict[str, str] = {}
    for section in sections:
        for name in by_section.get(section.id, ())[:MAX_NEAREST]:
            owners.setdefault(name, section.id)
    return owners


def divide(
    sections: Sequence[ReportPlanSection],
    by_section: Mapping[str, Sequence[str]],
    owners: Mapping[str, str],
) -> dict[str, str]:
    """Evidence id -> id of the section that ranks it highest, for every item that a section found.

    `by_section` holds the ids each section found, best first; `owners` is what was decided before, and stays.
    """
    ranks = [
        (place, section.id, name)
        for section in sections
        for place, name in enumerate(by_section.get(section.id, ()))
    ]
    result = dict(owners)
    for _, section_id, name in sorted(ranks, key=lambda rank: rank[0]):
        result.setdefault(name, section_id)
    return result
