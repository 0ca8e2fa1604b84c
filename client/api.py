"""The client of Determinator: what Python programs, the command line, the MCP server and the web page use.

    async with Determinator() as d:
        run = await d.ask("Does metformin lower the risk of colorectal cancer?", max_cost=1.0)
        async for event in run.events():
            print(event.type, event.message)
        report = await run.report()

In a program without an event loop the same methods block:

    with Determinator() as d:
        report = d.ask("Does metformin lower the risk of colorectal cancer?").report()

It uses the server that `TEMPORAL_*`, the settings or `address` name, else the embedded one, which is started
when it is not running. Runs are durable: they go on when the program ends.
"""

import asyncio
from contextlib import AsyncExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

from temporalio.client import Client, WorkflowUpdateFailedError
from temporalio.service import RPCError

from activities.contracts.errors import DeterminatorError
from activities.messages import plural
from client.blocking import Blocking, Blocks, Loop
from client.configuration import ignored_keys, load_settings
from client.connection import Connection, Say, connection_config, open_client, quiet
from client.embedded.keeper import keep_alive
from client.embedded.server import serve, start_embedded
from client.failures import BadInput, Failure, no_such_run
from client.listing import EVERY, Listing, Row, description, find_run, list_runs, status_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from activities.contracts.evidence import Evidence, Filters, SourceOption
    from activities.contracts.revise import InstructionKind
    from activities.refresh_activity import RefreshOutcome
    from activities.settings import Settings
    from activities.sources.base import SearchResult
    from activities.sources.http.client import Http
    from client.reports.bundle import Exported
    from client.reports.finished import Finished, Verification
    from client.reviews.review import BlockingReview, Review
    from client.run import BlockingRun, Run
    from client.runs.options import AskOptions
    from client.runs.revising import Asked, Decided, Reply
    from workflows.types import ResearchRequest


EXPECTED = (Failure, DeterminatorError, RPCError, WorkflowUpdateFailedError)
"""Errors that the methods raise for a person to read; `client.failures.as_failure` words them."""


