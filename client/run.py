"""One run of research: its state, its results, and the messages that it receives."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field
from temporalio.client import WorkflowUpdateFailedError
from temporalio.service import RPCError, RPCStatusCode

from activities.configuration.declaration import option
from activities.contracts.evidence import EvidenceRef, Gate, ReportPlan
from activities.contracts.iterations import IterationRecord
from activities.contracts.step import Reading
from activities.evidence_store import EvidenceStore
from activities.report.archive import Archive, Version
from activities.report.evidence_lines import EvidenceLine, evidence_line
from activities.settings import Settings
from client.blocking import Blocking, Blocks
from client.connection import Connection, Say, quiet
from client.embedded.server import keep_alive
from client.failures import BadInput, NoAnswer
from client.listing import Row, describe
from client.messages import MESSAGES, Verb
from client.reports.load import RunReport, Use, latest_report, report_and_versions, use_in_report
from client.runs.display import Display
from client.runs.follow import AtGate, Ended, Follower
from client.runs.query import (
    ModelCall,
    all_iterations,
    calls_under_way,
    evidence_index,
    graph_of,
    progress,
    query,
    read_events,
)
from client.runs.start import refuse_older, user_name
from workflows.event_types import AgentEvent
from workflows.graph.definition import GraphView
from workflows.messages import Approval, Message
from workflows.types import BudgetStatus, PlanView, Progress

WORKER_SECONDS = 15.0
"""Time to wait for a worker that does not answer at once."""
AT_ONCE = 16
"""Documents read from the store at the same time."""
Names = list[str]
Readings = tuple[Reading, ...]


class CancelSection(Message):
    section: Annotated[str | None, option("Only this section, as `s2`."), Field(max_length=200)] = None


@dataclass(frozen=True, slots=True)
class RunStatus:
    row: Row
    progress: Progress | None
    """Progress that the run itself reports, its sections included; None when no worker answers."""
    calls: tuple[ModelCall, ...]
    """Model calls under way, the oldest first."""
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
        described = describe(self.connection.client, self.id)
        return await (keep_alive(self.settings, described) if self.connection.embedded else described)

    async def progress(self) -> Progress | None:
        """Return what the run itself reports; None, with a message, when no worker answers."""
        deadline = max(time.monotonic() + WORKER_SECONDS, self.connection.patient_until)
        while True:
            try:
                return await progress(self.connection.client, self.id)
            except NoAnswer as error:
                waits = self.connection.embedded and self.connection.served
                if not waits or time.monotonic() > deadline:
                    self._say(f"{error}; what follows is what the server knows")
                    return None
            await asyncio.sleep(0.2)

    async def status(self) -> RunStatus:
        """Everything known of it at this moment."""
        client = self.connection.client
        row, seen = await self.row(), await self.progress()
        calls = await calls_under_way(client, seen) if seen is not None else ()
        return RunStatus(row, seen, calls, await graph_of(client, seen))

    async def events(self, after: int = 0, *, follow: bool = True) -> AsyncGenerator[AgentEvent, None]:
        """Yield its events with a number above `after`, in order; with `follow`, until it ends."""
        if not follow:
            await self.progress()
            for event in await read_events(self.connection.client, self.settings, self.id, after):
                yield event
            return
        display = _Events()
        following = asyncio.create_task(self.follow(display, after))
        following.add_done_callback(lambda _: display.queue.put_nowait(None))
        try:
            while (seen := await display.queue.get()) is not None:
                yield seen
            await following  # raises what ended it
        finally:
            following.cancel()

    async def events_to_gate(self, after: int = 0) -> AsyncGenerator[AgentEvent, None]:
        """Its events with a number above `after`, until it ends or waits at a gate."""
        async with aclosing(self.events(after)) as events:
            async for event in events:
                yield event
                if event.type == "awaiting_approval":
                    seen = await self.progress()
                    if seen is not None and seen.waiting_for is not None:
                        return

    async def follow(self, display: Display, after: int = 0, at_gate: AtGate | None = None) -> Ended:
        """Show it until its end, from the event after that number on; see `Follower` for `at_gate`.

        Server and worker may end meanwhile.
        """
        refuse_older(await self.row())
        return await Follower(self, display, after, at_gate).follow()

    # its results

    async def report(self) -> RunReport:
        """Its report, after waiting for its end; of several versions the latest. Raises NoReport."""
        ended = await self.follow(Display())
        if ended.outcome is None and ended.reason:
            self._say(f"the run {self.id} ended without an outcome: {ended.reason}")
        return await self.draft()

    async def draft(self) -> RunReport:
        """Return the report as it stands now. Raises NoReport."""
        return RunReport.of(await latest_report(self.settings, self.connection, self.id))

    async def versions(self) -> tuple[Version, ...]:
        """Return the versions that a refresh or a change has made, the oldest first. Raises NoReport."""
        return (await report_and_versions(self.settings, self.connection, self.id))[1]

    async def version(self, number: int) -> RunReport:
        """Return a version of its report; 1 is what it published. Raises BadInput, NoReport."""
        first, later = await report_and_versions(self.settings, self.connection, self.id)
        if not 1 <= number <= len(later) + 1:
            raise BadInput(f"{self.id} has no version {number} of its report; there are {len(later) + 1}")
        if number == 1:
            return RunReport.of(first)
        return RunReport.of(await Archive(self.settings.evidence_url).version(later[number - 2]))

    async def found(self) -> tuple[EvidenceRef, ...]:
        """Return references to the items it has found."""
        refuse_older(await self.row(), ended=True)
        await self.progress()
        return await evidence_index(self.connection.client, self.id)

    async def use(self) -> Use | None:
        """Return what its report cites and why not the rest; None while there is no report."""
        return await use_in_report(self.settings, self.connection, self.id)

    async def evidence_lines(self) -> AsyncIterator[EvidenceLine]:
        """Yield the items it has found with their full text, as `evidence --format jsonl` prints them."""
        refs, use = await self.found(), await self.use()
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
        refuse_older(await self.row(), ended=True)
        await self.progress()
        return await all_iterations(self.connection.client, self.id)

    async def plan(self) -> PlanView:
        """Return the plan of a deep run."""
        await self.progress()
        return await query(self.connection.client, self.id, "plan", PlanView)

    # messages to it

    async def send(self, name: str, by: str | None = None, /, **content: object) -> Any:  # noqa: ANN401 - by the message
        """Send it a message of `client.messages`, and return what it answers."""
        verb = MESSAGES[name]
        return await self.deliver(verb, verb.read(content), by)

    async def deliver(self, verb: Verb, content: Message | None, by: str | None = None) -> Any:  # noqa: ANN401 - by the message
        """Send it a message whose content has been read.

        Returns the gate of a decision, the answer of an update.
        """
        if isinstance(content, CancelSection):
            return await self.cancel(content.section)
        seen = await self.running()
        if isinstance(content, Approval):
            content = content.replace(gate=self._gate(content.gate, seen))
        if verb.signed and content is not None:
            content = content.model_copy(update={"by": named(by or getattr(content, "by", ""))})
        handle = self.connection.client.get_workflow_handle(self.id)
        sends = verb.sends or verb.name
        if verb.to == "signal":
            await handle.signal(sends, args=[] if content is None else [content])
            return content.gate if isinstance(content, Approval) else None
        try:
            return await handle.execute_update(sends, content, result_type=verb.answer)
        except WorkflowUpdateFailedError as error:
            raise BadInput(f"the run refused: {error.cause}") from error

    def _gate(self, gate: Gate | None, seen: Progress | None) -> Gate:
        """Return the gate that a decision is about. Raises BadInput where it does not wait."""
        if seen is not None and seen.waiting_for is None:
            raise BadInput(f"{self.id} waits at no gate (it is {seen.phase.replace('_', ' ')})")
        if seen is not None and gate is not None and seen.waiting_for != gate:
            raise BadInput(f"{self.id} waits for the {seen.waiting_for}, not for the {gate}")
        chosen = gate or (seen.waiting_for if seen else None)
        if chosen is None:
            raise BadInput("no worker answers, so the gate that waits is not known; name the gate")
        return chosen

    async def approve(self, gate: Gate | None = None, *, by: str | None = None, note: str = "") -> Gate:
        """Approve what waits at a gate; return which one."""
        approved: Gate = await self.send("approve", by, gate=gate, note=note)
        return approved

    async def reject(self, gate: Gate | None = None, *, by: str | None = None, note: str = "") -> Gate:
        """Reject what waits at a gate; return which one."""
        rejected: Gate = await self.send("reject", by, gate=gate, note=note)
        return rejected

    async def pause(self) -> None:
        """Pause it at its next step; waiting uses no budget."""
        await self.send("pause")

    async def resume(self) -> None:
        """Resume it."""
        await self.send("resume")

    async def finish(self) -> None:
        """Stop searching and write the report."""
        await self.send("finish")

    async def steer(self, text: str, *, by: str | None = None) -> None:
        """Give it an instruction, which it follows from its next step on."""
        await self.send("steer", by, text=text)

    async def add_source(self, source: str) -> None:
        """Search this source as well."""
        await self.send("steer", add_source=source)

    async def extend(
        self, *, tokens: int = 0, cost: float = 0.0, seconds: float = 0.0, iterations: int = 0
    ) -> BudgetStatus:
        """Add to its budget (`cost` in US dollars); return the budget after it."""
        amounts = {"tokens": tokens, "cost": cost, "seconds": seconds, "iterations": iterations}
        budget: BudgetStatus = await self.send("extend", **amounts)
        return budget

    async def choose_candidates(self, names: Sequence[str], *, by: str | None = None) -> list[str]:
        """Keep these candidates, which opens the gate; return their names."""
        chosen: list[str] = await self.send("candidates", by, names=names)
        return chosen

    async def answer(self, answers: Sequence[str], *, by: str | None = None) -> tuple[Reading, ...]:
        """Answer what it asks back before it searches; return how the question is meant now.

        The answers are in order; an empty text leaves what it assumes.
        """
        readings: tuple[Reading, ...] = await self.send("answer", by, answers=answers)
        return readings

    async def edit_plan(self, plan: ReportPlan, *, by: str | None = None) -> PlanView:
        """Replace the plan while it waits for approval; the gate goes on waiting."""
        view: PlanView = await self.send("edit_plan", by, plan=plan)
        return view

    async def cancel(self, section: str | None = None) -> str:
        """Stop it, or one of its sections; a report is still written. Returns the id of the workflow."""
        seen = await self.running()
        if section and seen and section not in (names := [s.id for s in seen.sections]):
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


def named(by: str | None) -> str:
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
    found = Blocks(Run.found)
    iterations = Blocks(Run.iterations)
    plan = Blocks(Run.plan)
    edit_plan = Blocks(Run.edit_plan)
    add_source = Blocks(Run.add_source)
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
        return self.held.id

    @property
    def link(self) -> str | None:
        """Its page in Temporal's Web UI; None where there is none."""
        return self.held.link

    def events(self, after: int = 0, *, follow: bool = True) -> Iterator[AgentEvent]:
        """See `Run.events`."""
        events = self.held.events(after, follow=follow)
        try:
            while (event := self.loop.call(_next(events))) is not None:
                yield event
        finally:
            self.loop.call(_closed(events))


async def _next(events: AsyncGenerator[AgentEvent, None]) -> AgentEvent | None:
    return await anext(events, None)


async def _closed(events: AsyncGenerator[AgentEvent, None]) -> None:
    await events.aclose()


class _Events(Display):
    """A display that puts the events of a run into a queue."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[AgentEvent | None] = asyncio.Queue()

    def events(self, events: Sequence[AgentEvent]) -> None:
        for event in events:
            self.queue.put_nowait(event)
