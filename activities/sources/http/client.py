"""HTTP as every source uses it: one request, and a failure with its kind.

404 is not raised by `get` when the caller says it means something (`accept`). Nothing is retried here:
retries belong to Temporal. A request passes the cache on disk (an answer is stored only when it was sound)
and the source's rate limiter (an answer from the cache does not use it).
"""

import asyncio
import email.utils
import json
import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self, TypeVar
from weakref import WeakValueDictionary

import httpx
from lxml import etree

from activities.credentials import without_credentials
from activities.documents.readers import readers
from activities.errors import Malformed, RateLimited, Refused, SourceError, TooSlow, Unavailable
from activities.settings import Settings
from activities.sources.http.answers import check_large_xml, is_large_xml
from activities.sources.http.bodies import CODINGS, TooLarge, read_body
from activities.sources.http.cache import SECRET_PARAMS, HttpCache, key_of
from activities.sources.http.rate_limiter import RateLimiter

USER_AGENT = "determinator (+https://pypi.org/project/determinator/)"
TIMEOUT = httpx.Timeout(30.0, connect=10.0)
MAX_BYTES = 32 * 1024 * 1024
"""Largest answer of an API that is read."""
MAX_TAGS = 2_000_000
"""Of an XML answer: a tree needs some 150 bytes of memory per tag. 200 records of PubMed have about
200,000."""
MAX_VALUES = 2_000_000
"""Of a JSON answer, by its commas and brackets: a value needs some 100 bytes of memory. 100 labels of openFDA
have about 200,000."""
HOLD_SECONDS = 60.0
"""Longest hold of a rate limiter after an API reported too many requests."""
SECRET_HEADERS = frozenset({"authorization", "x-api-key", "x-subscription-token", "x-goog-api-key"})

