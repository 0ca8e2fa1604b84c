"""The ways to the embedded server: the private socket of the home, and its published ports.

Invariants:
- The private socket is in a folder that only the owner may enter, so what a command or a worker reaches there
  is its own supervisor, also after a restart. Connections are opened as through an HTTP proxy (`CONNECT`).
- A connection to a published port is forwarded when the kernel lists it as opened by this user; it is closed
  otherwise.
- The Web UI answers numbers and `localhost` only, so that a web page with a rebound name gets nothing.
- A connection that is made while the server is being restarted waits for it.

Only the standard library is imported: each cold start waits for the supervisor.
"""

import asyncio
import contextlib
import ipaddress
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

from client.embedded.network import Address, user_of

PIECE_BYTES = 65_536
HEAD_SECONDS = 10.0
"""Time that a client may need to send the head of a request."""
MAX_BODY_BYTES = 16 * 1024 * 1024
"""The longest request to the supervisor. The system allows an environment 6 MiB."""
ACCEPTED = b"HTTP/1.1 200 OK\r\n\r\n"
REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
BACKLOG = 128

Connect = Callable[[], Awaitable[socket.socket]]
"""Opens a connection to the server, waiting while it starts. Raises OSError."""
IsOurs = Callable[[Address, Address], bool]
"""Tells whether the connection from the first address to the second was opened by this user."""


def open_private_socket(path: Path) -> socket.socket:
    """Return the private socket of a home, in place of one that a former process has left. Raises OSError."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    folder = os.open(".", os.O_RDONLY)
    try:
        os.chdir(path.parent)  # an address has 107 bytes at most, a path may be longer
        listener.bind(path.name)
        path.chmod(0o600)
        listener.listen(BACKLOG)
    finally:
        os.fchdir(folder)
        os.close(folder)
    return listener


def open_port(address: Address) -> socket.socket:
    """Return a port on which this process listens: that of the address, else another. Raises OSError."""
    try:
        return listen_at(address)
    except OSError:
        return listen_at((address[0], 0))


def listen_at(address: Address) -> socket.socket:
    """Return a port on which this process listens from now on.

    Raises OSError when another process has it: listening is what makes a port ours, since other users may
    bind it as well until somebody listens.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # a port of a server that has just died is in TIME_WAIT
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


async def publish(
    listener: socket.socket, connect: Connect, is_ours: IsOurs, *, web_ui: bool
) -> asyncio.Server:
    """Forward the owner's connections to a published port."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer, local = writer.get_extra_info("peername"), writer.get_extra_info("sockname")
        if peer is None or not is_ours(peer, local):
            writer.transport.abort()
            return
        with contextlib.suppress(OSError, TimeoutError, asyncio.LimitOverrunError):
            head = b""
            if web_ui:  # a browser uses a connection for one host: checking the first request is enough
                head = await head_of(reader)
                if not names_this_machine(head):
                    writer.write(REFUSED)
                    writer.close()
                    return
            await join(reader, writer, await connect(), head)
        writer.close()

    return await asyncio.start_server(accept, sock=listener)


async def serve_owner(
    listener: socket.socket, connect: Connect, control: Callable[[bytes], bytes]
) -> asyncio.Server:
    """Serve the private socket: `CONNECT` leads to the server, `CONTROL <bytes>` to the supervisor."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if user_of(writer.get_extra_info("socket")) != os.geteuid():
            writer.transport.abort()
            return
        with contextlib.suppress(OSError, TimeoutError, ValueError, asyncio.LimitOverrunError, EOFError):
            verb, _, argument = (await head_of(reader)).partition(b" ")
            if verb == b"CONNECT":
                upstream = await connect()
                writer.write(ACCEPTED)
                await join(reader, writer, upstream)
            elif verb == b"CONTROL":
                length = min(int(argument.split(b"\r\n")[0]), MAX_BODY_BYTES)
                writer.write(control(await reader.readexactly(length)) + b"\n")
                await writer.drain()
        writer.close()

    return await asyncio.start_unix_server(accept, sock=listener)


async def head_of(reader: asyncio.StreamReader) -> bytes:
    """Return the head of a request. Raises OSError, TimeoutError, LimitOverrunError."""
    try:
        return await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_SECONDS)
    except asyncio.IncompleteReadError as error:
        raise ConnectionResetError("no request") from error


async def join(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, upstream: socket.socket, head: bytes = b""
) -> None:
    """Forward in both directions until either side ends. Raises OSError."""
    server_reader, server_writer = await asyncio.open_connection(sock=upstream)
    server_writer.write(head)
    tasks = [
        asyncio.ensure_future(pump(reader, server_writer)),
        asyncio.ensure_future(pump(server_reader, writer)),
    ]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        server_writer.close()
        writer.close()


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on what arrives until there is no more."""
    with contextlib.suppress(OSError):
        while data := await reader.read(PIECE_BYTES):
            writer.write(data)
            await writer.drain()


def names_this_machine(head: bytes) -> bool:
    """Tell whether a request has one `Host`, a loopback number or `localhost`: other names can be rebound."""
    lines = head.split(b"\r\n")[1:]
    hosts = [line.partition(b":")[2].strip() for line in lines if line[:5].lower() == b"host:"]
    if len(hosts) != 1:
        return False
    host = hosts[0].decode("latin-1")
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
