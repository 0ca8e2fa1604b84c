"""The command server of a home: a process that has imported what commands import, and forks for each command
(Linux).

Invariants:
- It has one thread, no connection, no settings and no secrets: each child has the environment, the current
  folder and the open files of its caller, and nothing else of this process but imported code.
- It executes commands of launchers with its own identity only (`command_protocol.identity`), which includes
  the code as it is on disk.
- It never waits for a launcher: whatever concerns one is done by the child.
- A command goes on when this process ends, and ends when its launcher does.
- It ends when its code changes, when its socket is no longer in the home, and when it has had nothing to do
  for `IDLE_SECONDS`.
"""

import contextlib
import gc
import importlib
import os
import selectors
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from client.caller import Launcher, called_by
from client.cli.main import VERBS, execute
from client.embedded import command_protocol as protocol
from client.exit import flush
from client.launch import SERVED

IDLE_SECONDS = 600.0
"""Ten minutes: longer than a person reads between two commands."""
LOOK_SECONDS = 10.0
"""How often it looks whether it should end; looking takes 2 ms."""
WAITING = 128
"""Commands that may wait to be accepted."""
REQUEST_SECONDS = 5.0
"""How long a child waits for the command of a launcher that was answered."""

MODULES = (
    *("temporalio.client", "temporalio.envconfig", "rich.live", "rich.panel", "rich.table", "structlog"),
    *("client.connect", "client.runs.start", "client.runs.destinations", "client.runs.answer_panel"),
    *("client.runs.graph_view", "client.cli.gate", "client.reports.kept", "client.reports.load"),
    *("client.reports.finished", "client.reports.use", "rich.markdown"),
    *("activities.configuration.origins", "activities.sources.registry", "activities.evidence_store"),
)
"""What verbs import while they are executed. Readers of documents and most formats of reports are left out:
they take as long again, and few commands need them."""
Execute = Callable[[Sequence[str]], int]
"""Executes a command line and returns its exit code."""
TERMINATING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)


def import_all() -> None:
    """Import what commands import. Raises RuntimeError when that started a thread: a forked process would
    have its locks without it."""
    gc.disable()
    for verb in SERVED:
        importlib.import_module(VERBS[verb][0].partition(":")[0])
    for module in MODULES:
        importlib.import_module(module)
    if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208 - names are wanted
        raise RuntimeError("an imported module has started a thread")
    gc.freeze()  # pages that no collection writes to stay shared with the children


def bound_socket(path: Path) -> socket.socket:
    """A socket of the home on which nobody listens yet. Raises OSError."""
    path.unlink(missing_ok=True)
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with protocol.ShortAddress(path) as address:
        bound.bind(address)
    path.chmod(0o600)
    bound.setblocking(False)
    return bound


class CommandServer:
    """Accepts launchers on the socket of a home."""

    def __init__(
        self,
        path: Path,
        listener: socket.socket,
        own: bytes,
        execute: Execute = execute,
        *,
        look_seconds: float = LOOK_SECONDS,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        """`own` is the identity of this process before it imported anything. Raises OSError."""
        self._path, self._own, self._execute = path, own, execute
        self._look_seconds, self._idle_seconds = look_seconds, idle_seconds
        self._children: dict[int, tuple[int, socket.socket]] = {}
        """Open pid file -> pid and connection of a child."""
        self._listener = listener
        listener.listen(WAITING)
        self._inode = path.stat().st_ino
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)

    def serve(self) -> None:
        """Serve until there is a reason to end."""
        used = looked = time.monotonic()
        while True:
            for key, _ in self._selector.select(self._look_seconds):
                if key.fileobj is self._listener:
                    self._accept()
                else:
                    self._reap(key.fd)
                used = time.monotonic()
            now = time.monotonic()
            if self._children:
                used = now
            if now - looked >= self._look_seconds:
                looked = now
                if now - used >= self._idle_seconds or not self._is_current():
                    self.close()
                    return

    def _is_current(self) -> bool:
        """Whether launchers find this process, with this code."""
        try:
            return self._path.stat().st_ino == self._inode and protocol.identity() == self._own
        except OSError:
            return False

    def close(self) -> None:
        """Accept no more. Children go on."""
        with contextlib.suppress(OSError):
            if self._path.stat().st_ino == self._inode:
                self._path.unlink()
        self._listener.close()

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:  # the launcher has gone
            return
        try:
            pid = os.fork()
        except OSError:  # no more processes
            connection.close()
            return
        if pid == 0:
            self._become_child()
            execute_for(connection, self._own, self._execute)
        pidfd = os.pidfd_open(pid)
        self._children[pidfd] = pid, connection
        self._selector.register(pidfd, selectors.EVENT_READ)

    def _become_child(self) -> None:
        """Close what belongs to the server."""
        os.setpgid(0, 0)
        self._selector.close()
        self._listener.close()
        for pidfd, (_, connection) in self._children.items():
            os.close(pidfd)
            connection.close()
        lock = os.environ.get("DETERMINATOR_LOCK_FD", "")
        if lock.isdigit():
            os.close(int(lock))

    def _reap(self, pidfd: int) -> None:
        """Reap a child, and name the signal that ended it."""
        pid, connection = self._children.pop(pidfd)
        self._selector.unregister(pidfd)
        os.close(pidfd)
        _, status = os.waitpid(pid, 0)
        with connection:
            code = os.waitstatus_to_exitcode(status)
            if code < 0:
                with contextlib.suppress(OSError):
                    protocol.send_message(connection, protocol.SIGNAL, bytes([-code]))


