"""One run of research: its state, its results, and the messages that it receives."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from types import NoneType
from typing import Annotated, Any, Generic, ParamSpec, Self, TypeVar, overload

from pydantic import Field
from temporalio.client import WorkflowUpdateFailedError
from temporalio.service import RPCError, RPCStatusCode

from activities.configuration.declaration import option
from activities.contracts.errors import StoreError
from activities.contracts.evidence import EvidenceRef, Gate
from activities.contracts.iterations import IterationRecord
from activities.contracts.step import Reading
from activities.evidence_store import EvidenceStore
from activities.report.archive import Archive, Version
from activities.report.evidence_lines import EvidenceLine, evidence_line
from activities.settings import Settings
from client.blocking import Blocking, Blocks
from client.connection import Connection, Say, quiet
from client.embedded.keeper import keep_alive
from client.failures import BadInput, NoAnswer
from client.listing import Row, describe
from client.messages import MESSAGES, Verb
from client.reports.load import RunReport, Use, in_version, load_report, use_in_report
from client.runs.display import Display
from client.runs.follow import AtGate, Follower, RunEnd
from client.runs.query import (
    all_iterations,
    evidence_index,
    graph_of,
    progress,
    query,
    read_events,
    wait_for_answer,
)
from client.runs.start import refuse_older, user_name
from workflows.event_types import AgentEvent
from workflows.graph.definition import GraphView
from workflows.messages import Answers, Approval, ChooseCandidates, EditPlan, ExtendBudget, Message, Steer
from workflows.types import BudgetStatus, PlanView, Progress

AT_ONCE = 16
"""Documents read from the store at the same time."""
Names = list[str]
Readings = tuple[Reading, ...]
P = ParamSpec("P")
T = TypeVar("T")


class CancelSection(Message):
    section: Annotated[str | None, option("Only this section, as `s2`."), Field(max_length=200)] = None


class Sends(Generic[P, T]):
    """A message of `client.messages` as a method: its arguments are the fields of its content."""

    def __init__(self, name: str, content: Callable[P, Message], answer: type[T]) -> None:
        """`content` and `answer` are those of the message, for a type checker."""
        self._name = name
        self.__doc__ = MESSAGES[name].help

    @overload
    def __get__(self, run: None, kind: type) -> Self: ...
    @overload
    def __get__(self, run: "Run", kind: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, run: "Run | None", kind: type) -> Self | Callable[P, Coroutine[Any, Any, T]]:
        return self if run is None else partial(self, run)

    async def __call__(self, run: "Run", *_: P.args, **content: P.kwargs) -> T:
        answer: T = await run.send(self._name, **content)
        return answer


@dataclass(frozen=True, slots=True)
class RunStatus:
    row: Row
    progress: Progress | None
    """Progress that the run itself reports, its sections included; None when no worker answers."""
    graph: GraphView | None
    """Place in its graph, for a run of the mode `graph`."""


class Run:
    """A run, under way or over.

    Methods raise NoConnection, NoAnswer (no worker answers), NoSuchRun, RPCError, and BadInput for what
    the run refuses.
    """

    def __init__(
        self,
        settings: Settings,
        connection: Connection,
        run_id: str,
        *,
        say: Say = quiet,
        attached: bool = False,
        earlier: str = "",
    ) -> None:
        self.settings = settings
        self.connection = connection
        self.id = run_id
        self.attached = attached
        """The same question with the same settings was already being researched."""
        self.earlier = earlier
        """Id of the latest earlier run of the same question and settings."""
        self._say = say

    def __repr__(self) -> str:
        return f"Run({self.id!r})"

    @property
    def link(self) -> str | None:
        """Its page in Temporal's Web UI; None where there is none."""
        return self.connection.link(self.id)

    # its state

    async def row(self) -> Row:
        """Return what the server knows of it; needs no worker.

        An embedded server that has ended is started again: a page or an interface that is open for
        days would wait for it for ever.
        """
        return await keep_alive(self.settings, self.connection, describe(self.connection.client, self.id))

    async def progress(self) -> Progress | None:
        """Return what the run itself reports; None, with a message, when no worker answers."""
        try:
            return await self._ask(lambda: progress(self.connection.client, self.id))
        except NoAnswer as error:
            self._say(f"{error}; what follows is what the server knows")
            return None

    async def _ask(self, body: Callable[[], Awaitable[T]]) -> T:
        """Send queries to it, once its worker answers. Raises NoAnswer."""
        return await keep_alive(self.settings, self.connection, wait_for_answer(self.connection, body))

    async def status(self) -> RunStatus:
        """Everything known of it at this moment."""
        client = self.connection.client
        row, progress = await self.row(), await self.progress()
        return RunStatus(row, progress, await graph_of(client, progress))

    async def events(self, after: int = 0, *, follow: bool = True) -> AsyncGenerator[AgentEvent, None]:
        """Yield its events with a number above `after`, in order; with `follow`, until it ends."""
        if not follow:
            client = self.connection.client
            for event in await self._ask(lambda: read_events(client, self.settings, self.id, after)):
                yield event
            return
        display = _Events()
        task = asyncio.create_task(self.follow(display, after))
        task.add_done_callback(lambda _: display.queue.put_nowait(None))
        try:
            while (latest := await display.queue.get()) is not None:
                yield latest
            await task  # raises what ended it
        finally:
            task.cancel()

    async def events_to_gate(self, after: int = 0) -> AsyncGenerator[AgentEvent, None]:
        """Its events with a number above `after`, until it ends or waits at a gate."""
        async with aclosing(self.events(after)) as events:
            async for event in events:
                yield event
                if event.type == "awaiting_approval":
                    progress = await self.progress()
                    if progress is not None and progress.waiting_for is not None:
                        return

    async def follow(self, display: Display, after: int = 0, at_gate: AtGate | None = None) -> RunEnd:
        """Show it until its end, from the event after that number on; see `Follower` for `at_gate`.

        Server and worker may end meanwhile.
        """
        refuse_older(await self.row())
        return await Follower(self, display, after, at_gate).follow()

    # its results

    async def report(self) -> RunReport:
        """Its report, after waiting for its end; of several versions the latest. Raises NoReport."""
        end = await self.follow(Display())
        if end.outcome is None and end.reason:
            self._say(f"the run {self.id} ended without an outcome: {end.reason}")
        return await self.draft()

    async def draft(self) -> RunReport:
        """Return the report as it stands now. Raises NoReport."""
        return await self.version()

    async def versions(self) -> tuple[Version, ...]:
        """Return the versions that a refresh or a change has made, the oldest first. Raises NoReport."""
        report = await load_report(self.settings, self.connection, self.id)
        try:
            return () if report.draft else await Archive(self.settings.evidence_url).versions(report)
        except StoreError:  # not every client sees the workers' store
            return ()

    async def version(self, number: int | None = None) -> RunReport:
        """Return a version of its report, by default the latest; 1 is what it published.

        Raises BadInput, NoReport.
        """
        report = await load_report(self.settings, self.connection, self.id)
        return RunReport.of(await in_version(self.settings, report, number))

    async def evidence_refs(self) -> tuple[EvidenceRef, ...]:
        """Return references to the items it has found."""
        refuse_older(await self.row(), with_ended=True)
        return await self._ask(lambda: evidence_index(self.connection.client, self.id))

    async def use(self) -> Use | None:
        """Return what its report cites and why not the rest; None while there is no report."""
        return await use_in_report(self.settings, self.connection, self.id)

    async def evidence_lines(self) -> AsyncIterator[EvidenceLine]:
        """Yield the items it has found with their full text, as `evidence --format jsonl` prints them."""
        refs, use = await self.evidence_refs(), await self.use()
        store = EvidenceStore.at(self.settings.evidence_url)
        for start in range(0, len(refs), AT_ONCE):
            part = refs[start : start + AT_ONCE]
            for ref, item in zip(part, await asyncio.gather(*map(store.get, part)), strict=True):
                name = ref.evidence_id
                fields = (use.cited.get(name), use.unused.get(name), use.relevance.get(name)) if use else ()
                yield evidence_line(ref, item, *fields)

    async def evidence(self) -> list[EvidenceLine]:
        """Return the same as a list of rows, for `pandas.DataFrame`."""
        return [line async for line in self.evidence_lines()]

    async def iterations(self) -> tuple[IterationRecord, ...]:
        """Each iteration of it and of its sections."""
        refuse_older(await self.row(), with_ended=True)
        return await self._ask(lambda: all_iterations(self.connection.client, self.id))

    async def plan(self) -> PlanView:
        """Return the plan of a deep run."""
        return await self._ask(lambda: query(self.connection.client, self.id, "plan", PlanView))

    # messages to it

    async def send(self, name: str, by: str | None = None, /, **content: object) -> Any:  # noqa: ANN401 - by the message
        """Send it a message of `client.messages`, and return what it answers."""
        verb = MESSAGES[name]
        return await self.deliver(verb, verb.read(content), by)

    async def deliver(self, verb: Verb, content: Message | None, by: str | None = None) -> Any:  # noqa: ANN401 - by the message
        """Send it a message whose content has been read.

        Returns the gate of a decision, the answer of an update.
        """
        progress = await self.running()
        if isinstance(content, CancelSection):
            return await self._cancel(content.section, progress)
        if isinstance(content, Approval):
            content = content.replace(gate=self._gate(content.gate, progress))
        if verb.signed and content is not None:
            content = content.model_copy(update={"by": actor(by or getattr(content, "by", ""))})
        handle = self.connection.client.get_workflow_handle(self.id)
        sends = verb.sends or verb.name
        if verb.to == "signal":
            await handle.signal(sends, args=[] if content is None else [content])
            return content.gate if isinstance(content, Approval) else None
        try:
            return await handle.execute_update(sends, content, result_type=verb.answer)
        except WorkflowUpdateFailedError as error:
            raise BadInput(f"the run refused: {error.cause}") from error

    def _gate(self, gate: Gate | None, progress: Progress | None) -> Gate:
        """Return the gate that a decision is about. Raises BadInput where it does not wait."""
        if progress is not None and progress.waiting_for is None:
            raise BadInput(f"{self.id} waits at no gate (it is {progress.phase.replace('_', ' ')})")
        if progress is not None and gate is not None and progress.waiting_for != gate:
            raise BadInput(f"{self.id} waits for the {progress.waiting_for}, not for the {gate}")
        choice = gate or (progress.waiting_for if progress else None)
        if choice is None:
            raise BadInput("no worker answers, so the gate that waits is not known; name the gate")
        return choice

    approve = Sends("approve", Approval, str)
    reject = Sends("reject", Approval, str)
    pause = Sends("pause", Message, NoneType)
    resume = Sends("resume", Message, NoneType)
    finish = Sends("finish", Message, NoneType)
    steer = Sends("steer", Steer, NoneType)
    extend = Sends("extend", ExtendBudget, BudgetStatus)
    choose_candidates = Sends("candidates", ChooseCandidates, Names)
    answer = Sends("answer", Answers, Readings)
    edit_plan = Sends("edit_plan", EditPlan, PlanView)
    cancel = Sends("cancel", CancelSection, str)

    async def _cancel(self, section: str | None, progress: Progress | None) -> str:
        """Stop it, or one of its sections. Returns the id of the workflow."""
        if section and progress and section not in (names := [s.id for s in progress.sections]):
            raise BadInput(f"{self.id} has no section {section}; it has {', '.join(names) or 'none'}")
        target = f"{self.id}/{section}" if section else self.id
        try:
            await self.connection.client.get_workflow_handle(target).cancel()
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            raise BadInput(f"{target} is not running") from error
        return target

    async def running(self) -> Progress | None:
        """Its progress; None when no worker answers. Raises BadInput when it is over."""
        row = await self.row()
        if row.status != "running":
            raise BadInput(f"{self.id} is over ({row.status})")
        refuse_older(row)
        return await self.progress()