T = TypeVar("T")
Check = Callable[[httpx.Response], None]
"""Examines a successful answer and raises a SourceError when it reports a failure nevertheless."""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a Retry-After header: a number or an HTTP date (RFC 9110, 10.2.3); None without one."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        pass
    else:
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    try:
        return max(email.utils.parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return None


def failure(response: httpx.Response, source: str) -> SourceError:
    """The error for a response with a failing status."""
    status = response.status_code
    wait = retry_after(response.headers)
    text = f"{source} answered {status}: {summary(response)}"
    if status == 429:
        return RateLimited(text, retry_after=wait)
    if status in (408, 425) or status >= 500:
        return Unavailable(text, retry_after=wait)
    return Refused(text)


def summary(response: httpx.Response, limit: int = 200) -> str:
    """The start of a body on one line, for a message."""
    return " ".join(response.text[: limit * 4].split())[:limit] or response.reason_phrase


class Http:
    """The HTTP client that all sources of a worker share."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        cache: HttpCache | None = None,
        *,
        rates: Mapping[str, float] | None = None,
        seconds: float | None = None,
    ) -> None:
        """`rates`: requests per second of single sources, where they must be lower than the API's own limit.
        `seconds`: the time limit of one request, its answer included; waiting for the rate does not count."""
        self.client = client
        self.cache = cache
        self._rates = rates or {}
        self._seconds = seconds
        self._limiters: dict[str, RateLimiter] = {}
        self._group_of: dict[str, str] = {}
        self._under_way: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections and the cache."""
        await self.client.aclose()
        if self.cache is not None:
            await self.cache.aclose()

    def pace(self, source: str, per_second: float, group: str | None = None) -> RateLimiter:
        """Send the requests of a source no faster than this. Sources of one group share one rate limiter."""
        group = group or source
        self._group_of[source] = group
        allowed = min(per_second, self._rates.get(source, per_second))
        limiter = self._limiters.get(group)
        if limiter is None or allowed < limiter.per_second:
            limiter = self._limiters[group] = RateLimiter(allowed)
        return limiter

    def rate_limiter(self, source: str) -> RateLimiter | None:
        """The rate limiter of a source, if it has one."""
        return self._limiters.get(self._group_of.get(source, ""))

    async def get(
        self,
        source: str,
        url: str,
        params: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        accept: Collection[int] = (),
        *,
        check: Check | None = None,
        max_age: float | None = None,
    ) -> httpx.Response:
        """GET with every failure translated. Statuses in `accept` are returned to the caller.

        `check` examines a successful answer before it is stored. `max_age` is how old, in seconds, an answer
        from the cache may be: None for as long as the cache keeps it, 0 to ask again. Raises RateLimited,
        Unavailable, Malformed or Refused.
        """
        return await self.send(
            source, "GET", url, params=params, headers=headers, accept=accept, check=check, max_age=max_age
        )

    async def send(
        self,
        source: str,
        method: str,
        url: str,
        *,
        params: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        json_body: object = None,
        form: Mapping[str, str] | None = None,
        accept: Collection[int] = (),
        check: Check | None = None,
        max_age: float | None = None,
    ) -> httpx.Response:
        """Any request; see `get`. Only GET is served from the cache."""
        try:
            request = self.client.build_request(
                method,
                url,
                params=dict(params) if params else None,
                headers=dict(headers) if headers else None,
                json=json_body,
                data=dict(form) if form else None,
            )
        except httpx.InvalidURL as error:
            raise Refused(f"{source} has an unusable address {without_credentials(url)}: {error}") from error
        cache = self.cache if method == "GET" else None
        if cache is None:
            return await self._fetch(source, request, accept, check, form)
        if (served := _SERVED.get()) is not None:
            served.append((cache, request))
        # Searches that request the same thing at the same time: one sends, the others read its answer.
        lock = self._under_way.setdefault(key_of(request), asyncio.Lock())
        async with lock:
            if (stored := await cache.get(request, _youngest(max_age))) is not None:
                return stored
            response = await self._fetch(source, request, accept, check, form)
            if response.is_success:
                await cache.put(request, response)
            return response

    async def _fetch(
        self,
        source: str,
        request: httpx.Request,
        accept: Collection[int],
        check: Check | None,
        form: Mapping[str, str] | None,
    ) -> httpx.Response:
        """Wait for the source's turn, send, and examine the answer; see `get` for what is raised."""
        limiter = self.rate_limiter(source)
        seconds: float | None = None
        try:
            while True:
                async with AsyncExitStack() as stack:
                    if limiter is not None:
                        await stack.enter_async_context(limiter.passage())
                        request.extensions = {**request.extensions, "trace": _lease_check(limiter)}
                    async with _time_for_one_request(self._seconds) as seconds:
                        try:
                            response = await self._read(source, request)
                        except _NotSent:
                            continue
                break
            if not response.is_success:
                if response.status_code in accept:
                    return response
                raise failure(response, source)
            if is_large_xml(response):  # what `check` would examine is read with the records, in a process
                await check_large_xml(response, source)
            else:
                await aside(len(response.content), _examine, response, source, check)
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
        return response

    async def _read(self, source: str, request: httpx.Request) -> httpx.Response:
        """Send and read the whole answer, decoded and within the size limit."""
        try:
            response = await self.client.send(request, stream=True)
            try:
                codings = response.headers.get("content-encoding", "")
                body = await read_body(response.aiter_raw(), codings, MAX_BYTES)
            finally:
                await response.aclose()
        except TooLarge as error:
            raise Malformed(f"{source} sent more than {MAX_BYTES >> 20} MiB") from error
        except httpx.TimeoutException as error:
            raise Unavailable(f"{source} did not answer in time ({type(error).__name__})") from error
        except httpx.UnsupportedProtocol as error:
            raise Refused(f"{source} has an unusable address: {error}") from error
        except httpx.HTTPError as error:
            raise Unavailable(f"{source} cannot be reached: {error or type(error).__name__}") from error
        # The body is decoded and complete: the headers about its encoding are no longer valid. Raw, since a
        # header need not be ASCII.
        kept = [
            (name, value)
            for name, value in response.headers.raw
            if name.lower() not in (b"content-encoding", b"content-length", b"transfer-encoding")
        ]
        return httpx.Response(response.status_code, headers=kept, content=body, request=response.request)


_MAX_AGE: ContextVar[float | None] = ContextVar("max_age", default=None)


def _youngest(max_age: float | None) -> float | None:
    """The smaller of an age in seconds and the one that `no_older_than` has set."""
    given = [age for age in (max_age, _MAX_AGE.get()) if age is not None]
    return min(given, default=None)


@asynccontextmanager
async def no_older_than(seconds: float | None) -> AsyncIterator[None]:
    """Within the block the cache answers only with entries no older than so many seconds; None: as old as the
    cache keeps them."""
    token = _MAX_AGE.set(seconds)
    try:
        yield
    finally:
        _MAX_AGE.reset(token)


class SourceClock:
    """How long one search may still wait for the answers of its source. Waiting for a turn does not count."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.waited = 0.0

    @property
    def left(self) -> float | None:
        """Seconds that are left; None without a limit."""
        return None if self.seconds is None else max(self.seconds - self.waited, 0.0)


_CLOCK: ContextVar[SourceClock | None] = ContextVar("clock", default=None)


@contextmanager
def source_clock(seconds: float | None) -> Iterator[SourceClock]:
    """Count what the requests within the block wait for their answers, and end each in TooSlow once all of
    them together have waited for `seconds`."""
    clock = SourceClock(seconds)
    token = _CLOCK.set(clock)
    try:
        yield clock
    finally:
        _CLOCK.reset(token)


@asynccontextmanager
async def _time_for_one_request(most: float | None) -> AsyncIterator[float | None]:
    """Limits one request to `most` seconds and to what its search has left; yields the limit. Raises
    TimeoutError."""
    clock = _CLOCK.get()
    limits = [seconds for seconds in (most, clock.left if clock else None) if seconds is not None]
    started = time.monotonic()
    try:
        async with asyncio.timeout(min(limits, default=None)):
            yield min(limits, default=None)
    finally:
        if clock is not None:
            clock.waited += time.monotonic() - started


_SERVED: ContextVar[list[tuple[HttpCache, httpx.Request]] | None] = ContextVar("served", default=None)


@asynccontextmanager
async def forgotten_when_malformed() -> AsyncIterator[None]:
    """When the body ends in Malformed, the cache forgets the requests made within it: the next attempt asks
    the API again in place of reading the same answer for hours."""
    served: list[tuple[HttpCache, httpx.Request]] = []
    token = _SERVED.set(served)
    try:
        yield
    except Malformed:
        for cache, request in served:
            await cache.forget(request)
        raise
    finally:
        _SERVED.reset(token)


LARGE_BYTES = 256 * 1024
"""From this size on, an answer is read in a thread: the event loop goes on with heartbeats meanwhile."""


async def aside(size: int, function: Callable[..., T], *args: object) -> T:
    """Call a function that reads `size` bytes; above a limit, in a thread of the readers."""
    if size < LARGE_BYTES:
        return function(*args)
    return await readers().in_thread(lambda _: function(*args))


def _examine(response: httpx.Response, source: str, check: Check | None) -> None:
    sound(response, source)
    if check is not None:
        check(response)


class _NotSent(Exception):
    """The lease ended before the first byte was sent: another process may use the rate by now."""


def _lease_check(limiter: RateLimiter) -> Callable[[str, object], Awaitable[None]]:
    """A trace function of httpcore that raises _NotSent when a request is about to be sent without the lease
    it was let through with. The request then waits for its turn and for a lease again."""

    async def check(event: str, _: object) -> None:
        if event.endswith(".send_request_headers.started") and not limiter.has_lease():
            raise _NotSent

    return check


def open_http(settings: Settings) -> Http:
    """Connections and cache that a worker shares; close with `aclose` or use as an async context.

    Redirects are not followed: an API that moves reports it, and a header with a key must not be forwarded.
    """
    # httpx logs whole addresses at INFO, and some APIs expect their key as a parameter.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    client = httpx.AsyncClient(
        headers={"user-agent": USER_AGENT, "accept-encoding": CODINGS}, timeout=TIMEOUT
    )
    rates = {name: chosen.rate for name, chosen in settings.sources.items() if chosen.rate is not None}
    return Http(client, HttpCache(settings.home / "cache"), rates=rates, seconds=settings.search_timeout)


def sound(response: httpx.Response, source: str) -> None:
    """Refuse a successful answer that is broken in itself: JSON or XML that was cut, or `{"error": ...}`.

    Raises Malformed; RateLimited when the error names a rate.
    """
    kind = response.headers.get("content-type", "").split(";")[0].strip().lower()
    xml = kind.endswith("xml") and not kind.endswith("html+xml")
    if kind.endswith("json") or (xml and response.content.lstrip()[:1] == b"{"):
        said = read_json(response, source)
        error = said.get("error") if isinstance(said, dict) else None
        if isinstance(error, str) and error:
            if "rate limit" in error.lower():
                raise RateLimited(f"{source} said: {error[:200]}", retry_after=retry_after(response.headers))
            raise Malformed(f"{source} said: {error[:200]}")
    elif xml:
        read_xml(response, source)


def _remove_secrets(error: SourceError, request: httpx.Request, form: Mapping[str, str] | None) -> None:
    """Remove keys from a message: some APIs repeat the key they were sent."""
    sent = [*request.url.params.multi_items(), *(form or {}).items()]
    secrets = [value for name, value in sent if name.lower() in SECRET_PARAMS]
    for name, value in request.headers.items():
        if name.lower() in SECRET_HEADERS:
            secrets += [value, value.split(" ")[-1]]
    text = str(error)
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    error.args = (text,)


def read_json(response: httpx.Response, source: str) -> Any:  # noqa: ANN401 - JSON has no static type
    """The body as JSON. Raises Malformed when it is something else (an HTML page, a cut body), or more than
    is read at once."""
    if sum(response.content.count(mark) for mark in (b",", b"[", b"{")) > MAX_VALUES:
        raise Malformed(f"{source} sent JSON of more than {MAX_VALUES:,} values; it is not read")
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"{source} sent something that is not JSON: {summary(response)}") from error


def read_xml(response: httpx.Response, source: str) -> etree._Element:
    """The body as an XML tree, parsed once, without entities, DTDs or network.

    Raises Malformed for HTML in place of XML, cut XML, and for entity declarations.
    """
    known = response.extensions.get(_TREE)
    if isinstance(known, etree._Element):  # noqa: SLF001 - the only name lxml has for it
        return known
    content = response.content
    if content.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html")):
        raise Malformed(f"{source} sent an HTML page in place of XML: {summary(response)}")
    if content.count(b"<") > MAX_TAGS:
        raise Malformed(f"{source} sent XML of more than {MAX_TAGS:,} tags; it is not read")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        tree = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Malformed(f"{source} sent XML that cannot be read: {error}") from error
    declared: Any = tree.getroottree().docinfo.internalDTD
    if declared is not None and next(declared.iterentities(), None) is not None:
        raise Malformed(f"{source} sent XML that cannot be read: it declares entities")
    response.extensions = {**response.extensions, _TREE: tree}
    return tree


_TREE = "determinator_xml"
"""Where a response keeps its tree, so that it is parsed only once."""


def count_elements(body: bytes, source: str) -> int:
    """How many elements an XML answer has, parsed in a process of its own (`answers.check_large_xml`).

    Raises Malformed.
    """
    return sum(1 for _ in read_xml(httpx.Response(200, content=body), source).iter())
