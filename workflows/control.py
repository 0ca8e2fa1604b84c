"""How people and programs talk to a run: signals, updates, queries and gates, the same for every research
workflow.

Invariants:

* a signal only records what was said; the run acts on it at its next step boundary (`checkpoint`);
* an answer counts only while its gate waits: nobody approves what was not shown yet;
* what may be wrong (a plan, an amount, a name) is an update with a validator, and a refusal changes nothing;
* waiting for people is not working time.
"""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import NoReturn

from temporalio import workflow
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from activities.report_types import Published
    from activities.steps import Decision
    from activities.types import Gate, ReportPlan, ReportPlanSection
    from workflows.budget import Budget
    from workflows.state import EVENTS_KEPT, RunState
    from workflows.types import (
        AddSource,
        AgentEvent,
        Approval,
        BudgetStatus,
        ChooseCandidates,
        EditPlan,
        EventsAfter,
        EvidenceIndex,
        ExtendBudget,
        Phase,
        PlanView,
        Progress,
        ReportView,
        ResearchRequest,
        Steer,
    )

PHASE = SearchAttributeKey.for_keyword("DeterminatorPhase")
STOP_REASON = SearchAttributeKey.for_keyword("DeterminatorStopReason")
STEERING_CHARS = 2_000
SEARCHES_SHOWN = 20


def plan_hash(plan: ReportPlan) -> str:
    """What names a plan: a digest of everything in it."""
    return hashlib.sha256(plan.model_dump_json().encode()).hexdigest()[:16]


def numbered(plan: ReportPlan) -> ReportPlan:
    """The plan with an id for every section: ids that are there and unique stay."""
    taken: list[str] = []
    sections: list[ReportPlanSection] = []
    for section in plan.report_outline:
        name = section.id if section.id and section.id not in taken else ""
        number = len(taken) + 1
        while not name or name in taken:
            name = f"s{number}"
            number += 1
        taken.append(name)
        sections.append(section.model_copy(update={"id": name}))
    return plan.model_copy(update={"report_outline": tuple(sections)})


