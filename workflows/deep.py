"""DeepResearch: a plan, a person's approval, one child workflow a section, one report.

Invariants:

* results are keyed by section id, never by position;
* a section that fails or is cancelled leaves the others alone and is named in the report;
* sections spend only what the run's ledger has leased to them, and what they leave goes to the others;
* every phase leaves its result in the state, so that continuing as new repeats none of them; it happens only
  while no section runs.
"""

import asyncio
from collections import Counter

from temporalio import workflow
from temporalio.exceptions import ApplicationError, ChildWorkflowError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.roles.allowances import ALLOWANCES
    from activities.steps import PlanInput, PlannedSection, ProofreadInput, Role, SectionDraft, WriteInput
    from activities.think import ThinkActivities
    from activities.types import Claim, EvidenceRef, ReportPlan, ReportPlanSection, StopReason
    from workflows.conclude import WITHOUT_PAID_CALLS, WRITTEN_FROM, Conclusion
    from workflows.conduct import OutOfBudget
    from workflows.dedup import merge
    from workflows.parent import ParentSide
    from workflows.state import RunState
    from workflows.types import Outcome, ResearchRequest, SectionFindings, SectionProgress

CLAIMS_SHOWN = 60
"""Claims already written that a later section is shown."""
WORST_FIRST: tuple[StopReason, ...] = (
    "judge_unavailable",
    "cost_budget_exceeded",
    "token_budget_exceeded",
    "timeout",
    "max_iterations_reached",
    "no_new_evidence",
)
"""Which of its sections' stop reasons a run reports when they differ."""


