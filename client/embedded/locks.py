"""File locks that a child process can inherit.

So a lock lives as long as the processes it stands for, also through `kill -9`: `flock` belongs to the open
file, which a child keeps open (`pass_fds`).

Only the standard library is imported: each cold start waits for the supervisor.
"""

import contextlib
import os
import time
from pathlib import Path

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

    def release(self) -> None:
        """Give the lock back before the end of this process, which no child has inherited."""
        os.close(self.fd)
        self._fd = None

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
        return not _try_lock(fd, shared=True)
    finally:
        os.close(fd)


def holder(path: Path) -> int | None:
    """Return the pid of the process that holds the lock; None when no process does or it did not sign."""
    if not is_held(path):
        return None
    text = path.read_bytes()[:PID_CHARS].strip()
    return int(text) if text.isdigit() else None


def _try_lock(fd: int, *, shared: bool = False) -> bool:
    import fcntl  # Windows has none: the embedded server needs Linux or macOS

    try:
        fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
