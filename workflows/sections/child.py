"""The child's side of a run with sections: asks the parent for budget, reports progress, returns findings.

What other sections found is offered to a section when it reports that an iteration begins; its next judgement
sees it.

A section spends only its lease. When a call does not fit, it asks for a lease that is large enough and waits
until another section has given back what it did not use, or the parent answers that nothing is left.
"""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Literal

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from activities.drafts import SectionDraft
    from activities.iterations import IterationRecord
    from activities.types import Allowance, EvidenceRef, Price, StopReason
    from workflows.types import (
        Grant,
        LeaseRequest,
        Outcome,
        SectionFindings,
        SectionProgress,
        SharedEvidence,
    )

from workflows.context import RunContext
from workflows.events import EventLog
from workflows.iterations import current_record
from workflows.rules.budget import worst_cost
from workflows.rules.dedup import merge
from workflows.rules.payload_limits import (
    REFS_ROOM,
    ROOM,
    ROWS_MISSING,
    rows,
    size,
    within,
    without_history,
)
from workflows.steps.writing import NO_GATES, NO_PAID_CALLS, WritingSteps

OWN_SEARCHES_FIRST = "own-searches-first"
"""Patch: a section makes searches of its own before it adopts what others found."""
LEASE_FACTOR = 4
"""A section asks for this many times what its next call needs, so that it asks seldom."""
SHARED_AT_ONCE = 10
"""References that a section reports to be offered to the others."""
EVENTS_ROOM = 48 * 1024
"""Bytes of events in one report to the parent."""
COMPLETE: tuple[StopReason, ...] = ("sufficient_evidence",)
"""Stop reasons after which a section is complete."""


