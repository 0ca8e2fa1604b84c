"""What a launcher and the command server of a home agree on: the socket, the identity of a process, messages.

Only the standard library is imported: each command waits for this module.

1. The launcher connects. The server forks; the child sends its pid and its identity.
2. The launcher compares the identity with its own and sends the command with its standard streams and its
   current folder as open files. From here on the command is executed by the child and by nobody else.
3. The child sends messages: the questions of `client.caller`, and its exit code as the last one. Where it
   ended by a signal, the server says so.
"""

import json
import os
import socket
import struct
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

SOCKET = "commands.sock"
"""Name of the socket in the folder `state` of a home."""
PACKAGES = ("activities", "client", "workflows")
"""The packages of this project that commands import."""

COMPARED = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_", "GLIBC_", "PYDANTIC_", "PROTOCOL_BUFFERS_", "OPENSSL_")
"""Beginnings of the names of variables that act while a process starts or imports."""
COMPARED_NAMES = ("FORCE_COLOR", "NO_COLOR")
STATUS = ("Uid", "Gid", "Groups", "Cap", "NoNewPrivs", "Seccomp:", "Cpus_allowed_list", "SigBlk")
"""Lines of `/proc/self/status` that a child has from its parent: what it may do, and where it may run."""
NAMESPACES = ("mnt", "net", "pid", "user", "uts")

HELLO = struct.Struct(">II")
"""The child's pid and the length of its identity."""
LENGTH = struct.Struct(">I")
EXIT, SIGNAL, MAY_READ, EDIT = b"x", b"s", b"r", b"e"
"""Messages of the child: it ends with this code; it was ended by this signal (from the server); it asks
whether it may read the terminal; it needs the editor."""
LIMIT = 16 * 1024 * 1024
"""Bytes of a message at most. The system allows a command and its environment 6 MiB."""


@dataclass(frozen=True, slots=True)
class Request:
    """A command as it was called; the open files travel beside it."""

    arguments: list[str]
    environment: dict[str, str]
    path: list[str]
    """Where modules are looked for."""
    umask: int
    ignored: list[int]
    """Signals that the caller ignores."""
    launcher: int
    """Pid of the launcher."""


