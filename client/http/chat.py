"""`/v1/chat/completions`: a conversation about runs.

The interface keeps nothing of a conversation: the last line of each answer names its run, and the next
message of the conversation is about that run. It decides at the gate that waits (`approve`, `reject: why`),
tells a run under way what to do (`continue` only follows it), and builds on one that has ended.
"""

import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from activities.contracts.evidence import Usage
from client.access import line_of
from client.api import EXPECTED
from client.failures import BadInput, Failure
from client.http.desk import Case, Desk, check_scope
from client.http.protocol import CHUNK_CHARS, ending
from client.http.response_routes import Request, Turn, options_of
from client.http.tokens import Token
from client.run import Run

RUN_LINE = re.compile(r"^Run: `([\w.-]{1,200})`", re.MULTILINE)
TASK = "### Task:"
"""First words of Open WebUI's own requests (titles, tags, follow-ups), which it sends to the model of the
conversation unless another one is set for them, and questions with files or a web search, before which it
puts instructions of its own and their text."""


NOTHING: Sequence[object] = (None, False, [], {}, "")
NOT_DONE: Mapping[str, Sequence[object]] = {
    "n": (1,),
    "response_format": ({"type": "text"},),
    "modalities": (["text"],),
    "tool_choice": ("none", "auto"),
    "function_call": ("none", "auto"),
    **dict.fromkeys(("functions", "logprobs", "top_logprobs", "logit_bias", "stop", "audio"), (0,)),
    **dict.fromkeys(("prediction", "web_search_options", "suffix", "echo", "best_of"), (0,)),
}
"""Field of the protocol that would change the answer -> values that ask for nothing."""
TEXTS = ("", "text", "input_text", "output_text", "refusal")
"""Types of the parts of a message that are text."""


class StreamOptions(BaseModel):
    include_usage: bool = False


class Conversation(Request):
    """The body of `POST /v1/chat/completions`: of the protocol's fields those that mean something here."""

    model_config = ConfigDict(extra="allow")
    messages: list[Turn] = Field(max_length=500)
    stream_options: StreamOptions | None = None

    def refuse_more(self) -> None:
        """Raise BadInput for what the caller would wait for in vain.

        What tunes a model (temperature, seed) is ignored: prompts and models are those of the server.
        """
        for name, value in (self.model_extra or {}).items():
            if name in NOT_DONE and value not in NOTHING and value not in NOT_DONE[name]:
                raise BadInput(f"this server does not do `{name}` {str(value)[:80]}: leave it out")
        for turn in self.messages:
            for part in turn.content if isinstance(turn.content, list) else ():
                if part.type not in TEXTS:
                    raise BadInput(
                        f"only text is read here, no {part.type[:40]}; put documents into a library"
                    )


def chat(desk: Desk) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["chat"])
    ask = Depends(desk.needs("ask"))

    @router.post("/chat/completions", response_model=None)
    async def create(body: Conversation, token: Token = ask) -> JSONResponse | EventSourceResponse:
        """Answer the last message of a conversation."""
        reply = Reply(*await subject(desk, body, token), body.model)
        if body.stream:
            usage = body.stream_options is not None and body.stream_options.include_usage
            return EventSourceResponse(event_stream(reply, usage=usage))
        return JSONResponse(await reply.completion())

    return router


async def subject(desk: Desk, body: Conversation, token: Token) -> tuple[Run, int]:
    """Return the run that the last message is about, and the event after which it is new.

    Raises BadInput for what cannot be done.
    """
    body.refuse_more()
    options = options_of(body)
    if not body.messages or body.messages[-1].role != "user" or not body.messages[-1].text.strip():
        raise BadInput("the last message must be a question of the user")
    text = body.messages[-1].text.strip()
    if text.startswith(TASK):
        raise BadInput(
            "this model answers research questions only: set another one for tasks such as titles, and "
            "attach no files and no web search to a question"
        )
    answers = [turn.text for turn in body.messages if turn.role == "assistant"]
    run_ids = RUN_LINE.findall(answers[-1]) if answers else []
    if not run_ids:
        return await desk.ask(token, {**options, "question": text, "follow_up": None}), 0
    case = Case(await desk.run(run_ids[-1], token), token)
    run = case.run
    progress = await run.progress() if (await run.row()).status == "running" else None
    if progress is None:
        return await desk.ask(token, {**options, "question": text, "follow_up": run.id}), 0
    await tell(case, text, gate=progress.waiting_for)
    return run, progress.last_seq if progress.waiting_for else 0


