"""Processes: one that outlives this one, a child that is kept running, and the end of one that holds a lock.

A file lock can be inherited, so that it lives as long as the processes it stands for, also through `kill -9`:
`flock` belongs to the open file, which a child keeps open (`pass_fds`).

Only the standard library is imported: each cold start waits for the supervisor.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from activities import processes
from client.embedded import network

PID_CHARS = 20
"""Length of the pid in a lock file, always written in full, so that rewriting it needs no new disk block."""


class Locked(Exception):
    """Another process holds the lock."""


class LockFile:
    """An exclusive lock on a file, until the end of this process and of those that have inherited it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None

    @property
    def fd(self) -> int:
        """The open file, for `pass_fds`."""
        assert self._fd is not None, "the lock is not held"
        return self._fd

    def acquire(self, timeout: float = 0.0) -> None:
        """Acquire the lock, waiting `timeout` seconds at most. Raises Locked, OSError."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        deadline = time.monotonic() + timeout
        while not _try_lock(fd):
            if time.monotonic() >= deadline:
                os.close(fd)
                raise Locked(str(self.path))
            time.sleep(0.02)
        self._fd = fd

    def sign(self, pid: int) -> None:
        """Record the pid of the process that holds the lock from now on."""
        with contextlib.suppress(OSError):  # a full disk; the notes hold the pid too
            os.lseek(self.fd, 0, os.SEEK_SET)
            os.write(self.fd, f"{pid:<{PID_CHARS}}".encode())


def is_held(path: Path) -> bool:
    """Tell whether some process holds the lock at this moment.

    The test shares the lock for an instant, so that two processes that test it never mistake each other for
    its holder; `acquire` with a time-out waits that instant out.
    """
    try:
        fd = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        return not _try_lock(fd, is_shared=True)
    finally:
        os.close(fd)


def holder(path: Path) -> int | None:
    """Return the pid of the process that holds the lock; None when no process does or it did not sign."""
    if not is_held(path):
        return None
    text = path.read_bytes()[:PID_CHARS].strip()
    return int(text) if text.isdigit() else None


def _try_lock(fd: int, *, is_shared: bool = False) -> bool:
    import fcntl  # Windows has none: the embedded server needs Linux or macOS

    try:
        fcntl.flock(fd, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


LINUX = sys.platform == "linux"
MAX_DEATHS = 5
"""Deaths of a child within `DEATHS_SECONDS` after which it is not started again."""
DEATHS_SECONDS = 60.0
BACK_OFF_SECONDS = 0.5
"""The wait before the second restart; it grows with each further one. The first is at once."""
PROBE_SECONDS = 0.01
STOP_CHILD_SECONDS = 15.0
"""Time that a child may need to end: activities have 5 s (`worker.build.GRACE`)."""
STOP_SECONDS = 20.0
"""Seconds for a process to end before it is killed."""
LOG_BYTES = 5 * 1024 * 1024
"""A log larger than this is rotated when its process is started again."""
PRIVATE_UMASK = 0o077
"""Files that the processes of a home create are readable by its owner only."""
TAIL_BYTES = 32_768
"""Bytes that are read of a log's end."""
MARKS = ("start-dev", "worker.daemon")
"""Words in the command lines of servers and workers."""


