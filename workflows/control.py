"""Where a run stands and what it waits for: its clock, its events, its step boundaries and its gates.

Invariants:

* the run acts on what people say at its next step boundary (`checkpoint`);
* a gate that was opened stays open through continuing as new, and so does its time-out;
* waiting for people is not working time.
"""

import hashlib
from datetime import UTC, timedelta
from itertools import count
from typing import NoReturn

from temporalio import workflow
from temporalio.common import SearchAttributeKey

with workflow.unsafe.imports_passed_through():
    from activities.report.schema import Published
    from activities.steps import Decision
    from activities.types import Gate, ReportPlan, ReportPlanSection, Statement
    from workflows.types import AgentEvent, Outcome, Phase, ResearchRequest

from workflows.rules.budget import Budget
from workflows.state import EVENTS_KEPT, RunState

PHASE = SearchAttributeKey.for_keyword("DeterminatorPhase")
STOP_REASON = SearchAttributeKey.for_keyword("DeterminatorStopReason")
MESSAGE_CHARS = 400
"""Of an event's message and of each of its data."""


def plan_hash(plan: ReportPlan) -> str:
    """What names a plan: a digest of everything in it."""
    return hashlib.sha256(plan.model_dump_json().encode()).hexdigest()[:16]


def numbered(plan: ReportPlan) -> ReportPlan:
    """The plan with an id for every section: ids that are there and unique stay."""
    given = [section.id for section in plan.report_outline]
    taken: list[str] = []
    sections: list[ReportPlanSection] = []
    for number, section in enumerate(plan.report_outline, 1):
        name = section.id if section.id not in taken else ""
        free = (f"s{n}" for n in count(number) if f"s{n}" not in taken and f"s{n}" not in given)
        name = name or next(free)
        taken.append(name)
        sections.append(section.model_copy(update={"id": name}))
    return plan.model_copy(update={"report_outline": tuple(sections)})


