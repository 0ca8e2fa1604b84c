"""Read a web page whose address is untrusted: safely, or not at all.

Only http and https, only public addresses (checked after resolution, on the address the connection goes to,
and again on every redirect), at most `MAX_BYTES`, `MAX_SECONDS` and `MAX_REDIRECTS`, only HTML, plain text
and PDF. No cookies, no credentials, no proxy: a proxy would resolve the name beyond our check. The connection
goes to an address that was checked, so a second lookup cannot lead elsewhere (DNS rebinding). Anything that
resolves is covered: decimal spellings of 127.0.0.1, names of private addresses, IPv4 inside IPv6.
"""

import asyncio
import hashlib
import ipaddress
import re
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit
from weakref import WeakValueDictionary

import httpcore
import httpx

from activities.contracts.bounds import digits
from activities.contracts.errors import Malformed, Refused, Unavailable
from activities.documents.plain import PDF_TYPES, PLAIN_TYPES
from activities.documents.readers import readers
from activities.documents.text import Text, Unreadable
from activities.settings import Settings
from activities.sources.http.cache import HttpCache
from activities.sources.http.client import CODINGS, USER_AGENT, TooLarge, certificates, read_body
from activities.sources.http.failures import failure

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_NAT64 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
"""IPv4 inside IPv6 by translation (RFC 6052, RFC 8215)."""
_DENIED: tuple[Network, ...] = (
    ipaddress.ip_network("168.63.129.16/32"),  # Azure's platform address: public in form only
    ipaddress.ip_network("192.0.0.0/24"),  # IETF protocol assignments (RFC 6890), its exceptions included
    ipaddress.ip_network("fec0::/10"),  # site-local IPv6 (RFC 3879, deprecated)
    ipaddress.ip_network("192.88.99.0/24"),  # 6to4 relays (RFC 7526)
    ipaddress.ip_network("::/96"),  # IPv4-compatible IPv6 (RFC 4291, deprecated)
)
URL_CHARS = 2_048


def networks(names: Iterable[str]) -> tuple[Network, ...]:
    """Networks as configured, such as `10.1.0.0/16`. Raises Refused for one that is none."""
    try:
        return tuple(ipaddress.ip_network(item, strict=False) for item in names)
    except ValueError as error:
        raise Refused(f"private_pages holds something that is no network: {error}") from error


def is_public(address: Address) -> bool:
    """Tell whether an address belongs to the public internet, whatever it is wrapped in."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = _inner(address)
        if inner is not None:
            return is_public(inner)
    if any(address in network for network in _DENIED if network.version == address.version):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _inner(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if any(address in network for network in _NAT64):
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)


def check_url(url: str) -> str:
    """Return the host of an address that may be asked for.

    Raises Refused and says why for any other.

    Only http and https, no user name or password in it, a host, a port that is a number.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise Refused(f"{url[:200]} is not an address: {error}") from error
    if len(url) > URL_CHARS or any(ord(c) <= 0x20 or ord(c) == 0x7F for c in url) or "\\" in url:
        raise Refused(f"{url[:200]!r} is not an address that can be asked for")
    if parts.scheme not in ("http", "https"):
        raise Refused(f"{url[:200]} is not http or https; only web pages are read")
    if parts.username is not None or parts.password is not None:
        raise Refused(f"an address with a user name or password in it is not followed ({host})")
    if not host:
        raise Refused(f"{url[:200]} names no host")
    return host


