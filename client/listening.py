"""Small HTTP servers of the command line: where they may listen, and how they run until they are stopped."""

import sys
from typing import TYPE_CHECKING

import click

from client.connection import LOOPBACK
from client.failures import BadInput

if TYPE_CHECKING:
    from starlette.types import ASGIApp

STOP_SECONDS = 5
"""Time that requests have to end when the server is stopped."""


def listening_address(text: str, *, secured: bool, how: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`. Raises BadInput for another form, and for an address that other machines
    reach when the server is not `secured`; `how` says what secures it."""
    host, colon, port = text.rpartition(":")
    host = host.strip("[]")
    if not colon or not host or not port.isdigit() or int(port) > 65_535:
        raise BadInput(f"{text!r} is not an address to listen on; write HOST:PORT, such as 127.0.0.1:8081")
    if host not in LOOPBACK and not secured:
        raise BadInput(f"{host} is reached from other machines: {how}")
    return host, int(port)


async def serve_app(app: "ASGIApp", host: str, port: int, name: str) -> int:
    """Serve until SIGINT or SIGTERM; return the exit code. Raises BadInput when the address is in use."""
    import uvicorn

    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    try:
        sock = config.bind_socket()
    except SystemExit:  # uvicorn logs the reason and exits
        raise BadInput(f"{host}:{port} cannot be listened on; is it in use?") from None
    click.echo(f"{name} listens on http://{host}:{sock.getsockname()[1]}", err=True)
    sys.stderr.flush()
    await uvicorn.Server(config).serve(sockets=[sock])
    return 0