class Determinator:
    """A client.

    `settings` are those in force unless given; other keywords go over them, by their names in `Settings`.
    `say` receives messages for a person.
    """

    def __init__(
        self,
        settings: "Settings | None" = None,
        *,
        address: str | None = None,
        say: Say = quiet,
        **overrides: Any,  # noqa: ANN401 - values of any setting, which are validated
    ) -> None:
        self.settings = settings or load_settings(**overrides)
        self.address = address
        if settings is None and (line := ignored_keys()):
            say(line)
        self.say = say
        self._connection: Connection | None = None
        self._blocking: BlockingDeterminator | None = None
        self._open: AsyncExitStack | None = None
        self._http: Http | None = None
        self._opening = asyncio.Lock()

    async def __aenter__(self) -> Self:
        self._open = AsyncExitStack()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._connection = self._http = None
        if self._open is not None:
            await self._open.aclose()

    def __enter__(self) -> "BlockingDeterminator":
        self._blocking = self.blocking()
        return self._blocking

    def __exit__(self, *_: object) -> None:
        if self._blocking is not None:
            self._blocking.close()

    def blocking(self) -> "BlockingDeterminator":
        """Return the same methods for a program without an event loop; `close` ends its thread."""
        return BlockingDeterminator(self, Loop())

    @property
    def embedded(self) -> bool:
        """Tell whether the embedded server serves. Raises BadConnectionSettings."""
        return connection_config(self.address, self.settings) is None

    @property
    def is_new(self) -> bool:
        """Tell whether the home has an embedded server that never ran. Raises BadConnectionSettings."""
        return self.embedded and not any(self.settings.home.glob("temporal-*.db"))

    async def ask(
        self,
        question: str,
        *,
        follow_up: str | None = None,
        user: str = "",
        **options: "Unpack[AskOptions]",
    ) -> "Run":
        """Start the research of a question, or join it where the same one is being researched.

        `follow_up` names a finished run that it begins with, and whose folder, sources, filters,
        models and limits it takes where `options` say nothing else; `user`, whom it is for, where
        that is another one than the user of this process: only a run of the same user is joined then.

        Raises BadInput for what cannot be asked, NoConnection, RPCError.
        """
        from client.runs.destinations import destinations
        from client.runs.embedded import check_request
        from client.runs.request import build_request

        if follow_up is None:
            request = build_request(self.settings, question, options)
        else:
            request = await self._follow_up(follow_up, question, options)
        if self.embedded:
            request = await check_request(
                self.settings, request, has_named_sources=bool(options.get("sources")), say=self.say
            )
            if self._connection is None or follow_up is not None:
                self.say(await destinations(self.settings, request))
        return await self.start(request, user)

    async def start(self, request: "ResearchRequest", user: str = "") -> "Run":
        """Start the run of a request that was built by other means; see `ask` for `user`."""
        from client.reports.load import has_report
        from client.run import Run
        from client.runs.start import plain_url, signing_key, start

        # each time: whatever ended meanwhile is started again, and the worker has these settings
        self._connection = connection = await self.connect()
        starting = start(
            connection.client,
            request,
            connection.task_queue,
            has_report=partial(has_report, self.settings),
            indexed=connection.embedded,
            key=signing_key(self.settings, embedded=connection.embedded),
            user=user,
            address=plain_url(self.settings.openai_base_url or "") if connection.embedded else "",
        )
        run = await keep_alive(self.settings, connection, starting)
        return Run(
            self.settings,
            connection,
            run.run_id,
            say=self.say,
            attached=run.attached,
            earlier=run.earlier,
        )

    async def revise(
        self,
        name: str,
        message: str,
        by: str | None = None,
        /,
        *,
        model: str | None = None,
        max_cost: float | None = None,
        **content: Any,  # noqa: ANN401 - by the message
    ) -> "Reply":
        """Send `tell`, `change`, `dispute` or `decide` of `client.messages` to the finished report of a run.

        The report of the answer is one of a single section for `tell`, else a version beside it.
        `max_cost`: US dollars that the run and all that is asked of its report may cost. Raises as
        `client.runs.revising.revise`.
        """
        from client.messages import MESSAGES
        from client.runs.revising import revise

        answer = cast("Asked | Decided", MESSAGES[message].read(content))
        kind = cast("InstructionKind", message)
        return await revise(self, name, kind, answer, by=by, model=model, max_cost=max_cost)

    async def connect(self, *, worker: bool = True) -> Connection:
        """Return a connection to the configured server, else to the embedded one.

        That is started when it is not running. With `worker`, it gets a background worker with these
        settings. Raises NoConnection and BadConnectionSettings.
        """
        config = connection_config(self.address, self.settings)
        if config is None:
            return await start_embedded(self.settings, worker=worker, say=self.say)
        address, queue = config["target_host"], self.settings.task_queue
        return Connection(await open_client(config), embedded=False, address=address, task_queue=queue)

    async def run(self, name: str = "last", *, worker: bool = True) -> "Run":
        """Return the run with an id, an unambiguous part of one, or `last`.

        With `worker`, an embedded server gets a worker for the queue of the run. Raises NoSuchRun,
        NoConnection, BadConnectionSettings.
        """
        from client.run import Run

        if self.is_new:
            raise no_such_run(name)
        connection, run_id = await self._find(find_run, name, worker=worker)
        return Run(self.settings, connection, run_id, say=self.say)

    async def _find(
        self, find: "Callable[[Client, str], Awaitable[str]]", name: str, *, worker: bool = True
    ) -> tuple[Connection, str]:
        """Return the id that a name stands for, and a connection on whose queue it is served."""
        connection = await self.connect(worker=False)
        run_id = await find(connection.client, name)
        if worker and connection.embedded and (state := await description(connection.client, run_id)):
            is_running, queue = status_of(state) == "running", state.task_queue
            connection = await serve(self.settings, connection, queue, is_running=is_running, say=self.say)
        return connection, run_id

    async def start_review(self, protocol: Path | str, *, user: str = "") -> "Review":
        """Start the systematic review of a protocol, or join it where it is under way.

        `protocol`: a file, or TOML that names no files; `user` as for `ask`. It waits for `approve` before it
        searches. Raises BadInput, NoConnection, StoreError, RPCError.
        """
        from activities.evidence_store import EvidenceStore
        from activities.review.archive import Archive
        from client.reviews.review import Review
        from client.reviews.start import read_all, start_review
        from client.runs.checks import check_sources
        from client.runs.embedded import check_store, closed_sources
        from workflows.review.types import ReviewRequest

        document, key, files = await read_all(Archive(EvidenceStore.at(self.settings.evidence_url)), protocol)
        sources = check_sources(tuple(source.source for source in document.sources))
        if self.embedded:
            check_store(self.settings)
            if reasons := await closed_sources(self.settings, sources):
                raise BadInput(next(iter(reasons.values())))
        if document.models and self.settings.model_choices()["default"].backend == "extractive":
            names = ", ".join(model.name for model in document.models)
            raise BadInput(f"{names} is a model, and no model is connected; set DETERMINATOR_MODEL")
        self._connection = connection = await self.connect()
        request = ReviewRequest(protocol=document, protocol_key=key, files=files)
        starting = start_review(connection.client, request, connection.task_queue, user)
        run_id = await keep_alive(self.settings, connection, starting)
        return Review(self.settings, connection, run_id)

    async def review(self, name: str = "last") -> "Review":
        """Return the review with an id, a part of one, or `last`. Raises NoSuchRun, NoConnection."""
        from client.reviews.review import Review
        from client.reviews.start import find_review, no_such_review

        if self.is_new:
            raise no_such_review(name)
        return Review(self.settings, *await self._find(find_review, name))

    async def reviews(self) -> list[str]:
        """Return the ids of all reviews, the newest first. Raises NoConnection."""
        from client.reviews.start import review_ids

        if self.is_new:
            return []
        return await review_ids((await self.connect(worker=False)).client)

    async def runs(self, only: Listing = EVERY, user: str | None = None) -> list[Row]:
        """Return runs, the newest first; `user`: of one user. Raises NoConnection."""
        if self.is_new:
            return []
        connection = await self.connect(worker=False)
        return await list_runs(connection.client, only, user)

    async def finished(self, name: str = "last", *, whole: bool = True) -> "Finished":
        """Return all that is known of a run that has ended.

        It comes from the run or, where no server knows it, from the evidence store. Raises NoReport,
        NoSuchRun, NoConnection, StoreError.
        """
        from client.reports.finished import find_finished

        return await find_finished(self, name, whole=whole)

    async def refresh(self, name: str, *, search: bool = False) -> "RefreshOutcome":
        """Ask the authorities again about what a report cites and, with `search`, its sources for new works.

        Where anything changed, a version is kept beside the report. Raises BadInput, Failure,
        NoReport, NoSuchRun, NoConnection, StoreError.
        """
        from client.runs.refreshing import refresh_report

        return await refresh_report(self, await self.finished(name, whole=False), search=search)

    async def export(
        self, name: str = "last", output: Path | None = None, *, force: bool = False
    ) -> "Exported":
        """Save all that an outsider needs to check a report; see `client.reports.bundle.export`."""
        from client.reports.bundle import export

        return await export(self, name, output, force=force)

    async def verify(self, name: str = "last") -> "Verification":
        """Check every quote of the report of a run against its stored text; raises as `finished`."""
        from client.reports.finished import verify

        return await verify(self, name)

    async def search(
        self,
        source: str,
        query: str,
        *,
        limit: int | None = None,
        filters: "Filters | None" = None,
        library: str | None = None,
    ) -> "SearchResult":
        """Search one source, outside of any run. Raises BadInput, and Failure for an outage.

        The rate of a strictly limited API is kept by the workers of a configured server: only a run searches
        it there.
        """
        from activities.contracts.errors import Refused, SourceError
        from activities.contracts.evidence import Filters, Query
        from activities.search_activity import narrow_query
        from activities.sources.base import search
        from activities.sources.http.client import open_http
        from activities.sources.registry import Sources, why_closed
        from client.runs.checks import check_library, check_sources

        check_sources((source,))
        if not query.strip():
            raise BadInput("the query is empty")
        folder = check_library(library)
        filters = filters or Filters()
        if folder is not None:
            filters = filters.replace(options={"library": folder})
        request = narrow_query(Query(text=query.strip(), filters=filters), self.settings.sources.get(source))
        shared_http = await self._shared_http()
        async with nullcontext(shared_http) if shared_http is not None else open_http(self.settings) as http:
            searcher = Sources(self.settings, http)[source]
            if reason := why_closed(self.settings, searcher):
                raise BadInput(f"{source}: {reason}")
            if searcher.info.role == "lookup":
                raise BadInput(f"{source} answers by identifier only and cannot be searched")
            if searcher.info.queue is not None and not self.embedded:
                raise Failure(
                    f"the rate of {searcher.info.title} is kept by the workers of the server: only a run "
                    "searches it"
                )
            try:
                return await search(searcher, request if limit is None else request.replace(limit=limit))
            except Refused as error:
                raise BadInput(str(error)) from error
            except SourceError as error:
                status = error.status.replace("_", " ")
                raise Failure(f"{error} ({status}; this is not `no results`)") from error

    async def collected(
        self, query: str, limit: int = 10, *, only: "Collection[str] | None" = None
    ) -> "list[tuple[Evidence, float]]":
        """Return works that the runs of this home have collected, the nearest first, each with its score.

        They are compared by words and meaning. `only`: ids of the works to look among. Raises
        StoreError.
        """
        from activities.sources.evidence import index_of

        return await index_of(self.settings).search(query, limit, ids=only)

    async def _shared_http(self) -> "Http | None":
        """Return one HTTP client for all searches within `async with`; None outside of it.

        So they keep the rate of an API between them.
        """
        if self._open is None:
            return None
        async with self._opening:
            if self._http is None:
                from activities.sources.http.client import open_http

                self._http = await self._open.enter_async_context(open_http(self.settings))
        return self._http

    async def sources(self) -> "tuple[SourceOption, ...]":
        """Return the sources, which of them are enabled, and how to enable the others."""
        from client.runs.destinations import available

        return await available(self.settings)

    async def _follow_up(self, name: str, question: str, options: "AskOptions") -> "ResearchRequest":
        """Return the request of a question on a finished run, with what its report cites first."""
        from activities.contracts.prepare import FollowUp
        from activities.evidence_store import EvidenceStore
        from activities.report.archive import standings
        from client.runs.following_up import request_of_follow_up
        from client.runs.refreshing import known_items

        record = await self.finished(name, whole=False)
        request = await request_of_follow_up(self, record.report, question, options)
        if not record.items:
            raise BadInput(f"{record.run_id} has no evidence that another run could build on")
        cited_ids = {reference.evidence_id for reference in record.report.references}
        standing = standings(record.report, record.versions)
        refs = [
            ref.replace(standing=standing.get(ref.evidence_id, ref.standing))
            for ref, _ in sorted(record.items, key=lambda pair: pair[0].evidence_id not in cited_ids)
        ]
        blob = await known_items(EvidenceStore.at(self.settings.evidence_url), refs)
        self.say(f"building on {plural(len(refs), 'item')} of {record.run_id}")
        return request.replace(follow_up=FollowUp(run_id=record.run_id, blob=blob))


