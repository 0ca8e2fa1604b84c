"""Tools of a run: start it, see how it is, decide what waits for a person, read and check its report.

A run is durable: it goes on when this server or its caller ends, and every tool finds it again by its id.
While a caller waits, progress is reported with each event of the run.
"""

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    ToolAnnotations,
)
from pydantic import AfterValidator, Field

from activities.contracts.evidence import Length
from activities.report.formats import render
from activities.report.schema import Report
from client.access import Folders, folder_of
from client.api import Determinator
from client.listing import Listing
from client.mcp.answers import (
    CollectedWork,
    ReportAnswer,
    VerifyAnswer,
    clearly,
)
from client.messages import MESSAGES, Verb
from client.run import Run
from client.runs.options import AskOptions, QuestionText, SharedOptions, non_empty
from client.runs.run_state import ListedRun, RunState, state_of
from workflows.graph.library import builtin_names

CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True)
READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
BY = "MCP client"
"""Name of who decided, in the report's list of approvals."""
MAX_WAIT_SECONDS = 3600.0
T = TypeVar("T")


def named_by_id(run: str) -> str:
    """Raise ValueError for `last`."""
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
Collected = Annotated[int, Field(ge=1, le=100, description="Works at most")]


TO_RUN = {name: verb for name, verb in MESSAGES.items() if verb.to != "report"}
TO_REPORT = {name: verb for name, verb in MESSAGES.items() if verb.to == "report"}
RunAction: Any = Literal[tuple(TO_RUN)]
ReportAction: Any = Annotated[
    Literal[(*TO_REPORT, "refresh")],
    Field(
        description="tell: the evidence of its run answers, or has no answer (no claims). change: shorter, "
        "without a section, with a work named by its PMID ... dispute: a sentence is wrong, its works are "
        "read again. decide: of a dispute; ask the person first. refresh: authorities are asked again for "
        "retractions"
    ),
]


def with_arguments(
    tool: Callable[..., Awaitable[T]], arguments: Mapping[str, Any]
) -> Callable[..., Awaitable[T]]:
    """Return the tool with these optional arguments in place of those that it does not name."""
    signature = inspect.signature(tool)
    parameters = [
        parameter
        for parameter in signature.parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD
    ]
    additions = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in arguments.items()
    ]

    @functools.wraps(tool)
    async def call(*args: object, **values: object) -> T:
        return await tool(*args, **values)

    call.__signature__ = signature.replace(parameters=[*parameters, *additions])  # type: ignore[attr-defined]
    return call


def fields_of(verbs: Iterable[Verb]) -> dict[str, Any]:
    """Return the fields of messages, each with the actions that it is for."""
    actions: dict[str, list[str]] = {}
    kinds: dict[str, tuple[Any, str | None]] = {}
    for verb in verbs:
        for name, field in verb.fields.items():
            actions.setdefault(name, []).append(verb.name)
            kinds[name] = field.annotation, field.description
    return {
        name: Annotated[kind | None, Field(description=f"{', '.join(actions[name])}: {about}")]
        for name, (kind, about) in kinds.items()
    }


