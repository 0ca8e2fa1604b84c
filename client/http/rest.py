"""`/runs`: what the Python client has, over HTTP.

What calls a model needs the scope `ask` and counts as a run; what decides needs `decide`.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Depends, Header, HTTPException, Query
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from activities.contracts.evidence import Length
from activities.contracts.revise import MAX_INSTRUCTION_CHARS
from activities.report.format_table import FORMATS
from client.access import line_of
from client.api import EXPECTED
from client.http.desk import Case, Desk, Once, Question
from client.http.tokens import Token
from client.messages import MESSAGES, Message, Text
from client.reports.load import as_bytes
from client.reports.replies import Changed, Told
from client.run import Run
from client.runs.run_state import ListedRun, RunState, state_of
from workflows.types import BudgetStatus, PlanView

Sentence = Annotated[str, Field(max_length=20, description="Its id, as s1.2")]


class Body(BaseModel):
    """What a request says; a field that no route takes is refused."""

    model_config = ConfigDict(extra="forbid")


class Instruction(Body):
    text: Annotated[str, Field(min_length=2, max_length=MAX_INSTRUCTION_CHARS)]


class Disputed(Instruction):
    sentence: Sentence


class Decided(Body):
    sentence: Sentence
    upheld: Annotated[bool, Field(description="true: the sentence goes, its quote stands in its place")]
    note: Text = ""


def rest(desk: Desk) -> APIRouter:
    router = APIRouter(prefix="/runs", tags=["runs"])
    client = desk.client
    asker, reader = (Depends(desk.needs(scope)) for scope in ("ask", "read"))
    telling, reading = (Depends(desk.run_for(scope)) for scope in ("ask", "read"))
    asking = Depends(desk.run_for("ask", changes=True))
    deciding = Depends(desk.run_for("decide", changes=True))

    @router.post("", status_code=201)
    async def start(body: Question, token: Token = asker, once: Once = "") -> RunState:
        """Start the research of a question, or join it where it is under way."""
        return await state_of(await desk.ask(token, body, once))

    @router.get("")
    async def runs(token: Token = reader, limit: Annotated[int, Query(ge=1, le=100)] = 20) -> list[ListedRun]:
        """Return the caller's runs, the newest first."""
        return [ListedRun.of(row) for row in (await desk.access.runs(token.user))[:limit]]

    @router.get("/{run_id}")
    async def state(case: Case = reading) -> RunState:
        """How a run is."""
        return await state_of(case.run)

    @router.get("/{run_id}/events", response_class=EventSourceResponse)
    async def events(
        case: Case = reading,
        last_event_id: Annotated[int | None, Header(ge=0)] = None,
        after: Annotated[int, Query(ge=0)] = 0,
    ) -> EventSourceResponse:
        """Its events as server-sent events until it ends. The id of each is its number: `Last-Event-ID` or
        `after` takes a stream up behind it, without a gap or a double."""
        return EventSourceResponse(sent(case.run, after if last_event_id is None else last_event_id))

    @router.get("/{run_id}/report", response_class=Response)
    async def report(
        case: Case = reading,
        form: Annotated[str, Query(alias="format", max_length=50)] = "md",
        length: Length | None = None,
    ) -> Response:
        """Its report in a format; while it runs, as it stands."""
        if form not in FORMATS:
            raise HTTPException(400, f"there is no format {form}; there are {', '.join(FORMATS)}")
        document = (await case.run.draft()).at_length(length)
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
        seen = await case.run.progress()
        if seen is None:
            raise HTTPException(503, "no worker answers at the moment", {"Retry-After": "5"})
        return seen.budget

    @router.post("/{run_id}/tell")
    async def tell(body: Instruction, case: Case = telling) -> Told:
        """Ask a finished report: the evidence of its run answers, or does not have it."""
        most = desk.may_cost(case)
        return Told.of(await client.tell(case.run.id, body.text, by=case.by, max_cost=most))

    @router.post("/{run_id}/change")
    async def change(body: Instruction, case: Case = asking) -> Changed:
        """Have a finished report changed: a version beside it."""
        most = desk.may_cost(case)
        return Changed.of(await client.change(case.run.id, body.text, by=case.by, max_cost=most))

    @router.post("/{run_id}/dispute")
    async def dispute(body: Disputed, case: Case = asking) -> Changed:
        """Dispute a sentence: its works are read again, and it stays until somebody decides."""
        most = desk.may_cost(case)
        disputed = client.dispute(case.run.id, body.sentence, body.text, by=case.by, max_cost=most)
        return Changed.of(await disputed)

    @router.post("/{run_id}/decide")
    async def settle(body: Decided, case: Case = deciding) -> Changed:
        """Decide a dispute."""
        decided = client.decide(case.run.id, body.sentence, upheld=body.upheld, by=case.by, note=body.note)
        return Changed.of(await decided)

    for kind in MESSAGES.values():
        router.post(f"/{{run_id}}/{kind.name}", summary=kind.__doc__)(act_of(desk, kind))
    return router


def act_of(desk: Desk, kind: type[Message]) -> Callable[..., Awaitable[RunState]]:
    """Return the route of a message: its fields are the body, which may be left out where none is needed."""
    is_needed = any(field.is_required() for field in kind.model_fields.values())
    form = kind if is_needed else kind | None

    async def act(
        body: form = ... if is_needed else None,  # type: ignore[valid-type]  # FastAPI reads it as it is then
        case: Case = Depends(desk.run_for("decide", changes=True)),  # noqa: B008 - FastAPI's way
    ) -> RunState:
        await desk.send(case, kind() if body is None else body)
        return await state_of(case.run)

    return act


async def sent(run: Run, after: int) -> AsyncGenerator[ServerSentEvent, None]:
    """Yield the events of a run behind a number. An error ends the stream with one of its own, without an
    id."""
    try:
        async with aclosing(run.events(after)) as events:
            async for event in events:
                yield ServerSentEvent(event.model_dump_json(), event=event.type, id=str(event.seq))
    except EXPECTED as error:
        yield ServerSentEvent(json.dumps({"message": line_of(error)}), event="stream_error")