def actor(by: str | None) -> str:
    """Return the person who acts: the one who is named, else the user of this process."""
    return by or user_name() or "unknown"


class BlockingRun(Blocking[Run]):
    """The methods of `Run`, each of which blocks until it is done."""

    status = Blocks(Run.status)
    report = Blocks(Run.report)
    draft = Blocks(Run.draft)
    evidence = Blocks(Run.evidence)
    progress = Blocks(Run.progress)
    send = Blocks(Run.send)
    evidence_refs = Blocks(Run.evidence_refs)
    iterations = Blocks(Run.iterations)
    plan = Blocks(Run.plan)
    edit_plan = Blocks(Run.edit_plan)
    approve = Blocks(Run.approve)
    reject = Blocks(Run.reject)
    pause = Blocks(Run.pause)
    resume = Blocks(Run.resume)
    finish = Blocks(Run.finish)
    steer = Blocks(Run.steer)
    extend = Blocks(Run.extend)
    answer = Blocks(Run.answer)
    choose_candidates = Blocks(Run.choose_candidates)
    cancel = Blocks(Run.cancel)

    @property
    def id(self) -> str:
        return self.target.id

    @property
    def link(self) -> str | None:
        """Its page in Temporal's Web UI; None where there is none."""
        return self.target.link

    def events(self, after: int = 0, *, follow: bool = True) -> Iterator[AgentEvent]:
        """See `Run.events`."""
        events = self.target.events(after, follow=follow)
        try:
            while (event := self.loop.call(_next(events))) is not None:
                yield event
        finally:
            self.loop.call(_close(events))


async def _next(events: AsyncGenerator[AgentEvent, None]) -> AgentEvent | None:
    return await anext(events, None)


async def _close(events: AsyncGenerator[AgentEvent, None]) -> None:
    await events.aclose()


class _Events(Display):
    """A display that puts the events of a run into a queue."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[AgentEvent | None] = asyncio.Queue()

    def events(self, events: Sequence[AgentEvent]) -> None:
        for event in events:
            self.queue.put_nowait(event)
