"""Commands, supervisors and workers that fork from a process which has imported them: nine tenths of a short
command are imports, and two of the three seconds of a worker.

Run as a program it serves requests on the socket that its first argument names: the module, the arguments,
the environment and the folder of a process, with its three streams and a pipe for what became of it.
"""

import atexit
import ctypes
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
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NoReturn

from activities import processes
from activities.processes import for_python, one_blas_thread
from client.embedded.processes import PRIVATE_UMASK

COMMAND, SUPERVISOR, WORKER = "client.cli.main", "client.embedded.supervisor", "worker.daemon"
"""The modules that are forked: each has a function `main`, which ends its process."""
IMPORTED = (
    "numpy",  # first, with one thread
    *(
        f"client.cli.{name}"
        for name in ("ask", "gate", "results", "review", "runs", "screen", "servers", "sources")
    ),
    *(f"client.{name}" for name in ("reports.answer_panel", "reports.finished", "runs.revising")),
    *(f"worker.{name}" for name in ("daemon", "build", "metrics", "rate_gate_holder")),
    *(f"workflows.{name}" for name in ("auto", "deep", "refresh", "review.workflow")),
    *(f"activities.report.{name}" for name in ("assemble", "formats.markdown", "run_folder")),
    *(f"activities.report.parts.{name}" for name in ("conclusions", "readings")),
    *("activities.models.client", "activities.roles.writer", "anyio._backends._asyncio"),
)
"""Modules that most commands or workers import. None of them starts a thread, which a fork would not have."""
NUMBER = struct.Struct("q")
REQUEST_BYTES = 200_000
SHOWN_BYTES = 20_000
"""Room for what the kernel shows as the command line of a fork, and the same for its environment."""
ROOT = Path(__file__).parents[2]
PYTHONPATHS = (os.environ.get("PYTHONPATH"), for_python()["PYTHONPATH"])
"""With another one a process would import from elsewhere."""
VARIES = ("stdout", "stderr", "cwd", "pass_fds", "preexec_fn")
HOW: Mapping[str, Mapping[str, object]] = {
    SUPERVISOR: {"stdin": subprocess.DEVNULL, "umask": PRIVATE_UMASK, "start_new_session": True},
    WORKER: {"stdin": subprocess.DEVNULL, "umask": PRIVATE_UMASK},
}
"""How a fork is started, beside what varies; what is to be started in another way is executed."""
EXECUTED = "PYTEST_PROCESSES_EXECUTED"
"""The variable of tests whose supervisors and workers are programs of their own."""
execute = processes.start


@dataclass
class Fork:
    """A process that runs."""

    answers: int
    """The end of a pipe that says its pid, and how it ended."""
    returncode: int | None = None

    def __post_init__(self) -> None:
        (self.pid,) = NUMBER.unpack(os.read(self.answers, NUMBER.size))

    def __del__(self) -> None:
        os.close(self.answers)

    def wait(self, seconds: float) -> int:
        """Its exit code. Raises TimeoutError."""
        if self.returncode is None:
            if not select.select([self.answers], [], [], seconds)[0]:
                raise TimeoutError(f"the command took more than {seconds:.0f} s")
            (self.returncode,) = NUMBER.unpack(os.read(self.answers, NUMBER.size))
        return self.returncode

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        with suppress(TimeoutError):
            self.wait(0)
        return self.returncode


@dataclass
class Child:
    """A worker, which its supervisor has forked."""

    pid: int
    returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None and (ended := os.waitpid(self.pid, os.WNOHANG))[0]:
            self.returncode = os.waitstatus_to_exitcode(ended[1])
        return self.returncode

    def terminate(self) -> None:
        os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


def start(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    streams: Sequence[int],
    module: str = COMMAND,
    folder: Path | None = None,
) -> Fork:
    """Start a process with these as its standard input, output and error."""
    request = json.dumps([module, list(arguments), dict(environment), str(folder or Path.cwd())]).encode()
    came, reply = os.pipe()
    try:
        socket.send_fds(server(), [request], [*streams, reply])
    finally:
        os.close(reply)
    return Fork(came)


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


