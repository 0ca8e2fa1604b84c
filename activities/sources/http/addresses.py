"""Which network addresses a page may be fetched from: public ones only.

The check is made on the addresses a name resolves to, and the connection goes to an address that was checked,
so a second lookup cannot lead elsewhere (DNS rebinding). Anything that resolves is covered: decimal and
hexadecimal spellings of 127.0.0.1, names that resolve to private addresses, IPv4 inside IPv6.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from activities.contracts.errors import Refused, Unavailable

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


def networks(spelled: Iterable[str]) -> tuple[Network, ...]:
    """Networks as configured, such as `10.1.0.0/16`. Raises Refused for one that is none."""
    try:
        return tuple(ipaddress.ip_network(item, strict=False) for item in spelled)
    except ValueError as error:
        raise Refused(f"private_pages holds something that is no network: {error}") from error


def is_public(address: Address) -> bool:
    """Whether an address belongs to the public internet, whatever it is wrapped in."""
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
    for spelled in addresses:
        address = ipaddress.ip_address(spelled.partition("%")[0])
        permitted = any(address in network for network in allowed if network.version == address.version)
        if not permitted and not is_public(address):
            raise Refused(f"{host} leads to {address}, which is not a public address; it is not read")
    if not addresses:
        raise Unavailable(f"the name {host} has no address")
    return addresses
