"""An answer as it arrives: whole, or in the pieces of a stream; and the usage a provider reports with it.

A stream is read for as long as words arrive and do not repeat themselves, and has no limit on its length in
time. It ends when the server ends it, when nothing is said for a while (comments that keep a connection open
are not words), when it is too long, when it repeats itself, or when the step's time is over. However it ends,
the text is kept: its complete part is used. It is read to its end, also after its last event: the connection
is free for the next call then.
"""

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Literal, NamedTuple

import httpx2

from activities.contracts.bounds import MAX_CALL_TOKENS, integer, real_number
from activities.contracts.evidence import Usage
from activities.models.failures import ReportedError, is_error

MAX_WORDS = 5
"""Words of an answer whose probabilities are kept; they are asked for of one."""


MIN_LOGPROB = -1_000.0
"""The logarithm of a probability below this is one of nothing."""
MAX_TOOL_CALLS = 100
"""The highest number of a tool call in an answer, which is asked for as one."""


class Word(NamedTuple):
    """A part of an answer as the model said it."""

    text: str
    weights: dict[str, float]
    """Probability of the parts that it might have said here, this one among them."""


class Pieces:
    """Collects one answer. Any field of a server's JSON may be missing or of another type than documented."""

    def __init__(self) -> None:
        self.text = ""
        self.reasoning = ""
        self.refusal = ""
        self.characters = 0
        """Characters of all words that came, reasoning included."""
        self.finish_reason = ""
        self.tool_calls: dict[int, str] = {}
        self.usage: Mapping[str, object] | None = None
        self.words: list[Word] = []
        """With their probabilities, where these were asked for and given."""
        self.has_answer = False
        """Whether anything that looks like an answer came."""
        self._error: object = None
        """The error that came in place of an answer."""
        self._began = time.monotonic()

    @cached_property
    def seconds(self) -> float:
        """Since the request was made, when this was first read: once the answer is there."""
        return round(time.monotonic() - self._began, 3)

    @property
    def reported_usage(self) -> Usage | None:
        """The usage that the provider reports; None when it reports none."""
        return usage_of(self.usage) if self.usage is not None else None

    @property
    def all_text(self) -> str:
        """All words that came, reasoning included: what an estimate of the usage counts."""
        return self.text + self.reasoning + self.refusal + "".join(self.tool_calls.values())

    def tail(self, length: int) -> str:
        return (self.text or self.reasoning)[-length:]

    def add_whole(self, body: object) -> None:
        """Add a whole answer. Raises ValueError when the body is not one."""
        self._collect(body, "message")
        self.check()

    def add(self, chunk: object) -> None:
        self._collect(chunk, "delta")

    def check(self) -> None:
        """Raise ReportedError for an error in place of an answer, ValueError where nothing looks like one."""
        if not self.has_answer:
            if self._error is not None:
                raise ReportedError(self._error)
            raise ValueError("there was no choice in its answer")

    def _collect(self, body: object, field: str) -> None:
        if not isinstance(body, Mapping):
            raise ValueError(f"a JSON object was expected, not {type(body).__name__}")  # noqa: TRY004
        usage = body.get("usage")
        if isinstance(usage, Mapping):
            self.usage = usage
        choices = body.get("choices")
        if not isinstance(choices, list):
            self._error = body if is_error(body) else self._error
            return
        # only one answer was asked for: a second choice is ignored
        choice = next((c for c in choices if isinstance(c, Mapping) and c.get("index") in (0, None)), None)
        if choice is None:
            return
        self.has_answer = True
        self.finish_reason = _text(choice.get("finish_reason")) or self.finish_reason
        message = choice.get(field)
        if not isinstance(message, Mapping):
            message = choice.get("message")
        if isinstance(message, Mapping):
            self._append(message)
        logprobs = choice.get("logprobs")
        parts = logprobs.get("content") if isinstance(logprobs, Mapping) else None
        parts = parts if isinstance(parts, list) else []
        self.words += [_word(part) for part in parts if isinstance(part, Mapping)]
        del self.words[MAX_WORDS:]

    def _append(self, message: Mapping[str, object]) -> None:
        content = message.get("content")
        if isinstance(content, list):
            content = "".join(_text(part.get("text")) for part in content if isinstance(part, Mapping))
        words = _text(content)
        reasoning = _text(message.get("reasoning_content") or message.get("reasoning"))
        refusal = _text(message.get("refusal"))
        self.text += words
        self.reasoning += reasoning
        self.refusal += refusal
        self.characters += len(words) + len(reasoning) + len(refusal)
        calls = message.get("tool_calls")
        for number, call in enumerate(calls if isinstance(calls, list) else ()):
            if not isinstance(call, Mapping):
                continue
            index = call.get("index")
            place = number if (position := integer(index, MAX_TOOL_CALLS)) is None else position
            function = call.get("function")
            if isinstance(function, Mapping):
                arguments = _text(function.get("arguments"))
                self.tool_calls[place] = self.tool_calls.get(place, "") + arguments
                self.characters += len(arguments)


