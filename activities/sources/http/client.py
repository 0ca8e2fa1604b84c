"""HTTP as every source uses it: one request, and a failure with its kind.

404 is not raised by `get` when the caller says it means something (`accept`). Nothing is retried here:
retries belong to Temporal. A request passes the cache on disk (an answer is stored only when it was sound)
and the source's rate limiter (an answer from the cache does not use it).

A body is decompressed step by step, never beyond a limit, and has at most one content coding. Codings may be
nested (`gzip, gzip`, RFC 9110, 8.4), and a page of 5 KB that is packed twice unpacks to gigabytes within one
step of a decoder that knows no limit; no server of documents does that.
"""

import asyncio
import logging
import ssl
import time
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar
from urllib.request import getproxies

import httpx

from activities.contracts.errors import Malformed, RateLimited, Refused, SourceError, TooSlow, Unavailable
from activities.credentials import without_credentials
from activities.proxies import is_this_machine
from activities.settings import Settings
from activities.sources.http.cache import SECRET_PARAMS, HttpCache
from activities.sources.http.failures import failure
from activities.sources.http.rate_limiter import RateLimiter, turns_of
from activities.sources.http.reading import read_answer

CODINGS = "gzip"
"""The coding that is asked for in `Accept-Encoding`; `deflate` is read, too, where a server sends it."""
_STEP = 65_536


class TooLarge(Exception):
    """A body is larger than its limit, packed or unpacked."""


async def read_body(chunks: AsyncIterable[bytes], codings: str, limit: int) -> bytes:
    """Return the whole body, unpacked.

    `codings` is the value of `Content-Encoding`.

    Raises TooLarge at the first byte over the limit, Malformed for a coding that is not read, more than one
    coding, for bytes that are not of the coding, and for a body that ends within it.
    """
    coding_names = [
        name.strip().lower() for name in codings.split(",") if name.strip().lower() not in ("", "identity")
    ]
    if len(coding_names) > 1 or not set(coding_names) <= {"gzip", "x-gzip", "deflate"}:
        raise Malformed(f"a body in the coding {codings[:80]!r} is not read")
    decoder = _Decoder(limit) if coding_names else None
    body = bytearray()
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise TooLarge
        if decoder is None:
            body += chunk
        else:
            decoder.unpack(chunk, body)
    if decoder is not None and size and not decoder.has_ended:
        raise Malformed("a body is cut: its compressed data does not end")
    return bytes(body)


