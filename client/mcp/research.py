"""Tools of a run: start it, see how it is, decide what waits for a person, read and check its report.

A run is durable: it goes on when this server or its caller ends, and every tool finds it again by its id.
While a caller waits, progress is reported with each event of the run.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from typing import Annotated, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import InputRequiredResult, ToolAnnotations
from pydantic import AfterValidator, Field

from activities.contracts.evidence import Gate, Length, ReportPlan
from activities.contracts.revise import MAX_INSTRUCTION_CHARS
from activities.contracts.step import Reading
from activities.refresh_activity import RefreshOutcome
from activities.report.format_table import CHARTS
from activities.report.formats import render
from client.access import Folders
from client.api import Determinator
from client.failures import BadInput
from client.mcp.answers import (
    ChartAnswer,
    CollectedWork,
    HypothesisAnswer,
    ReportAnswer,
    Told,
    VerifyAnswer,
    clearly,
)
from client.mcp.elicitation import ask_back
from client.messages import MESSAGES, MessageName
from client.reports.charts import render_chart
from client.reports.replies import Changed
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
from workflows.types import BudgetStatus, PlanView

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


class Research:
    def __init__(self, client: Determinator, folders: Folders) -> None:
        self._client = client
        self._folders = folders

    def register(self, server: MCPServer) -> None:
        changing = (
            *(self.start_research, self.follow_up, self.analyze_hypothesis, self.approve, self.steer),
            *(self.extend, self.edit_plan, self.refresh, self.answer_questions),
            *(self.tell_report, self.change_report, self.dispute_sentence),
        )
        reading = (
            *(self.plan_research, self.list_runs, self.research_status, self.get_report, self.get_plan),
            *(self.get_chart, self.search_evidence, self.verify_report),
        )
        for tools, kind in ((changing, CHANGES), (reading, READS)):
            for tool in tools:
                server.add_tool(clearly(tool), annotations=kind)
        for name, message in MESSAGES.items():
            called, kind = ("cancel_research", CANCELS) if name == "cancel" else (name, CHANGES)
            server.add_tool(clearly(self._message(name)), called, description=message.does, annotations=kind)

    def _message(self, name: MessageName) -> Callable[..., Awaitable[RunState]]:
        async def tell(run: OneRun) -> RunState:
            told = await self._client.run(run)
            await MESSAGES[name].send(told)
            return await state_of(told)

        return tell

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
        mode deep and approve ["plan"], then edit_plan and approve."""
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
    ) -> RunState | InputRequiredResult:
        """Start the research of a question; its report quotes a source for every claim. The same question
        with the same settings joins the run that is under way. Returns at once unless `wait_seconds` is
        given. Where your client can ask its person, it may be asked first what the question leaves open."""
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
        run = await self._client.ask(question, **options)
        if asks and (question_back := await ask_back(run, ctx, BY)) is not None:
            return question_back
        return await self._state(run, ctx, wait_seconds)

    async def tell_report(self, run: OneRun, question: Message) -> Told:
        """Ask a finished report a question; the evidence of its run answers, with quotes, or does not have it
        (then `claims` is empty: follow_up searches for it). A sentence is named by its id."""
        answered = await self._client.tell(run, question, by=BY)
        return Told.of(answered.report)

    async def change_report(self, run: OneRun, instruction: Message) -> Changed:
        """Change a finished report: shorter, without a section, for a general reader, with a work that is
        named by its PMID. A version is made beside it; what is not touched stays letter by letter."""
        return Changed.of(await self._client.change(run, instruction, by=BY))

    async def dispute_sentence(
        self, run: OneRun, sentence: Annotated[str, Field(max_length=20)], reason: Message
    ) -> Changed:
        """Say that a sentence of a finished report is wrong. Its works are read again; the report shows both,
        and the sentence stays until a person decides."""
        return Changed.of(await self._client.dispute(run, sentence, reason, by=BY))

    async def answer_questions(
        self,
        run: OneRun,
        answers: Annotated[Sequence[str], Field(description="In order; empty: what the run assumes")],
    ) -> Sequence[Reading]:
        """Answer what a run asks back before it searches (the gate `clarification`)."""
        return await (await self._client.run(run)).answer(answers, by=BY)

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
        dispute: Annotated[str, Field(description="Id of a disputed sentence", max_length=20)] = "",
    ) -> RunState:
        """Decide what waits at a gate of a run (its plan, its candidates or its report), or a `dispute` of
        its report, which is approved to take the sentence out. Ask the person first."""
        handle = await self._client.run(run)
        if dispute:
            await self._client.decide(run, dispute, upheld=decision == "approve", by=BY, note=note)
        else:
            await handle.decide(decision, gate, by=BY, note=note)
        return await state_of(handle)

    async def steer(
        self, run: OneRun, text: Annotated[str, Field(min_length=1, max_length=2000)]
    ) -> RunState:
        """Give a run an instruction, such as "only trials in adults"; it follows it from its next step on."""
        handle = await self._client.run(run)
        await handle.steer(text, by=BY)
        return await state_of(handle)

    async def follow_up(
        self,
        run: OneRun,
        question: QuestionText,
        ctx: Context,
        mode: Mode = "auto",
        max_cost: Dollars | None = None,
        wait_seconds: Seconds = 0,
    ) -> RunState:
        """Ask a question that builds on a finished run: it begins with what that run found, with the same
        sources, folder and limits, and reads "it" as what that run was about."""
        new = await self._client.ask(
            question, follow_up=run, mode=mode if mode != "auto" else None, max_cost=max_cost
        )
        return await self._state(new, ctx, wait_seconds)

    async def extend(
        self,
        run: OneRun,
        tokens: Annotated[int, Field(ge=0)] = 0,
        cost: Annotated[float, Field(ge=0, description="US dollars")] = 0.0,
        minutes: Annotated[float, Field(ge=0, description="Of working time")] = 0.0,
        iterations: Annotated[int, Field(ge=0)] = 0,
    ) -> BudgetStatus:
        """Add to the budget of a run; what it may use after that."""
        handle = await self._client.run(run)
        return await handle.extend(tokens=tokens, cost=cost, seconds=minutes * 60, iterations=iterations)

    async def get_plan(self, run: AnyRun = "last") -> PlanView:
        """The plan of a run: its sections with a key question each, and whether it was approved."""
        return await (await self._client.run(run)).plan()

    async def edit_plan(self, run: OneRun, plan: ReportPlan) -> PlanView:
        """Replace the plan of a run while it waits at the gate `plan`, which goes on waiting. A section that
        keeps its id stays the same section."""
        return await (await self._client.run(run)).edit_plan(plan, by=BY)

    async def refresh(
        self,
        run: OneRun,
        search: Annotated[bool, Field(description="Also run its searches again, for new works")] = False,
    ) -> RefreshOutcome:
        """Ask PubMed, Crossref and Europe PMC again about what a finished report cites: retractions,
        concerns, corrections. Where anything changed, get_report gives a new version."""
        return await self._client.refresh(run, search=search)

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
        report = (await handle.draft()).at_length(length)
        markdown = await asyncio.to_thread(render, report, "md")
        return ReportAnswer.of(report, markdown.decode())

    async def get_chart(
        self,
        name: Annotated[str, Field(json_schema_extra={"enum": [*CHARTS]})],
        run: AnyRun = "last",
    ) -> ChartAnswer:
        """A chart of a report: as a table in Markdown and as SVG with a title and a description."""
        if name not in CHARTS:
            raise BadInput(f"there is no chart {name[:100]}; there are {', '.join(CHARTS)}")
        report = await (await self._client.run(run)).draft()
        table = await asyncio.to_thread(render_chart, report, name, "md")
        svg = await asyncio.to_thread(render_chart, report, name, "svg")
        if table is None or svg is None:
            raise BadInput(f"{report.run_id} has nothing for the chart {name}")
        return ChartAnswer(run=report.run_id, chart=name, table=table.decode(), svg=svg.decode())

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
        max_cost: Dollars | None = None,
        wait_seconds: Seconds = 600,
    ) -> HypothesisAnswer:
        """Ask what the evidence says of a drug for a condition: an iterative run with the profile for drug
        repurposing, and its report when it ends in time. The numbers in it are those of the works it
        quotes."""
        through = f" through {mechanism}" if mechanism else ""
        options = self._narrowed("drug_repurposing", sources, library)
        options |= AskOptions(mode="iterative", max_cost=max_cost)
        run = await self._client.ask(f"Could {drug} treat {condition}{through}?", **options)
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
    async with aclosing(run.events_to_gate()) as events:
        async for event in events:
            await ctx.report_progress(event.seq, None, event.message)
