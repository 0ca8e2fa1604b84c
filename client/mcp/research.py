"""Tools of a run: start it, see how it is, decide what waits for a person, read and check its report.

A run is durable: it goes on when this server or its caller ends, and every tool finds it again by its id.
While a caller waits, progress is reported with each event of the run.
"""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, suppress
from typing import Annotated, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import InputRequiredResult, ToolAnnotations
from pydantic import AfterValidator, Field

from activities.contracts.evidence import Gate, Length, ReportPlan
from activities.contracts.revise import MAX_INSTRUCTION_CHARS
from activities.report.formats import render
from activities.report.schema import Report
from client.access import Folders
from client.api import Determinator
from client.failures import BadInput
from client.mcp.answers import (
    CollectedWork,
    ReportAnswer,
    ResearchState,
    VerifyAnswer,
    clearly,
)
from client.mcp.elicitation import ask_back
from client.messages import MESSAGES
from client.reports.verify import is_file_name
from client.run import Run
from client.runs.options import (
    Approve,
    AskOptions,
    Columns,
    Dollars,
    Iterations,
    LanguageTag,
    Library,
    Mode,
    Profile,
    QuestionText,
    Sections,
    Sources,
    setting,
)
from client.runs.planning import Planned
from client.runs.run_state import ListedRun, RunState, state_of
from workflows.graph.library import builtin_names

CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True)
READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
BY = "MCP client"
"""Who decided, in the report's list of approvals."""
MAX_WAIT_SECONDS = 3600.0


def named_by_id(run: str) -> str:
    """Raises ValueError for `last`."""
    if run == "last":
        raise ValueError("name the run by its id, not `last`: list_runs has the ids")
    return run


AnyRun = Annotated[
    str,
    Field(min_length=1, max_length=200, description="A run's id as `run` of an answer has it, or `last`"),
]
"""The run that a tool reads."""
OneRun = Annotated[
    str,
    Field(min_length=1, max_length=200, description="A run's id as `run` of an answer has it; not `last`"),
    AfterValidator(named_by_id),
]
"""The run that a tool changes: the newest one may be another caller's."""
Seconds = Annotated[
    float,
    Field(ge=0, le=MAX_WAIT_SECONDS, description="How long to wait for its end; the run goes on after that"),
]
Message = Annotated[str, Field(min_length=2, max_length=MAX_INSTRUCTION_CHARS)]
Collected = Annotated[int, Field(ge=1, le=100, description="Works at most")]


RunAction = Literal[
    "approve",
    "reject",
    "answer",
    "edit_plan",
    "steer",
    "extend",
    "pause",
    "resume",
    "finish",
    "cancel",
]


