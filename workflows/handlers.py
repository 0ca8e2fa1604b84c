"""The messages of a run: signals, updates and queries, the same for every research workflow.

Invariants:

* a signal only records what was requested; one that cannot be read becomes an event and is ignored;
* an answer counts only while its gate waits: nothing is approved before it was shown;
* what may be wrong (a plan, an amount, a name) is an update with a validator, and a refusal changes nothing;
* the answer of every query stays under the payload limit.
"""

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from pydantic import ValidationError
from temporalio import workflow
from temporalio.exceptions import ApplicationError

from activities.contracts.evidence import Frozen
from activities.contracts.plan import Clarified
from activities.contracts.step import Reading
from activities.draft_progress import DraftProgress
from activities.plural import plural
from workflows.amounts import described
from workflows.details import progress_of
from workflows.event_types import AgentEvent
from workflows.gates import APPROVED, NAME_CHARS
from workflows.part_state import CandidatesState, ClarificationState
from workflows.rules.payload_limits import ROOM, within
from workflows.rules.updates import answers_fault, choice_fault, extension_fault, plan_fault
from workflows.run import RunParts
from workflows.sections.types import Grant, LeaseRequest, SharedEvidence
from workflows.types import (
    AddSource,
    Answers,
    Approval,
    BudgetStatus,
    ChooseCandidates,
    EditPlan,
    EventLogView,
    EvidenceIndex,
    ExtendBudget,
    GiveUp,
    ItemsAfter,
    IterationHistory,
    PlanView,
    Progress,
    ReportView,
    SectionProgress,
    Steer,
)

M = TypeVar("M", bound=Frozen)
H = TypeVar("H", bound=Callable[..., Any])


STEERING_CHARS = 2_000
STEERING_KEPT = 20
"""Steering texts that are kept and shown to later steps: the latest."""
SOURCES_ADDED = 20


def signal(handler: H) -> H:
    """Declare a signal. What the Web UI and the stock command line show of it is its docstring."""
    return workflow.signal(description=_about(handler))(handler)


def query(handler: H) -> H:
    """Declare a query, in the same way."""
    return workflow.query(description=_about(handler))(handler)


def _about(handler: Callable[..., Any]) -> str:
    return " ".join((handler.__doc__ or "").split())