@workflow.defn
class DeepResearch(ParentSide, Conclusion):
    """Plan, approve, research in parallel, write as one."""

    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        # the SDK leaves plain JSON as it is when an optional argument is not sent
        self.request = ResearchRequest.model_validate(request)
        self.state = state or RunState()
        self.state.loop.max_iterations = self.budget_ledger.limits.max_iterations
        self.open()

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        if self.state.stop_reason is not None:
            return await self.conclude(self.state.stop_reason)
        try:
            await self.get_ready()
            await self.make_plan()
            if await self.gate("plan", "the plan waits for approval"):
                stop = await self.research_sections()
            else:
                stop = "rejected_by_reviewer"
        except (asyncio.CancelledError, Exception) as error:
            if not is_cancelled_exception(error):
                raise
            self.state.control.cancelled = True
            stop = "cancelled"
        return await self.conclude(stop)

    # planning

    def keep_for_writing(self) -> None:
        """Keep back what writing every section needs."""
        if self.choice("long_writer").backend == "extractive":
            return
        once = self.request.writer == "proofreader"
        role: Role = "proofreader" if once else "long_writer"
        times = 1 if once else self.request.limits.max_sections
        self.budget_ledger.keep_for_writing(ALLOWANCES[role], self.price(role), times)

    async def make_plan(self) -> None:
        """Outline the report: sections with a key question each."""
        if self.state.plan is not None:
            return
        await self.checkpoint()
        self.enter("planning", "outlining the report")
        assert self.state.parsed is not None
        most = self.request.limits.max_sections
        step = PlanInput(**self.context(), parsed=self.state.parsed, max_sections=most)
        try:
            plan = await self.think("planner", ThinkActivities.plan_report, step)
        except OutOfBudget:
            self.note("The budget was used up while planning: the plan was made without a language model.")
            plan = await self.think("planner", ThinkActivities.plan_report, step, offline=True)
        outline = plan.report_outline[:most] or (
            ReportPlanSection(title="Findings", key_question=self.request.question),
        )
        self.adopt_plan(
            ReportPlan(
                report_title=plan.report_title or self.request.question,
                background_context=plan.background_context,
                report_outline=outline,
            )
        )
        self.tell("planned", f"{len(outline)} sections", plan_hash=self.state.plan_hash)

    # research

    async def research_sections(self) -> StopReason:
        """One child a section, all at once as far as `max_parallel_sections` allows."""
        if self.history_is_long():
            await self.go_on_as_new()
        await self.checkpoint()
        self.enter("researching", f"{len(self.outline())} sections")
        for section in self.outline():
            self.state.sections.setdefault(section.id, SectionProgress(id=section.id, title=section.title))
        waiting = [s for s in self.outline() if s.id not in self.state.findings]
        self.divide(len(waiting))
        room = asyncio.Semaphore(self.request.limits.max_parallel_sections)
        tasks = [asyncio.create_task(self.research_section(section, room)) for section in waiting]
        try:
            await asyncio.gather(*tasks)
        except asyncio.CancelledError:
            self.state.control.cancelled = True
            await workflow.wait(tasks)
            raise
        return self.overall_stop()

    def outline(self) -> tuple[ReportPlanSection, ...]:
        return self.state.plan.report_outline if self.state.plan else ()

    async def research_section(self, section: ReportPlanSection, room: asyncio.Semaphore) -> None:
        """One section, from its turn to its findings. Whatever becomes of it stays in its own row."""
        async with room:
            await self.checkpoint()
            if self.state.control.finish or self.state.control.cancelled:
                self.close_section(section, None, "the reviewer asked to finish before it was begun")
                return
            try:
                outcome = await self.run_child(section)
            except ChildWorkflowError as error:
                cancelled = is_cancelled_exception(error)
                note = "it was cancelled" if cancelled else f"it failed: {_innermost(error)}"
                self.close_section(section, None, note, cancelled=cancelled)
            else:
                self.close_section(section, outcome.findings, "")
            await self.send_grants()

    def close_section(
        self,
        section: ReportPlanSection,
        findings: SectionFindings | None,
        note: str,
        *,
        cancelled: bool = False,
    ) -> None:
        """Take a section's findings into the run's ledger, and its lease back."""
        state = self.state
        if findings is None:
            findings = SectionFindings(
                section_id=section.id,
                status="cancelled" if cancelled else "failed",
                stop_reason="cancelled" if cancelled else "all_sources_failed",
                by_role=state.sections[section.id].by_role,
            )
            self.withhold(section.id, findings.by_role)
        else:
            self.budget_ledger.close_lease(section.id, findings.by_role)
        merged = merge(state.evidence, findings.evidence, section.id)
        state.evidence = list(merged.refs)
        state.identified += findings.identified
        state.duplicates += findings.duplicates + merged.duplicates
        state.screened += findings.screened
        state.searches += findings.searches
        self.budget_ledger.iterations = max(self.budget_ledger.iterations, findings.iterations)
        state.models += [m for m in findings.models if m not in state.models]
        state.prompt_versions += [v for v in findings.prompt_versions if v not in state.prompt_versions]
        for text in findings.notes:
            self.note(text)
        state.findings[section.id] = findings
        state.sections[section.id] = state.sections[section.id].model_copy(
            update={
                "status": findings.status,
                "phase": "done",
                "iteration": findings.iterations,
                "evidence": len(findings.evidence),
                "note": note or findings.stop_reason.replace("_", " "),
            }
        )
        self.tell(
            "section_done", f"{section.title}: {state.sections[section.id].note}", section_id=section.id
        )
        self.serve_leases()

    def overall_stop(self) -> StopReason:
        """The run's stop reason from those of its sections."""
        if self.state.control.finish:
            return "finished_by_reviewer"
        reasons = Counter(f.stop_reason for f in self.state.findings.values())
        for reason in WORST_FIRST:
            if reasons[reason]:
                return reason
        if reasons["sufficient_evidence"]:
            return "sufficient_evidence"
        return "cancelled" if reasons["cancelled"] == len(self.outline()) else "all_sources_failed"

    # synthesis

    async def conclude(self, stop: StopReason) -> Outcome:
        """Name candidates, write every section knowing what the others said, publish."""
        self.state.stop_reason = stop
        offline = stop in WITHOUT_PAID_CALLS
        self.judge_as_a_whole()
        await self.settle_candidates(offline)
        if self.request.writer == "proofreader" and not offline:
            await self.proofread_drafts()
        for section in self.outline():
            if section.id in self.state.drafts:
                continue
            if self.history_is_long():
                await self.go_on_as_new()
            if not offline and not self.state.control.finish:
                await self.checkpoint()
            self.state.drafts[section.id] = await self.write_section(section, offline)
            self.remember_claims(self.state.drafts[section.id])
        return await self.release(tuple(self.state.drafts[s.id] for s in self.outline()), stop)

    def judge_as_a_whole(self) -> None:
        """What any section found helpful is helpful to the whole."""
        order = [ref.evidence_id for f in self.state.findings.values() for ref in f.evidence]
        self.state.relevant = list(dict.fromkeys(order))

    def confidence(self) -> float:
        """The mean of the sections' confidences; one that failed counts as none."""
        return sum(f.confidence for f in self.state.findings.values()) / max(len(self.outline()), 1)

    def of_section(self, section: ReportPlanSection) -> tuple[EvidenceRef, ...]:
        """The ledger's items that a section found, in the section's own order."""
        findings = self.state.findings.get(section.id)
        order = {ref.evidence_id: n for n, ref in enumerate(findings.evidence)} if findings else {}
        mine = [r for r in self.state.evidence if section.id in r.sections and r.standing != "retracted"]
        return tuple(sorted(mine, key=lambda r: order.get(r.evidence_id, len(order))))[:WRITTEN_FROM]

    def planned(self, section: ReportPlanSection, draft: SectionDraft) -> PlannedSection:
        """A section with what became of its research."""
        findings = self.state.findings.get(section.id)
        progress = self.state.sections.get(section.id)
        return PlannedSection(
            section=section,
            draft=draft,
            status=findings.status if findings else "cancelled" if self.state.control.cancelled else "failed",
            note=progress.note if progress else "it was not begun",
        )

    async def write_section(self, section: ReportPlanSection, offline: bool) -> PlannedSection:
        """One section by the long writer, which sees the claims already written."""
        evidence = self.of_section(section)
        if not evidence:
            return self.planned(section, SectionDraft(title=section.title))
        self.enter("writing", section.title)
        step = WriteInput(
            **{**self.context(), "question": section.key_question},
            section=section.id,
            section_id=section.id,
            title=section.title,
            evidence=evidence,
            written=tuple(self.state.written[-CLAIMS_SHOWN:]),
            stop_reason=self.state.stop_reason or "sufficient_evidence",
            hypotheses=tuple(self.state.hypotheses),
        )
        draft = await self.think(
            "long_writer", ThinkActivities.write_section, step, writing=True, offline=offline
        )
        return self.planned(section, draft)

    def remember_claims(self, planned: PlannedSection) -> None:
        """Hand a section's claims on to the sections after it."""
        claims = [claim for paragraph in planned.draft.paragraphs for claim in paragraph.claims]
        self.state.written += [
            Claim(id=f"{planned.section.id}c{n}", text=claim.text, support=claim.support)
            for n, claim in enumerate(claims, 1)
        ]

    async def proofread_drafts(self) -> None:
        """One pass over the drafts the sections wrote themselves."""
        drafts = {name: f.draft for name, f in self.state.findings.items() if f.draft is not None}
        if not drafts or self.state.drafts:
            return
        self.enter("writing", f"proofreading {len(drafts)} drafts")
        step = ProofreadInput(
            **self.context(), drafts=drafts, titles={s.id: s.title for s in self.outline() if s.id in drafts}
        )
        read = await self.think("proofreader", ThinkActivities.proofread, step, writing=True)
        for section in self.outline():
            draft = read.drafts.get(section.id) or drafts.get(section.id)
            if draft is not None:
                self.state.drafts[section.id] = self.planned(section, draft)


def _innermost(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    message = error.message if isinstance(error, ApplicationError) else str(error)
    return " ".join(message.split())[:200]