class _Decoder:
    """gzip, or deflate in its zlib wrapper (RFC 9110, 8.4.1)."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)

    @property
    def has_ended(self) -> bool:
        return self._inflate.eof

    def unpack(self, data: bytes, body: bytearray) -> None:
        while data and not self._inflate.eof:  # what follows the end of a packed body is no part of it
            try:
                body += self._inflate.decompress(data, _STEP)
            except zlib.error as error:
                raise Malformed(f"a body cannot be decompressed: {error}") from error
            if len(body) > self._limit:
                raise TooLarge
            data = self._inflate.unconsumed_tail


USER_AGENT = "determinator (durable deep research)"
TIMEOUT = httpx.Timeout(30.0, connect=10.0)
MAX_BYTES = 32 * 1024 * 1024
HOLD_SECONDS = 60.0
"""Longest hold of a rate limiter after an API reported too many requests."""
SECRET_HEADERS = frozenset({"authorization", "x-api-key", "x-subscription-token", "x-goog-api-key"})

T = TypeVar("T")


class Http:
    """The HTTP client that all sources of a worker share."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        cache: HttpCache | None = None,
        *,
        direct: httpx.AsyncClient | None = None,
        rates: Mapping[str, float] | None = None,
        seconds: float | None = None,
        shared: Path | None = None,
    ) -> None:
        """`direct`: asks servers of this machine, where `client` may go through a proxy.

        `rates`: requests per second of single sources, where they must be lower than the API's own
        limit. `seconds`: the time limit of one request, its answer included; waiting for the rate
        does not count. `shared`: the folder of the home where its processes share their rates.
        """
        self.client = client
        self._direct = direct or client
        self.cache = cache
        self._rates = rates or {}
        self._seconds = seconds
        self._shared = shared
        self._limiters: dict[str, RateLimiter] = {}
        self._group_of: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self.client.aclose()
        await self._direct.aclose()
        if self.cache is not None:
            await self.cache.aclose()

    def pace(self, source: str, per_second: float, group: str | None = None) -> RateLimiter:
        """Send the requests of a source no faster than this. Sources of one group share one rate limiter."""
        group = group or source
        self._group_of[source] = group
        rate = min(per_second, self._rates.get(source, per_second))
        limiter = self._limiters.get(group)
        if limiter is None or rate < limiter.per_second:
            limiter = self._limiters[group] = RateLimiter(rate, self._shared, group)
        return limiter

    def rate_limiter(self, source: str) -> RateLimiter | None:
        return self._limiters.get(self._group_of.get(source, ""))

    async def get(
        self,
        source: str,
        url: str,
        params: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        accept: Collection[int] = (),
    ) -> httpx.Response:
        """Return the answer to a GET; see `read`."""
        return await self.read(source, lambda answer: answer, url, params, headers, accept)

    async def read(
        self,
        source: str,
        reader: Callable[[httpx.Response], T],
        url: str,
        params: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        accept: Collection[int] = (),
        *,
        json_body: object = None,
        form: Mapping[str, str] | None = None,
    ) -> T:
        """Return what `reader` makes of the answer to a GET, or to a POST of `json_body` or `form`.

        APIs are only asked here: a POST with the same body is the same question, and is served from
        the cache too.

        An answer is stored only where `reader` raises nothing. `accept`: failing statuses that it is given as
        well. Raises RateLimited, Unavailable, Malformed or Refused for every failure.
        """
        try:
            request = self.client.build_request(
                "GET" if json_body is None and form is None else "POST",
                url,
                params=dict(params) if params else None,
                headers=dict(headers) if headers else None,
                json=json_body,
                data=dict(form) if form else None,
            )
        except httpx.InvalidURL as error:
            raise Refused(f"{source} has an unusable address {without_credentials(url)}: {error}") from error
        cache = self.cache
        if cache is None:
            return (await self._fetch(source, request, reader, accept, form))[1]
        async with cache.turn(request):
            if (cached := await cache.get(request)) is not None:
                return await read_answer(cached, source, reader)
            response, result = await self._fetch(source, request, reader, accept, form)
            if response.is_success:
                await cache.put(request, response)
            return result

    async def _fetch(
        self,
        source: str,
        request: httpx.Request,
        reader: Callable[[httpx.Response], T],
        accept: Collection[int],
        form: Mapping[str, str] | None,
    ) -> tuple[httpx.Response, T]:
        """Wait for the source's turn, send, and read the answer; see `read` for what is raised."""
        limiter = self.rate_limiter(source)
        seconds: float | None = None
        try:
            while True:
                async with AsyncExitStack() as stack:
                    if limiter is not None:
                        await stack.enter_async_context(limiter.passage())
                        request.extensions = {**request.extensions, "trace": _lease_check(limiter)}
                    async with time_for_one_request(self._seconds) as seconds:
                        try:
                            response = await self._read(source, request)
                        except _NotSent:
                            continue
                break
            if not response.is_success and response.status_code not in accept:
                raise failure(response, source)
            return response, await read_answer(response, source, reader)
        except TimeoutError as error:
            raise TooSlow(f"{source} did not answer within {seconds or 0:g} s") from error
        except RateLimited as error:
            if limiter is not None:
                limiter.hold(min(error.retry_after or limiter.window, HOLD_SECONDS))
            _remove_secrets(error, request, form)
            raise
        except SourceError as error:
            _remove_secrets(error, request, form)
            raise

    async def _read(self, source: str, request: httpx.Request) -> httpx.Response:
        """Send and read the whole answer, decoded and within the size limit."""
        try:
            client = self._direct if is_this_machine(request.url.host) else self.client
            response = await client.send(request, stream=True)
            try:
                codings = response.headers.get("content-encoding", "")
                body = await read_body(response.aiter_raw(), codings, MAX_BYTES)
            finally:
                await response.aclose()
        except Malformed as error:
            raise Malformed(f"{source}: {error}") from error
        except TooLarge as error:
            raise Malformed(f"{source} sent more than {MAX_BYTES >> 20} MiB") from error
        except httpx.TimeoutException as error:
            raise Unavailable(f"{source} did not answer in time ({type(error).__name__})") from error
        except httpx.UnsupportedProtocol as error:
            raise Refused(f"{source} has an unusable address: {error}") from error
        except httpx.ProxyError as error:
            raise Unavailable(
                f"{source} cannot be reached: the proxy of HTTPS_PROXY or ALL_PROXY answers {error}; "
                "its address may hold a name and a password, http://NAME:PASSWORD@HOST:PORT"
            ) from error
        except httpx.HTTPError as error:
            raise Unavailable(f"{source} cannot be reached: {error or type(error).__name__}") from error
        # The body is decoded and complete: the headers about its encoding are no longer valid. Raw, since a
        # header need not be ASCII.
        rows = [
            (name, value)
            for name, value in response.headers.raw
            if name.lower() not in (b"content-encoding", b"content-length", b"transfer-encoding")
        ]
        return httpx.Response(response.status_code, headers=rows, content=body, request=response.request)


