"""The process that restricts the embedded server to its owner: a network of its own and checked connections
(Linux).

The dev server has neither users nor tokens, and its internal services listen beside its API: every account of
the machine that may open a loopback connection could read and start runs. So this process opens the published
ports, moves into a new network namespace of its own, and starts the server there. From then on it accepts
connections on the published ports, asks the kernel whose socket is at the other end, and forwards those of
its own user.

Invariants:
- What was opened before the move stays in the network it was opened in: the published ports, and the kernel's
  table of sockets that names the owner of each.
- No owner, no forwarding: a connection that the table does not list as established by this user is closed.
- This process and the server end together, however either of them ends, and both hold the server's lock.
- Where the system gives its users no namespaces, this process becomes the server, without forwarding; then
  `processes.has_own_network` says so, and so does `determinator doctor`.
- The Web UI answers numbers and `localhost` only, so that a web page with a rebound name gets nothing.

Only the standard library is imported: each cold start waits for this process.
"""

import asyncio
import contextlib
import ctypes
import fcntl
import ipaddress
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
SIOCGIFFLAGS, SIOCSIFFLAGS = 0x8913, 0x8914
IFF_UP = 1
"""Constants of the kernel's headers: linux/sched.h, linux/prctl.h, linux/sockios.h, linux/if.h."""

ESTABLISHED = b"01"
"""The state of an open connection in `/proc/net/tcp`. There a socket that was closed belongs to uid 0."""
TABLE_READS = 3
"""The table is read in pieces, between which rows may move: what is missing once is looked for again."""
START_POLL_SECONDS = 0.01
HEAD_BYTES = 65_536
"""The longest head of a request to the Web UI."""
REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

Address = tuple[str, int]


class Sockets:
    """The kernel's table of the sockets of the network in which this object was created."""

    def __init__(self) -> None:
        """Raises OSError where there is no such table."""
        self._tables = [Path("/proc/net/tcp").open("rb", buffering=0)]  # noqa: SIM115 - kept open, see above
        with contextlib.suppress(FileNotFoundError):  # a system without IPv6
            self._tables.append(Path("/proc/net/tcp6").open("rb", buffering=0))  # noqa: SIM115

    def owner(self, local: Address, remote: Address) -> int | None:
        """The uid that opened the socket `local` of an open connection to `remote`; None without one."""
        for _ in range(TABLE_READS):
            for table, form in zip(self._tables, (_row_name, _row_name_6), strict=False):
                wanted = (form(local), form(remote), ESTABLISHED)
                os.lseek(table.fileno(), 0, os.SEEK_SET)
                for line in table.readall().splitlines()[1:]:
                    words = line.split()
                    if tuple(words[1:4]) == wanted:
                        return int(words[7])
        return None

    def close(self) -> None:
        """Close the table."""
        for table in self._tables:
            table.close()


def _row_name(address: Address) -> bytes:
    """An address as `/proc/net/tcp` writes it: the four bytes as a number of this machine."""
    (number,) = struct.unpack("=I", socket.inet_aton(address[0]))
    return f"{number:08X}:{address[1]:04X}".encode()


def _row_name_6(address: Address) -> bytes:
    """The same for `/proc/net/tcp6`, where sockets for both families are."""
    numbers = struct.unpack("=4I", socket.inet_pton(socket.AF_INET6, f"::ffff:{address[0]}"))
    return f"{''.join(f'{number:08X}' for number in numbers)}:{address[1]:04X}".encode()


