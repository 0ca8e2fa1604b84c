"""The HTTP under the `openai` package, with limits that hold whatever a server sends.

Invariants:

* no body is decompressed: none is asked for, and one that comes all the same is refused;
* a body, and an event of a stream, has a largest size in bytes;
* at most two redirects are followed, and none to another host or port: prompt and key are for the configured
  server only.
"""

import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import httpx2

from activities.contracts.errors import ModelDown, ModelError, ModelRefused
from activities.models.address import Address
from activities.models.conversation import Question
from activities.models.failures import ReportedError, scrub, translate
from activities.proxies import reads_proxies

if TYPE_CHECKING:
    from openai import AsyncOpenAI

CONNECT_SECONDS = 10.0
MAX_CONNECTIONS = 1000
"""At once, as in the `openai` package."""
IDLE_CONNECTIONS = 10
"""Connections that are kept for later calls: those of two runs of five sections. The pool asks the system
about every idle connection, before each call and after it."""
MAX_REDIRECTS = 2
LARGEST_BODY = 8 * 2**20
"""Bytes of a body that comes whole: an answer of the largest output cap is well under one MiB."""
LARGEST_STREAM = 64 * 2**20
"""Bytes of a stream: servers spend some 300 bytes a token."""
NO_KEY = "no-key"
"""Sent where none is configured: the library insists on one, local servers ignore it."""


class Oversized(httpx2.RemoteProtocolError):
    """A server sent more than any answer has, or something compressed."""


class RedirectRefused(httpx2.RemoteProtocolError):
    """A server sent the request on to another one."""


class _LimitedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, most_bytes: int) -> None:
        self._inner = inner
        self._chunks: AsyncIterator[bytes] | None = None
        self._remaining, self._most = most_bytes, most_bytes

    # no generator: one that is left halfway would be closed by the garbage collector, after its event loop
    def __aiter__(self) -> AsyncIterator[bytes]:
        self._chunks = aiter(self._inner)
        return self

    async def __anext__(self) -> bytes:
        assert self._chunks is not None
        chunk = await anext(self._chunks)
        self._remaining -= len(chunk)
        if self._remaining < 0:
            raise Oversized(f"more than {self._most} bytes came")
        return chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _limit(response: httpx2.Response) -> None:
    """Put the limits around a response before its body is read. Raises Oversized and RedirectRefused."""
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise Oversized("a compressed body came that was not asked for")
    url = response.request.url
    target = response.headers.get("location") if 300 <= response.status_code < 400 else None
    if target and (origin := _origin(url, target)) != _origin(url):
        raise RedirectRefused(f"it redirects to another server ({origin})")
    kind = response.headers.get("content-type", "text/event-stream")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _LimitedStream(
        response.stream, LARGEST_STREAM if "text/event-stream" in kind else LARGEST_BODY
    )


def _origin(url: httpx2.URL, target: str = "") -> str:
    """Scheme, host and port of an address, or of where it redirects to."""
    try:
        place = url.join(target)
    except (httpx2.InvalidURL, ValueError):
        return "which is no address"
    return f"{place.scheme}://{place.netloc.decode('ascii', 'replace')}"


def open_client(
    address: Address, key: str, silence_seconds: float, *, offline: bool = False
) -> "AsyncOpenAI":
    """Return a client of one address.

    The library's own retries are off: what may be tried again is Temporal's. None of this machine, and
    none `offline`, goes through a proxy.
    """
    import openai

    limits = httpx2.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=IDLE_CONNECTIONS)
    transport = None
    if not reads_proxies(address.public_url, offline=offline):
        # reading the certificates of every authority takes 25 ms of a processor
        transport = httpx2.AsyncHTTPTransport(limits=limits, verify=address.public_url.startswith("https:"))
    http = openai.DefaultAsyncHttpxClient(
        transport=transport,
        max_redirects=MAX_REDIRECTS,
        headers={"accept-encoding": "identity"},
        event_hooks={"response": [_limit]},
        timeout=openai.Timeout(silence_seconds, connect=CONNECT_SECONDS),
        limits=limits,
        base_url=address.public_url,
    )
    headers = {"Authorization": address.authorization} if address.authorization else None
    return openai.AsyncOpenAI(
        api_key=key or NO_KEY,
        base_url=address.public_url,
        max_retries=0,
        timeout=openai.Timeout(silence_seconds, connect=CONNECT_SECONDS),
        default_headers=headers,
        default_query=dict(address.query) or None,
        http_client=http,
    )


def translate_error(question: Question, error: Exception, *, has_key: bool) -> ModelError:
    """Return our error for one of the `openai` package or of the HTTP library under it."""
    import openai

    name, where = question.target, question.address.public_url
    cause = error.__cause__
    text = scrub(str(cause or error))[:200]
    if isinstance(error, openai.APIStatusError):
        return translate(
            error.status_code,
            error.body if error.body is not None else error.response.text,
            error.response.headers,
            model=question.choice.model,
            address=where,
            has_key=has_key,
        )
    if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
        return ModelDown(f"{name} did not answer in time")
    if isinstance(cause, httpx2.TooManyRedirects | RedirectRefused):
        return ModelRefused(
            f"{name} sends requests on ({text}): set OPENAI_BASE_URL to the address itself",
            category="bad_request",
        )
    if isinstance(error, Oversized | httpx2.SSEError) or isinstance(cause, Oversized):
        return ModelRefused(f"{name} does not answer as a model server does: {text}", category="bad_request")
    if isinstance(error, httpx2.TransportError) or isinstance(
        cause, httpx2.ReadError | httpx2.WriteError | httpx2.RemoteProtocolError
    ):
        return ModelDown(f"{name} closed the connection before it had answered: {text}")
    if isinstance(error, openai.APIConnectionError):
        return ModelDown(f"{name} cannot be reached: {text or 'no connection'}; is the server running?")
    if isinstance(error, ReportedError):
        return translate(None, error.body, {}, model=question.choice.model, address=where, has_key=has_key)
    if isinstance(cause or error, json.JSONDecodeError):
        text = "it sent no JSON; check the path of OPENAI_BASE_URL, which often ends in /v1"
    return ModelDown(f"{where} did not answer as an OpenAI-compatible server does: {text}")