async def resolve(
    host: str,
    port: int,
    allowed: Sequence[Network] = (),
    timeout: float = 10.0,  # noqa: ASYNC109
) -> list[str]:
    """Return the addresses a connection to a host may go to.

    Raises Refused when any of them is not public (a name with one private address is suspect), Unavailable
    when the name does not resolve. Networks in `allowed` pass.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(timeout):
            infos = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    except TimeoutError as error:
        raise Unavailable(f"the name {host} was not resolved in time") from error
    except (OSError, UnicodeError) as error:
        raise Unavailable(f"the name {host} cannot be resolved: {error}") from error
    addresses = list(dict.fromkeys(str(item[4][0]) for item in infos))
    for name in addresses:
        address = ipaddress.ip_address(name.partition("%")[0])
        is_allowed = any(address in network for network in allowed if network.version == address.version)
        if not is_allowed and not is_public(address):
            raise Refused(f"{host} leads to {address}, which is not a public address; it is not read")
    if not addresses:
        raise Unavailable(f"the name {host} has no address")
    return addresses


MAX_BYTES = 5 * 1024 * 1024
"""Bytes of a page, after decompression."""
MAX_SECONDS = 20.0
"""For a page with all its redirects; a slow body is cut off too."""
PARSE_SECONDS = 20.0
"""For reading the text of a page, in a process that is killed then."""
MAX_REDIRECTS = 5
AT_A_HOST = 4
"""Pages of one host that are requested at the same time."""
_REDIRECTS = (301, 302, 303, 307, 308)
_HTML = ("text/html", "application/xhtml+xml")
_HEADERS = {
    "user-agent": USER_AGENT,
    "accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.8",
    "accept-encoding": CODINGS,
}


@dataclass(frozen=True, slots=True)
class Page:
    url: str
    """Its address after all redirects."""
    text: Text


_HOSTS: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
"""Hosts that are asked now."""


_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)


class SafePages:
    """The reader of a worker. `allowed` networks pass the check of addresses (for tests and intranets)."""

    def __init__(
        self,
        allowed: Sequence[Network] = (),
        *,
        max_bytes: int = MAX_BYTES,
        max_seconds: float = MAX_SECONDS,
        cache: HttpCache | None = None,
    ) -> None:
        """`cache`: where a page that was read is kept under its address."""
        self._allowed = allowed
        self._cache = cache
        self._max_bytes = max_bytes
        self._max_seconds = max_seconds

    @classmethod
    def of(
        cls, settings: Settings, cache: HttpCache | None = None, seconds: float = MAX_SECONDS
    ) -> "SafePages":
        return cls(networks(settings.private_pages), cache=cache, max_seconds=seconds)

    async def read(self, url: str) -> Page:
        """Fetch a page and read its text; one that was fetched lately comes from the cache.

        Raises Refused (an address, type or size that is not read, 4xx), Unavailable (no connection, no time,
        5xx), RateLimited or Malformed (nothing readable in it).
        """
        if self._cache is None:
            return await self._read(*await self._request(url))
        key = hashlib.sha256(f"body {url}".encode()).hexdigest()
        async with self._cache.turn(key):
            if (cached := await self._cache.get(key)) is not None:
                kind, _, quoted_address = cached.headers["content-type"].partition(" ")
                address = unquote(quoted_address)
                body = cached.content
            else:
                # kept as it arrives: a page waits for the process that reads its text, and the death of a
                # worker meanwhile must not cost another request
                address, kind, body = await self._request(url)
                headers = {"content-type": f"{kind} {quote(address, safe='')}"}
                await self._cache.put(key, httpx.Response(200, headers=headers, content=body))
        return await self._read(address, kind, body)

    async def _request(self, url: str) -> tuple[str, str, bytes]:
        try:
            host = httpx.URL(url).netloc.decode()
        except httpx.InvalidURL as error:
            raise Refused(f"{url[:200]} is not an address: {error}") from error
        turns = _HOSTS.setdefault(host, asyncio.Semaphore(AT_A_HOST))
        try:
            async with turns, asyncio.timeout(self._max_seconds):
                return await self._fetch(url)
        except TimeoutError as error:
            raise Unavailable(f"{url[:200]} was not read within {self._max_seconds:g} seconds") from error

    async def _read(self, address: str, kind: str, body: bytes) -> Page:
        try:
            text = await readers().read(
                Text, "activities.documents.plain:read_page", kind, address, body=body, seconds=PARSE_SECONDS
            )
        except Unreadable as error:
            raise Malformed(f"{address[:200]}: {error}") from error
        return Page(address, text)

    async def _fetch(self, url: str) -> tuple[str, str, bytes]:
        async with httpcore.AsyncConnectionPool(
            ssl_context=certificates(), network_backend=_Backend(self._allowed), http1=True, http2=False
        ) as pool:
            for _ in range(MAX_REDIRECTS + 1):
                url = urldefrag(url).url
                check_url(url)
                try:
                    request = httpx.Request("GET", url, headers=_HEADERS)
                    async with pool.stream(
                        request.method,
                        str(request.url),
                        headers=request.headers.raw,
                        extensions={"timeout": {"connect": 10.0, "read": 10.0, "write": 10.0, "pool": 10.0}},
                    ) as answer:
                        head = httpx.Response(answer.status, headers=answer.headers, request=request)
                        target = head.headers.get("location")
                        if answer.status in _REDIRECTS and target:
                            url = _redirect_target(url, target)
                            continue
                        return url, self._kind(head, url), await self._body(answer, head, url)
                except httpx.InvalidURL as error:
                    raise Refused(f"{url[:200]} is not an address: {error}") from error
                except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
                    raise Unavailable(
                        f"{url[:200]} cannot be reached: {error or type(error).__name__}"
                    ) from error
        raise Refused(f"{url[:200]} redirects more than {MAX_REDIRECTS} times")

    def _kind(self, head: httpx.Response, url: str) -> str:
        if not head.is_success:
            headers = {name: value for name, value in head.headers.items() if name == "retry-after"}
            reply = httpx.Response(head.status_code, headers=headers, request=head.request)
            error = failure(reply, "the page")
            raise type(error)(f"{url[:200]}: {error}", retry_after=error.retry_after)
        content_type: str = head.headers.get("content-type", "text/html")
        kind = content_type.partition(";")[0].strip().casefold()
        if kind not in (*_HTML, *PLAIN_TYPES, *PDF_TYPES):
            raise Refused(f"{url[:200]} is {kind}; only HTML, plain text and PDF are read")
        length = head.headers.get("content-length", "").strip()
        size = digits(length)
        if length.isdecimal() and (size is None or size > self._max_bytes):
            raise Refused(self._too_large(url))
        charset = _CHARSET.search(content_type)
        return f"{kind};{charset[1]}" if charset else kind

    async def _body(self, answer: httpcore.Response, head: httpx.Response, url: str) -> bytes:
        """Return the body, decompressed step by step so that a bomb is noticed while it unpacks."""
        codings = head.headers.get("content-encoding", "")
        try:
            return await read_body(answer.aiter_stream(), codings, self._max_bytes)
        except Malformed as error:
            raise Malformed(f"{url[:200]}: {error}") from error
        except TooLarge as error:
            raise Refused(self._too_large(url)) from error

    def _too_large(self, url: str) -> str:
        return f"{url[:200]} is larger than {self._max_bytes / 1024 / 1024:g} MiB; it is not read"


class _Backend(httpcore.AsyncNetworkBackend):
    """Connects only to addresses that were checked; TLS still verifies the name that was asked for."""

    def __init__(self, allowed: Sequence[Network]) -> None:
        self._allowed = allowed
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - fixed by httpcore
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        last_error: httpcore.ConnectError | httpcore.ConnectTimeout | None = None
        for address in await resolve(host, port, self._allowed, timeout or 10.0):
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                last_error = error
        raise last_error or httpcore.ConnectError(f"{host} has no address")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - fixed by httpcore
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise Refused("a page is never read from a socket of this machine")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def _redirect_target(url: str, target: str) -> str:
    """Return where a redirect leads. Raises Refused for what is no address, such as `http://[::1`."""
    try:
        return urljoin(url, target)
    except ValueError as error:
        raise Refused(f"{url[:200]} redirects to {target[:200]!r}, which is no address: {error}") from error
