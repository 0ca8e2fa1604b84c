"""`/runs`: what the Python client has, over HTTP."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Header, HTTPException, Query
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from activities.contracts.evidence import Gate, Length, ReportPlan
from activities.report.format_table import FORMATS
from client.access import line_of
from client.api import EXPECTED
from client.failures import BadInput
from client.http.desk import Desk, Once, Question
from client.http.tokens import Token
from client.reports.load import as_bytes
from client.run import Run
from client.runs.run_state import ListedRun, RunState, state_of
from workflows.types import BudgetStatus, PlanView

Text = Annotated[str, Field(max_length=2000)]
Action = Literal["approve", "reject", "pause", "resume", "finish", "cancel", "steer"]


class Message(BaseModel):
    """What a decision says beside its name."""

    model_config = ConfigDict(extra="forbid")

    gate: Annotated[Gate | None, Field(description="approve, reject: null for the one that waits")] = None
    note: Text = ""
    text: Annotated[Text, Field(description="steer: the instruction")] = ""
    section: Annotated[str | None, Field(max_length=200, description="cancel: this section only")] = None


class Addition(BaseModel):
    """What is added to a budget."""

    model_config = ConfigDict(extra="forbid")

    tokens: Annotated[int, Field(ge=0)] = 0
    cost: Annotated[float, Field(ge=0, description="US dollars")] = 0.0
    seconds: Annotated[float, Field(ge=0)] = 0.0
    iterations: Annotated[int, Field(ge=0)] = 0


class Candidates(BaseModel):
    """The candidates to keep."""

    names: Annotated[list[str], Field(max_length=200)]


def rest(desk: Desk) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/runs", tags=["runs"])
    ask, read, decide = (Depends(desk.needs(scope)) for scope in ("ask", "read", "decide"))

    @router.post("", status_code=201)
    async def start(body: Question, token: Token = ask, once: Once = "") -> RunState:
        """Start the research of a question, or join it where it is under way."""
        return await state_of(await desk.ask(token, body.question, body, body.follow_up, once))

    @router.get("")
    async def runs(token: Token = read, limit: Annotated[int, Query(ge=1, le=100)] = 20) -> list[ListedRun]:
        """The caller's runs, the newest first."""
        return [ListedRun.of(row) for row in (await desk.access.runs(token.user))[:limit]]

    @router.get("/{run_id}")
    async def state(run_id: str, token: Token = read) -> RunState:
        """How a run is."""
        return await state_of(await desk.run(run_id, token))

    @router.get("/{run_id}/events", response_class=EventSourceResponse)
    async def events(
        run_id: str,
        token: Token = read,
        last_event_id: Annotated[int | None, Header(ge=0)] = None,
        after: Annotated[int, Query(ge=0)] = 0,
    ) -> EventSourceResponse:
        """Its events as server-sent events until it ends. The id of each is its number: `Last-Event-ID` or
        `after` takes a stream up behind it, without a gap or a double."""
        run = await desk.run(run_id, token)
        return EventSourceResponse(sent(run, after if last_event_id is None else last_event_id))

    @router.get("/{run_id}/report", response_class=Response)
    async def report(
        run_id: str,
        token: Token = read,
        form: Annotated[str, Query(alias="format", max_length=50)] = "md",
        length: Length | None = None,
    ) -> Response:
        """Its report in a format; while it runs, as it stands."""
        if form not in FORMATS:
            raise HTTPException(400, f"there is no format {form}; there are {', '.join(FORMATS)}")
        found = (await (await desk.run(run_id, token)).draft()).at_length(length)
        headers = {"X-Content-Type-Options": "nosniff", "Content-Disposition": "attachment"}
        return Response(as_bytes(found, form), media_type=FORMATS[form].media_type, headers=headers)

    @router.get("/{run_id}/evidence", response_class=StreamingResponse)
    async def evidence(run_id: str, token: Token = read) -> StreamingResponse:
        """The works it has found with their text: one JSON object a line."""
        run = await desk.run(run_id, token)

        async def lines() -> AsyncGenerator[str, None]:
            async for line in run.evidence_lines():
                yield json.dumps(line, ensure_ascii=False) + "\n"

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    @router.get("/{run_id}/plan")
    async def plan(run_id: str, token: Token = read) -> PlanView:
        """Its plan."""
        return await (await desk.run(run_id, token)).plan()

    @router.put("/{run_id}/plan")
    async def edit_plan(run_id: str, body: ReportPlan, token: Token = decide) -> PlanView:
        """Replace the plan while it waits for approval."""
        return await (await changeable(desk, run_id, token)).edit_plan(body, by=by(token))

    @router.get("/{run_id}/budget")
    async def budget(run_id: str, token: Token = read) -> BudgetStatus:
        """What it may use, has used and has left."""
        seen = await (await desk.run(run_id, token)).progress()
        if seen is None:
            raise HTTPException(503, "no worker answers at the moment", {"Retry-After": "5"})
        return seen.budget

    @router.post("/{run_id}/budget")
    async def extend(run_id: str, body: Addition, token: Token = decide) -> BudgetStatus:
        """Add to its budget, its cost up to what the token allows."""
        return await desk.extend(await changeable(desk, run_id, token), token, **body.model_dump())

    @router.post("/{run_id}/candidates")
    async def candidates(run_id: str, body: Candidates, token: Token = decide) -> list[str]:
        """Keep these candidates, which opens the gate."""
        return await (await changeable(desk, run_id, token)).choose_candidates(body.names, by=by(token))

    @router.post("/{run_id}/{action}")
    async def tell(
        run_id: str, action: Action, body: Message | None = None, token: Token = decide
    ) -> RunState:
        """Decide at a gate, or tell the run what to do. `finish` stops the searching; after `cancel`, too, a
        report is written."""
        run = await changeable(desk, run_id, token)
        await send(run, action, body or Message(), by(token))
        return await state_of(run)

    return router


async def send(run: Run, action: Action, message: Message, who: str | None) -> None:
    """Send a message to a run. Raises BadInput for what it refuses."""
    match action:
        case "approve":
            await run.approve(message.gate, by=who, note=message.note)
        case "reject":
            await run.reject(message.gate, by=who, note=message.note)
        case "pause":
            await run.pause()
        case "resume":
            await run.resume()
        case "finish":
            await run.finish()
        case "cancel":
            await run.cancel(message.section)
        case "steer":
            await run.steer(message.text, by=who)


async def changeable(desk: Desk, run_id: str, token: Token) -> Run:
    """A run that is to be changed. Raises BadInput for `last`: the newest one may be another program's."""
    if run_id == "last":
        raise BadInput("name a run that is changed by its id, not by `last`")
    return await desk.run(run_id, token)


def by(token: Token) -> str | None:
    """Who decides, in the report's list of approvals; None for the user of this process."""
    return token.user or None


async def sent(run: Run, after: int) -> AsyncGenerator[ServerSentEvent, None]:
    """The events of a run behind a number. An error ends the stream with one of its own, without an id."""
    try:
        async with aclosing(run.events(after)) as events:
            async for event in events:
                yield ServerSentEvent(event.model_dump_json(), event=event.type, id=str(event.seq))
    except EXPECTED as error:
        yield ServerSentEvent(json.dumps({"message": line_of(error)}), event="stream_error")
