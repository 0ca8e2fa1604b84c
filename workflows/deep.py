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
from collections.abc import Mapping
from itertools import zip_longest
from typing import Literal

from temporalio import workflow
from temporalio.exceptions import ApplicationError, FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.report.assemble import draft_claims
    from activities.role_activities import ThinkActivities
    from activities.steps import (
        DraftClaim,
        DraftParagraph,
        PlanInput,
        PlannedSection,
        Proofread,
        ProofreadInput,
        Role,
        SectionDraft,
        WriteInput,
    )
    from activities.types import EvidenceRef, ReportPlan, ReportPlanSection, StopReason, Support
    from workflows.types import Outcome, ResearchRequest, SectionFindings, SectionProgress

from workflows.conclude import WITHOUT_PAID_CALLS, WRITTEN_FROM, Conclusion
from workflows.rules.dedup import merge
from workflows.rules.payload_limits import shown, within
from workflows.sections.coordinator import ParentSide
from workflows.state import RunState
from workflows.steps.failures import OutOfBudget

CLAIMS_SHOWN = 60
"""Claims already written that a later section is shown: the latest, as far as there is room."""
CLAIMS_ROOM = 60 * 1024
"""Bytes of JSON they may take."""
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
        self.begin(request, state)
        self.open()

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        return await self.see_through(self.research)

    async def research(self) -> StopReason:
        """Plan, have the plan approved where that is asked for, and research every section."""
        await self.get_ready()
        await self.make_plan()
        if not await self.gate("plan", "the plan waits for approval"):
            return "rejected_by_reviewer"
        return await self.research_sections()

    # planning

    def writing_roles(self) -> tuple[Role, ...]:
        """One proofreading pass, or a call for every section: of the plan, or as many as there may be."""
        if self.request.writer == "proofreader":
            return ("proofreader",)
        each: Role = "long_writer"
        planned = len(self.outline()) or self.request.limits.max_sections
        return (each,) * (planned - len(self.state.drafts))

    async def make_plan(self) -> None:
        """Outline the report: sections with a key question each."""
        if self.state.plan is not None:
            return
        await self.checkpoint()
        self.enter("planning", "outlining the report")
        assert self.state.parsed is not None
        most = self.request.limits.max_sections
        step = PlanInput(**self.context(), parsed=self.state.parsed, max_sections=most)
        bare = ReportPlan(report_title=self.request.question)
        try:
            plan = await self.think("planner", ThinkActivities.plan_report, step, bare)
        except OutOfBudget as error:
            spent = "time" if error.reason == "timeout" else "budget"
            self.note(f"The {spent} was used up while planning: the plan was made without a model.")
            plan = await self.think("planner", ThinkActivities.plan_report, step, bare, offline=True)
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
        self.keep_for_writing()
        self.divide(len(waiting))
        room = asyncio.Semaphore(self.request.limits.max_parallel_sections)
        tasks = [asyncio.create_task(self.research_section(section, room)) for section in waiting]
        tasks.append(asyncio.create_task(self.write_what_is_done()))
        try:
            await asyncio.gather(*tasks)
        except asyncio.CancelledError:
            # a child that is being cancelled still brings home what it found
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
            left = self.budget_ledger.research_seconds(self.now())
            if self.state.control.finish or (left is not None and left <= 0):
                self.leave_out(section, "timeout" if left == 0 else "finished_by_reviewer")
                return
            try:
                outcome = await self.run_child(section)
            except FailureError as error:
                self.give_up(section, error)
            else:
                findings = outcome.findings or self.nothing_of(section, "failed", "all_sources_failed")
                self.budget_ledger.close_lease(section.id, findings.by_role, findings.spent_microusd)
                self.take_home(section, findings, findings.stop_reason.replace("_", " "))
            self.serve_leases()
            await self.send_grants()

    def leave_out(self, section: ReportPlanSection, stop: StopReason) -> None:
        """A section whose turn came too late."""
        why = "the time was used up" if stop == "timeout" else "the reviewer asked to finish"
        self.take_home(section, self.nothing_of(section, "cancelled", stop), f"{why} before it was begun")

    def give_up(self, section: ReportPlanSection, error: FailureError) -> None:
        """A section whose workflow ended without findings. What it may have spent stays held."""
        if is_cancelled_exception(error):
            findings, note = self.nothing_of(section, "cancelled", "cancelled"), "it was cancelled"
        else:
            findings = self.nothing_of(section, "failed", "all_sources_failed")
            note = f"it failed: {_innermost(error)}"
        self.budget_ledger.withhold(section.id, findings.by_role, findings.spent_microusd)
        self.take_home(section, findings, note)

    def nothing_of(
        self, section: ReportPlanSection, status: Literal["failed", "cancelled"], stop: StopReason
    ) -> SectionFindings:
        """No findings, with what the section said it had spent."""
        known = self.state.sections[section.id]
        return SectionFindings(
            section_id=section.id,
            status=status,
            stop_reason=stop,
            by_role=known.by_role,
            spent_microusd=known.spent_microusd,
        )

    def take_home(self, section: ReportPlanSection, findings: SectionFindings, note: str) -> None:
        """Take a section's findings into the run's ledger. Drafts follow the names that works have there."""
        state = self.state
        written = (planned.draft for planned in state.drafts.values())
        quoted = {s.evidence_id for d in written for p in d.paragraphs for c in p.claims for s in c.support}
        merged = merge(state.evidence, findings.evidence, section.id, quoted)
        state.evidence = list(merged.refs)
        state.found[section.id] = list(
            dict.fromkeys(merged.kept_as[ref.evidence_id] for ref in findings.evidence)
        )
        works = (merged.kept_as.get(name, name) for name in findings.works)
        state.works = list(dict.fromkeys([*state.works, *works]))
        state.identified += findings.identified
        state.duplicates = max(state.identified - len(state.works), 0)
        state.screened = min(state.screened + findings.screened, len(state.works))
        state.searches += findings.searches
        self.budget_ledger.iterations = max(self.budget_ledger.iterations, findings.iterations)
        state.models += [m for m in findings.models if m not in state.models]
        state.prompt_versions += [v for v in findings.prompt_versions if v not in state.prompt_versions]
        for text in findings.notes:
            self.note(text)
        draft = renamed(findings.draft, merged.kept_as) if findings.draft else None
        state.findings[section.id] = findings.model_copy(
            update={"evidence": (), "works": (), "searches": (), "notes": (), "draft": draft}
        )
        state.sections[section.id] = state.sections[section.id].model_copy(
            update={
                "status": findings.status,
                "phase": "done",
                "iteration": findings.iterations,
                "evidence": len(findings.evidence),
                "by_role": findings.by_role,
                "note": note,
            }
        )
        self.tell("section_done", f"{section.title}: {note}", section_id=section.id)

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

    async def write_what_is_done(self) -> None:
        """While sections are still researched, write those that are done, in the plan's order, as far as the
        budget allows. Where candidates are named or drafts proofread, all of them are needed first."""
        if self.profile.candidates or self.request.writer == "proofreader":
            return
        done, outline = self.state.findings, self.outline()
        for section in outline:
            await workflow.wait_condition(lambda name=section.id: name in done)  # type: ignore[misc]  # bound
            if len(done) == len(outline) or done[section.id].stop_reason in WITHOUT_PAID_CALLS:
                return
            if self.refused("long_writer", writing=True):
                return  # until the sections that are still at it have given back what they hold
            await self.checkpoint()
            if section.id not in self.state.drafts:
                self.enter("researching", f"writing meanwhile: {section.title}")
                await self.write_section(section, offline=False)
                self.budget_ledger.release_from_writing(self.calls_to_write())
                self.serve_leases()
                await self.send_grants()

    async def conclude(self, stop: StopReason) -> Outcome:
        """Name candidates, write every section knowing what the others said, publish."""
        self.stopped(stop)
        offline = stop in WITHOUT_PAID_CALLS
        self.judge_as_a_whole()
        await self.settle_candidates(offline)
        if self.request.writer == "proofreader":
            await self.proofread_drafts(offline)
        for section in self.outline():
            if section.id in self.state.drafts:
                continue
            if not offline:
                if self.history_is_long():
                    await self.go_on_as_new()
                await self.checkpoint()
            self.enter("writing", section.title)
            await self.write_section(section, offline)
        return await self.release(tuple(self.state.drafts[s.id] for s in self.outline()), stop)

    def judge_as_a_whole(self) -> None:
        """What any section found helpful is helpful to the whole: the best of each before the second best."""
        ranks = zip_longest(*self.state.found.values())
        self.state.relevant = list(dict.fromkeys(name for rank in ranks for name in rank if name))

    def confidence(self) -> float:
        """The mean of the sections' confidences; one that failed counts as none."""
        return sum(f.confidence for f in self.state.findings.values()) / max(len(self.outline()), 1)

    def of_section(self, section: ReportPlanSection) -> tuple[EvidenceRef, ...]:
        """The ledger's items that a section found, in the section's own order."""
        order = {name: place for place, name in enumerate(self.state.found.get(section.id, ()))}
        mine = [r for r in self.state.evidence if section.id in r.sections and r.standing != "retracted"]
        return tuple(sorted(mine, key=lambda r: order.get(r.evidence_id, len(order))))

    def planned(self, section: ReportPlanSection, draft: SectionDraft) -> PlannedSection:
        """A section with what became of its research."""
        findings = self.state.findings.get(section.id)
        progress = self.state.sections.get(section.id)
        return PlannedSection(
            section=section,
            draft=draft,
            status=findings.status if findings else "cancelled" if self.state.control.cancelled else "failed",
            note=(progress.note if progress else "") or "it was not begun",
        )

    async def write_section(self, section: ReportPlanSection, offline: bool) -> None:
        """One section by the long writer, which sees the claims already written."""
        evidence, draft = shown(self.of_section(section), WRITTEN_FROM), SectionDraft(title=section.title)
        if evidence:
            findings = self.state.findings.get(section.id)
            step = WriteInput(
                **{**self.context(), "question": section.key_question},
                section=section.id,
                section_id=section.id,
                title=section.title,
                evidence=evidence,
                written=tuple(reversed(within(reversed(self.state.written[-CLAIMS_SHOWN:]), CLAIMS_ROOM))),
                stop_reason=self.state.stop_reason
                or (findings.stop_reason if findings else "sufficient_evidence"),
                hypotheses=tuple(self.state.hypotheses),
            )
            draft = await self.think(
                "long_writer", ThinkActivities.write_section, step, draft, writing=True, offline=offline
            )
        self.keep_draft(section, draft)

    def keep_draft(self, section: ReportPlanSection, draft: SectionDraft) -> None:
        """A section is written; its claims are handed on to the sections after it."""
        self.state.drafts[section.id] = self.planned(section, draft)
        self.state.written += draft_claims(section.id, draft)

    async def proofread_drafts(self, offline: bool) -> None:
        """One pass over the drafts the sections wrote; without paid calls they stay as they are."""
        drafts = {name: f.draft for name, f in self.state.findings.items() if f.draft is not None}
        if not drafts or self.state.drafts:
            return
        read = Proofread(drafts=drafts)
        if not offline:
            self.enter("writing", f"proofreading {len(drafts)} drafts")
            titles = {s.id: s.title for s in self.outline() if s.id in drafts}
            step = ProofreadInput(**self.context(), drafts=drafts, titles=titles)
            read = await self.think("proofreader", ThinkActivities.proofread, step, read, writing=True)
        for section in self.outline():
            draft = read.drafts.get(section.id) or drafts.get(section.id)
            if draft is not None:
                self.keep_draft(section, draft)


def renamed(draft: SectionDraft, names: Mapping[str, str]) -> SectionDraft:
    """A draft whose quotes name works as the ledger does."""

    def named(support: Support) -> Support:
        return support.model_copy(update={"evidence_id": names.get(support.evidence_id, support.evidence_id)})

    def claim(said: DraftClaim) -> DraftClaim:
        return said.model_copy(update={"support": tuple(map(named, said.support))})

    paragraphs = tuple(DraftParagraph(claims=tuple(map(claim, p.claims))) for p in draft.paragraphs)
    return draft.model_copy(update={"paragraphs": paragraphs})


def _innermost(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    message = error.message if isinstance(error, ApplicationError) else str(error)
    return " ".join(message.split())[:200]