def usage_of(body: Mapping[str, object]) -> Usage | None:
    """Return the usage of one call as the provider counts it; None when it names no tokens."""
    input_tokens, output_tokens = _count(body.get("prompt_tokens")), _count(body.get("completion_tokens"))
    total = _count(body.get("total_tokens"))
    if not (input_tokens or output_tokens or total):
        return None
    input_details = body.get("prompt_tokens_details")
    cached = _count(input_details.get("cached_tokens")) if isinstance(input_details, Mapping) else 0
    cached = cached or _count(body.get("prompt_cache_hit_tokens"))
    output_details = body.get("completion_tokens_details")
    reasoning = _count(output_details.get("reasoning_tokens")) if isinstance(output_details, Mapping) else 0
    # some providers leave reasoning out of the completion and count it in the total only
    output_tokens = max(output_tokens, total - input_tokens)
    return Usage(
        calls=1,
        input_tokens=input_tokens,
        cached_tokens=min(cached, input_tokens),
        output_tokens=output_tokens,
        reasoning_tokens=min(reasoning, output_tokens),
    )


def _word(part: Mapping[str, object]) -> Word:
    alternatives = part.get("top_logprobs")
    weights: dict[str, float] = {}
    for word in alternatives if isinstance(alternatives, list) else ():
        logprob = real_number(word.get("logprob"), 0.0, MIN_LOGPROB) if isinstance(word, Mapping) else None
        if logprob is not None:
            weights[_text(word.get("token"))] = math.exp(logprob)
    return Word(_text(part.get("token")), weights)


def probability_of_yes(text: str, words: Sequence[Word]) -> float | None:
    """Return how a model divided its probability between "yes" and "no" at its first word, 0 to 1.

    By the word alone where its server gives no probabilities, and None where it is neither.
    """
    weights = words[0].weights if words else {}
    weights = weights or {text: 1.0}
    share = dict.fromkeys(("yes", "no"), 0.0)
    for word, weight in weights.items():
        start = word.strip(' \n:".').casefold()
        for answer in share:
            share[answer] += weight if start and answer.startswith(start) else 0.0
    total = sum(share.values())
    return share["yes"] / total if total else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int:
    return integer(value, MAX_CALL_TOKENS) or 0


Ending = Literal["", "silence", "deadline", "loop", "size"]
"""Why we stopped reading; empty when the server ended the answer."""

