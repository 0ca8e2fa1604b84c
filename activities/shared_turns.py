"""Turns that all processes of a home share: so many at once, each free again some time after its end.

A turn is a file that its holder locks; a process that dies gives its turn back, and when it was last used
stands in the file. A lock is asked for and never waited for, so that the event loop goes on.
"""

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks: there each process counts for itself
    fcntl = None  # type: ignore[assignment]

LOOK_SECONDS = 0.02
"""How soon a turn that another process gives back is seen."""


def turns_of(home: Path) -> Path | None:
    """Return the folder in which the processes of a home share their turns.

    None where the system has no locks.
    """
    return home / "state" / "turns" if fcntl is not None else None


class SharedTurns:
    """`count` turns under a name in a folder; a turn is free `window` seconds after its last end."""

    def __init__(self, folder: Path, name: str, count: int, window: float = 0.0) -> None:
        place = hashlib.sha256(name.encode()).hexdigest()[:16]
        self._files = [folder / f"{place}-{number}" for number in range(count)]
        self._window = window

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Wait for a turn, and have it while the body runs. Raises OSError."""
        while (file := self._take()) is None:  # noqa: ASYNC110 - another process gives it back
            await asyncio.sleep(LOOK_SECONDS)
        try:
            yield
        finally:
            os.pwrite(file, _stamp(), 0)
            os.close(file)

    def _take(self) -> int | None:
        """Return the locked file of a free turn."""
        for path in self._files:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(file)
                continue
            now, stamp = time.monotonic(), os.pread(file, 32, 0)
            used = float(stamp) if stamp.strip() else float("-inf")
            if used <= now < used + self._window:  # a later time is from before the machine was started
                os.close(file)
                continue
            os.pwrite(file, _stamp(), 0)
            return file
        return None


def _stamp() -> bytes:
    return f"{time.monotonic():.4f}".ljust(32).encode()
