"""The health endpoint of a worker: whether the process lives, and whether it can work.

`GET /healthz` answers 200 as long as the event loop turns. `GET /readyz` answers 200 while the worker polls
and the Temporal server answers, else 503 with the reason. Both say nothing that is not for everybody.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from temporalio.client import Client
from temporalio.service import RPCError

from activities.contracts.errors import DeterminatorError

CHECK_SECONDS = 3.0
"""How long the Temporal server may take to answer a check."""
REQUEST_SECONDS = 5.0
MAX_REQUEST_BYTES = 4096
REASONS = {200: "OK", 404: "Not Found", 405: "Method Not Allowed", 503: "Service Unavailable"}

Ready = Callable[[], Awaitable[str]]
"""Returns why a worker cannot work; empty when it can."""


class CannotListen(DeterminatorError):
    """The address for health checks or metrics cannot be listened on."""


def host_and_port(address: str) -> tuple[str, int]:
    """The parts of `HOST:PORT`. Raises CannotListen for another form."""
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdigit() or int(port) > 65_535:
        raise CannotListen(
            f"{address!r} is not an address to listen on; write HOST:PORT, as in 127.0.0.1:8082"
        )
    return host.strip("[]"), int(port)


def readiness(client: Client, polls: Callable[[], bool]) -> Ready:
    """Whether a worker polls and its server answers."""

    async def reason() -> str:
        if not polls():
            return "the worker does not poll"
        try:
            healthy = await asyncio.wait_for(client.service_client.check_health(), CHECK_SECONDS)
        except (RPCError, TimeoutError, RuntimeError):
            return "the Temporal server does not answer"
        return "" if healthy else "the Temporal server is not healthy"

    return reason


@asynccontextmanager
async def health_endpoint(address: str | None, ready: Ready) -> AsyncIterator[int]:
    """Serve health checks meanwhile; yields the port, 0 without an address. Raises CannotListen."""
    if not address:
        yield 0
        return
    host, port = host_and_port(address)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(
            OSError, ValueError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError
        ):
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), REQUEST_SECONDS)
            status, body = await respond(head.partition(b"\r\n")[0].decode("latin-1"), ready)
            text = json.dumps(body).encode()
            writer.write(
                f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(text)}\r\nConnection: close\r\n\r\n".encode()
                + text
            )
            await writer.drain()
        writer.close()

    try:
        server = await asyncio.start_server(answer, host, port, limit=MAX_REQUEST_BYTES)
    except OSError as error:
        raise CannotListen(
            f"health checks cannot be served on {address}: {error.strerror or error}"
        ) from error
    async with server:
        yield server.sockets[0].getsockname()[1]


async def respond(request: str, ready: Ready) -> tuple[int, dict[str, str]]:
    """Status and body for a request line."""
    method, _, rest = request.partition(" ")
    path = rest.partition(" ")[0].partition("?")[0]
    if method not in ("GET", "HEAD"):
        return 405, {"status": "only GET is answered"}
    if path == "/healthz":
        return 200, {"status": "ok"}
    if path != "/readyz":
        return 404, {"status": "there are /healthz and /readyz"}
    reason = await ready()
    return (503, {"status": "not ready", "reason": reason}) if reason else (200, {"status": "ready"})