class _NotSent(Exception):
    """The lease ended before the first byte was sent: another process may use the rate by now."""


def _lease_check(limiter: RateLimiter) -> Callable[[str, object], Awaitable[None]]:
    """Return a trace function of httpcore that raises _NotSent where the lease has ended.

    The request, which is about to be sent, then waits for its turn and for a lease again.
    """

    async def check(event: str, _: object) -> None:
        if event.endswith(".send_request_headers.started") and not limiter.has_lease():
            raise _NotSent

    return check


@cache
def certificates() -> ssl.SSLContext:
    """Return the certificates of every authority, which take 25 ms of a processor to read."""
    return httpx.create_ssl_context()


def open_http(settings: Settings) -> Http:
    """Return connections and cache that a worker shares; close with `aclose` or use as a context.

    Redirects are not followed: an API that moves reports it, and a header with a key must not be forwarded.
    """
    # httpx logs whole addresses at INFO, and some APIs expect their key as a parameter.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    headers = {"user-agent": USER_AGENT, "accept-encoding": CODINGS}
    transport = httpx.AsyncHTTPTransport(verify=certificates())
    client = direct = httpx.AsyncClient(headers=headers, timeout=TIMEOUT, transport=transport)
    if getproxies() and not settings.offline:
        client = httpx.AsyncClient(headers=headers, timeout=TIMEOUT, verify=certificates())
    rates = {name: row.rate for name, row in settings.sources.items() if row.rate is not None}
    return Http(
        client,
        HttpCache(settings.home / "cache"),
        direct=direct,
        rates=rates,
        seconds=settings.search_timeout,
        shared=turns_of(settings.home),
    )


def _remove_secrets(error: SourceError, request: httpx.Request, form: Mapping[str, str] | None) -> None:
    """Remove keys from a message: some APIs repeat the key they were sent."""
    pairs = [*request.url.params.multi_items(), *(form or {}).items()]
    secrets = [value for name, value in pairs if name.lower() in SECRET_PARAMS]
    for name, value in request.headers.items():
        if name.lower() in SECRET_HEADERS:
            secrets += [value, value.split(" ")[-1]]
    text = str(error)
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    error.args = (text,)


class SourceClock:
    """The time that one search may still wait for answers. Waiting for a turn does not count."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.waited = 0.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds that are left; None without a limit."""
        return None if self.seconds is None else max(self.seconds - self.waited, 0.0)


_CLOCK: ContextVar[SourceClock | None] = ContextVar("clock", default=None)


@contextmanager
def source_clock(seconds: float | None) -> Iterator[SourceClock]:
    """Count what the requests within the block wait for their answers.

    Each ends in TooSlow once all of them together have waited for `seconds`.
    """
    clock = SourceClock(seconds)
    token = _CLOCK.set(clock)
    try:
        yield clock
    finally:
        _CLOCK.reset(token)


@asynccontextmanager
async def time_for_one_request(limit: float | None) -> AsyncIterator[float | None]:
    """Limit one request to `limit` seconds and to what its search has left; yields the limit.

    Raises TimeoutError.
    """
    clock = _CLOCK.get()
    limits = [seconds for seconds in (limit, clock.seconds_left if clock else None) if seconds is not None]
    start = time.monotonic()
    try:
        async with asyncio.timeout(min(limits, default=None)):
            yield min(limits, default=None)
    finally:
        if clock is not None:
            clock.waited += time.monotonic() - start
