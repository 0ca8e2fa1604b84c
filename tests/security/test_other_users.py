"""On Linux other users of the machine reach nothing of the embedded server, and web pages not its UI."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from activities.settings import Settings
from client.embedded import forwarder
from client.embedded.forwarder import Address, Sockets, forward, names_this_machine
from client.embedded.home import Places
from client.embedded.locks import is_held
from client.embedded.processes import has_own_network
from client.embedded.server import look, start_embedded
from tests.client.harness import determinator, living, processes_of, wait_until
from tests.security.test_home import listening

STRANGER = """
import json, os, socket, sys
import encodings.idna  # later it cannot be read any more
if os.geteuid() == 0:  # else this process is the stranger's already
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
answers = []
for address, port in json.loads(sys.argv[1]):
    for hello in (b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]),
                  b"GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n"):
        try:
            with socket.create_connection((address, port), timeout=10) as link:
                link.sendall(hello)
                answers.append(len(link.recv(100)))
        except OSError:
            answers.append(0)
print(json.dumps(answers))
"""
"""Connects to addresses as another user, where this user may become one; prints the bytes that came back."""


def answers(addresses: list[Address]) -> list[int]:
    done = subprocess.run(
        [sys.executable, "-c", STRANGER, json.dumps(addresses)], capture_output=True, text=True, check=True
    )
    found: list[int] = json.loads(done.stdout)
    return found


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        made.listen()
        yield made


async def test_only_the_owner_reaches_the_server(home: Path) -> None:
    """What `doctor` says is what holds: the server has a network of its own, and its only ways in ask for the
    user; or the system allows none, and `doctor` says that."""
    connection = await start_embedded(Settings(), worker=False)
    note = look(home).server
    assert note is not None
    said = determinator("doctor", "--json").json()
    (found,) = [check for check in said if check["name"] == "other users"]
    private = has_own_network(note.pid)
    assert (found["state"] == "ok") == private
    assert private == forwarder.works_in_a_child(forwarder.enter_own_network)
    if not private:
        return
    (server,) = processes_of(home)["server"]
    assert server != note.pid
    assert listening(server) == []  # in this network
    published = [("127.0.0.1", note.port), (note.ui_ip, note.ui_port)]
    assert sorted(listening(note.pid)) == sorted(published)
    assert await connection.client.service_client.check_health()
    async with httpx.AsyncClient(trust_env=False) as browser:
        assert (await browser.get(f"{note.ui_url}/api/v1/settings")).is_success
    if os.geteuid() == 0:
        assert answers(published) == [0, 0, 0, 0]
    # the owner is let in all the same
    assert await connection.client.service_client.check_health()


def test_server_and_forwarder_end_together(home: Path) -> None:
    for victim in ("server", "forwarder"):
        assert determinator("up").code == 0
        (server,) = living(home)["server"]
        note = look(home).server
        assert note is not None
        os.kill(server if victim == "server" else note.pid, signal.SIGKILL)
        wait_until(lambda: not processes_of(home)["server"] and not is_held(Places(home).server_lock))


def test_where_the_system_allows_no_network_the_server_runs_without_a_forwarder() -> None:
    program = (
        "from client.embedded import forwarder\n"
        "def refuse(): raise PermissionError\n"
        "forwarder.enter_own_network = refuse\n"
        "forwarder.main()\n"
    )
    given = json.dumps({"api": ["127.0.0.1", 0], "web_ui": None, "command": ["/bin/sleep", "60"]})
    process = subprocess.Popen([sys.executable, "-c", program, given], stderr=subprocess.DEVNULL)
    try:
        words = Path(f"/proc/{process.pid}/cmdline")
        wait_until(lambda: words.read_bytes() == b"/bin/sleep\x0060\x00")
        assert not has_own_network(process.pid)
        assert listening(process.pid) == []
    finally:
        process.kill()
        process.wait()


def test_the_kernel_names_the_owner_of_a_connection(listener: socket.socket) -> None:
    sockets = Sockets()
    own = listener.getsockname()
    client = socket.create_connection(own)
    accepted, peer = listener.accept()
    assert sockets.owner(peer, own) == os.geteuid()
    assert sockets.owner(own, peer) == os.geteuid()
    assert sockets.owner((peer[0], peer[1] ^ 1), own) is None
    client.close()
    assert sockets.owner(peer, own) is None, "a closed socket has no owner"
    accepted.close()
    with socket.socket(socket.AF_INET6) as both:
        both.connect(("::ffff:127.0.0.1", own[1]))
        accepted, peer = listener.accept()
        assert sockets.owner(peer, own) == os.geteuid()
        accepted.close()
    sockets.close()


@asynccontextmanager
async def echo(*, ours: bool, web_ui: bool) -> AsyncIterator[Address]:
    """A server that echoes what it receives, behind a forwarder."""

    async def repeat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handlers.append(asyncio.current_task())
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
        writer.close()

    handlers: list[asyncio.Task[None] | None] = []

    async with await asyncio.start_server(repeat, "127.0.0.1", 0) as server:
        inner: Address = server.sockets[0].getsockname()
        held = forwarder.bound(("127.0.0.1", 0))
        address: Address = held.getsockname()
        api = ("127.0.0.1", 1) if web_ui else inner
        (front,) = await forward({inner: held}, api, lambda *_: ours)
        async with front:
            yield address
            await asyncio.gather(*(handler for handler in handlers if handler))


async def test_what_is_forwarded_arrives_whole() -> None:
    data = os.urandom(5_000_000)
    async with echo(ours=True, web_ui=False) as address:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(data)
        assert await reader.readexactly(len(data)) == data
        writer.close()
    async with echo(ours=False, web_ui=False) as address:
        reader, writer = await asyncio.open_connection(*address)
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await reader.readexactly(1)
        writer.close()


async def test_what_arrives_before_the_server_is_reached_is_forwarded_first() -> None:
    """However early: some releases of Python read at once, although the transport was paused."""
    reached: list[bytes] = []
    received = asyncio.Event()

    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(await reader.readexactly(12))
        received.set()
        writer.close()

    class Early(forwarder.Incoming):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            self.data_received(b"early ")

    async with await asyncio.start_server(keep, "127.0.0.1", 0) as server:
        inner: Address = server.sockets[0].getsockname()
        loop = asyncio.get_running_loop()
        front = await loop.create_server(lambda: Early(inner, lambda *_: True, web_ui=False), "127.0.0.1", 0)
        async with front:
            _, writer = await asyncio.open_connection(*front.sockets[0].getsockname())
            writer.write(b"later ")
            await asyncio.wait_for(received.wait(), 30)
            writer.close()
    assert reached == [b"early later "]


@pytest.mark.parametrize(
    ("host", "answered"),
    [
        (b"Host: localhost:8233", True),
        (b"host: 127.9.8.7", True),
        (b"Host: [::1]:80", True),
        (b"Host: rebound.example", False),
        (b"Host: 127.0.0.1.rebound.example", False),
        (b"Host: localhost.rebound.example", False),
        (b"Host: 192.0.2.1", False),
        (b"Host: localhost\r\nHost: rebound.example", False),
        (b"X: localhost", False),
    ],
)
async def test_the_web_ui_is_not_shown_to_a_rebound_name(host: bytes, answered: bool) -> None:
    head = b"GET / HTTP/1.1\r\nAccept: */*\r\n" + host + b"\r\n\r\n"
    assert names_this_machine(head) == answered
    async with echo(ours=True, web_ui=True) as address:
        reader, writer = await asyncio.open_connection(*address)
        for part in (head[:20], head[20:]):
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0.01)
        said = await reader.readexactly(len(head) if answered else 12)
        assert said == (head if answered else b"HTTP/1.1 403")
        writer.close()