def execute_for(connection: socket.socket, own: bytes, execute: Execute) -> NoReturn:
    """Execute the command of a launcher in this process, which was forked for it, and end."""
    try:
        for number in TERMINATING:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        if protocol.peer_of(connection)[1] != os.geteuid():
            os._exit(1)
        connection.settimeout(REQUEST_SECONDS)
        protocol.send_hello(connection, own)
        request, files = protocol.receive_request(connection, files=4)
        connection.settimeout(None)
        launcher = Launcher(connection)
        adopt(request, files)
    except (OSError, ValueError, TypeError, KeyboardInterrupt):  # it was not the launcher of a command
        os._exit(1)
    try:
        launcher.end_with_it()
        called_by(launcher)
        code = execute(request.arguments)
        flush()
        launcher.end(code)
    except BaseException:  # noqa: BLE001 - the server's code must not go on in the child
        traceback.print_exc()
        flush()
        with contextlib.suppress(OSError):
            launcher.end(1)
    os._exit(0)


def adopt(request: protocol.Request, files: list[int]) -> None:
    """Make this process one that the caller could have started. Raises OSError and ValueError."""
    for number in request.ignored:
        signal.signal(number, signal.SIG_IGN)
    *streams, folder = files
    own = (sys.stdin, sys.stdout, sys.stderr)
    for number, file in enumerate(streams):
        os.dup2(file, number)
        os.close(file)
    os.fchdir(folder)
    os.close(folder)
    os.umask(request.umask)
    os.environ.clear()
    os.environ.update(request.environment)
    time.tzset()
    sys.argv[1:] = request.arguments
    sys.path[:] = request.path
    for number, (name, like) in enumerate(zip(("stdin", "stdout", "stderr"), own, strict=True)):
        stream = open(  # noqa: SIM115 - they stay open, as those of every process
            number,
            "r" if number == 0 else "w",
            encoding=like.encoding,
            errors=like.errors,
            newline="\n",
            closefd=False,
        )
        # as the interpreter does: a terminal sees each line, and errors are never held back
        stream.reconfigure(
            line_buffering=number == 2 or stream.isatty(), write_through=protocol.writes_through(like)
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def main(
    execute: Execute = execute, *, look_seconds: float = LOOK_SECONDS, idle_seconds: float = IDLE_SECONDS
) -> NoReturn:
    """Serve the home of the environment."""
    code = 0
    try:
        own = protocol.identity()
        path = protocol.socket_path(Path(os.environ["DETERMINATOR_HOME"]))
        listener = bound_socket(path)  # first: a folder that can hold none should cost no more than this
        import_all()
        if protocol.identity() == own:  # else the code was changed meanwhile
            CommandServer(
                path, listener, own, execute, look_seconds=look_seconds, idle_seconds=idle_seconds
            ).serve()
    except (OSError, RuntimeError, ImportError) as error:
        sys.stderr.write(f"Error: {error}\n")
        code = 1
    flush()
    os._exit(code)


if __name__ == "__main__":
    main()