class ParentLink:
    """What a run does in addition when it is a section; without a job every method does nothing."""

    def __init__(self, context: RunContext, events: EventLog) -> None:
        self.context = context
        self.events = events
        self._grants = 0
        self._asked = False
        """Whether a request for budget is still unanswered."""
        self._report: asyncio.Task[bool] | None = None
        """The latest progress report; nothing waits for it, the reference keeps it alive."""

    def accept_grant(self, grant: Grant) -> None:
        """Add the parent's grant to the limits of this section."""
        state = self.context.state
        self.context.budget.extend(grant.tokens, grant.cost_microusd, grant.seconds, grant.iterations)
        state.loop.max_iterations += grant.iterations
        state.exhausted = grant.final
        if grant.tokens or grant.cost_microusd or grant.final:
            self._asked = False
        self._grants += 1

    async def request_budget(self, allowance: Allowance, price: Price | None) -> bool:
        """Ask the parent for budget and wait for its answer; False when there is none or no use for it."""
        state, left = self.context.state, self.context.research_seconds()
        control = state.control
        if state.job is None or state.exhausted or control.finish or (left is not None and left <= 0):
            return False
        seen = self._grants
        if not self._asked:
            cost = worst_cost(allowance, price)
            request = LeaseRequest(
                section_id=state.job.section.id,
                tokens=allowance.tokens * LEASE_FACTOR,
                least_tokens=allowance.tokens,
                cost_microusd=cost * LEASE_FACTOR,
                least_cost_microusd=cost,
            )
            self._asked = True
            if not await self._signal_parent("request_lease", request):
                return False
        with suppress(TimeoutError):
            await workflow.wait_condition(
                lambda: self._grants > seen or control.finish,
                timeout=None if left is None else timedelta(seconds=left),
                timeout_summary="budget from the parent",
            )
        return True

    def report_progress(self) -> None:
        """Report to the parent once an iteration, from the second on, without waiting for the delivery."""
        state = self.context.state
        if state.job is None or state.loop.iteration < 2:
            return
        progress = SectionProgress(
            id=state.job.section.id,
            title=state.job.section.title,
            status="running",
            phase=state.control.phase,
            iteration=state.loop.iteration,
            evidence=len(state.evidence),
            by_role=self.context.budget.by_role,
            spent_microusd=self.context.budget.spent_microusd,
            workflow_id=self.context.run_id,
            events=self.events.unreported(EVENTS_ROOM),
            history=self._unreported_iterations(),
            found=self._unshared(),
        )
        self._report = asyncio.create_task(self._signal_parent("section_report", progress))

    async def return_findings(self, stop: StopReason, writing: WritingSteps) -> Outcome:
        """End a section: return what was found, and a draft when the parent asked for one."""
        state, job = self.context.state, self.context.state.job
        assert job is not None
        draft = None
        if job.write_draft and stop not in NO_GATES:
            draft = await writing.write_report(job.section, stop not in NO_PAID_CALLS)
        self.events.set_phase("done", stop.replace("_", " "))
        self.events.emit_event("complete", state.control.message, stop_reason=stop)
        findings = self._findings(stop, writing, draft)
        return Outcome(
            run_id=self.context.run_id,
            stop_reason=stop,
            answered=bool(state.evidence),
            report_blob="",
            markdown_blob="",
            findings=findings,
        )

    def _findings(
        self, stop: StopReason, writing: WritingSteps, draft: SectionDraft | None
    ) -> SectionFindings:
        state, judged, budget = self.context.state, self.context.state.loop.judged, self.context.budget
        searches = rows(state.searches)
        if len(searches) < len(state.searches):
            self.events.add_statement(ROWS_MISSING)
        status: Literal["complete", "partial", "cancelled"] = "complete" if stop in COMPLETE else "partial"
        findings = SectionFindings(
            section_id=self.context.section_id,
            status="cancelled" if stop == "cancelled" else status,
            stop_reason=stop,
            evidence=within(writing.citable(), REFS_ROOM),
            works=tuple(ref.evidence_id for ref in state.evidence if ref.evidence_id not in state.taken_over),
            relevant=tuple(name for name in state.relevant if name not in state.taken_over)[:SHARED_AT_ONCE],
            screened=state.screened,
            identified=state.identified,
            searches=searches,
            iterations=state.loop.iteration,
            by_role=budget.by_role,
            spent_microusd=budget.spent_microusd,
            confidence=judged.reported_confidence if judged else 0.0,
            scores=judged.scores if judged else {},
            draft=draft,
            events=self.events.unreported(EVENTS_ROOM),
            models=tuple(state.models),
            prompt_versions=tuple(state.prompt_versions),
            notes=tuple(state.notes),
        )
        history = self._unreported_iterations(ended=True)
        return findings.model_copy(update={"history": within(history, ROOM - size(findings))})

    def _unshared(self) -> tuple[EvidenceRef, ...]:
        """What the judge found relevant and the parent does not know yet, best first; neither retracted work
        nor what other sections found."""
        state = self.context.state
        known = {*state.shared, *state.taken_over}
        refs = {ref.evidence_id: ref for ref in state.evidence if ref.standing != "retracted"}
        fresh = [name for name in state.relevant if name in refs and name not in known][:SHARED_AT_ONCE]
        state.shared += fresh
        return tuple(without_history(refs[name]) for name in fresh)

    def accept_offer(self, offer: SharedEvidence) -> None:
        """Keep what other sections found until this one comes to its next step."""
        self.context.state.offered += offer.items

    def adopt_offered_evidence(self) -> None:
        """Make what was offered part of this section's evidence, from its second iteration on, so that its
        judge sees it. What the judge
        does not find relevant is left out of the section's findings."""
        state = self.context.state
        # What others found must not stand in for the searches of a section that begins after them. Sections
        # of earlier versions adopted it at once.
        if not state.offered or (state.loop.iteration < 2 and self.context.follows(OWN_SEARCHES_FIRST)):
            return
        offered, state.offered = state.offered, []
        known = {ref.evidence_id for ref in state.evidence}
        merged = merge(state.evidence, offered, self.context.section_id)
        new = [ref for ref in merged.refs if ref.evidence_id not in known]
        state.evidence = list(merged.refs)
        state.taken_over += [ref.evidence_id for ref in new]
        state.loop.unjudged += len(new)
        state.memory.shared_items += len(new)
        if new:
            message = f"{len(new)} works that other sections found"
            self.events.emit_event("evidence_shared", message, items=len(new))

    def _unreported_iterations(self, *, ended: bool = False) -> tuple[IterationRecord, ...]:
        """The iterations that the parent does not know yet; `ended`: with the last one."""
        state = self.context.state
        last = current_record(state, self.context.timestamp()) if ended else None
        records = (*state.memory.records[state.memory.reported :], *([last] if last else []))
        state.memory.reported = len(state.memory.records)
        return records

    async def _signal_parent(self, signal: str, payload: LeaseRequest | SectionProgress) -> bool:
        """Send a signal; False when there is no parent any more."""
        job = self.context.state.job
        assert job is not None
        try:
            await workflow.get_external_workflow_handle(job.parent_id).signal(signal, payload)
        except FailureError as error:
            message = f"the parent run could not be reached: {error}"
            self.events.emit_event("error", message, kind="parent_gone")
            return False
        return True