async def tell(case: Case, text: str, *, gate: str | None) -> None:
    """Send a run what a message says. Raises BadInput for what does not decide at its gate."""
    word, _, note = text.partition(":")
    word = word.strip().casefold()
    if gate is None and word == "continue":
        check_scope(case.token, "read")  # the run that is named need not be one this token asked for
        return
    check_scope(case.token, "decide")
    if gate is None:
        await case.run.steer(text=text[:2000], by=case.by)
    elif word in ("approve", "reject"):
        decide = case.run.approve if word == "approve" else case.run.reject
        await decide(by=case.by, note=note.strip()[:2000])
    else:
        raise BadInput(f"the {gate} waits: answer `approve`, or `reject: why`")


class Reply:
    def __init__(self, run: Run, after: int, model: str) -> None:
        self.run = run
        self._after = after  # a gate that was decided just now may still seem to wait
        self._model = model
        self.spending = Usage()

    async def parts(self) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the parts of its message: progress as reasoning, then the report, or the gate that waits.

        Raises Failure for a run that left no report.
        """
        status = "running"
        while status == "running":
            async with aclosing(self.run.events_to_gate(self._after)) as events:
                async for event in events:
                    self._after = event.seq
                    if event.type != "streaming":
                        yield {"reasoning_content": f"{event.message}\n"}
            status = (await self.run.row()).status
            progress = await self.run.progress()
            if status == "running" and progress is not None and progress.waiting_for is not None:
                notice = f"**The {progress.waiting_for} waits for your decision.** {progress.message}\n\n"
                yield {"content": f"{notice}Answer `approve`, or `reject: why`.\n{self._line}"}
                return
        text, _, error = await ending(self.run, status)
        if progress is not None:
            self.spending = progress.budget.used
        if text is None:
            raise Failure(error["message"] if error else f"{self.run.id} left no report")
        for start in range(0, len(text["text"]), CHUNK_CHARS):
            yield {"content": text["text"][start : start + CHUNK_CHARS]}
        links = [
            {"type": kind, kind: {name: value for name, value in annotation.items() if name != "type"}}
            for annotation in text["annotations"]
            if (kind := annotation["type"]) == "url_citation"
        ]
        yield {"content": self._line, **({"annotations": links} if links else {})}

    async def completion(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "", "reasoning_content": ""}
        async with aclosing(self.parts()) as parts:
            async for part in parts:
                message |= {name: message.get(name, type(value)()) + value for name, value in part.items()}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {**await self.head("chat.completion"), "choices": [choice], "usage": self.usage()}

    async def head(self, kind: str) -> dict[str, Any]:
        created = int((await self.run.row()).started.timestamp())
        return {"id": f"chatcmpl-{self.run.id}", "object": kind, "created": created, "model": self._model}

    def usage(self) -> dict[str, int]:
        total = self.spending
        return {
            "prompt_tokens": total.input_tokens,
            "completion_tokens": total.output_tokens,
            "total_tokens": total.tokens,
        }

    @property
    def _line(self) -> str:
        return f"\n---\n\nRun: `{self.run.id}`\n"


async def event_stream(reply: Reply, *, usage: bool) -> AsyncGenerator[ServerSentEvent, None]:
    """Yield the answer as a stream of the protocol. An error is sent as one of its errors."""
    try:
        head = await reply.head("chat.completion.chunk")
        yield chunk(head, {"role": "assistant", "content": ""})
        async with aclosing(reply.parts()) as parts:
            async for part in parts:
                yield chunk(head, part)
        yield chunk(head, {}, finish="stop")
        if usage:
            yield _event({**head, "choices": [], "usage": reply.usage()})
    except EXPECTED as error:
        yield _event({"error": {"message": line_of(error), "type": "server_error"}})
    yield ServerSentEvent("[DONE]")


def chunk(head: dict[str, Any], delta: dict[str, Any], finish: str | None = None) -> ServerSentEvent:
    return _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _event(body: dict[str, Any]) -> ServerSentEvent:
    return ServerSentEvent(json.dumps(body))