def identity() -> bytes:
    """All that a forked process has from its parent and cannot change: the interpreter, the code, encodings,
    variables that act at the start, rights and limits. Two processes with the same identity execute a command
    in the same way. Raises OSError and AttributeError where the system does not tell."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    found: dict[str, object] = {
        "python": [sys.version, sys.prefix, sys.base_prefix, sys.warnoptions, sorted(sys._xoptions.items())],  # noqa: SLF001 - documented
        "flags": {name: getattr(sys.flags, name) for name in FLAGS},
        "streams": [[s.encoding, s.errors, writes_through(s)] for s in streams],
        "names": [sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()],
        "variables": compared_variables(os.environ),
        "code": code_of(PACKAGES),
        "installed": {path: os.stat(path).st_mtime_ns for path in sys.path if path.endswith("-packages")},  # noqa: PTH116 - pathlib is slower
        "status": [line for line in _read("/proc/self/status") if line.startswith(STATUS)],
        "limits": _read("/proc/self/limits"),
        "label": _label(),
        "namespaces": [os.readlink(f"/proc/self/ns/{name}") for name in NAMESPACES],  # noqa: PTH115 - pathlib is slower
        "nice": os.nice(0),
    }
    return json.dumps(found, sort_keys=True).encode()


def writes_through(stream: TextIO) -> bool:
    """Whether a stream holds nothing back, as `python -u` has it."""
    return isinstance(stream, TextIOWrapper) and stream.write_through


FLAGS = tuple(name for name in dir(sys.flags) if not name.startswith(("_", "n_", "count", "index", "safe_")))
"""Flags of the interpreter. `safe_path` only chooses the first entry of the path, which the launcher
sends."""


def compared_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that act while a process starts or imports."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(COMPARED) or name in COMPARED_NAMES
    }


def code_of(packages: Sequence[str], root: Path = Path(__file__).parents[2]) -> list[list[str | int]]:
    """Which code of this project is on disk: each package with number, sizes and times of its files. Looking
    takes 2 ms. Raises OSError."""
    return [[name, *_files(str(root / name))] for name in packages]


def _files(folder: str) -> tuple[int, int, int]:
    """Number, sizes and times of the Python files below a folder."""
    number = size = times = 0
    for entry in os.scandir(folder):
        if entry.name.endswith(".py"):
            found = entry.stat()
            number, size, times = number + 1, size + found.st_size, times + found.st_mtime_ns
        elif entry.name != "__pycache__" and entry.is_dir():
            n, s, t = _files(entry.path)
            number, size, times = number + n, size + s, times + t
    return number, size, times


def _read(path: str) -> list[str]:
    with open(path, encoding="ascii") as file:  # noqa: PTH123 - pathlib is slower
        return file.read().splitlines()


def _label() -> list[str]:
    """The label of a security module, where there is one."""
    try:
        return _read("/proc/self/attr/current")
    except OSError:
        return []


def socket_path(home: Path) -> Path:
    """Where the command server of a home listens."""
    return home / "state" / SOCKET


class ShortAddress:
    """The address of a socket by its open folder: an address has 107 bytes at most, a path may be longer."""

    def __init__(self, path: Path) -> None:
        """Raises OSError without the folder."""
        self._folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
        self.address = f"/proc/self/fd/{self._folder}/{path.name}"

    def __enter__(self) -> str:
        return self.address

    def __exit__(self, *_: object) -> None:
        os.close(self._folder)


def peer_of(connection: socket.socket) -> tuple[int, int]:
    """Pid and user of the process that connected, or that listens."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, user, _ = struct.unpack("3i", credentials)
    return pid, user


def send_hello(connection: socket.socket, own: bytes) -> None:
    """Raises OSError."""
    connection.sendall(HELLO.pack(os.getpid(), len(own)) + own)


def receive_hello(connection: socket.socket) -> tuple[int, bytes]:
    """The pid of the child and its identity. Raises OSError."""
    pid, length = HELLO.unpack(exactly(connection, HELLO.size))
    return pid, exactly(connection, length)


def send_request(connection: socket.socket, request: Request, files: Sequence[int]) -> None:
    """Raises OSError; the command is not executed then."""
    body = json.dumps(asdict(request)).encode()
    socket.send_fds(connection, [LENGTH.pack(len(body))], files)
    connection.sendall(body)


def receive_request(connection: socket.socket, files: int) -> tuple[Request, list[int]]:
    """A command, and its open files. Raises OSError, also when the launcher has gone or sent less."""
    head, received, _, _ = socket.recv_fds(connection, LENGTH.size, files)
    if len(head) != LENGTH.size or len(received) != files:
        raise ConnectionAbortedError("the launcher sent no command")
    (length,) = LENGTH.unpack(head)
    return Request(**json.loads(exactly(connection, length))), list(received)


def send_message(connection: socket.socket, kind: bytes, body: bytes = b"") -> None:
    """Raises OSError."""
    connection.sendall(kind + LENGTH.pack(len(body)) + body)


def receive_message(connection: socket.socket) -> tuple[bytes, bytes]:
    """Raises OSError, also when the other end was closed."""
    kind = exactly(connection, 1)
    (length,) = LENGTH.unpack(exactly(connection, LENGTH.size))
    return kind, exactly(connection, length)


def exactly(connection: socket.socket, length: int) -> bytes:
    """So many bytes. Raises OSError, also when the other end was closed before."""
    if length > LIMIT:
        raise ConnectionAbortedError(f"a message of {length} bytes")
    parts = bytearray()
    while len(parts) < length:
        part = connection.recv(length - len(parts))
        if not part:
            raise ConnectionResetError("the other end was closed")
        parts += part
    return bytes(parts)
