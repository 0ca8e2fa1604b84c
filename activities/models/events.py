"""The events of a streamed answer: server-sent events with one JSON value each.

A stream is read to its end, also after its last event: the connection is free for the next call then. The
`openai` package stops there, and each of the five generators under it is then ended by a task of its own.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator

import httpx2

from activities.models.failures import ReportedError

DONE = "[DONE]"
"""The data of the last event."""
END_SECONDS = 0.1
"""How long the end of the body may be away after the last event."""


class EventDecoder:
    """Divides bytes into lines, and lines into events; returns the data of each."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[str]:
        """The data of the events that a piece of the body completes. An event that the body breaks off in is
        left out."""
        self._rest += chunk
        if b"\n" not in chunk and b"\r" not in chunk:
            return
        lines = self._rest.splitlines(keepends=True)
        # a carriage return may be the first half of a line's end
        self._rest = bytearray() if lines[-1].endswith(b"\n") else lines.pop()
        for raw in lines:
            line = raw.rstrip(b"\r\n").decode()
            if line.startswith("data:"):
                self._data.append(line[5:].removeprefix(" "))
            elif not line and self._data:
                yield "\n".join(self._data)
                self._data.clear()


async def events_of(
    response: httpx2.Response, on_end: Callable[[], None] = lambda: None
) -> AsyncIterator[object]:
    """The JSON values of a stream. `on_end` is called with its last event, before the body has ended.

    Raises ReportedError for an error that the server reports in it, openai.APITimeoutError,
    httpx2.HTTPError for a connection that fails, ValueError for what is no JSON.
    """
    import openai

    decoder, body = EventDecoder(), response.aiter_bytes()
    try:
        async for chunk in body:
            for data in decoder.feed(chunk):
                if data.startswith(DONE):
                    on_end()
                    await _read_to_the_end(body)
                    return
                if not has_value(data):
                    continue
                value: object = json.loads(data)
                if isinstance(value, dict) and value.get("error"):
                    raise ReportedError(value)
                yield value
    except httpx2.TimeoutException as error:
        raise openai.APITimeoutError(request=response.request) from error


def values_of(body: bytes) -> Iterator[object]:
    """The JSON values of a body that came whole: one, or the events of a stream under another content type.
    Raises ValueError for what is no JSON."""
    if not body.lstrip().startswith((b"data:", b"event:", b"id:", b"retry:", b":")):
        yield json.loads(body)
        return
    for data in EventDecoder().feed(body + b"\n\n"):
        if has_value(data):
            yield json.loads(data)


def has_value(data: str) -> bool:
    """Whether the data of an event is more than nothing, the end, or a comment that keeps the connection."""
    return not data.startswith(DONE) and data.lstrip().startswith(("{", "["))


async def _read_to_the_end(body: AsyncIterator[bytes]) -> None:
    """Discard what follows the last event. A connection that stays open without an end is closed later."""
    try:
        async with asyncio.timeout(END_SECONDS):
            async for _ in body:
                pass
    except (TimeoutError, httpx2.HTTPError):
        return  # the answer is whole
