"""Networks of processes (Linux): one of its own for the server, and whose socket is at the other end.

The dev server has neither users nor tokens, and its internal services listen beside its API: every account of
the machine that may open a loopback connection could read and start runs. So the server is started in a
network namespace of its own, where nobody else is, and its supervisor forwards the connections of the owner.

A socket stays in the network in which it was created, whoever uses it. So the supervisor, which stays outside
with the worker, gets each unconnected socket from a child that enters the server's network for an instant.

Only the standard library is imported: each cold start waits for the supervisor.
"""

import contextlib
import ctypes
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable
from pathlib import Path

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
SIOCGIFFLAGS, SIOCSIFFLAGS = 0x8913, 0x8914
IFF_UP = 1
"""Constants of the kernel's headers: linux/sched.h, linux/prctl.h, linux/sockios.h, linux/if.h."""

ESTABLISHED, LISTENING = b"01", b"0A"
"""States of a socket in `/proc/net/tcp`. There a connection that nobody holds belongs to uid 0."""
TABLE_READS = 3
"""The table is read in pieces, between which rows may move: what is missing once is looked for again."""

Address = tuple[str, int]


class Sockets:
    """The kernel's table of the TCP sockets of this process's network."""

    def __init__(self) -> None:
        """Raise OSError where there is no such table."""
        self._tables = [Path("/proc/net/tcp").open("rb", buffering=0)]  # noqa: SIM115 - read again and again
        with contextlib.suppress(FileNotFoundError):  # a system without IPv6
            self._tables.append(Path("/proc/net/tcp6").open("rb", buffering=0))  # noqa: SIM115

    def owner(self, local: Address, remote: Address) -> int | None:
        """Return the uid that opened the socket `local` of a connection to `remote`; None without one."""
        return self._owner(local, remote, ESTABLISHED)

    def listener(self, address: Address) -> int | None:
        """Return the uid of the process that listens at an address; None without one."""
        return self._owner(address, ("0.0.0.0", 0), LISTENING)  # noqa: S104 - of a row, nothing is opened

    def _owner(self, local: Address, remote: Address, state: bytes) -> int | None:
        for _ in range(TABLE_READS):
            for table, form in zip(self._tables, (_row_name, _row_name_6), strict=False):
                row = (form(local), form(remote), state)
                os.lseek(table.fileno(), 0, os.SEEK_SET)
                for line in table.readall().splitlines()[1:]:
                    words = line.split()
                    if tuple(words[1:4]) == row:
                        return int(words[7])
        return None

    def close(self) -> None:
        for table in self._tables:
            table.close()


def _row_name(address: Address) -> bytes:
    """Return an address as `/proc/net/tcp` writes it: the four bytes as a number of this machine."""
    (number,) = struct.unpack("=I", socket.inet_aton(address[0]))
    return f"{number:08X}:{address[1]:04X}".encode()


def _row_name_6(address: Address) -> bytes:
    """Return the same for `/proc/net/tcp6`, where sockets for both families are."""
    numbers = struct.unpack("=4I", socket.inet_pton(socket.AF_INET6, f"::ffff:{address[0]}"))
    return f"{''.join(f'{number:08X}' for number in numbers)}:{address[1]:04X}".encode()


def user_of(connection: socket.socket) -> int:
    """Return the user of the process at the other end of a Unix socket.

    Where the system does not tell, the folder of the socket alone decides who may connect: this user.
    """
    if sys.platform != "linux":
        return os.geteuid()
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, _ = struct.unpack("3i", credentials)
    return int(uid)


def enter_own_network() -> None:
    """Move this process, which has one thread, into a new network that has a loopback device only.

    A user needs a user namespace of its own for that, in which it keeps its number. Raises OSError.
    """
    import fcntl

    uid, gid = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET if uid == 0 else CLONE_NEWNET | CLONE_NEWUSER):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    if uid:
        process = Path("/proc/self")
        (process / "setgroups").write_text("deny")
        (process / "uid_map").write_text(f"{uid} {uid} 1")
        (process / "gid_map").write_text(f"{gid} {gid} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as device:
        request = struct.pack("16sh14x", b"lo", 0)
        _, flags = struct.unpack("16sh14x", fcntl.ioctl(device, SIOCGIFFLAGS, request))
        fcntl.ioctl(device, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def enter_network_of(pid: int) -> None:
    """Move this process, which has one thread, into the network of another one. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    kinds = {"user": CLONE_NEWUSER, "net": CLONE_NEWNET} if os.geteuid() else {"net": CLONE_NEWNET}
    files = [(os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY), kind) for name, kind in kinds.items()]
    for number, kind in files:
        if libc.setns(number, kind):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def socket_inside(pid: int) -> socket.socket:
    """Return an unconnected TCP socket in the network of a process. Raises OSError when it has ended."""
    ours, theirs = socket.socketpair()
    with ours:
        child = os.fork()
        if child == 0:
            try:
                enter_network_of(pid)
                inner = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
                socket.send_fds(theirs, [b"s"], [inner.fileno()])
            finally:
                os._exit(0)
        theirs.close()
        _, numbers, _, _ = socket.recv_fds(ours, 1, 1)
        os.waitpid(child, 0)
    if not numbers:
        raise ConnectionRefusedError(f"the process {pid} has no network")
    return socket.socket(fileno=numbers[0])


def has_own_network(pid: int) -> bool:
    """Tell whether a process lives in another network than this one, where no other user's processes are.

    False when that cannot be seen.
    """
    try:
        return Path(f"/proc/{pid}/ns/net").readlink() != Path("/proc/self/ns/net").readlink()
    except OSError:
        return False


def works_in_a_child(action: Callable[[], None]) -> bool:
    """Tell whether an action that cannot be undone succeeds, tried in a child process that then ends."""
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
