"""The handlers of every research workflow: queries, and messages as `workflows.messages` declares them.

The answer of every query stays under the payload limit.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError
from temporalio import workflow
from temporalio.exceptions import ApplicationError

from activities.contracts.bounds import within
from activities.contracts.evidence import Frozen
from activities.contracts.plan import Clarified
from workflows.details import progress_of
from workflows.event_types import AgentEvent
from workflows.messages import SIGNALS, UPDATES, Declaration
from workflows.messages import signal as message
from workflows.part_state import ClarificationState
from workflows.rules.payload_limits import ROOM
from workflows.run import RunParts
from workflows.sections.types import Grant, LeaseRequest, SharedEvidence
from workflows.types import (
    BudgetStatus,
    EventLogView,
    EvidenceIndex,
    GiveUp,
    ItemsAfter,
    IterationHistory,
    PlanView,
    Progress,
    ReportView,
    SectionProgress,
)

H = TypeVar("H", bound=Callable[..., Any])
P = TypeVar("P", EvidenceIndex, IterationHistory)


def signal(handler: H) -> H:
    """Declare a signal. What the Web UI and the stock command line show of it is its docstring."""
    return workflow.signal(description=_about(handler))(handler)


def query(handler: H) -> H:
    """Declare a query, in the same way."""
    return workflow.query(description=_about(handler))(handler)


def _about(handler: Callable[..., Any]) -> str:
    return " ".join((handler.__doc__ or "").split())


def _page(kind: type[P], items: Sequence[Frozen], after: ItemsAfter | None) -> P:
    """Return the answer of a query that answers in parts: as many items as fit into one."""
    page = items[max(after.after, 0) if after else 0 :]
    return kind(items=within(page, ROOM), total=len(items))


class ResearchHandlers:
    """Declares the handlers of every research workflow; they act on the parts the workflow holds."""

    research: RunParts

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
        return self.research.context.budget_status()

    @query
    def plan(self) -> PlanView:
        """Return the plan, its hash, and whether it was approved."""
        return self.research.gates.plan()

    @query
    def evidence_index(self, after: ItemsAfter | None = None) -> EvidenceIndex:
        """Return what was found, as many items as fit: {"after": 0}."""
        return _page(EvidenceIndex, self.research.state.evidence.refs, after)

    @query
    def iterations(self, after: ItemsAfter | None = None) -> IterationHistory:
        """Return what each iteration searched, found and thought: {"after": 0}."""
        return _page(IterationHistory, self.research.state.iterations, after)

    @query
    def events(self, after: ItemsAfter | None = None) -> list[AgentEvent]:
        """Events after a number, the oldest first: {"after": 0}."""
        seq, events = after.after if after else 0, self.research.state.people.events
        return list(within((event for event in events if event.seq > seq), ROOM))

    @query
    def event_log(self) -> EventLogView:
        """Return where the older part of the event log is stored."""
        people = self.research.state.people
        return EventLogView(stored=tuple(people.stored_events), last_seq=people.last_seq)

    @query
    def report(self) -> ReportView:
        """Return the key of the report, or of its draft while the report gate waits."""
        published = self.research.publisher.published
        if published is None:
            return ReportView()
        return ReportView(blob=published.blob, draft=self.research.state.people.phase != "done")

    # Messages, as `workflows.messages` declares them.

    def _read_signal(self, declaration: Declaration, args: tuple[object, ...]) -> tuple[Frozen, ...] | None:
        """Return what a signal carries; None, with an event, when it cannot be read."""
        if declaration.carries is None:
            return ()
        try:
            return (declaration.carries.model_validate(args[0] if args else {}),)
        except ValidationError:
            fields = ", ".join(declaration.carries.model_fields)
            self.research.events.emit(
                "ignored",
                f"signal {declaration.name} could not be read: it needs one JSON object with {fields}",
                signal=declaration.name,
            )
            return None


# of a worker, to a run whose next step cannot be decided


@message
async def give_up(run: RunParts, fault: GiveUp) -> None:
    """Sent by a worker to a run that stands still: write the report of what its steps have stored."""
    run.give_up(fault.reason)


# between a run and its sections


@message
async def grant(run: RunParts, addition: Grant) -> None:
    """Sent by a run to its section: more budget."""
    run.parent.accept_grant(addition)


@message
async def request_lease(run: RunParts, request: LeaseRequest) -> None:
    """Sent by a section to its run: it needs more budget."""
    if run.sections is not None:
        await run.sections.accept_lease_request(request)


@message
async def section_report(run: RunParts, progress: SectionProgress) -> None:
    """Sent by a section to its run: how far it is."""
    if run.sections is not None:
        await run.sections.accept_report(progress)


@message
async def offer_evidence(run: RunParts, offer: SharedEvidence) -> None:
    """Sent by a run to its section: what other sections found."""
    if run.state.sections.job is not None:
        run.state.sections.offered += offer.items  # until it comes to its next step


def _signal_handler(declaration: Declaration) -> Callable[..., Any]:
    """Return the handler of a signal.

    It accepts any arguments, since Temporal calls a handler with as many as were sent, and an exception in
    one would end the run.
    """

    async def handle(self: ResearchHandlers, *args: object) -> None:
        payload = self._read_signal(declaration, args)
        if payload is not None:
            await declaration.act(self.research, *payload)

    return workflow.signal(name=declaration.name, description=declaration.about)(handle)


def _update_handler(declaration: Declaration) -> Callable[..., Any]:
    """Return the handler of an update, which changes nothing where its validator refuses it."""

    async def handle(self: ResearchHandlers, message: Frozen) -> object:
        return await declaration.act(self.research, message)

    def check(self: ResearchHandlers, message: Frozen) -> None:
        if declaration.fault is not None and (fault := declaration.fault(self.research, message)):
            raise ApplicationError(fault, non_retryable=True)

    # the SDK reads from these what the update carries and returns
    handle.__annotations__ = {"message": declaration.carries, "return": declaration.returns}
    check.__annotations__ = {"message": declaration.carries}
    handler = workflow.update(name=declaration.name, description=declaration.about)(handle)
    handler.validator(check)
    return handler


for _declaration in SIGNALS.values():
    setattr(ResearchHandlers, _declaration.name, _signal_handler(_declaration))
for _declaration in UPDATES.values():
    setattr(ResearchHandlers, _declaration.name, _update_handler(_declaration))
