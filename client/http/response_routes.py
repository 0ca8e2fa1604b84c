"""`/v1/models` and `/v1/responses`: ask, stream, read, cancel and approve with a client of the protocol."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from activities.contracts.evidence import ApprovalGate
from client.access import line_of
from client.api import EXPECTED
from client.failures import BadInput
from client.http.desk import Case, Desk, check_scope
from client.http.protocol import (
    APPROVAL,
    MODELS,
    Json,
    pending_approval,
    response_of,
    run_id_of,
    stream,
)
from client.http.tokens import Token
from client.run import Run
from client.runs.display import Display
from client.runs.options import SharedOptions
from workflows.modes import AUTO, MODES

CANCEL_SECONDS = 20.0
"""Time for which a cancel waits for the report of what was found."""


class Part(BaseModel):
    type: str = ""
    text: str = ""


class Turn(BaseModel):
    role: str = "user"
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        parts = self.content or ""
        return parts if isinstance(parts, str) else "\n".join(part.text for part in parts if part.text)


class Item(Turn):
    type: str = "message"
    approval_request_id: str = ""
    approve: bool = False
    reason: str | None = None


class Request(BaseModel):
    """Fields that the bodies of both protocols have."""

    model: str = f"{MODELS}{AUTO}"
    stream: bool | None = False
    tools: list[Any] | None = None
    determinator: SharedOptions | None = None
    """`extra_body={"determinator": {...}}`: limits, sources, gates."""


def options_of(body: Request) -> SharedOptions:
    """Return what is asked beside the question.

    Raises BadInput, and HTTPException for a model that is no mode.
    """
    mode = mode_of(body.model)
    if body.tools:
        raise BadInput("this server runs no tools of its callers; leave out `tools`")
    options = body.determinator or {}
    return {**options, "mode": options.get("mode") or mode}


class Asked(Request):
    """The body of `POST /v1/responses`: of the protocol's fields those that mean something here.

    What tunes a model (temperature, instructions) is ignored: prompts and models are those of the server.
    """

    input: str | Annotated[list[Item], Field(max_length=500)]
    background: bool | None = False
    previous_response_id: str | None = None
    text: dict[str, Any] | None = None

    @property
    def items(self) -> list[Item]:
        return [Item(content=self.input)] if isinstance(self.input, str) else self.input


def responses(desk: Desk) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["responses"])
    asker, reader = (Depends(desk.needs(scope)) for scope in ("ask", "read"))

    @router.get("/models")
    async def models(token: Token = reader) -> Json:
        """Return a model for each mode."""
        return {"object": "list", "data": [model_of(mode) for mode in (AUTO, *MODES)]}

    @router.get("/models/{name:path}")
    async def model(name: str, token: Token = reader) -> Json:
        """One of them."""
        return model_of(mode_of(name))

    @router.post("/responses", response_model=None)
    async def create(body: Asked, token: Token = asker) -> JSONResponse | EventSourceResponse:
        """Start a run, build on one, or answer the request for approval of one.

        Without `background` and `stream` the answer comes when the run has ended or waits at a gate.
        """
        run, after = await begin(desk, body, token)
        if body.stream:
            return EventSourceResponse(event_stream(run))
        if not body.background:
            async with aclosing(run.events_to_gate(after)) as events:
                async for _ in events:
                    pass
        return await answer(run)

    @router.get("/responses/{name}", response_model=None)
    async def retrieve(
        name: str,
        token: Token = reader,
        stream: bool = False,
        starting_after: Annotated[int, Query(ge=-1)] = -1,
    ) -> JSONResponse | EventSourceResponse:
        """Return a response as it is, or its stream behind a number."""
        run = await desk.run(run_id_of(name), token)
        return EventSourceResponse(event_stream(run, starting_after)) if stream else await answer(run)

    @router.post("/responses/{name}/cancel", response_model=None)
    async def cancel(name: str, token: Token = asker) -> JSONResponse:
        """Cancel it; a report of what was found is still written, which a later look has."""
        run = await desk.run(run_id_of(name), token)
        if (await run.row()).status == "running":
            await run.cancel()
            try:
                await asyncio.wait_for(run.follow(Display()), CANCEL_SECONDS)
            except TimeoutError:
                return JSONResponse(await response_of(run) | {"status": "cancelled"})
        return await answer(run)

    return router


def model_of(mode: str) -> Json:
    return {"id": f"{MODELS}{mode}", "object": "model", "created": 0, "owned_by": "determinator"}


def mode_of(name: str) -> str:
    """Return the mode that a model is named by. Raises HTTPException."""
    mode = name.removeprefix(MODELS)
    if mode not in (AUTO, *MODES):
        names = ", ".join(f"{MODELS}{offered_mode}" for offered_mode in (AUTO, *MODES))
        raise HTTPException(404, f"there is no model {name[:100]}; there are {names}")
    return mode


async def begin(desk: Desk, body: Asked, token: Token) -> tuple[Run, int]:
    """Return the run that a request is about, and the event after which it is new.

    Raises BadInput for what cannot be done here.
    """
    options = options_of(body)
    form = (body.text or {}).get("format", {}).get("type", "text")
    if form != "text":
        raise BadInput(f"a report is Markdown, not {form}; GET /runs/ID/report has other formats")
    previous_id = run_id_of(body.previous_response_id) if body.previous_response_id else None
    decisions = [item for item in body.items if item.type == "mcp_approval_response"]
    if decisions:
        return await decide_gate(desk, previous_id, decisions[-1], token)
    texts = [item.text for item in body.items if item.type == "message" and item.role == "user"]
    if not texts or not texts[-1].strip():
        raise BadInput("`input` has no message of a user")
    return await desk.ask(token, {**options, "question": texts[-1], "follow_up": previous_id}), 0


async def decide_gate(desk: Desk, run_id: str | None, decision: Item, token: Token) -> tuple[Run, int]:
    """Return the run whose gate was decided, and its last event before that.

    Raises BadInput for a request that does not wait.
    """
    check_scope(token, "decide")
    request = APPROVAL.fullmatch(decision.approval_request_id)
    if run_id is None or request is None:
        raise BadInput("an approval needs `previous_response_id` and an `approval_request_id` of its output")
    case = Case(await desk.run(run_id, token), token)
    run = case.run
    events = [event async for event in run.events(follow=False)]
    request_id = pending_approval(events)
    if request_id != request[0]:
        raise BadInput(f"{request[0]} does not wait for a decision; what waits is {request_id or 'nothing'}")
    decide = run.approve if decision.approve else run.reject
    gate: ApprovalGate = request[2]  # type: ignore[assignment]
    await decide(gate=gate, by=case.by, note=decision.reason or "")
    return run, events[-1].seq


async def answer(run: Run) -> JSONResponse:
    return JSONResponse(await response_of(run))


async def event_stream(run: Run, after: int = -1) -> AsyncGenerator[ServerSentEvent, None]:
    """Yield the stream of a response; an error ends it with the protocol's event of that name."""
    number = max(after, 0)
    try:
        async with aclosing(stream(run, after)) as events:
            async for event in events:
                number = event["sequence_number"]
                yield server_event(event)
    except EXPECTED as error:
        error_body = {"code": "server_error", "message": line_of(error), "param": None}
        yield server_event({"type": "error", "sequence_number": number, **error_body})


def server_event(event: Json) -> ServerSentEvent:
    """Write an event as OpenAI sends it: without an id, behind which its clients take a ping for an event."""
    return ServerSentEvent(json.dumps(event), event=event["type"])