class ResearchControl:
    """Base of the research workflows: its handlers are theirs. Subclasses fill `request` and `state`."""

    request: ResearchRequest
    state: RunState
    published: Published | None

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
                message=message,
                iteration=self.state.loop.iteration,
                section=self.state.job.section.id if self.state.job else "",
                data=data,
                timestamp=self.stamp(),
            )
        )
        del control.events[:-EVENTS_KEPT]

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
        """A step boundary: wait while the run is paused."""
        control = self.state.control
        if not control.paused or control.finish or control.cancelled:
            return
        before, opened = control.phase, self.now()
        self.enter("paused", "paused by a reviewer")
        try:
            await workflow.wait_condition(lambda: not control.paused or control.finish)
        finally:
            self.budget_ledger.waited += self.now() - opened
        self.enter(before, "resumed")

    async def gate(self, gate: Gate, message: str) -> bool:
        """Wait for a person at a gate, if the request asks for one; say whether to go on.

        Without a time-out it waits without bound; with one, the request's default action is taken. The time
        the gate was opened is state, so that continuing as new does not start the time-out again.
        """
        control = self.state.control
        if gate not in self.request.approve or gate in control.answers:
            return gate not in control.answers or control.answers[gate].action in _GO_ON
        control.waiting_for = gate
        control.gate_opened_at = control.gate_opened_at or self.now()
        self.enter("waiting_for_approval", message)
        self.tell("approval_required", message, gate=gate)
        timeout = self.request.approval_timeout_seconds
        left = None if timeout is None else max(timeout - (self.now() - control.gate_opened_at), 0.0)
        try:
            await workflow.wait_condition(
                lambda: gate in control.answers or control.finish or self.history_is_long(),
                timeout=None if left is None else timedelta(seconds=left),
                timeout_summary=f"approval of the {gate}",
            )
        except TimeoutError:
            default = (
                "timed_out_approved" if self.request.approval_default == "approve" else "timed_out_rejected"
            )
            self._decide(Decision(gate=gate, action=default, by="time-out", at=self.stamp()))
        if gate not in control.answers and not control.finish:
            await self.go_on_as_new()
        self.budget_ledger.waited += self.now() - control.gate_opened_at
        control.waiting_for, control.gate_opened_at = None, 0.0
        answer = control.answers.get(gate)
        return answer is None or answer.action in _GO_ON

    def history_is_long(self) -> bool:
        """Whether to continue as new at this boundary."""
        info = workflow.info()
        return info.is_continue_as_new_suggested() or (
            info.get_current_history_length() > self.request.history_events
        )

    async def go_on_as_new(self) -> NoReturn:
        """Continue as a new run of the same workflow with everything that is known."""
        await workflow.wait_condition(workflow.all_handlers_finished)
        self.state.carry()
        workflow.continue_as_new(args=[self.request, self.state])

    def _decide(self, decision: Decision) -> None:
        control = self.state.control
        if decision.gate == "plan":
            decision = decision.model_copy(update={"plan_hash": self.state.plan_hash})
        control.answers[decision.gate] = decision
        control.decisions.append(decision)
        by = f" by {decision.by}" if decision.by else ""
        self.tell("decision", f"{decision.gate} {decision.action.replace('_', ' ')}{by}", gate=decision.gate)

    def _answer(self, approval: Approval, action: str) -> None:
        if self.state.control.waiting_for != approval.gate:
            self.tell("ignored", f"no gate waits for an answer about the {approval.gate}", gate=approval.gate)
            return
        self._decide(
            Decision.model_validate(
                {
                    "gate": approval.gate,
                    "action": action,
                    "by": approval.by,
                    "note": approval.note[:STEERING_CHARS],
                    "at": self.stamp(),
                }
            )
        )

    # signals: what may be sent blind

    @workflow.signal
    async def approve(self, approval: Approval) -> None:
        self._answer(approval, "approved")

    @workflow.signal
    async def reject(self, approval: Approval) -> None:
        self._answer(approval, "rejected")

    @workflow.signal
    async def pause(self) -> None:
        if not self.state.control.paused:
            self.state.control.paused = True
            self.tell("paused", "a reviewer paused the run")
            await self.pass_on("pause")

    @workflow.signal
    async def resume(self) -> None:
        if self.state.control.paused:
            self.state.control.paused = False
            self.tell("resumed", "a reviewer resumed the run")
            await self.pass_on("resume")

    @workflow.signal
    async def steer(self, steer: Steer) -> None:
        text = steer.text.strip()[:STEERING_CHARS]
        if text:
            self.state.control.steering.append(text)
            self.tell("steered", text)
            await self.pass_on("steer", steer)

    @workflow.signal
    async def add_source(self, wanted: AddSource) -> None:
        if wanted.source not in self.state.control.added_sources:
            self.state.control.added_sources.append(wanted.source)
            self.tell("source_added", f"{wanted.source} is to be searched as well", source=wanted.source)
            await self.pass_on("add_source", wanted)

    @workflow.signal
    async def finish_now(self) -> None:
        if not self.state.control.finish:
            self.state.control.finish = True
            self.tell("finishing", "a reviewer asked to write what there is")
            await self.pass_on("finish_now")

    async def pass_on(self, signal: str, payload: Steer | AddSource | None = None) -> None:
        """Hand a signal to running children; a workflow without children has none to hand it to."""

    async def share_extension(self, more: ExtendBudget) -> None:
        """Let running children have their part of more budget."""

    # updates: what must be refused when it is wrong

    @workflow.update
    async def edit_plan(self, edit: EditPlan) -> PlanView:
        """Replace the plan that waits for approval; the gate goes on waiting."""
        self.state.plan = numbered(edit.plan)
        self.state.plan_hash = plan_hash(self.state.plan)
        self.state.control.decisions.append(
            Decision(
                gate="plan", action="edited", by=edit.by, at=self.stamp(), plan_hash=self.state.plan_hash
            )
        )
        self.tell("plan_edited", f"the plan now has {len(self.state.plan.report_outline)} sections")
        return self.plan()

    @edit_plan.validator
    def _check_plan(self, edit: EditPlan) -> None:
        if self.state.control.waiting_for != "plan":
            raise ApplicationError(
                "the plan can only be edited while it waits for approval", non_retryable=True
            )
        outline = edit.plan.report_outline
        if not 1 <= len(outline) <= self.request.limits.max_sections:
            raise ApplicationError(
                f"a plan has 1 to {self.request.limits.max_sections} sections, this one has {len(outline)}",
                non_retryable=True,
            )
        if any(not s.title.strip() or not s.key_question.strip() for s in outline):
            raise ApplicationError("every section needs a title and a key question", non_retryable=True)
        ids = [s.id for s in outline if s.id]
        if len(ids) != len(set(ids)):
            raise ApplicationError("two sections have the same id", non_retryable=True)

    @workflow.update
    async def extend_budget(self, more: ExtendBudget) -> BudgetStatus:
        """Raise the limits; a run that waits for budget goes on."""
        self.budget_ledger.extend(more.tokens, more.cost_microusd, more.seconds, more.iterations)
        self.state.loop.max_iterations += more.iterations
        self.state.loop.refused = None
        self.tell("budget_extended", _described(more))
        await self.share_extension(more)
        return self.budget()

    @extend_budget.validator
    def _check_extension(self, more: ExtendBudget) -> None:
        if not (more.tokens or more.cost_microusd or more.seconds or more.iterations):
            raise ApplicationError(
                "nothing to add: give tokens, cost, seconds or iterations", non_retryable=True
            )
        if self.state.stop_reason is not None:
            raise ApplicationError(
                f"the run has stopped searching ({self.state.stop_reason})", non_retryable=True
            )

    @workflow.update
    async def choose_candidates(self, choice: ChooseCandidates) -> tuple[str, ...]:
        """Keep only the named candidates and let the gate open."""
        wanted = {name.casefold() for name in choice.names}
        kept = [c for c in self.state.candidates if c.name.casefold() in wanted]
        self.state.candidates = kept
        self.state.control.chosen = [c.name for c in kept]
        self._decide(
            Decision(
                gate="candidates",
                action="chosen",
                by=choice.by,
                note=", ".join(self.state.control.chosen),
                at=self.stamp(),
            )
        )
        return tuple(self.state.control.chosen)

    @choose_candidates.validator
    def _check_choice(self, choice: ChooseCandidates) -> None:
        if self.state.control.waiting_for != "candidates":
            raise ApplicationError("no candidates wait to be chosen", non_retryable=True)
        known = {c.name.casefold(): c.name for c in self.state.candidates}
        unknown = [name for name in choice.names if name.casefold() not in known]
        if unknown or not choice.names:
            raise ApplicationError(
                f"not among the candidates: {', '.join(unknown) or 'no name given'}; "
                f"there are {', '.join(known.values())}",
                non_retryable=True,
            )

    # queries

    @workflow.query
    def progress(self) -> Progress:
        state, control = self.state, self.state.control
        return Progress(
            run_id=workflow.info().workflow_id,
            question=self.request.question,
            mode=self.request.mode,
            profile=state.prepared.profile.name if state.prepared else self.request.profile,
            phase=control.phase,
            message=control.message,
            iteration=state.loop.iteration,
            max_iterations=state.loop.max_iterations,
            evidence=len(state.evidence),
            searches=tuple(state.searches[-SEARCHES_SHOWN:]),
            searches_total=len(state.searches),
            sections=tuple(state.sections.values()),
            budget=self.budget(),
            waiting_for=control.waiting_for,
            paused=control.paused,
            confidence=state.loop.judged.confidence if state.loop.judged else 0.0,
            scores=state.loop.judged.scores if state.loop.judged else {},
            steering=tuple(control.steering),
            candidates=tuple(state.candidates),
            chosen_because=state.chosen_because,
            stop_reason=state.stop_reason,
            started_at=_iso(self.budget_ledger.started_at),
            updated_at=control.events[-1].timestamp if control.events else "",
            last_seq=control.last_seq,
        )

    @workflow.query
    def budget(self) -> BudgetStatus:
        ledger = self.budget_ledger
        waiting = self.state.control.gate_opened_at
        return ledger.status(waiting or self.now())

    @workflow.query
    def plan(self) -> PlanView:
        answer = self.state.control.answers.get("plan")
        approved = answer is not None and answer.action in _GO_ON
        return PlanView(plan=self.state.plan, plan_hash=self.state.plan_hash, approved=approved)

    @workflow.query
    def evidence_index(self) -> EvidenceIndex:
        return EvidenceIndex(items=tuple(self.state.evidence), total=len(self.state.evidence))

    @workflow.query
    def events(self, after: EventsAfter | None = None) -> list[AgentEvent]:
        seq = after.after if after else 0
        return [event for event in self.state.control.events if event.seq > seq]

    @workflow.query
    def report(self) -> ReportView:
        if self.published is None:
            return ReportView()
        return ReportView(
            report=self.published.report,
            draft=self.state.control.phase != "done",
            blob=self.published.blob,
        )


_GO_ON = ("approved", "timed_out_approved", "chosen")


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") if seconds else ""


def _described(more: ExtendBudget) -> str:
    parts = {
        "tokens": f"{more.tokens:,}" if more.tokens else "",
        "US dollars": f"{more.cost_microusd / 1e6:.2f}" if more.cost_microusd else "",
        "seconds": f"{more.seconds:g}" if more.seconds else "",
        "iterations": str(more.iterations) if more.iterations else "",
    }
    return "budget extended by " + ", ".join(f"{v} {k}" for k, v in parts.items() if v)
