"""The child's side of a run with sections: asks the parent for budget, reports progress, returns findings.

What other sections found is offered to a section when it reports that an iteration begins; its next judgement
sees it.

A section spends only its lease. When a call does not fit, it asks for a lease that is large enough and waits
until another section has given back what it did not use, or the parent answers that nothing is left.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from temporalio import workflow
from temporalio.exceptions import FailureError

from activities.contracts.bounds import size, within
from activities.contracts.evidence import Allowance, EvidenceRef, Price, Usage
from activities.contracts.iterations import IterationRecord
from activities.contracts.stop_reasons import STOPS, StopReason, in_short
from activities.messages import plural
from workflows.amounts import needs
from workflows.context import RunPart
from workflows.rules.dedup import merge
from workflows.rules.payload_limits import REFS_ROOM, ROOM, ROWS_MISSING, rows, without_history
from workflows.sections.types import Grant, LeaseRequest, SectionFindings
from workflows.steps.writing import judgements_of
from workflows.types import Outcome, SectionProgress

if TYPE_CHECKING:
    from workflows.run import RunParts

LEASE_FACTOR = 4
"""A section asks for this many times what its next call needs, so that it asks seldom."""
MAX_REFUSED = 40
"""Refusals of a section that its run lists."""
MAX_SHARED = 10
"""References that a section reports to be offered to the others."""
FOLLOWED = frozenset({"search_complete", "judge_complete", "stopping"})
"""Events that another one, or the end of the section, follows at once: they are reported with that."""
EVENTS_ROOM = 48 * 1024
"""Bytes of events in one report to the parent."""


class ParentLink(RunPart):
    """The link of a section to its parent; without a job every method does nothing."""

    def __init__(self, run: "RunParts") -> None:
        super().__init__(run)
        self._grants = 0
        self._awaits_grant = False
        """Whether a request for budget is still unanswered."""
        self._reporting: asyncio.Task[None] | None = None
        """Sends what has happened, one report after another; ends when there is nothing left to report."""
        self._by_role: dict[str, Usage] = {}
        """What the section had spent at its last report."""
        self._closed = False
        """Whether no report is sent any more: the section ends, or its parent is gone."""
        if self.state.sections.job is not None:
            self.events.on_event = self.report
            self.context.before_continue_as_new.append(self._finish_reports)

    def accept_grant(self, grant: Grant) -> None:
        """Add the parent's grant to the limits of this section."""
        state = self.state
        self.context.budget.extend(grant)
        state.loop.max_iterations += grant.iterations
        state.sections.exhausted = grant.final
        if grant.tokens or grant.cost_microusd or grant.final:
            self._awaits_grant = False
        self._grants += 1

    async def request_budget(self, allowance: Allowance, minimum: Allowance, price: Price | None) -> bool:
        """Ask the parent for budget and wait for its answer; False when there is none or no use for it."""
        sections, people, remaining = self.state.sections, self.state.people, self.context.research_seconds()
        if sections.job is None or sections.exhausted or self.context.must_end:
            return False
        grants = self._grants
        if not self._awaits_grant:
            request = LeaseRequest(
                section_id=sections.job.section.id,
                wanted=needs(allowance, price).map_kinds(lambda _, amount: amount * LEASE_FACTOR),
                least=needs(minimum, price),
            )
            self._awaits_grant = True
            if not await self._signal_parent("request_lease", request):
                return False
        with suppress(TimeoutError):
            await workflow.wait_condition(
                lambda: self._grants > grants or people.finish,
                timeout=None if remaining is None else timedelta(seconds=remaining),
                timeout_summary="budget from the parent",
            )
        return True

    def report(self) -> None:
        """Report to the parent what happened and how far the section is, without waiting for the delivery.

        While a report is under way the next one collects: a report is a signal, which costs two workflow
        tasks and five events.
        """
        is_followed = self.state.people.events[-1].type in FOLLOWED
        if not self._closed and not is_followed and (self._reporting is None or self._reporting.done()):
            self._reporting = asyncio.create_task(self._send_reports())

    async def _send_reports(self) -> None:
        await asyncio.sleep(0)  # what happens at the same time goes into one report
        while self.events.has_unreported and not self._closed:
            if not await self._signal_parent("section_report", self._progress()):
                self._closed = True

    async def _finish_reports(self) -> None:
        """Wait until the parent knows everything."""
        if self._reporting is not None:
            await self._reporting

    def _progress(self) -> SectionProgress:
        state, job = self.state, self.state.sections.job
        assert job is not None
        usages = dict(self.context.budget.by_role)
        changes = {role: usage for role, usage in usages.items() if self._by_role.get(role) != usage}
        self._by_role = usages
        return SectionProgress(
            id=job.section.id,
            status="running",
            phase=state.people.phase,
            iteration=state.loop.iteration,
            evidence=len(state.evidence.refs),
            searches=len(state.evidence.searches),
            by_role=changes,
            spent_microusd=self.context.budget.spent_microusd,
            events=self.events.unreported(EVENTS_ROOM),
            history=self._unreported_iterations(),
            found=self._unshared(),
        )

    async def return_findings(self, stop: StopReason, citable: Sequence[EvidenceRef]) -> Outcome:
        """End a section: return what was found, of which the works in `citable` may be cited."""
        state = self.state
        # a report that arrives after the section has ended would be lost
        await self._finish_reports()
        self._closed = True
        self.events.set_phase("done", in_short(stop))
        self.events.emit("complete", state.people.message, stop_reason=stop)
        findings = self._findings(stop, citable)
        return Outcome(
            run_id=self.context.run_id,
            stop_reason=stop,
            answered=bool(state.evidence.refs),
            report_blob="",
            markdown_blob="",
            findings=findings,
        )

    def _findings(self, stop: StopReason, citable: Sequence[EvidenceRef]) -> SectionFindings:
        state, assessment, budget = self.state, self.state.loop.judged, self.context.budget
        searches = rows(state.evidence.searches)
        if len(searches) < len(state.evidence.searches):
            self.events.add_statement(ROWS_MISSING)
        status: Literal["complete", "partial"] = "complete" if STOPS[stop].complete else "partial"
        findings = SectionFindings(
            section_id=self.context.section_id,
            status="cancelled" if stop == "cancelled" else status,
            stop_reason=stop,
            evidence=within(citable, REFS_ROOM),
            works=tuple(
                ref.evidence_id
                for ref in state.evidence.refs
                if ref.evidence_id not in state.sections.taken_over
            ),
            relevant=tuple(name for name in state.evidence.relevant if name not in state.sections.taken_over)[
                :MAX_SHARED
            ],
            screened=state.evidence.screened,
            identified=state.evidence.identified,
            searches=searches,
            iterations=state.loop.iteration,
            by_role=budget.by_role,
            spent_microusd=budget.spent_microusd,
            confidence=assessment.confidence if assessment else None,
            scores=assessment.scores if assessment else {},
            judgements=judgements_of(citable, state.evidence.judgements),
            refused=tuple(state.evidence.refused[:MAX_REFUSED]),
            events=self.events.unreported(EVENTS_ROOM),
            facts=state.evidence.facts,
            instruction=self.context.instruction,
            models=tuple(state.models.names),
            prompt_versions=tuple(state.models.prompt_versions),
            notes=tuple(state.notes),
        )
        history = self._unreported_iterations(with_last=True)
        return findings.replace(history=within(history, ROOM - size(findings)))

    def _unshared(self) -> tuple[EvidenceRef, ...]:
        """Return what the judge found relevant and the parent does not know yet, best first.

        Neither retracted work nor what other sections found.
        """
        state = self.state
        known_ids = {*state.sections.shared, *state.sections.taken_over}
        refs = state.evidence.usable_refs
        new_ids = [name for name in state.evidence.relevant if name in refs and name not in known_ids][
            :MAX_SHARED
        ]
        state.sections.shared += new_ids
        return tuple(without_history(refs[name]) for name in new_ids)

    def adopt_offered_evidence(self) -> None:
        """Make what was offered part of this section's evidence, from its second iteration on.

        Its judge sees it then. What the judge does not find relevant is left out of the section's findings.
        """
        state = self.state
        # What others found must not stand in for the searches of a section that begins after them.
        if not state.sections.offered or state.loop.iteration < 2:
            return
        offered, state.sections.offered = state.sections.offered, []
        own_ids = {ref.evidence_id for ref in state.evidence.refs}
        merged = merge(state.evidence.refs, offered, self.context.section_id)
        new_refs = [ref for ref in merged.refs if ref.evidence_id not in own_ids]
        state.evidence.refs = list(merged.refs)
        state.sections.taken_over += [ref.evidence_id for ref in new_refs]
        state.loop.unjudged += len(new_refs)
        state.loop.memory.shared_items += len(new_refs)
        if new_refs:
            message = f"{plural(len(new_refs), 'work')} that other sections found"
            self.events.emit("evidence_shared", message, items=len(new_refs))

    def _unreported_iterations(self, *, with_last: bool = False) -> tuple[IterationRecord, ...]:
        """Return the iterations that the parent does not know yet; `with_last`: with the last one."""
        state = self.state
        last = state.current_iteration(self.context.timestamp()) if with_last else None
        records = (*state.loop.memory.records[state.loop.memory.reported :], *([last] if last else []))
        state.loop.memory.reported = len(state.loop.memory.records)
        return records

    async def _signal_parent(self, signal: str, payload: LeaseRequest | SectionProgress) -> bool:
        job = self.state.sections.job
        assert job is not None
        try:
            await send_signal(workflow.get_external_workflow_handle(job.parent_id), signal, payload)
        except FailureError as error:
            message = f"the parent run could not be reached: {error}"
            self.events.emit("error", message, kind="parent_gone")
            return False
        return True


async def send_signal(handle: workflow.ExternalWorkflowHandle[Any], name: str, *payload: object) -> None:
    """Signal another workflow. Raises FailureError when it cannot be reached.

    The SDK absorbs a cancel that meets a signal under way, and the task would go on as if nobody had
    cancelled it. Here the signal is delivered by a task of its own, and the cancel is raised.
    """
    sending = asyncio.create_task(handle.signal(name, args=payload))
    # what nobody awaits any more may fail: the receiver has ended
    sending.add_done_callback(lambda task: task.cancelled() or task.exception())
    await asyncio.shield(sending)
