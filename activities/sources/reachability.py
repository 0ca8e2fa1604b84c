"""Which sources can be reached from here: a connection to each host, all at once, and nothing is sent.

A run that chooses its sources itself leaves out those that cannot be reached and says so; without this, a
machine with no network would spend its time on retries.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlsplit
from urllib.request import getproxies

PATIENCE = 3.0
"""Time in seconds for a host to accept a connection."""


async def unreachable(addresses: Mapping[str, str]) -> dict[str, str]:
    """Return why each source that cannot be reached cannot; empty behind a proxy.

    A direct connection says nothing there.
    """
    if getproxies():
        return {}
    hosts = {name: _host(address) for name, address in addresses.items()}
    different = list(dict.fromkeys(hosts.values()))
    answers = dict(
        zip(different, await asyncio.gather(*(_accepts(*host) for host in different)), strict=True)
    )
    return {
        name: f"cannot be reached from here ({host[0]} does not accept a connection)"
        for name, host in hosts.items()
        if not answers[host]
    }


def _host(address: str) -> tuple[str, int]:
    parts = urlsplit(address)
    return parts.hostname or "", parts.port or (80 if parts.scheme == "http" else 443)


async def _accepts(host: str, port: int) -> bool:
    try:
        async with asyncio.timeout(PATIENCE):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True
