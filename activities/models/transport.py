"""HTTP to a model server, with limits that hold whatever it sends.

Invariants:

* no body is decompressed: none is asked for, and one that comes all the same is refused;
* a body, and a line of a stream, has a largest size in bytes;
* at most two redirects are followed, and none to another host: the prompt is for the configured one only.
"""

from collections.abc import AsyncIterator, Sequence
from urllib.parse import urljoin, urlsplit

import httpx

from activities.contracts.errors import ModelDown, ModelError, ModelRefused
from activities.models.address import Address
from activities.models.failures import Reported, scrub, translate
from activities.models.request import Question

CONNECT_SECONDS = 10.0
MOST_CONNECTIONS = 1000
"""At once."""
IDLE_CONNECTIONS = 10
"""Connections that are kept for later calls: those of two runs of five sections. The pool asks the system
about every idle connection, before each call and after it."""
MOST_REDIRECTS = 2
LARGEST_BODY = 8 * 2**20
"""Bytes of a body that comes whole: an answer of the largest output cap is well under one MiB."""
LARGEST_STREAM = 64 * 2**20
"""Bytes of a stream: servers spend some 300 bytes a token."""
LARGEST_LINE = 2**20
"""Bytes of one line of a stream."""


class Oversized(httpx.RemoteProtocolError):
    """A server sent more than any answer has, or something compressed."""


class RedirectRefused(httpx.RemoteProtocolError):
    """A server sent the request on to another host."""


class _Counted(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, streamed: bool) -> None:
        self._inner = inner
        self._chunks: AsyncIterator[bytes] | None = None
        self._most = LARGEST_STREAM if streamed else LARGEST_BODY
        self._longest_line = LARGEST_LINE if streamed else None
        self._total = self._line = 0

    # no generator: one that is left halfway would be closed by the garbage collector, after its event loop
    def __aiter__(self) -> AsyncIterator[bytes]:
        self._chunks = aiter(self._inner)
        return self

    async def __anext__(self) -> bytes:
        assert self._chunks is not None
        chunk = await anext(self._chunks)
        self._total += len(chunk)
        last = chunk.rfind(b"\n")
        self._line = self._line + len(chunk) if last < 0 else len(chunk) - last - 1
        if self._total > self._most:
            raise Oversized(f"more than {self._most} bytes came")
        if self._longest_line is not None and self._line > self._longest_line:
            raise Oversized(f"a line of more than {self._longest_line} bytes came")
        return chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _limit(response: httpx.Response) -> None:
    """Put the limits around a response before its body is read. Raises Oversized and RedirectRefused."""
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise Oversized("a compressed body came that was not asked for")
    asked = str(response.request.url)
    target = response.headers.get("location") if 300 <= response.status_code < 400 else None
    if target and (host := urlsplit(urljoin(asked, target)).hostname) != urlsplit(asked).hostname:
        raise RedirectRefused(f"it redirects to another host ({host})")
    kind = response.headers.get("content-type", "text/event-stream")
    assert isinstance(response.stream, httpx.AsyncByteStream)
    response.stream = _Counted(response.stream, "text/event-stream" in kind)


def open_client(address: Address, key: str, silence_seconds: float) -> httpx.AsyncClient:
    """A client of one address. It makes one attempt: what may be tried again is Temporal's."""
    headers = {"accept-encoding": "identity", "user-agent": "determinator"}
    if address.authorization or key:  # an empty token is no valid header
        headers["authorization"] = address.authorization or f"Bearer {key}"
    return httpx.AsyncClient(
        base_url=address.shown,
        params=dict(address.query),
        headers=headers,
        follow_redirects=True,
        max_redirects=MOST_REDIRECTS,
        event_hooks={"response": [_limit]},
        timeout=httpx.Timeout(silence_seconds, connect=CONNECT_SECONDS),
        limits=httpx.Limits(max_connections=MOST_CONNECTIONS, max_keepalive_connections=IDLE_CONNECTIONS),
    )


def translated(question: Question, error: Exception, secrets: Sequence[str]) -> ModelError:
    """Our error for what a server reports, or for one of the HTTP library."""
    name, where = question.where, question.address.shown
    text = scrub(str(error), *secrets)[:200]
    match error:
        case Reported():
            return translate(
                error.status,
                error.body,
                error.headers,
                model=question.choice.model,
                address=where,
                secrets=secrets,
            )
        case httpx.TimeoutException():
            return ModelDown(f"{name} did not answer in time")
        case httpx.TooManyRedirects() | RedirectRefused():
            return ModelRefused(
                f"{name} sends requests on ({text}): set OPENAI_BASE_URL to the address itself",
                category="bad_request",
            )
        case Oversized():
            return ModelRefused(
                f"{name} does not answer as a model server does: {text}", category="bad_request"
            )
        case httpx.ConnectError() | httpx.ProxyError():
            return ModelDown(f"{name} cannot be reached: {text or 'no connection'}; is the server running?")
        case httpx.TransportError():
            return ModelDown(f"{name} closed the connection before it had answered: {text}")
    return ModelDown(f"{where} did not answer as an OpenAI-compatible server does: {text}")