class BlockingDeterminator(Blocking[Determinator]):
    """The methods of `Determinator`, each of which blocks until it is done.

    It is made by `with Determinator() as client` or `Determinator().blocking()`; `close` or the end of a
    `with` ends its thread.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    runs = Blocks(Determinator.runs)
    reviews = Blocks(Determinator.reviews)
    refresh = Blocks(Determinator.refresh)
    verify = Blocks(Determinator.verify)
    export = Blocks(Determinator.export)
    revise = Blocks(Determinator.revise)
    search = Blocks(Determinator.search)
    sources = Blocks(Determinator.sources)

    def ask(
        self, question: str, *, follow_up: str | None = None, **options: "Unpack[AskOptions]"
    ) -> "BlockingRun":
        """See `Determinator.ask`."""
        from client.run import BlockingRun

        run = self.loop.call(self.target.ask(question, follow_up=follow_up, **options))
        return BlockingRun(run, self.loop)

    def run(self, name: str = "last") -> "BlockingRun":
        """See `Determinator.run`."""
        from client.run import BlockingRun

        return BlockingRun(self.loop.call(self.target.run(name)), self.loop)

    def start_review(self, protocol: Path | str, *, user: str = "") -> "BlockingReview":
        """See `Determinator.start_review`."""
        from client.reviews.review import BlockingReview

        return BlockingReview(self.loop.call(self.target.start_review(protocol, user=user)), self.loop)

    def review(self, name: str = "last") -> "BlockingReview":
        """See `Determinator.review`."""
        from client.reviews.review import BlockingReview

        return BlockingReview(self.loop.call(self.target.review(name)), self.loop)

    def close(self) -> None:
        """End its thread; runs go on."""
        self.loop.close()
