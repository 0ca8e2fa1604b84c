"""Tools of a run: start it, see how it is, decide what waits for a person, read and check its report.

A run is durable: it goes on when this server or its caller ends, and every tool finds it again by its id.
While a caller waits, progress is reported with each event of the run.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ToolAnnotations
from pydantic import AfterValidator, Field

from activities.report.formats import render
from activities.types import Gate, Length
from client.api import Determinator
from client.failures import BadInput
from client.mcp.answers import HypothesisAnswer, ReportAnswer, VerifyAnswer, clearly
from client.reports.verify import is_file_name
from client.run import Run
from client.runs.folders import Folders
from client.runs.run_state import ListedRun, RunState, state_of

CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)
READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
CANCELS = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True)
BY = "MCP client"
"""Who decided, in the report's list of approvals."""
MAX_WAIT_SECONDS = 3600.0


def named_by_id(run: str) -> str:
    """Raises ValueError for `last`."""
    if run == "last":
        raise ValueError("a tool that changes a run needs its id, not `last`; list_runs has the ids")
    return run


AnyRun = Annotated[
    str,
    Field(min_length=1, max_length=200, description="A run's id as `run` of an answer has it, or `last`"),
]
"""Of a tool that reads."""
OneRun = Annotated[
    str,
    Field(min_length=1, max_length=200, description="A run's id as `run` of an answer has it; not `last`"),
    AfterValidator(named_by_id),
]
"""Of a tool that changes a run: the newest one may be another caller's."""
Seconds = Annotated[
    float,
    Field(ge=0, le=MAX_WAIT_SECONDS, description="How long to wait for its end; the run goes on after that"),
]
Question = Annotated[str, Field(min_length=3, max_length=4000)]
Sources = Annotated[Sequence[str], Field(description="Only these sources; none: those of the profile")]
Library = Annotated[str, Field(description="A folder of documents, below one the operator allows")]
ProfileName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


