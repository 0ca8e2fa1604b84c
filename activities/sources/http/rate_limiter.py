"""A rate limiter that sends requests no faster than an API allows, as the API itself counts them.

An API counts requests when they arrive, which is at an unknown moment between sending and answering. Spacing
what is sent is therefore not enough: of the N turns (N requests are allowed in a window) each is free again
only when the window has passed since its last request was *answered*. Whatever the network does, no window of
that length sees more than N, wherever it begins.

A limiter belongs to one process; the processes of a home share its turns (`SharedTurns`), its worker's with
a command that searches by hand. A shared turn is a file that its holder locks; a process that dies gives its
turn back, and when it was last used stands in the file. A lock is asked for and never waited for, so that the
event loop goes on. Where several machines could use the same rate, a process proves its right with a lease
(`under_lease`, `extend_lease`): a process that was suspended and resumes after another replaced it sends
nothing. The lease is checked again when the first byte is about to be sent (`has_lease`), because a process
may also be suspended between the two.
"""

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
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
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and have it while the body runs. Raises OSError."""
        while (file := self._take()) is None:  # noqa: ASYNC110 - another process gives it back
            await asyncio.sleep(LOOK_SECONDS)
        try:
            yield
        finally:
            with suppress(OSError):  # the disk is full: what was answered meanwhile is worth more
                os.pwrite(file, _stamp(), 0)
            os.close(file)

    def _take(self) -> int | None:
        """Return the locked file of a free turn."""
        for path in self._files:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            is_taken = False
            try:
                is_taken = self._is_taken(file)
            finally:
                if not is_taken:
                    os.close(file)
            if is_taken:
                return file
        return None

    def _is_taken(self, file: int) -> bool:
        """Take the turn of a file, if it is free. Raises OSError."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        now, stamp = time.monotonic(), os.pread(file, 32, 0)
        last_use = float(stamp) if stamp.strip() else float("-inf")
        if last_use <= now < last_use + self._window:  # a later time is from before the machine was started
            return False
        os.pwrite(file, _stamp(), 0)
        return True


def _stamp() -> bytes:
    # whole: rounded up, it would be later than the moment at which another process looks, and the turn free
    return f"{time.monotonic():.9f}".ljust(32).encode()


MARGIN = 0.02
"""Seconds added to every window: clocks on both sides may be read a little late."""


class RateLimiter:
    """Allows `per_second` requests in any second (below one: one in any 1 / `per_second` seconds)."""

    def __init__(self, per_second: float, shared: Path | None = None, name: str = "") -> None:
        """`shared`: a folder of the home, where all its processes count what they send under `name`."""
        if per_second <= 0:
            raise ValueError("a rate limiter needs a rate above zero")
        self.per_second = per_second
        self._allowed = max(int(per_second), 1)
        self.window = self._allowed / per_second + MARGIN
        """Seconds in which `per_second` is counted, with the margin."""
        self._spacing = self.window / self._allowed
        self._turns = asyncio.Semaphore(self._allowed)
        self._next = asyncio.Lock()
        self._shared = SharedTurns(shared, name, self._allowed, self.window) if shared else None
        self._not_before = 0.0
        self._lease: float | None = None
        self._holders = 0
        self._renewed = asyncio.Event()

    @asynccontextmanager
    async def passage(self) -> AsyncIterator[None]:
        """Wait for a turn (first come, first served); the caller sends its request inside the body."""
        loop = asyncio.get_running_loop()
        await self._turns.acquire()
        try:
            async with self._next:
                await self._wait()
                self._not_before = max(self._not_before, loop.time() + self._spacing)
            async with self._shared.turn() if self._shared else nullcontext():
                yield
        finally:
            loop.call_later(self.window, self._turns.release)

    def hold(self, seconds: float) -> None:
        """Send nothing for `seconds`: the API refused for its rate, or another process just used the rate."""
        self._not_before = max(self._not_before, asyncio.get_running_loop().time() + seconds)

    @contextmanager
    def under_lease(self) -> Iterator[None]:
        """Require a lease within the block (see `require_lease`), and within others that overlap it.

        A process that was suspended may have several blocks at once when it resumes: one that it had, and one
        for each time the gate was offered to it meanwhile. The first to end must not free the others.
        """
        self._holders += 1
        self.require_lease()
        try:
            yield
        finally:
            self._holders -= 1
            if not self._holders:
                self._lease = None
                self._renewed.set()

    def require_lease(self) -> None:
        """Send nothing until `extend_lease`, and then only while the lease is valid."""
        self._lease = float("-inf")
        self._renewed.clear()

    def extend_lease(self, until: float) -> None:
        """Make the lease valid until this time of the loop's clock."""
        self._lease = until
        self._renewed.set()

    def has_lease(self) -> bool:
        """Tell whether the lease, if one is required, allows a request to be sent now."""
        return self._lease is None or asyncio.get_running_loop().time() < self._lease

    async def _wait(self) -> None:
        """Until nothing holds and, where one is required, there is a lease."""
        loop = asyncio.get_running_loop()
        while True:
            delay = self._not_before - loop.time()
            if delay > 0:
                await asyncio.sleep(delay)
            elif not self.has_lease():
                self._renewed.clear()
                await self._renewed.wait()
            else:
                return
