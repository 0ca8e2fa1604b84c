"""What a run asks back before it searches, put to the person of the caller.

Since the protocol of 2026-07-28 a server sends no requests: the tool returns what is to be answered, and the
caller calls it again with the answers. Older callers are asked while the tool runs.
"""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, suppress

from mcp.server.elicitation import render_elicitation_schema
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import is_version_at_least
from pydantic import BaseModel, Field, create_model

from activities.contracts.step import Reading
from client.api import EXPECTED
from client.run import Run

CLARIFY_SECONDS = 300.0
"""Seconds that a run waits for what a person answers; after that it goes on with what it assumes."""
RETURNS_QUESTIONS = "2026-07-28"
"""The first version of the protocol in which a tool returns what it asks."""
KEY = "clarification"
_waiting: set[asyncio.Task[None]] = set()


async def ask_back(run: Run, ctx: Context, by: str) -> InputRequiredResult | None:
    """Have the caller's person answer what a run asks; what is declined or not answered in time is assumed.
    What is to be returned to the caller; None where nothing is open."""
    if ctx.input_responses is not None:
        response = ctx.input_responses.get(KEY)
        with suppress(*EXPECTED):  # it has gone on with what it assumes
            await run.answer(_answers(response if isinstance(response, ElicitResult) else None), by=by)
        return None
    readings = await asked_back(run)
    if not readings:
        return None
    fields = {
        f"answer_{n}": (str, Field(default="", title=one.question, description=f"Else: {one.assumed}"))
        for n, one in enumerate(readings, 1)
    }
    form: type[BaseModel] = create_model("Answers", **fields)  # type: ignore[call-overload]
    message = f"Before it searches: {' '.join(one.question for one in readings)}"
    if is_version_at_least(ctx.protocol_version or "", RETURNS_QUESTIONS):
        task = asyncio.create_task(_assume_later(run, by))
        _waiting.add(task)
        task.add_done_callback(_waiting.discard)
        params = ElicitRequestFormParams(message=message, requested_schema=render_elicitation_schema(form))
        return InputRequiredResult(input_requests={KEY: ElicitRequest(params=params)})
    answers: Sequence[str] = ()
    with suppress(MCPError, TimeoutError):  # the caller cannot show it after all, or nobody is there
        result = await asyncio.wait_for(ctx.elicit(message, form), CLARIFY_SECONDS)
        answers = [*result.data.model_dump().values()] if result.action == "accept" else ()
    await run.answer(answers, by=by)
    return None


async def asked_back(run: Run) -> Sequence[Reading]:
    """What a run waits to be told before it searches; empty where it asks nothing."""
    async with aclosing(run.events_to_gate()) as events:
        async for event in events:
            if event.type == "read":
                return ()
    seen = await run.progress()
    return seen.readings if seen is not None and seen.waiting_for == "clarification" else ()


def _answers(response: ElicitResult | None) -> Sequence[str]:
    content = response.content if response is not None and response.action == "accept" else None
    return [str(text or "") for _, text in sorted((content or {}).items())]


async def _assume_later(run: Run, by: str) -> None:
    """What a run assumes holds where nobody answers in time."""
    await asyncio.sleep(CLARIFY_SECONDS)
    with suppress(*EXPECTED):
        await run.approve("clarification", by=by)