class Research:
    """The tools, on one client."""

    def __init__(self, client: Determinator, folders: Folders) -> None:
        self._client = client
        self._folders = folders

    def register(self, server: MCPServer) -> None:
        """Add the tools to a server."""
        for tool in (self.start_research, self.analyze_hypothesis, self.approve, self.steer):
            server.add_tool(clearly(tool), annotations=CHANGES)
        for read in (self.list_runs, self.research_status, self.get_report, self.verify_report):
            server.add_tool(clearly(read), annotations=READS)
        server.add_tool(clearly(self.cancel_research), annotations=CANCELS)

    async def start_research(
        self,
        question: Question,
        ctx: Context,
        mode: Annotated[
            Literal["auto", "simple", "iterative", "deep"],
            Field(description="deep plans sections; auto chooses"),
        ] = "auto",
        profile: Annotated[
            ProfileName, Field(description="auto, drug_repurposing, biomedical, general")
        ] = "auto",
        sources: Sources = (),
        library: Library = "",
        columns: Annotated[
            Sequence[str], Field(description="What to extract from each work, for a table")
        ] = (),
        length: Annotated[Length, Field(description="How much of its report is printed")] = "standard",
        max_cost: Annotated[float | None, Field(ge=0, description="US dollars at most")] = None,
        max_minutes: Annotated[float | None, Field(gt=0, description="Working time at most")] = None,
        max_iterations: Annotated[int | None, Field(ge=1, le=50)] = None,
        approve: Annotated[
            Sequence[Gate], Field(description="Gates at which the run waits for the tool approve")
        ] = (),
        wait_seconds: Seconds = 0,
    ) -> RunState:
        """Start the research of a question; its report quotes a source for every claim. The same question
        with the same settings joins the run that is under way. Returns at once unless `wait_seconds` is
        given."""
        run = await self._client.ask(
            question,
            mode=None if mode == "auto" else mode,
            profile=None if profile == "auto" else profile,
            sources=list(sources),
            library=self._folders.check(library) if library else None,
            columns=list(columns) or None,
            length=length,
            max_cost=max_cost,
            max_time=None if max_minutes is None else max_minutes * 60,
            max_iterations=max_iterations,
            approve=list(approve) or None,
        )
        return await self._state(run, ctx, wait_seconds)

    async def list_runs(self, limit: Annotated[int, Field(ge=1, le=100)] = 20) -> list[ListedRun]:
        """Runs, the newest first, with the id by which the other tools take each."""
        return [ListedRun.of(row) for row in await self._client.runs(limit)]

    async def research_status(
        self, ctx: Context, run: AnyRun = "last", wait_seconds: Seconds = 0
    ) -> RunState:
        """How a run is: phase, iteration, works found, money spent, and which gate waits for a decision. With
        `wait_seconds`, waits for its end or for a gate and reports progress meanwhile."""
        return await self._state(await self._client.run(run), ctx, wait_seconds)

    async def approve(
        self,
        run: OneRun,
        gate: Annotated[Gate | None, Field(description="The gate that waits; none: whichever does")] = None,
        decision: Literal["approve", "reject"] = "approve",
        note: Annotated[str, Field(max_length=2000)] = "",
    ) -> RunState:
        """Decide what waits at a gate of a run: its plan, its candidates or its report. Ask the person
        first."""
        found = await self._client.run(run)
        decide = found.approve if decision == "approve" else found.reject
        await decide(gate, by=BY, note=note)
        return await state_of(found)

    async def steer(
        self, run: OneRun, text: Annotated[str, Field(min_length=1, max_length=2000)]
    ) -> RunState:
        """Give a run an instruction, such as "only trials in adults"; it follows it from its next step on."""
        found = await self._client.run(run)
        await found.steer(text, by=BY)
        return await state_of(found)

    async def cancel_research(
        self,
        run: OneRun,
        finish: Annotated[
            bool, Field(description="Stop searching only, and write the report from what there is")
        ] = False,
    ) -> RunState:
        """Stop a run. A report of what was found is still written."""
        found = await self._client.run(run)
        if finish:
            await found.finish()
        else:
            await found.cancel()
        return await state_of(found)

    async def get_report(
        self,
        run: AnyRun = "last",
        length: Annotated[Length | None, Field(description="Of its Markdown; none: as it was asked")] = None,
    ) -> ReportAnswer:
        """The report of a run: its claims, each with verbatim quotes and the works they are from. While the
        run goes on it is the report as it stands, marked as a draft."""
        found = await self._client.run(run)
        report = (await found.draft()).at_length(length)
        markdown = await asyncio.to_thread(render, report, "md")
        return ReportAnswer.of(report, markdown.decode())

    async def verify_report(
        self,
        run: AnyRun = "last",
        path: Annotated[
            str, Field(description="A report's JSON file or bundle, below a folder the operator allows")
        ] = "",
    ) -> VerifyAnswer:
        """Check every quote of a report against the stored text of the work it is attributed to, and that
        references are numbered, cited and not retracted."""
        if path:
            target = self._folders.check(path)
        elif is_file_name(run):
            raise BadInput("name a file as `path`")
        else:
            target = run
        checked = await self._client.verify(target)
        quotes = sum(len(bearer.quotes) for bearer in checked.found.bearers)
        faults = [*checked.found.faults(), *checked.parcel.damaged]
        return VerifyAnswer(holds=checked.holds, quotes=quotes, faults=faults)

    async def analyze_hypothesis(
        self,
        drug: Annotated[str, Field(min_length=2, max_length=200)],
        condition: Annotated[str, Field(min_length=2, max_length=200)],
        ctx: Context,
        mechanism: Annotated[str, Field(max_length=1000, description="The proposed mechanism, if any")] = "",
        sources: Sources = (),
        library: Library = "",
        max_cost: Annotated[float | None, Field(ge=0, description="US dollars at most")] = None,
        wait_seconds: Seconds = 600,
    ) -> HypothesisAnswer:
        """Ask what the evidence says of a drug for a condition: an iterative run with the profile for drug
        repurposing, and its report when it ends in time. The numbers in it are those of the works it
        quotes."""
        through = f" through {mechanism}" if mechanism else ""
        run = await self._client.ask(
            f"Could {drug} treat {condition}{through}?",
            mode="iterative",
            profile="drug_repurposing",
            sources=list(sources),
            library=self._folders.check(library) if library else None,
            max_cost=max_cost,
        )
        state = await self._state(run, ctx, wait_seconds)
        report = None if state.status == "running" else await self.get_report(run.id)
        return HypothesisAnswer(state=state, report=report)

    async def _state(self, run: Run, ctx: Context, seconds: float) -> RunState:
        """The state of a run, after waiting for its end or for a gate."""
        if seconds > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(follow(run, ctx), seconds)
        return await state_of(run)


async def follow(run: Run, ctx: Context) -> None:
    """Report progress with each event, until the run ends or waits at a gate."""
    async for event in run.events():
        await ctx.report_progress(event.seq, None, event.message)
        if event.type == "awaiting_approval":
            seen = await run.progress()
            if seen is not None and seen.waiting_for is not None:
                return