class Research:
    def __init__(self, client: Determinator, folders: Folders) -> None:
        self._client = client
        self._folders = folders

    def register(self, server: MCPServer) -> None:
        changing = (self.start_research, self.change_run, self.ask_report)
        reading = (
            *(self.plan_research, self.list_runs, self.research_status, self.get_report),
            *(self.search_evidence, self.verify_report),
        )
        for tools, kind in ((changing, CHANGES), (reading, READS)):
            for tool in tools:
                server.add_tool(clearly(tool), annotations=kind)

    async def plan_research(
        self,
        question: QuestionText,
        mode: Mode = "auto",
        profile: Profile = "auto",
        sources: Sources = (),
        library: Library = "",
        max_sections: Sections | None = None,
    ) -> Planned:
        """How a question would be researched: how it is read, which mode and sources fit, and the sections of
        a report on it. No run is started and nothing is searched. To use a changed plan, start_research with
        mode deep and approve ["plan"], then change_run with `edit_plan` and `approve`."""
        return await self._client.plan(
            question,
            **(self._narrowed(profile, sources, library) | AskOptions(mode=mode, max_sections=max_sections)),
        )

    def _narrowed(self, profile: str, sources: Sequence[str], library: str) -> AskOptions:
        """What a question is narrowed to. Raises BadInput for a folder that may not be named."""
        return {
            "profile": None if profile == "auto" else profile,
            "sources": list(sources),
            "library": self._folders.check(library) if library else None,
        }

    async def start_research(
        self,
        question: QuestionText,
        ctx: Context,
        follow_up: Annotated[
            str,
            Field(max_length=200, description="A finished run it builds on"),
            AfterValidator(named_by_id),
        ] = "",
        mode: Mode = "auto",
        graph: Annotated[
            str,
            Field(description=f"Of mode graph: {', '.join(builtin_names())}, or a file the operator allows"),
        ] = "",
        profile: Profile = "auto",
        sources: Sources = (),
        library: Library = "",
        columns: Columns = (),
        length: Annotated[Length | None, setting("length")] = None,
        language: Annotated[LanguageTag | None, setting("language")] = None,
        max_cost: Dollars | None = None,
        max_minutes: Annotated[float | None, Field(gt=0, description="Working time at most")] = None,
        max_iterations: Iterations | None = None,
        approve: Approve = (),
        wait_seconds: Seconds = 0,
    ) -> ResearchState | InputRequiredResult:
        """Start the research of a question; its report quotes a source for every claim. The same question
        with the same settings joins the run that is under way. Returns at once unless `wait_seconds` is
        given. Where your client can ask its person, it may be asked first what the question leaves open. With
        `follow_up` it begins with what that run found, and reads "it" as what that run was about."""
        caps = ctx.session.client_capabilities
        asks = caps is not None and caps.elicitation is not None and self._client.settings.clarify is None
        options = self._narrowed(profile, sources, library) | AskOptions(
            mode=mode if mode != "auto" else None,
            graph=(graph if graph in builtin_names() else self._folders.check(graph)) if graph else None,
            columns=list(columns) or None,
            length=length,
            language=language,
            max_cost=max_cost,
            max_time=None if max_minutes is None else max_minutes * 60,
            max_iterations=max_iterations,
            approve=list(approve) or None,
            clarify="ask" if asks else None,
        )
        run = await self._client.ask(question, follow_up=follow_up or None, **options)
        if asks and (question_back := await ask_back(run, ctx, BY)) is not None:
            return question_back
        return await self._state(run, ctx, wait_seconds)

    async def ask_report(
        self,
        run: OneRun,
        action: Annotated[
            Literal["ask", "change", "dispute", "refresh"],
            Field(
                description="ask: the evidence of its run answers, or does not have it (no claims). change: "
                "shorter, without a section, with a work named by its PMID ... dispute: a sentence is wrong, "
                "its works are read again. refresh: authorities are asked for retractions again"
            ),
        ],
        text: Annotated[str, Field(max_length=MAX_INSTRUCTION_CHARS, description="Question or reason")] = "",
        sentence: Annotated[str, Field(max_length=20, description="dispute: its id")] = "",
        search: Annotated[bool, Field(description="refresh: also look for new works")] = False,
    ) -> ReportAnswer:
        """Ask a finished report, have it changed or disputed, or bring it up to date. What is changed is a
        version beside it; what is not touched stays letter by letter. The answer is a report, that of `ask`
        of one section."""
        if action == "refresh":
            await self._client.refresh(run, search=search)
            return await self.get_report(run)
        if len(text.strip()) < 2:
            raise BadInput(f"{action} needs its text")
        match action:
            case "ask":
                answered = await self._client.tell(run, text, by=BY)
            case "change":
                answered = await self._client.change(run, text, by=BY)
            case "dispute":
                answered = await self._client.dispute(run, sentence, text, by=BY)
        return await self._answer(answered.report, notes=answered.outcome.notes)

    async def list_runs(self, limit: Annotated[int, Field(ge=1, le=100)] = 20) -> list[ListedRun]:
        """Runs, the newest first, with the id by which the other tools take each."""
        return [ListedRun.of(row) for row in await self._client.runs(limit)]

    async def research_status(
        self, ctx: Context, run: AnyRun = "last", wait_seconds: Seconds = 0
    ) -> ResearchState:
        """How a run is: phase, iteration, works found, money spent, which gate waits for a decision, and what
        waits there. With `wait_seconds`, waits for its end or for a gate and reports progress meanwhile."""
        return await self._state(await self._client.run(run), ctx, wait_seconds)

    async def change_run(
        self,
        run: OneRun,
        action: RunAction,
        gate: Annotated[Gate | None, Field(description="approve, reject: none: the one that waits")] = None,
        text: Annotated[
            str, Field(max_length=2000, description="steer: what to do. approve, reject: why")
        ] = "",
        sentence: Annotated[str, Field(max_length=20, description="approve, reject: of a dispute")] = "",
        answers: Annotated[
            Sequence[str], Field(description="answer: in order; empty: what the run assumes")
        ] = (),
        plan: Annotated[ReportPlan | None, Field(description="edit_plan: as research_status has it")] = None,
        tokens: Annotated[int, Field(ge=0, description="extend")] = 0,
        cost: Annotated[float, Field(ge=0, description="extend: US dollars")] = 0.0,
        minutes: Annotated[float, Field(ge=0, description="extend")] = 0.0,
        iterations: Annotated[int, Field(ge=0, description="extend")] = 0,
    ) -> RunState:
        """Tell a run something: decide what waits at its gate (its plan, its candidates, its report, a
        dispute of a finished report; ask the person first), answer what it asks back, replace its plan while
        that waits, give it an instruction or more budget, pause it, have it write its report, cancel it."""
        handle = await self._client.run(run)
        match action:
            case "approve" | "reject" if sentence:
                await self._client.decide(run, sentence, upheld=action == "approve", by=BY, note=text)
            case "approve" | "reject":
                await handle.decide(action, gate, by=BY, note=text)
            case "answer":
                await handle.answer(answers, by=BY)
            case "edit_plan":
                if plan is None:
                    raise BadInput("edit_plan needs the plan")
                await handle.edit_plan(plan, by=BY)
            case "steer":
                await handle.steer(text, by=BY)
            case "extend":
                await handle.extend(tokens=tokens, cost=cost, seconds=minutes * 60, iterations=iterations)
            case "pause" | "resume" | "finish" | "cancel":
                await MESSAGES[action].send(handle)
        return await state_of(handle)

    async def search_evidence(
        self,
        query: Annotated[str, Field(min_length=1, max_length=2_000)],
        run: Annotated[str, Field(max_length=200, description="Of this run only; none: of all runs")] = "",
        limit: Collected = 10,
    ) -> list[CollectedWork]:
        """Search what runs have collected, by words and by meaning, the nearest first. Asks no source."""
        ids = {ref.evidence_id for ref in await (await self._client.run(run)).found()} if run else None
        collected = await self._client.collected(query, limit, only=ids)
        return [CollectedWork.of(work, score) for work, score in collected]

    async def get_report(
        self,
        run: AnyRun = "last",
        length: Annotated[Length | None, Field(description="Of its Markdown; none: as it was asked")] = None,
    ) -> ReportAnswer:
        """The report of a run: its claims, each with verbatim quotes and the works they are from. While the
        run goes on it is the report as it stands, marked as a draft."""
        handle = await self._client.run(run)
        return await self._answer((await handle.draft()).at_length(length))

    async def _answer(self, report: Report, notes: Sequence[str] = ()) -> ReportAnswer:
        markdown = await asyncio.to_thread(render, report, "md")
        return ReportAnswer.of(report, markdown.decode(), notes)

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

    async def _state(self, run: Run, ctx: Context, seconds: float) -> ResearchState:
        """The state of a run, after waiting for its end or for a gate."""
        if seconds > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(follow(run, ctx), seconds)
        state = await state_of(run)
        plan = (await run.plan()).plan if state.waiting_for == "plan" else None
        return ResearchState(**dict(state), plan=plan)


async def follow(run: Run, ctx: Context) -> None:
    """Report progress with each event, until the run ends or waits at a gate."""
    async with aclosing(run.events_to_gate()) as events:
        async for event in events:
            await ctx.report_progress(event.seq, None, event.message)