def start_process(command: Iterable[str], environment: Mapping[str, str], **how: Any) -> Any:
    """Start a program as `activities.processes.start` does, a supervisor or a worker as a fork."""
    words = [*command]
    module, arguments = (words[3], words[4:]) if words[1:3] == ["-P", "-m"] else ("", [])
    forked = sys.platform == "linux" and EXECUTED not in os.environ
    fixed = {name: value for name, value in how.items() if name not in VARIES}
    if fixed != HOW.get(module) or environment.get("PYTHONPATH") not in PYTHONPATHS or not forked:
        return execute(words, environment, **how)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - a device
        streams = [nothing.fileno(), how["stdout"].fileno(), how["stderr"].fileno()]
        if module == SUPERVISOR:
            return start(arguments, environment, streams, module, how["cwd"])
        if (pid := os.fork()) == 0:
            how["preexec_fn"]()
            _become(module, arguments, environment, str(Path.cwd()), streams, how["pass_fds"])
        return Child(pid)


_socket: list[socket.socket] = []
"""Where requests are sent; a fork has that of the process from which it forked."""


def server() -> socket.socket:
    """The socket of the process that forks, once it may: it ends with the process that has started it."""
    if not _socket:
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, REQUEST_BYTES)
        numbers = (its.fileno(), ours.fileno())
        command = [sys.executable, "-m", __name__, *map(str, numbers), "x" * SHOWN_BYTES]
        environment = {**os.environ, "ROOM": "x" * SHOWN_BYTES}
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, pass_fds=numbers
        )
        its.close()
        assert ours.recv(1), "the process that forks has ended"

        def end() -> None:
            assert process.stdin
            process.stdin.close()
            ours.close()
            process.wait()

        atexit.register(end)
        _socket.append(ours)
    return _socket[0]


def serve(requests: socket.socket) -> None:
    """Fork for each request, until standard input is closed."""
    with one_blas_thread():
        for name in IMPORTED:
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    processes.start = start_process
    requests.send(b"+")
    while requests in select.select([requests, sys.stdin], [], [])[0]:
        request, streams, _, _ = socket.recv_fds(requests, REQUEST_BYTES, 4, socket.MSG_CMSG_CLOEXEC)
        module, arguments, environment, folder = json.loads(request)
        if os.fork() == 0:
            _watch(module, arguments, environment, folder, streams)
        for stream in streams:
            os.close(stream)


def _watch(
    module: str, arguments: list[str], environment: dict[str, str], folder: str, streams: Sequence[int]
) -> NoReturn:
    """Fork the process, and say which it is and how it ended."""
    *three, reply = streams
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        if module == SUPERVISOR:
            os.setsid()
        _become(module, arguments, environment, folder, three, None if module == COMMAND else ())
    with suppress(BrokenPipeError):  # nobody wants to know
        os.write(reply, NUMBER.pack(pid))
        os.write(reply, NUMBER.pack(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])))
    os._exit(0)


def _become(
    module: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: str,
    streams: Sequence[int],
    kept: Sequence[int] | None,
) -> NoReturn:
    """Be the process, with no other open files than those that are kept; with all of them where it is
    None."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    if kept is not None:
        for number in {int(path.name) for path in Path("/proc/self/fd").iterdir()} - {0, 1, 2, *kept}:
            with suppress(OSError):
                os.close(number)
        os.umask(PRIVATE_UMASK)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
    # what a shell has started in the background ignores interrupts, and so do all its descendants
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if os.isatty(0):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        sys.stdin, sys.stdout, sys.stderr = (open(n, mode) for n, mode in enumerate("rww"))  # noqa: SIM115, PTH123
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    if kept is None:
        sys.path[0] = folder
    else:
        _show([sys.executable, "-P", "-m", module, *arguments], environment)
    sys.argv = [module, *arguments]
    importlib.import_module(module).main()
    raise AssertionError(f"{module} has not ended its process")


def _show(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Have the kernel show the command line and the environment of this process: where those were of the
    process from which it forked, to which nothing in it refers any more."""
    places = [*map(int, Path("/proc/self/stat").read_text().rpartition(")")[2].split()[45:49])]
    variables = [f"{name}={value}" for name, value in environment.items()]
    for first, end, texts in zip(places[::2], places[1::2], (command, variables), strict=True):
        shown = b"".join(text.encode() + b"\0" for text in texts)[: end - first - 1]
        ctypes.memset(first, 0, end - first)
        ctypes.memmove(first, shown, len(shown))


if __name__ == "__main__":
    _socket.append(socket.socket(fileno=int(sys.argv[2])))
    for made in (int(sys.argv[1]), int(sys.argv[2])):
        os.set_inheritable(made, False)
    serve(socket.socket(fileno=int(sys.argv[1])))
