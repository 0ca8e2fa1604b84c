"""On Linux other users of the machine reach nothing of the embedded server, and web pages not its UI."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from activities.settings import Settings
from client.embedded import network
from client.embedded.forwarder import listen_at as listening_on
from client.embedded.forwarder import names_this_machine, publish
from client.embedded.home import Places
from client.embedded.network import Address, Sockets, has_own_network
from client.embedded.processes import holder
from client.embedded.server import start_embedded, supervisor_input, why_no_server
from client.embedded.supervisor import MAX_TAKEN
from tests.client.harness import determinator, living, processes_of, server_of, wait_until
from tests.security.test_home import listening

BECOME = """
import json, os, socket, sys
import encodings.idna  # later it cannot be read any more
if os.geteuid() == 0:  # else this process is the stranger's already
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
"""
"""The begin of a program of another user, where this user may become one."""
STRANGER = f"""{BECOME}
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
"""Connects to addresses; prints the bytes that came back."""
TAKER = f"""{BECOME}
taken = []
for address, port in json.loads(sys.argv[1]):
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        held.bind((address, port))
        held.listen()
        taken.append(port)
    except OSError:
        pass
print(json.dumps(taken))
"""
"""Prints the ports on which it can listen."""
NEIGHBOUR = f"""{BECOME}
held = socket.socket()
held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
held.bind(("127.0.0.1", int(sys.argv[1])))
held.listen()
print("listens", flush=True)
while True:
    link, _ = held.accept()
    link.settimeout(2)
    try:
        print("received", len(link.recv(100)), flush=True)
    except OSError:
        print("received", 0, flush=True)
"""
"""Listens on a port and prints what it receives."""


def printed(program: str, addresses: list[Address]) -> list[int]:
    """What a program of another user prints of these addresses."""
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(addresses)], capture_output=True, text=True, check=True
    )
    parsed: list[int] = json.loads(done.stdout)
    return parsed


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
    note = server_of(home)
    assert note is not None
    checks = determinator("doctor", "--json").json()
    (found,) = [check for check in checks if check["name"] == "other users"]
    private = has_own_network(note.pid)
    assert (found["state"] == "ok") == private
    assert private == network.works_in_a_child(network.enter_own_network)
    if not private:
        return
    (server,) = processes_of(home)["server"]
    assert listening(server) == []  # in this network
    published = [("127.0.0.1", note.port), (note.ui_ip, note.ui_port)]
    supervisor = holder(Places(home).lock)
    assert supervisor is not None
    assert sorted(listening(supervisor)) == sorted(published)
    assert await connection.client.service_client.check_health()
    async with httpx.AsyncClient(trust_env=False) as browser:
        assert (await browser.get(f"{note.ui_url}/api/v1/settings")).is_success
    if os.geteuid() == 0:
        assert printed(STRANGER, published) == [0, 0, 0, 0]
    # the owner is let in all the same
    assert await connection.client.service_client.check_health()


def test_another_user_reaches_nothing_while_the_server_is_restarted(home: Path) -> None:
    """Neither the server nor a port that could be listened on in its place."""
    asyncio.run(start_embedded(Settings(), worker=False))
    before = processes_of(home)["server"]
    note = server_of(home)
    assert note is not None
    if not has_own_network(note.pid) or os.geteuid() != 0:
        return  # `test_only_the_owner_reaches_the_server` holds that `doctor` says so
    published = [("127.0.0.1", note.port), (note.ui_ip, note.ui_port)]
    ended = threading.Event()
    got: list[int] = []
    taken: list[int] = []

    def intrude() -> None:
        while not ended.is_set():
            got.extend(printed(STRANGER, published))
            taken.extend(printed(TAKER, published))

    intruder = threading.Thread(target=intrude)
    intruder.start()
    try:
        os.kill(before[0], signal.SIGKILL)
        wait_until(lambda: processes_of(home)["server"] not in ([], before))
        assert determinator("list").code == 0
    finally:
        ended.set()
        intruder.join()
    assert got
    assert set(got) == {0}
    assert taken == []


@pytest.mark.invariant
def test_a_neighbour_who_takes_the_port_first_gets_nothing(home: Path) -> None:
    """Commands and the worker reach the server through the home, not through a port."""
    asyncio.run(start_embedded(Settings(), worker=False))
    note = server_of(home)
    assert note is not None
    assert determinator("down").code == 0
    program = [sys.executable, "-c", NEIGHBOUR, str(note.port)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as neighbour:
        assert neighbour.stdout is not None
        try:
            assert neighbour.stdout.readline() == "listens\n"
            assert determinator("up").code == 0
            living(home)
            assert determinator("list").code == 0
            present = server_of(home)
            assert present is not None
            assert present.port != note.port
        finally:
            neighbour.kill()
        assert neighbour.stdout.read() == ""


def test_where_the_system_allows_no_network_the_server_runs_without_one(home: Path) -> None:
    """A supervisor that is refused a network publishes nothing itself, and serves the owner all the same."""
    program = (
        "from client.embedded import network, supervisor\n"
        "def refuse(): raise PermissionError\n"
        "network.enter_own_network = refuse\n"
        "supervisor.main()\n"
    )
    places = Places(home)
    places.make()
    request = json.dumps(supervisor_input(Settings(), places))
    process = subprocess.Popen([sys.executable, "-c", program, request], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: (server := server_of(home)) is not None and server.ready)
        note = server_of(home)
        assert note is not None
        assert not has_own_network(note.pid)
        assert listening(process.pid) == []
        assert ("127.0.0.1", note.port) in listening(note.pid)
        assert determinator("list").code == 0
        (check,) = [c for c in determinator("doctor", "--json").json() if c["name"] == "other users"]
        assert check["state"] == "warn"
    finally:
        process.terminate()
        process.wait()


@pytest.mark.parametrize("times", [4, 100])
def test_a_neighbour_that_takes_the_port_first_does_not_prevent_the_server(home: Path, times: int) -> None:
    """The server starts at another port, more often than it may die, and gives up with a line at last."""
    program = (
        "import socket\n"
        "from client.embedded import network, supervisor\n"
        "def refuse(): raise PermissionError\n"
        "network.enter_own_network = refuse\n"
        "free, neighbours = supervisor.free_port, []\n"
        "def taken(preferred, ip):\n"
        "    port = free(preferred, ip)\n"
        f"    if len(neighbours) < {times}:\n"
        "        neighbours.append(socket.create_server((ip, port)))\n"
        "    return port\n"
        "supervisor.free_port = taken\n"
        "supervisor.main()\n"
    )
    places = Places(home)
    places.make()
    request = json.dumps({**supervisor_input(Settings(), places), "web_ui": False})
    process = subprocess.Popen([sys.executable, "-c", program, request], stderr=subprocess.DEVNULL)
    try:
        if times > MAX_TAKEN:
            assert process.wait(60) == 1
            assert f"other processes took each of {MAX_TAKEN} ports" in why_no_server(places)
        else:
            wait_until(lambda: (server := server_of(home)) is not None and server.ready)
            assert determinator("list").code == 0
    finally:
        process.terminate()
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
        held = listening_on(("127.0.0.1", 0))
        address: Address = held.getsockname()

        async def connect() -> socket.socket:
            made = socket.socket()
            made.setblocking(False)
            await asyncio.get_running_loop().sock_connect(made, inner)
            return made

        async with await publish(held, connect, lambda *_: ours, web_ui=web_ui):
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