def spawn(command: list[str], log: Path, folder: Path, env: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """Start a process in a session of its own, with its output in a log. Raises OSError."""
    with opened_log(log) as output:
        return processes.start(
            command,
            env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=folder,
            start_new_session=True,
            umask=PRIVATE_UMASK,
        )


@dataclass
class Child:
    log: Path
    process: "subprocess.Popen[bytes] | None" = None
    deaths: "deque[float]" = field(default_factory=lambda: deque(maxlen=MAX_DEATHS))
    is_replaced: bool = False
    """It was asked to end, so that another one follows."""

    @property
    def pid(self) -> int:
        return self.process.pid if self.process else 0

    def start(
        self,
        command: list[str],
        environment: Mapping[str, str],
        lock: LockFile,
        move: Callable[[], None] | None = None,
    ) -> None:
        """Start it, to end with this process, after it has moved to where it belongs. Raises OSError."""
        parent = os.getpid()

        def prepare() -> None:
            if move is not None:
                move()
            if LINUX:
                network.end_with_parent(parent)

        with opened_log(self.log) as output:
            self.process = processes.start(
                command,
                environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(lock.fd,),
                preexec_fn=prepare,
                umask=PRIVATE_UMASK,
            )

    async def stop(self) -> None:
        """End it: by a signal that it heeds, else by one that it cannot."""
        if (process := self.process) is None:
            return
        process.terminate()
        deadline = time.monotonic() + STOP_CHILD_SECONDS
        while process.poll() is None:
            if time.monotonic() > deadline:
                process.kill()
            await asyncio.sleep(PROBE_SECONDS)

    def reaped(self) -> int | None:
        """Return the exit code of the process when it has ended, once."""
        code = self.process.poll() if self.process else None
        if code is not None:
            self.process = None
        return code

    def died_too_often(self) -> bool:
        """Count a death; whether there were too many of them."""
        is_too_often = len(self.deaths) == MAX_DEATHS and time.monotonic() - self.deaths[0] < DEATHS_SECONDS
        self.deaths.append(time.monotonic())
        return is_too_often

    def back_off(self) -> float:
        now = time.monotonic()
        deaths = sum(now - death < DEATHS_SECONDS for death in self.deaths)
        return BACK_OFF_SECONDS * max(deaths - 1, 0)


@dataclass
class WorkerSlot:
    """The worker that is to run."""

    order: dict[str, Any]
    """Its `note`, `command` and `environment`, as a command sent them. In memory only."""
    note: dict[str, Any]
    children: list[Child] = field(default_factory=list)
    """Its processes, with the same settings."""

    @property
    def first(self) -> Child:
        return self.children[0]


def opened_log(log: Path) -> BinaryIO:
    """Return a log to append to, readable by its owner only.

    A large one is renamed first, replacing the one renamed before. Raises OSError.
    """
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(OSError):
        if log.stat().st_size > LOG_BYTES:
            log.replace(log.with_suffix(".log.1"))
    return open(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")  # noqa: PTH123 - an open descriptor; the caller closes it


def last_lines(log: Path) -> list[str]:
    """Return the lines at the end of a log; empty when it cannot be read."""
    try:
        with log.open("rb") as file:
            file.seek(max(log.stat().st_size - TAIL_BYTES, 0))
            return file.read().decode(errors="replace").strip().splitlines()
    except OSError:
        return []


def last_error(log: Path) -> str:
    """Return the last line of a log that begins with `Error:`, without that word; else an empty text."""
    error = next((line for line in reversed(last_lines(log)) if line.startswith("Error:")), "")
    return error.removeprefix("Error:").strip()[:300]


def report(name: str, code: int) -> None:
    """Write into the log that a process has died."""
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    sys.stderr.write(f"{now()} the {name} ended: {how}\n")
    sys.stderr.flush()


def now() -> str:
    """Return the time as notes have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def end(lock: Path) -> bool:
    """End the process that holds a lock, by SIGTERM, then SIGKILL.

    False when no process holds it, or its pid is not known.
    """
    pid = holder(lock)
    if pid is None:
        return False
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            break
        deadline = time.monotonic() + STOP_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(ChildProcessError):  # a child of another process is left to its parent
                os.waitpid(pid, os.WNOHANG)
            if not is_held(lock):
                return True
            time.sleep(0.02)
    return not is_held(lock)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def command_of(pid: int) -> str:
    """Return the command line of a process; empty where none can be read."""
    if Path("/proc/self").exists():
        with contextlib.suppress(OSError):
            return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
        return ""
    # -ww: where nothing says how wide the screen is, ps cuts a line at 80 characters
    command = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
    return processes.run(command, capture_output=True).stdout.decode(errors="replace")


def end_orphans(pids: Iterable[int]) -> None:
    """Kill servers and workers whose supervisor was killed.

    On Linux the kernel does; a pid that now belongs to something else is left alone.
    """
    for pid in pids:
        if pid <= 1 or not is_alive(pid):
            continue
        if any(mark in command_of(pid) for mark in MARKS):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
