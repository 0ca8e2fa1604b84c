"""Starting a process that outlives this one and holds a lock, and ending it."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from client.embedded.locks import INHERITABLE, LockFile, holder, is_held

STOP_SECONDS = 20.0
"""Seconds for a process to end before it is killed."""
LOG_BYTES = 5 * 1024 * 1024
"""A log larger than this is rotated when its process is started again."""

PRIVATE_UMASK = 0o077 if sys.platform != "win32" else -1
"""What the processes of a home create is readable by its owner only."""
TAIL_BYTES = 8192
"""How much of a log's end is read."""
TEST_SECONDS = 2.0
"""Longer than another process needs to test whether a lock is held."""


def spawn(
    command: list[str],
    lock: Path,
    log: Path,
    folder: Path,
    env: Mapping[str, str] | None = None,
    patience: float = TEST_SECONDS,
) -> int:
    """Start a process in a session of its own, with its output in a log, holding the lock; return its pid.
    `patience` is how many seconds to wait for the lock.

    Raises Locked when the lock is held, OSError when the process cannot be started.
    """
    rotate(log)
    environment = dict(os.environ if env is None else env)
    held = LockFile(lock)
    held.acquire(patience)
    with held, _open_log(log) as output:
        if INHERITABLE:
            environment["DETERMINATOR_LOCK_FD"] = str(held.fd)
        else:
            held.release()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=folder,
            env=environment,
            pass_fds=(held.fd,) if INHERITABLE else (),
            start_new_session=True,
            umask=PRIVATE_UMASK,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        if INHERITABLE:
            held.sign(process.pid)
    # it outlives this process, which never waits for it; Popen must not warn about that
    process.returncode = 0
    return process.pid


def _open_log(log: Path) -> BinaryIO:
    """A log to append to, readable by its owner only."""
    return open(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")  # noqa: PTH123 - an open descriptor; the caller closes it


def last_error(log: Path) -> str:
    """The last line of a log that begins with `Error:`, without that word; empty when there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(log.stat().st_size - TAIL_BYTES, 0))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return ""
    found = next((line for line in reversed(lines) if line.startswith("Error:")), "")
    return found.removeprefix("Error:").strip()[:300]


def rotate(log: Path) -> None:
    """Rename a large log, replacing the one renamed before."""
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(OSError):
        if log.stat().st_size > LOG_BYTES:
            log.replace(log.with_suffix(".log.1"))


def end(lock: Path, noted: int | None) -> bool:
    """End the process that holds a lock, by SIGTERM, then SIGKILL. False when no process holds it, or its pid
    is not known.

    `noted` is its pid as a note has it; the pid in the lock itself has priority, because a note may be old.
    """
    pid = holder(lock) or noted
    if pid is None or not is_held(lock):
        return False
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            break
        deadline = time.monotonic() + STOP_SECONDS
        while time.monotonic() < deadline:
            _reap(pid)
            if not is_held(lock):
                return True
            time.sleep(0.02)
    return not is_held(lock)


def has_own_network(pid: int) -> bool:
    """Whether a process lives in another network than this one, where no other user's processes are. False
    when that cannot be seen."""
    try:
        return Path(f"/proc/{pid}/ns/net").readlink() != Path("/proc/self/ns/net").readlink()
    except OSError:
        return False


def _reap(pid: int) -> None:
    """Reap a child of this process that has ended; the child of another process is left to its parent."""
    if sys.platform != "win32":
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