class ResearchControl:
    """Base of the research workflows: its handlers are theirs. Subclasses fill `request` and `state`."""

    request: ResearchRequest
    state: RunState
    published: Published | None = None
    outcome: Outcome | None = None
    """Set once the report is released: what happens after that cannot change it."""

    def begin(self, request: ResearchRequest, state: RunState | None) -> None:
        """What every research workflow starts with. The SDK hands over plain JSON, whatever the type says,
        when an optional argument was not sent."""
        self.request = ResearchRequest.model_validate(request)
        self.state = RunState.received(state)
        self.state.loop.max_iterations = self.budget_ledger.limits.max_iterations

    # time

    def now(self) -> float:
        """Seconds since the epoch, of the workflow's clock."""
        return workflow.now().timestamp()

    def stamp(self) -> str:
        """The workflow's time in ISO form."""
        return workflow.now().astimezone(UTC).isoformat(timespec="seconds")

    @property
    def budget_ledger(self) -> Budget:
        """The run's budget, opened when it is first looked at."""
        if self.state.budget is None:
            self.state.budget = Budget(limits=self.request.limits, started_at=self.now())
        return self.state.budget

    # telling

    def tell(self, type_: str, message: str, **data: str) -> None:
        """Add an event: what `events` returns and the CLI prints."""
        control = self.state.control
        control.last_seq += 1
        control.events.append(
            AgentEvent(
                seq=control.last_seq,
                type=type_,
                message=message[:MESSAGE_CHARS],
                iteration=self.state.loop.iteration,
                section=self.state.job.section.id if self.state.job else "",
                data={name: text[:MESSAGE_CHARS] for name, text in data.items()},
                timestamp=self.stamp(),
            )
        )
        del control.events[:-EVENTS_KEPT]

    def note(self, text: Statement | str) -> None:
        """Something the report's limitations must say; said once."""
        if text not in self.state.notes:
            self.state.notes.append(text)

    def enter(self, phase: Phase, message: str) -> None:
        """Show where the run stands: in the queries, in the Web UI's details and in the search attributes."""
        control = self.state.control
        changed = control.phase != phase
        control.phase, control.message = phase, message
        workflow.set_current_details(self._details())
        if changed and self.request.indexed:
            workflow.upsert_search_attributes([PHASE.value_set(phase)])

    def _details(self) -> str:
        control, loop, budget = self.state.control, self.state.loop, self.budget_ledger
        limit = "no limit" if budget.limits.max_tokens is None else f"{budget.limits.max_tokens:,}"
        lines = [
            f"**{control.phase.replace('_', ' ')}** {control.message}",
            "",
            f"- iteration {loop.iteration} of {loop.max_iterations}",
            f"- {len(self.state.evidence)} items, {len(self.state.searches)} searches",
            f"- {budget.used.tokens:,} tokens of {limit}",
        ]
        if control.waiting_for:
            lines.append(f"- waits for approval of the {control.waiting_for}: signal `approve` or `reject`")
        return "\n".join(lines)

    # step boundaries and gates

    async def checkpoint(self) -> None:
        """A step boundary: wait while the run is paused. The pause holds the clock, not this wait: in a deep
        run several boundaries may wait at once."""
        control = self.state.control
        if not control.paused:
            return
        before = control.phase
        self.enter("paused", "paused by a reviewer")
        await workflow.wait_condition(lambda: not control.paused)
        self.enter(before, "resumed")

    async def gate(self, gate: Gate, message: str) -> bool:
        """Wait for a person at a gate, if the request asks for one; say whether to go on.

        Without a time-out it waits without bound; with one, the request's default action is taken. A reviewer
        who asked to finish is not asked about plan and candidates any more, but still about the report.
        """
        control = self.state.control
        if gate not in self.request.approve:
            return True
        if gate not in control.answers and not self.waived(gate):
            self.open_gate(gate, message)
            await self.answer_to(gate)
        self.close_gate()
        if gate not in control.answers:
            self.note(f"The {gate} was not put to the reviewer, who had asked to finish.")
            return True
        return control.answers[gate].action in GO_ON

    async def answer_to(self, gate: Gate) -> None:
        """Until the gate is answered, times out or is waived; continues as new while it waits, if need be."""
        control, timeout = self.state.control, self.request.approval_timeout_seconds
        left = None if timeout is None else max(timeout - (self.now() - control.gate_opened_at), 0.0)
        try:
            await workflow.wait_condition(
                lambda: gate in control.answers or self.waived(gate) or self.history_is_long(),
                timeout=None if left is None else timedelta(seconds=left),
                timeout_summary=f"approval of the {gate}",
            )
        except TimeoutError:
            action = (
                "timed_out_approved" if self.request.approval_default == "approve" else "timed_out_rejected"
            )
            if gate not in control.answers:
                self.decided(Decision(gate=gate, action=action, by="time-out", at=self.stamp()))
        if gate not in control.answers and not self.waived(gate):
            await self.go_on_as_new()

    def waived(self, gate: Gate) -> bool:
        """Whether the reviewer's wish to finish opens a gate."""
        return self.state.control.finish and gate != "report"

    def open_gate(self, gate: Gate, message: str) -> None:
        """Show that a gate waits, from now on, or still if it was opened before continuing as new."""
        control = self.state.control
        self.enter("waiting_for_approval", message)
        if control.waiting_for != gate:
            control.waiting_for, control.gate_opened_at = gate, self.now()
            self.budget_ledger.hold_clock("gate", self.now())
            self.tell("approval_required", message, gate=gate)

    def close_gate(self) -> None:
        """No gate waits any more."""
        control = self.state.control
        control.waiting_for, control.gate_opened_at = None, 0.0
        self.budget_ledger.release_clock("gate", self.now())

    def decided(self, decision: Decision) -> None:
        """Record who decided what and when; of a plan also which plan it was."""
        control = self.state.control
        if decision.gate == "plan":
            decision = decision.model_copy(update={"plan_hash": self.state.plan_hash})
        control.answers[decision.gate] = decision
        control.decisions.append(decision)
        by = f" by {decision.by}" if decision.by else ""
        self.tell("decision", f"{decision.gate} {decision.action.replace('_', ' ')}{by}", gate=decision.gate)

    def history_is_long(self) -> bool:
        """Whether to continue as new at this boundary."""
        info = workflow.info()
        return info.is_continue_as_new_suggested() or (
            info.get_current_history_length() > self.request.history_events
        )

    async def go_on_as_new(self) -> NoReturn:
        """Continue as a new run of the same workflow with everything that is known."""
        await workflow.wait_condition(workflow.all_handlers_finished)
        workflow.continue_as_new(args=[self.request, self.state.carried()])


GO_ON = ("approved", "timed_out_approved", "chosen")
"""Answers after which a run goes on."""
