"""Commands that fork from a process which has imported them: nine tenths of a short command are imports.

Run as a program it serves requests on the socket that is its standard input: the arguments, the environment
and the folder of a command, with its three streams and a pipe for what became of it.
"""

import atexit
import fcntl
import gc
import importlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, NoReturn

from client.cli.main import main

IMPORTED = (
    *("activities.report.formats.markdown", "activities.report.formats.page"),
    *("activities.report.parts.conclusions", "activities.report.parts.readings"),
    *(
        *("activities.report.run_folder", "client.api", "client.blocking", "client.cli.ask"),
        "client.cli.results",
    ),
    *("client.cli.gate", "client.cli.results", "client.cli.review", "client.cli.runs", "client.cli.screen"),
    *("client.cli.servers", "client.cli.sources", "client.cli.steering", "client.cli.ask"),
    *("client.reports.answer_panel", "client.reports.finished", "client.reports.load"),
    *("client.reviews.review", "client.run", "client.runs.destinations", "client.runs.follow"),
    *("client.runs.revising", "client.runs.start", "rich.table"),
)
"""Modules that most commands import. None of them starts a thread, which a fork would not have."""
NUMBER = struct.Struct("q")
REQUEST_BYTES = 200_000
ROOT = Path(__file__).parents[2]


@dataclass
class Fork:
    """A command that runs."""

    pid: int
    answer: BinaryIO
    """Says how it ended."""
    returncode: int | None = None

    def wait(self, seconds: float) -> int:
        """Its exit code. Raises TimeoutError."""
        if self.returncode is None:
            if not select.select([self.answer], [], [], seconds)[0]:
                raise TimeoutError(f"the command took more than {seconds:.0f} s")
            (self.returncode,) = NUMBER.unpack(self.answer.read(NUMBER.size))
            self.answer.close()
        return self.returncode


def start(arguments: Sequence[str], environment: Mapping[str, str], streams: Sequence[int]) -> Fork:
    """Start a command with these as its standard input, output and error."""
    request = json.dumps([list(arguments), dict(environment), str(Path.cwd())]).encode()
    came, reply = os.pipe()
    try:
        socket.send_fds(_server(), [request], [*streams, reply])
    finally:
        os.close(reply)
    answer = os.fdopen(came, "rb", buffering=0)
    (pid,) = NUMBER.unpack(answer.read(NUMBER.size))
    return Fork(pid, answer)


def run(
    arguments: Sequence[str], environment: Mapping[str, str], stdin: str, seconds: float
) -> tuple[int, str, str]:
    """The exit code and the output of a command. Raises TimeoutError, and then has killed it."""
    with TemporaryFile("w+") as given, TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        given.write(stdin)
        given.seek(0)
        fork = start(arguments, environment, [given.fileno(), out.fileno(), err.fileno()])
        try:
            code = fork.wait(seconds)
        except TimeoutError:
            os.kill(fork.pid, signal.SIGKILL)
            raise
        for stream in (out, err):
            stream.seek(0)
        return code, out.read(), err.read()


@cache
def _server() -> socket.socket:
    """The socket of the process that forks; it ends with this one."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, REQUEST_BYTES)
    with its:
        process = subprocess.Popen([sys.executable, "-m", __name__], cwd=ROOT, stdin=its.fileno())

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def serve(requests: socket.socket) -> None:
    """Fork for each request, until the other end is closed."""
    for name in IMPORTED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    while True:
        request, streams, _, _ = socket.recv_fds(requests, REQUEST_BYTES, 4, socket.MSG_CMSG_CLOEXEC)
        if not request:
            return
        if os.fork() == 0:
            _watch(request, streams)
        for stream in streams:
            os.close(stream)


def _watch(request: bytes, streams: Sequence[int]) -> NoReturn:
    """Fork the command, and say which process it is and how it ended."""
    *three, reply = streams
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        arguments, environment, folder = json.loads(request)
        _become(arguments, environment, folder, three)
    os.write(reply, NUMBER.pack(pid))
    os.write(reply, NUMBER.pack(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])))
    os._exit(0)


def _become(
    arguments: list[str], environment: dict[str, str], folder: str, streams: Sequence[int]
) -> NoReturn:
    """Be the command: `main` ends the process."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    # what a shell has started in the background ignores interrupts, and so do all its descendants
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if os.isatty(0):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        sys.stdin, sys.stdout, sys.stderr = (open(n, mode) for n, mode in enumerate("rww"))  # noqa: SIM115, PTH123
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0] = folder
    sys.argv = [main.__module__, *arguments]
    main()


if __name__ == "__main__":
    serve(socket.socket(fileno=os.dup(0)))
