"""`/runs`: what the Python client has, over HTTP.

What calls a model needs the scope `ask` and counts as a run; what decides needs `decide`.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, HTTPException, Query
from fastapi.responses import Response, StreamingResponse
from sse_starlette import EventSourceResponse, ServerSentEvent

from activities.contracts.evidence import Length
from activities.report.formats import FORMATS
from client.access import line_of
from client.api import EXPECTED
from client.http.desk import Case, Desk, Question
from client.http.tokens import Token
from client.listing import Listing
from client.messages import MESSAGES, Verb
from client.reports.load import as_bytes
from client.run import Run
from client.runs.run_state import ListedRun, RunState, state_of
from workflows.messages import Message
from workflows.types import BudgetStatus, PlanView


def rest(desk: Desk) -> APIRouter:
    router = APIRouter(prefix="/runs", tags=["runs"])
    asker, reader = (Depends(desk.needs(scope)) for scope in ("ask", "read"))
    reading = Depends(desk.run_for("read"))

    @router.post("", status_code=201)
    async def start(body: Question, token: Token = asker) -> RunState:
        """Start the research of a question, or join it where it is under way."""
        return await state_of(await desk.ask(token, body))

    @router.get("")
    async def runs(listing: Annotated[Listing, Query()], token: Token = reader) -> list[ListedRun]:
        """Return the caller's runs, the newest first."""
        return [ListedRun.of(row) for row in await desk.access.runs(token.user, listing)]

    @router.get("/{run_id}")
    async def state(case: Case = reading) -> RunState:
        """Return how a run is."""
        return await state_of(case.run)

    @router.get("/{run_id}/events", response_class=EventSourceResponse)
    async def events(
        case: Case = reading,
        last_event_id: Annotated[int | None, Header(ge=0)] = None,
        after: Annotated[int, Query(ge=0)] = 0,
    ) -> EventSourceResponse:
        """Its events as server-sent events until it ends.

        The id of each is its number: `Last-Event-ID` or `after` takes a stream up behind it, without
        a gap or a double.
        """
        return EventSourceResponse(event_stream(case.run, after if last_event_id is None else last_event_id))

    @router.get("/{run_id}/report", response_class=Response)
    async def report(
        case: Case = reading,
        form: Annotated[str, Query(alias="format", max_length=50)] = "md",
        length: Length | None = None,
        version: Annotated[int | None, Query(ge=1)] = None,
    ) -> Response:
        """Its report in a format, the latest version of it; while it runs, as it stands."""
        if form not in FORMATS:
            raise HTTPException(400, f"there is no format {form}; there are {', '.join(FORMATS)}")
        document = (await case.run.version(version)).at_length(length)
        headers = {"X-Content-Type-Options": "nosniff", "Content-Disposition": "attachment"}
        body = await asyncio.to_thread(as_bytes, document, form)  # a PDF takes seconds, and others wait
        return Response(body, media_type=FORMATS[form].media_type, headers=headers)

    @router.get("/{run_id}/evidence", response_class=StreamingResponse)
    async def evidence(case: Case = reading) -> StreamingResponse:
        """Return the works it has found with their text: one JSON object a line."""
        lines = (json.dumps(line, ensure_ascii=False) + "\n" async for line in case.run.evidence_lines())
        return StreamingResponse(lines, media_type="application/x-ndjson")

    @router.get("/{run_id}/plan")
    async def plan(case: Case = reading) -> PlanView:
        """Its plan."""
        return await case.run.plan()

    @router.get("/{run_id}/budget")
    async def budget(case: Case = reading) -> BudgetStatus:
        """Return what it may use, has used and has left."""
        progress = await case.run.progress()
        if progress is None:
            raise HTTPException(503, "no worker answers at the moment", {"Retry-After": "5"})
        return progress.budget

    for verb in MESSAGES.values():
        router.post(f"/{{run_id}}/{verb.name}", summary=verb.help)(route_of(desk, verb))
    return router


def route_of(desk: Desk, verb: Verb) -> Callable[..., Awaitable[object]]:
    """Return the route of a message: its content is the body, which may be left out where none is needed."""
    model = verb.model or Message
    is_needed = any(field.is_required() for field in model.model_fields.values())
    form: Any = model if is_needed else model | None
    default = ... if is_needed else None
    case_of = Depends(desk.run_for(verb.scope, changes=verb.name != "tell"))

    async def act(body=default, case=case_of):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        if verb.to != "report":
            await desk.send(case, verb, body)
            return await state_of(case.run)
        max_cost = desk.may_cost(case) if verb.scope == "ask" else None
        content = dict(body)
        by = case.by or content.pop("by", None)
        reply = await desk.client.revise(case.run.id, verb.name, by, max_cost=max_cost, **content)
        return verb.answer.of(reply)

    act.__annotations__ = {
        "body": form,
        "case": Case,
        "return": verb.answer if verb.to == "report" else RunState,
    }
    return act


async def event_stream(run: Run, after: int) -> AsyncGenerator[ServerSentEvent, None]:
    """Yield the events of a run behind a number.

    An error ends the stream with one of its own, without an id.
    """
    try:
        async with aclosing(run.events(after)) as events:
            async for event in events:
                yield ServerSentEvent(event.model_dump_json(), event=event.type, id=str(event.seq))
    except EXPECTED as error:
        yield ServerSentEvent(json.dumps({"message": line_of(error)}), event="stream_error")