def enter_own_network() -> None:
    """Move this process, which has one thread, into a new network that has a loopback device only.

    A user needs a user namespace of its own for that, in which it keeps its number. Raises OSError.
    """
    uid, gid = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET if uid == 0 else CLONE_NEWNET | CLONE_NEWUSER):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    if uid:
        own = Path("/proc/self")
        (own / "setgroups").write_text("deny")
        (own / "uid_map").write_text(f"{uid} {uid} 1")
        (own / "gid_map").write_text(f"{gid} {gid} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as device:
        request = struct.pack("16sh14x", b"lo", 0)
        _, flags = struct.unpack("16sh14x", fcntl.ioctl(device, SIOCGIFFLAGS, request))
        fcntl.ioctl(device, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def works_in_a_child(action: Callable[[], None]) -> bool:
    """Whether an action that cannot be undone succeeds, tried in a child process that then ends."""
    child = os.fork()
    if child == 0:
        try:
            action()
        except BaseException:  # noqa: BLE001 - nothing of this process may go on in the child
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def end_with_parent(parent: int) -> None:
    """Have the kernel kill this process, which was just forked, when its parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent ended before that
        os._exit(1)


class Incoming(asyncio.Protocol):
    """A connection from outside: checked, then joined to one of its own to the server."""

    def __init__(self, server: Address, is_ours: Callable[[Address, Address], bool], *, web_ui: bool) -> None:
        self._server = server
        self._is_ours = is_ours
        self._checks_host = web_ui
        """A browser uses a connection for one host, so checking the first request is enough."""
        self._early = bytearray()
        """What arrived before the server was reached. Reading is paused when something arrives, not before:
        in Python 3.11.2 a transport that is paused in `connection_made` reads all the same."""
        self.transport: asyncio.Transport
        self._outgoing: Outgoing | None = None
        self._connecting: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        peer, own = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
        if peer is None or not self._is_ours(peer, own):
            transport.abort()
        elif not self._checks_host:
            self._connect()

    def _connect(self) -> None:
        self._connecting = asyncio.get_running_loop().create_task(self._join())

    async def _join(self) -> None:
        try:
            _, outgoing = await asyncio.get_running_loop().create_connection(
                lambda: Outgoing(self.transport), *self._server
            )
        except OSError:
            self.transport.abort()
            return
        if self.transport.is_closing():
            outgoing.transport.abort()
            return
        self._outgoing = outgoing
        outgoing.transport.write(bytes(self._early))
        self._early.clear()
        self.transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        if self._outgoing is not None:
            self._outgoing.transport.write(data)
            return
        self._early += data
        if self._connecting is not None:
            self.transport.pause_reading()
            return
        end = self._early.find(b"\r\n\r\n")
        if end < 0 and len(self._early) < HEAD_BYTES:
            return
        if names_this_machine(bytes(self._early[: max(end, 0)])):
            self._connect()
        else:
            self.transport.write(REFUSED)
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._outgoing is not None:
            self._outgoing.transport.close()

    def pause_writing(self) -> None:
        if self._outgoing is not None:
            self._outgoing.transport.pause_reading()

    def resume_writing(self) -> None:
        if self._outgoing is not None:
            self._outgoing.transport.resume_reading()


class Outgoing(asyncio.Protocol):
    """The connection to the server that serves one from outside."""

    def __init__(self, incoming: asyncio.Transport) -> None:
        self._incoming = incoming
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._incoming.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._incoming.close()

    def pause_writing(self) -> None:
        self._incoming.pause_reading()

    def resume_writing(self) -> None:
        self._incoming.resume_reading()


def names_this_machine(head: bytes) -> bool:
    """Whether a request has one `Host`, a loopback number or `localhost`: other names can be rebound."""
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


def bound(address: Address) -> socket.socket:
    """A bound port on which nothing is accepted yet. Raises OSError when another process has it."""
    held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # a port of a server that has just died is in TIME_WAIT
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        held.bind(address)
    except OSError:
        held.close()
        raise
    return held


async def forward(
    listeners: "dict[Address, socket.socket]", api: Address, is_ours: Callable[[Address, Address], bool]
) -> list[asyncio.Server]:
    """Accept connections on the published ports; each leads to the same address in the server's network."""
    loop = asyncio.get_running_loop()

    def accept(address: Address) -> Callable[[], asyncio.Protocol]:
        return lambda: Incoming(address, is_ours, web_ui=address != api)

    return [await loop.create_server(accept(address), sock=held) for address, held in listeners.items()]


async def reached(address: Address, process: "asyncio.subprocess.Process") -> bool:
    """Wait until the server accepts connections; False when it ended before."""
    while process.returncode is None:
        try:
            _, writer = await asyncio.open_connection(*address)
        except OSError:
            await asyncio.sleep(START_POLL_SECONDS)
        else:
            writer.close()
            return True
    return False


async def serve(
    command: list[str], api: Address, listeners: "dict[Address, socket.socket]", sockets: Sockets
) -> int:
    """Run the server, forward to it, and return its exit code when it ends."""
    lock = os.environ.get("DETERMINATOR_LOCK_FD", "")
    parent, owner = os.getpid(), os.geteuid()
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=subprocess.DEVNULL,
        pass_fds=(int(lock),) if lock.isdigit() else (),
        preexec_fn=lambda: end_with_parent(parent),
    )
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _pass_on, process, number)
    if await reached(api, process):
        await forward(listeners, api, lambda peer, own: sockets.owner(peer, own) == owner)
    return await process.wait()


def _pass_on(process: "asyncio.subprocess.Process", number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)


def main() -> None:
    """Start a server in a network of its own where that can be had. The argument is that of `command_of`."""
    given = json.loads(sys.argv[1])
    command: list[str] = given["command"]
    api: Address = (given["api"][0], given["api"][1])
    addresses = [api, *([(given["web_ui"][0], given["web_ui"][1])] if given["web_ui"] else [])]
    try:
        listeners = {address: bound(address) for address in addresses}
        sockets = Sockets()
    except OSError as error:
        sys.stderr.write(f"Error: {error}\n")
        os._exit(1)
    if not works_in_a_child(enter_own_network):
        sys.stderr.write("no network of its own: other users of this machine can reach the server\n")
        sys.stderr.flush()
        for held in listeners.values():
            held.close()
        sockets.close()
        os.execv(command[0], command)  # noqa: S606 - there is no shell in it
    try:
        enter_own_network()
        code = asyncio.run(serve(command, api, listeners, sockets))
    except OSError as error:  # a port that another process has begun to listen on
        sys.stderr.write(f"Error: {error}\n")
        code = 1
    sys.stderr.flush()
    os._exit(code if code >= 0 else 1)


if __name__ == "__main__":
    main()
