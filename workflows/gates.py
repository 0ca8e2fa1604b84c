"""Where a run waits for people: pauses at step boundaries, and approval gates.

Invariants:

* the run acts on signals at its next step boundary (`checkpoint`), and asks no model while it is paused;
* a gate that was opened stays open through continue-as-new, and so does its time-out;
* the time spent waiting for people does not count as working time.
"""

import asyncio
from datetime import timedelta
from typing import Literal

from temporalio import workflow

from activities.contracts.evidence import Gate
from activities.contracts.publish import Action, Decision
from workflows.context import RunPart
from workflows.messages import NAME_CHARS
from workflows.types import PlanView

NOTE_CHARS = 2_000
APPROVALS = ("approved", "timed_out_approved", "chosen", "answered")
"""Decisions after which a run continues."""


class Gates(RunPart):
    """The pauses and gates at which a run waits for people."""

    async def checkpoint(self) -> None:
        """Wait at a step boundary while the run is paused.

        The signal handler stops the clock, not this wait: in a deep run several boundaries may wait at once.
        """
        people = self.state.people
        if people.fault and self.state.stop_reason is None:
            raise asyncio.CancelledError  # the SDK absorbs a cancel that meets the end of a step
        if self.context.was_rewound:
            self.context.was_rewound = False
            iteration = self.state.loop.iteration
            where = f"after iteration {iteration}" if iteration else "before the first iteration"
            self.events.emit("rewound", f"the run was rewound and goes on {where}", iteration=iteration)
        if not people.paused:
            return
        before = people.phase
        if before != "paused":
            self.events.set_phase("paused", "paused by a reviewer")
        await workflow.wait_condition(lambda: not people.paused)
        if before != "paused":  # of several boundaries the first says where the run goes on
            self.events.set_phase(before, "resumed")

    def end_pause(self) -> None:
        """End a pause and restart the clock."""
        self.state.people.paused = False
        self.context.budget.release_clock("pause", self.context.now())

    async def approval_gate(self, gate: Gate, message: str) -> bool:
        """Wait for a decision at a gate, if the request asks for one; return whether to continue.

        Without a time-out it waits without bound; with one, the request's default action applies. A reviewer
        who asked to finish is not asked about the plan and the candidates, but still about the report.
        """
        people = self.state.people
        if not self.request.waits_at(gate):
            return True
        if gate not in people.answers and not self._is_waived(gate):
            self._open(gate, message)
            await self._wait_for_decision(gate)
        self.close()
        if gate not in people.answers:
            self.events.add_limitation("gate_not_asked", gate=gate)
            return True
        return people.answers[gate].action in APPROVALS

    def close(self) -> None:
        """Close the gate that waits, if any."""
        people = self.state.people
        people.waiting_for, people.gate_opened_at = None, 0.0
        self.context.budget.release_clock("gate", self.context.now())

    def record_decision(self, gate: Gate, action: Action, by: str = "", note: str = "") -> None:
        """Record who decided what and when; for a plan also its hash. An edit leaves the gate open."""
        state, people = self.state, self.state.people
        plan_hash = state.question.plan_hash if gate == "plan" else ""
        at, by, note = self.context.timestamp(), by[:NAME_CHARS], note[:NOTE_CHARS]
        decision = Decision(gate=gate, action=action, by=by, note=note, at=at, plan_hash=plan_hash)
        people.decisions.append(decision)
        if action == "edited":
            return
        people.answers[gate] = decision
        kind: Literal["approved", "rejected"] = "approved" if action in APPROVALS else "rejected"
        self.events.emit(
            kind,
            f"{gate} {action.replace('_', ' ')}{f' by {by}' if by else ''}",
            gate=gate,
            action=action,
            by=by,
            note=note,
        )

    def plan(self) -> PlanView:
        """Return the plan, its hash, and whether it was approved."""
        question, decision = self.state.question, self.state.people.answers.get("plan")
        return PlanView(
            plan=question.plan,
            plan_hash=question.plan_hash,
            approved=decision is not None and decision.action in APPROVALS,
            asked="plan" in self.request.approve,
        )

    def waits_for(self, gate: Gate) -> bool:
        people = self.state.people
        return people.waiting_for == gate and gate not in people.answers

    async def _wait_for_decision(self, gate: Gate) -> None:
        """Return when the gate is decided, timed out or waived; continue as new meanwhile if needed."""
        context, people, request = self.context, self.state.people, self.request
        timeout = request.approval_timeout_seconds
        remaining = None if timeout is None else max(timeout - (context.now() - people.gate_opened_at), 0.0)
        try:
            await workflow.wait_condition(
                lambda: gate in people.answers or self._is_waived(gate) or context.history_is_long(),
                timeout=None if remaining is None else timedelta(seconds=remaining),
                timeout_summary=f"approval of the {gate}",
            )
        except TimeoutError:
            passes = request.approval_default == "approve" or gate == "clarification"
            action: Action = "timed_out_approved" if passes else "timed_out_rejected"
            if gate not in people.answers:
                self.record_decision(gate, action, by="time-out")
        if gate not in people.answers and not self._is_waived(gate):
            await context.continue_as_new()

    def _is_waived(self, gate: Gate) -> bool:
        """Tell whether the reviewer's request to finish opens a gate."""
        return self.state.people.finish and gate != "report"

    def _open(self, gate: Gate, message: str) -> None:
        """Show that a gate waits; one that was opened before continue-as-new keeps its opening time."""
        people, now = self.state.people, self.context.now()
        self.events.set_phase("waiting_for_approval", message)
        if people.waiting_for != gate:
            people.waiting_for, people.gate_opened_at = gate, now
            self.context.budget.hold_clock("gate", now)
            self.events.emit("awaiting_approval", message, gate=gate)
        self.events.show_details()
