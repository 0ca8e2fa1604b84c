"""An answer that comes in pieces: read for as long as words arrive and do not repeat themselves.

A stream has no limit on its length in time. It ends when the server ends it, when nothing is said for a while
(comments that keep a connection open are not words), when it is too long, when it repeats itself, or when the
step's time is over. However it ends, the text is kept: its complete part is used. It is read to its end, also
after its last event: the connection is free for the next call then.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Literal

import httpx2

from activities.models.failures import ReportedError
from activities.models.response import Pieces

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
MOST_CHARACTERS = 400_000
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
    """Whether the data of an event is more than nothing, the end, or a comment that keeps the connection."""
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
    checked = 0
    try:
        async with asyncio.timeout_at(min(clock() + silence * FIRST_WORD_FACTOR, end)) as limit:
            async for event in events:
                before = pieces.characters
                pieces.add(event)
                if pieces.characters == before:
                    continue
                limit.reschedule(min(clock() + silence, end))
                on_words(pieces.characters)
                if pieces.characters > MOST_CHARACTERS:
                    return "size"
                if pieces.characters - checked >= CHECKED_EVERY:
                    checked = pieces.characters
                    if repeats_itself(pieces.tail(LONGEST_PERIOD * LOOP_REPEATS)):
                        return "loop"
    except TimeoutError:
        if not limit.expired():
            raise
        return "deadline" if clock() >= end else "silence"
    return ""


def repeats_itself(text: str) -> bool:
    """Whether a text ends in the same run of characters over and over."""
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