class ResearchHandlers:
    """Declares the handlers of every research workflow; they act on the parts the workflow holds."""

    research: RunParts

    # Signals: what may be sent without an answer. They accept any arguments, since Temporal calls a handler
    # with as many as were sent, and an exception in one would end the run.

    @signal
    async def approve(self, *args: object) -> None:
        """Approve what waits at a gate.

        {"gate": "clarification"|"plan"|"candidates"|"report", "by": "...", "note": "..."}
        """
        self._record_answer("approve", "approved", args)

    @signal
    async def reject(self, *args: object) -> None:
        """Reject what waits at a gate.

        {"gate": "clarification"|"plan"|"candidates"|"report", "by": "...", "note": "..."}
        """
        self._record_answer("reject", "rejected", args)

    @signal
    async def pause(self, *_: object) -> None:
        """Pause the run at its next step; no input."""
        context, control = self.research.context, self.research.state.people
        if not (control.paused or control.finish or control.cancelled):
            control.paused = True
            context.budget.hold_clock("pause", context.now())
            self.research.events.emit("paused", "a reviewer paused the run")
            self.research.events.show_paused()
            await self._forward("pause")

    @signal
    async def resume(self, *_: object) -> None:
        """Resume a paused run; no input."""
        if self.research.state.people.paused:
            self.research.gates.end_pause()
            self.research.events.emit("resumed", "a reviewer resumed the run")
            self.research.events.show_paused()
            await self._forward("resume")

    @signal
    async def steer(self, *args: object) -> None:
        """Give an instruction that later steps follow: {"text": "...", "add_source": "pubmed"}."""
        steer = self._read_signal("steer", Steer, args)
        if steer and steer.add_source:
            await self.add_source(AddSource(source=steer.add_source))
        if steer and (text := steer.text.strip()[:STEERING_CHARS]):
            control = self.research.state.people
            control.steering = [*control.steering, text][-STEERING_KEPT:]
            control.steered += 1
            self.research.events.emit("steered", text, text=text, by=steer.by[:NAME_CHARS])
            await self._forward("steer", Steer(text=text, by=steer.by))

    @signal
    async def add_source(self, *args: object) -> None:
        """Search another source too: {"source": "pubmed"}."""
        request = self._read_signal("add_source", AddSource, args)
        added = self.research.state.people.added_sources
        name = request.source.strip()[:NAME_CHARS] if request else ""
        if request and name and name not in added and len(added) < SOURCES_ADDED:
            added.append(name)
            self.research.events.emit("source_added", f"a reviewer added the source {name}", source=name)
            await self._forward("add_source", request)

    @signal
    async def finish_now(self, *_: object) -> None:
        """Stop searching and write the report from what was found; no input."""
        if not self.research.state.people.finish:
            self.research.state.people.finish = True
            self.research.gates.end_pause()
            self.research.events.emit(
                "finishing", "a reviewer asked to finish: the report is written from what was found"
            )
            await self._forward("finish_now")

    # Signal of a worker, to a run whose next step cannot be decided.

    @signal
    def give_up(self, *args: object) -> None:
        """Sent by a worker to a run that stands still: write the report of what its steps have stored."""
        fault = self._read_signal("give_up", GiveUp, args)
        if fault is not None:
            self.research.give_up(fault.reason)

    # Signals between a run and its sections.

    @signal
    def grant(self, *args: object) -> None:
        """Sent by a run to its section: more budget."""
        grant = self._read_signal("grant", Grant, args)
        if grant is not None:
            self.research.parent.accept_grant(grant)

    @signal
    async def request_lease(self, *args: object) -> None:
        """Sent by a section to its run: it needs more budget."""
        request = self._read_signal("request_lease", LeaseRequest, args)
        if request is not None and self.research.sections is not None:
            await self.research.sections.accept_lease_request(request)

    @signal
    async def section_report(self, *args: object) -> None:
        """Sent by a section to its run: how far it is."""
        progress = self._read_signal("section_report", SectionProgress, args)
        if progress is not None and self.research.sections is not None:
            await self.research.sections.accept_report(progress)

    @signal
    def offer_evidence(self, *args: object) -> None:
        """Sent by a run to its section: what other sections found."""
        offer = self._read_signal("offer_evidence", SharedEvidence, args)
        if offer is not None and self.research.state.sections.job is not None:
            self.research.state.sections.offered += offer.items  # until it comes to its next step

    # Signal of a writing step, to the run that follows the draft.

    @signal
    def draft_progress(self, *args: object) -> None:
        """Sent by a writing step: the paragraphs written so far."""
        report = self._read_signal("draft_progress", DraftProgress, args)
        if report is not None:
            self.research.events.stream_progress(report)

    def _read_signal(self, signal: str, model: type[M], args: tuple[object, ...]) -> M | None:
        """Return a signal's payload; None, with an event, when it cannot be read."""
        try:
            return model.model_validate(args[0] if args else {})
        except ValidationError:
            fields = ", ".join(model.model_fields)
            self.research.events.emit(
                "ignored",
                f"signal {signal} could not be read: it needs one JSON object with {fields}",
                signal=signal,
            )
            return None

    def _record_answer(
        self, signal: str, action: Literal["approved", "rejected"], args: tuple[object, ...]
    ) -> None:
        approval = self._read_signal(signal, Approval, args)
        if approval is None:
            return
        gate = approval.gate
        if gate is None or not self.research.gates.waits_for(gate):
            self.research.events.emit(
                "ignored",
                f"signal {signal}: the gate {gate or 'that is not named'} does not wait for a decision",
                signal=signal,
                gate=gate,
            )
            return
        self.research.gates.record_decision(gate, action, approval.by, approval.note)

    async def _forward(self, signal: str, payload: Steer | AddSource | None = None) -> None:
        """Forward a signal to the running sections, if there are any."""
        if self.research.sections is not None:
            await self.research.sections.forward(signal, payload)

    # Updates: what must be refused when it is wrong.

    @workflow.update(
        description='Replace the plan that waits for approval: {"plan": {"report_title": "...", '
        '"report_outline": [{"title": "...", "key_question": "..."}]}, "by": "..."}'
    )
    async def edit_plan(self, edit: EditPlan) -> PlanView:
        """Replace the plan that waits for approval; the gate stays open."""
        context = self.research.context
        context.set_plan(edit.plan)
        self.research.gates.record_decision("plan", "edited", edit.by)
        self.research.events.emit(
            "planned",
            f"the plan now has {plural(len(context.outline), 'section')}",
            sections=len(context.outline),
            plan_hash=context.state.question.plan_hash,
            by=edit.by[:NAME_CHARS] or "a reviewer",
        )
        self.research.events.show_details()
        return self.plan()

    @edit_plan.validator
    def _check_plan(self, edit: EditPlan) -> None:
        waits = self.research.gates.waits_for("plan")
        _refuse(plan_fault(edit.plan, self.research.context.max_sections, waits=waits))

    @workflow.update(
        description='Add to the limits: {"tokens": 0, "cost": 0.0, "seconds": 0, "iterations": 0}'
    )
    async def extend_budget(self, more: ExtendBudget) -> BudgetStatus:
        """Raise the limits; a run whose next call did not fit continues if it has not begun to write."""
        loop, added = self.research.state.loop, more.addition
        self.research.context.budget.extend(added)
        loop.max_iterations += more.iterations
        loop.refused = None
        self.research.events.emit(
            "budget",
            described(added),
            tokens=more.tokens,
            cost_usd=added.cost_microusd / 1e6,
            seconds=more.seconds,
            iterations=more.iterations,
        )
        if self.research.sections is not None:
            await self.research.sections.share_extension(added)
        return self.budget()

    @extend_budget.validator
    def _check_extension(self, more: ExtendBudget) -> None:
        state = self.research.state
        _refuse(extension_fault(more.addition, self.research.context.budget.limits, state.stop_reason))

    @workflow.update(
        description='Answer what the run asks back, in order; "" leaves what is assumed: '
        '{"answers": ["..."], "by": "..."}'
    )
    async def answer(self, reply: Answers) -> tuple[Reading, ...]:
        """Answer what the run asks back, which opens the gate."""
        state = self.research.state
        own = state.part(ClarificationState)
        texts = [*reply.answers, *[""] * len(own.readings)]
        readings = tuple(
            one.replace(answer=" ".join(text.split())) for one, text in zip(own.readings, texts, strict=False)
        )
        own.clarified = Clarified(readings=readings)
        self.research.gates.record_decision("clarification", "answered", reply.by)
        return readings

    @answer.validator
    def _check_answers(self, reply: Answers) -> None:
        asked = len(self.research.state.part(ClarificationState).readings)
        waits = self.research.gates.waits_for("clarification")
        _refuse(answers_fault(reply.answers, asked, waits=waits))

    @workflow.update(
        description='Keep only these candidates and open the gate: {"names": ["..."], "by": "..."}'
    )
    async def choose_candidates(self, choice: ChooseCandidates) -> tuple[str, ...]:
        """Keep only the named candidates and open the gate."""
        state = self.research.state
        names = {name.casefold() for name in choice.names}
        own = state.part(CandidatesState)
        others = [c for c in own.candidates if c.name.casefold() not in names]
        state.people.left_out += [name for c in others for name in (c.name, c.generic_name) if name]
        own.candidates = [c for c in own.candidates if c.name.casefold() in names]
        own.hypotheses = [h for h in own.hypotheses if h.drug.casefold() in names]
        state.people.chosen = [c.name for c in own.candidates]
        note = ", ".join(state.people.chosen)
        self.research.gates.record_decision("candidates", "chosen", choice.by, note)
        return tuple(state.people.chosen)

    @choose_candidates.validator
    def _check_choice(self, choice: ChooseCandidates) -> None:
        names = [candidate.name for candidate in self.research.state.part(CandidatesState).candidates]
        _refuse(choice_fault(choice, names, waits=self.research.gates.waits_for("candidates")))

    # Queries.

    @query
    def progress(self) -> Progress:
        """Return the state of the run: phase, counts, sections, scores, what it waits for."""
        return progress_of(self.research.context)

    @query
    def clarification(self) -> Clarified:
        """Return what the run asks back before it searches, with what it assumes and what was answered."""
        return self.research.state.part(ClarificationState).clarified or Clarified()

    @query
    def budget(self) -> BudgetStatus:
        """Return what was used, what is held for calls under way, what is left."""
        context = self.research.context
        return context.budget.status(context.now(), context.state.sections.running)

    @query
    def plan(self) -> PlanView:
        """Return the plan, its hash, and whether it was approved."""
        state = self.research.state
        decision = state.people.answers.get("plan")
        return PlanView(
            plan=state.question.plan,
            plan_hash=state.question.plan_hash,
            approved=decision is not None and decision.action in APPROVED,
            asked="plan" in self.research.request.approve,
        )

    @query
    def evidence_index(self, after: ItemsAfter | None = None) -> EvidenceIndex:
        """Return what was found, as many items as fit: {"after": 0}."""
        items = self.research.state.evidence.refs
        return EvidenceIndex(
            items=within(items[max(after.after, 0) if after else 0 :], ROOM), total=len(items)
        )

    @query
    def iterations(self, after: ItemsAfter | None = None) -> IterationHistory:
        """Return what each iteration searched, found and thought: {"after": 0}."""
        records = self.research.state.iterations
        return IterationHistory(
            items=within(records[max(after.after, 0) if after else 0 :], ROOM), total=len(records)
        )

    @query
    def events(self, after: ItemsAfter | None = None) -> list[AgentEvent]:
        """Events after a number, the oldest first: {"after": 0}."""
        seq, events = after.after if after else 0, self.research.state.people.events
        return list(within((event for event in events if event.seq > seq), ROOM))

    @query
    def event_log(self) -> EventLogView:
        """Where the older part of the event log is stored."""
        control = self.research.state.people
        return EventLogView(stored=tuple(control.stored_events), last_seq=control.last_seq)

    @query
    def report(self) -> ReportView:
        """Return the key of the report, or of its draft while the report gate waits."""
        published = self.research.publisher.published
        if published is None:
            return ReportView()
        return ReportView(blob=published.blob, draft=self.research.state.people.phase != "done")


def _refuse(fault: str) -> None:
    if fault:
        raise ApplicationError(fault, non_retryable=True)