class Research:
    def __init__(self, client: Determinator, folders: Folders) -> None:
        self._client = client
        self._folders = folders

    def register(self, server: MCPServer) -> None:
        options = get_type_hints(SharedOptions, include_extras=True)
        filters = get_type_hints(Listing, include_extras=True)
        changing = (
            with_arguments(self.start_research, options),
            with_arguments(self.change_run, fields_of(TO_RUN.values())),
            with_arguments(self.ask_report, fields_of(TO_REPORT.values())),
        )
        reading = (
            with_arguments(self.list_runs, {name: filters[name] for name in Listing.model_fields}),
            *(self.research_status, self.get_report, self.search_evidence, self.verify_report),
        )
        for tools, kind in ((changing, CHANGES), (reading, READS)):
            for tool in tools:
                server.add_tool(clearly(tool), annotations=kind)

    def _check_options(self, options: Mapping[str, Any]) -> AskOptions:
        """Return the options of a question. Raises BadInput for a folder that may not be named."""
        ask_options = non_empty(options)
        ask_options["library"] = folder_of(ask_options, self._client.settings, self._folders)
        return ask_options

    async def start_research(
        self,
        question: QuestionText,
        ctx: Context,
        follow_up: Annotated[
            str,
            Field(max_length=200, description="A finished run it builds on"),
            AfterValidator(named_by_id),
        ] = "",
        graph: Annotated[
            str,
            Field(description=f"Of mode graph: {', '.join(builtin_names())}, or a file the operator allows"),
        ] = "",
        wait_seconds: Seconds = 0,
        **options: Any,  # noqa: ANN401 - those of `SharedOptions`
    ) -> RunState:
        """Start the research of a question; its report quotes a source for every claim.

        The same question with the same settings joins the run that is under way. Returns at once
        unless `wait_seconds` is given. With `follow_up` it begins with what that run found, and reads
        "it" as what that run was about.
        """
        ask_options = self._check_options(options)
        if graph:
            ask_options["graph"] = graph if graph in builtin_names() else self._folders.check(graph)
        run = await self._client.ask(question, follow_up=follow_up or None, **ask_options)
        return await self._state(run, ctx, wait_seconds)

    async def ask_report(
        self,
        run: OneRun,
        action: ReportAction,
        search: Annotated[bool, Field(description="refresh: also look for new works")] = False,
        **fields: Any,  # noqa: ANN401 - those of the messages
    ) -> ReportAnswer:
        """Ask a finished report, have it changed or disputed, or bring it up to date.

        What is changed is a version beside it; what is not touched stays letter by letter. The answer
        is a report, that of `tell` of one section.
        """
        if action == "refresh":
            await self._client.refresh(run, search=search)
            return await self.get_report(run)
        reply = await self._client.revise(run, action, BY, **fields)
        return await self._answer(reply.report, notes=reply.outcome.notes)

    async def list_runs(self, **filters: object) -> list[ListedRun]:
        """Return runs, the newest first, with the id by which the other tools take each."""
        return [ListedRun.of(row) for row in await self._client.runs(Listing.read(filters))]

    async def research_status(
        self, ctx: Context, run: AnyRun = "last", wait_seconds: Seconds = 0
    ) -> RunState:
        """Return how a run is: phase, iteration, works, money spent, and what waits for a decision.

        With `wait_seconds`, waits for its end or for a gate and reports progress meanwhile.
        """
        return await self._state(await self._client.run(run), ctx, wait_seconds)

    async def change_run(
        self,
        run: OneRun,
        action: RunAction,
        **fields: Any,  # noqa: ANN401 - those of the messages
    ) -> RunState:
        """Tell a run something, or decide what waits at its gate.

        Its plan, its candidates or its report may wait (ask the person first). Also: answer what it
        asks back, replace its plan while that waits, give it an instruction or more budget, pause it,
        have it write its report, cancel it.
        """
        handle = await self._client.run(run)
        verb = TO_RUN[action]
        await handle.deliver(verb, verb.read(fields), BY)
        return await state_of(handle)

    async def search_evidence(
        self,
        query: Annotated[str, Field(min_length=1, max_length=2_000)],
        run: Annotated[str, Field(max_length=200, description="Of this run only; none: of all runs")] = "",
        limit: Collected = 10,
    ) -> list[CollectedWork]:
        """Search what runs have collected, by words and by meaning, the nearest first. Asks no source."""
        ids = (
            {ref.evidence_id for ref in await (await self._client.run(run)).evidence_refs()} if run else None
        )
        works = await self._client.collected(query, limit, only=ids)
        return [CollectedWork.of(work, score) for work, score in works]

    async def get_report(
        self,
        run: AnyRun = "last",
        length: Annotated[Length | None, Field(description="Of its Markdown; none: as it was asked")] = None,
        version: Annotated[int | None, Field(ge=1, description="None: the latest")] = None,
    ) -> ReportAnswer:
        """Return the report of a run: its claims, each with verbatim quotes and the works they are from.

        While the run goes on it is the report as it stands, marked as a draft.
        """
        handle = await self._client.run(run)
        return await self._answer((await handle.version(version)).at_length(length))

    async def _answer(self, report: Report, notes: Sequence[str] = ()) -> ReportAnswer:
        markdown = await asyncio.to_thread(render, report, "md")
        return ReportAnswer.of(report, markdown.decode(), notes)

    async def verify_report(self, run: AnyRun = "last") -> VerifyAnswer:
        """Check every quote of a report against the stored text of its work.

        Also that references are numbered, cited and not retracted.
        """
        verification = await self._client.verify(run)
        quotes = sum(len(bearer.quotes) for bearer in verification.examination.bearers)
        faults = [*verification.examination.faults(), *verification.damaged]
        notes = list(verification.examination.notes)
        return VerifyAnswer(holds=verification.holds, quotes=quotes, faults=faults, notes=notes)

    async def _state(self, run: Run, ctx: Context, seconds: float) -> RunState:
        """Return the state of a run, after waiting for its end or for a gate."""
        if seconds > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(follow(run, ctx), seconds)
        return await state_of(run)


async def follow(run: Run, ctx: Context) -> None:
    """Report progress with each event, until the run ends or waits at a gate."""
    async with aclosing(run.events_to_gate()) as events:
        async for event in events:
            await ctx.report_progress(event.seq, None, event.message)