EVENTS = "text/event-stream"
DONE = "[DONE]"
"""The data of the last event."""
END_SECONDS = 0.1
"""Seconds in which the end of the body comes after the last event."""
FIRST_WORD_FACTOR = 4
"""Times longer to wait for the first word than for the next: a local model first reads the
prompt."""
MAX_CHARACTERS = 400_000
"""Characters of one answer, reasoning included. The longest output cap in use is some 60,000 characters."""
CHECKED_EVERY = 256
"""Characters after which an answer is checked for repetition again."""
LOOP_REPEATS = 4
LOOP_CHARACTERS = 160
"""A run that repeats so often and covers so many characters is a loop: no answer of a role contains one."""
LONGEST_PERIOD = 1_200
"""Characters of a repeated unit: an entry of a list of claims has some 300."""


async def events_of(
    response: httpx2.Response, on_end: Callable[[], None] = lambda: None
) -> AsyncIterator[object]:
    """Yield the JSON values of a stream, and call `on_end` with its last event, before the body has ended.

    Raises ReportedError for an error that the server reports in it, httpx2.HTTPError for a connection that
    fails, ValueError for what is no JSON.
    """
    response.headers["content-type"] = EVENTS  # some name none, or a character set as well
    events = aiter(httpx2.EventSource(response))
    async for event in events:
        if event.data.startswith(DONE):
            on_end()
            with suppress(TimeoutError, httpx2.HTTPError):  # the answer is whole
                async with asyncio.timeout(END_SECONDS):
                    async for _ in events:
                        pass
            return
        if not _has_value(event.data):
            continue
        value: object = json.loads(event.data)
        if isinstance(value, dict) and value.get("error"):
            raise ReportedError(value)
        yield value


def values_of(body: bytes, request: httpx2.Request) -> Iterator[object]:
    """Yield the JSON values of a body that came whole: one, or those of a stream under another content type.

    Raises ValueError for what is no JSON.
    """
    if not body.lstrip().startswith((b"data:", b"event:", b"id:", b"retry:", b":")):
        yield json.loads(body)
        return
    answer = httpx2.Response(200, headers={"content-type": EVENTS}, content=body + b"\n\n", request=request)
    for event in httpx2.EventSource(answer):
        if _has_value(event.data):
            yield json.loads(event.data)


def _has_value(data: str) -> bool:
    """Tell whether the data of an event holds a value; the end and a comment that keeps it open do not."""
    return not data.startswith(DONE) and data.lstrip().startswith(("{", "["))


async def read_stream(
    events: AsyncIterator[object],
    pieces: Pieces,
    *,
    silence: float,
    seconds: float,
    on_words: Callable[[int], None],
) -> Ending:
    """Fill `pieces` from the events of a stream and say why reading ended.

    `silence` is the longest wait for the next word in seconds, `seconds` what is left of the step's time;
    `on_words` is called with the characters so far. Raises what the stream raises.
    """
    clock = asyncio.get_running_loop().time
    end = clock() + seconds
    checked_at = 0
    try:
        async with asyncio.timeout_at(min(clock() + silence * FIRST_WORD_FACTOR, end)) as limit:
            async for event in events:
                before = pieces.characters
                pieces.add(event)
                if pieces.characters == before:
                    continue
                limit.reschedule(min(clock() + silence, end))
                on_words(pieces.characters)
                if pieces.characters > MAX_CHARACTERS:
                    return "size"
                if pieces.characters - checked_at >= CHECKED_EVERY:
                    checked_at = pieces.characters
                    if repeats_itself(pieces.tail(LONGEST_PERIOD * LOOP_REPEATS)):
                        return "loop"
    except TimeoutError:
        if not limit.expired():
            raise
        return "deadline" if clock() >= end else "silence"
    return ""


def repeats_itself(text: str) -> bool:
    """Tell whether a text ends in the same run of characters over and over."""
    backwards = text[::-1]
    for period in range(1, len(text) // LOOP_REPEATS + 1):
        count = max(LOOP_REPEATS, -(-LOOP_CHARACTERS // period))
        if period * count > len(backwards):
            continue
        # equal to itself one period on, over all repeats: the run has that period
        span = period * (count - 1)
        if backwards[0] == backwards[period] and backwards[:span] == backwards[period : period + span]:
            return True
    return False
