"""A rate limiter that sends requests no faster than an API allows, as the API itself counts them.

An API counts requests when they arrive, which is at an unknown moment between sending and answering. Spacing
what is sent is therefore not enough: of the N turns (N requests are allowed in a window) each is free again
only when the window has passed since its last request was *answered*. Whatever the network does, no window of
that length sees more than N, wherever it begins.

A limiter belongs to one process; the processes of a home share its turns (`activities.shared_turns`), its
worker's with a command that searches by hand. Where
several machines could use the same rate, a process proves its right with a lease (`under_lease`,
`extend_lease`): a process that was suspended and resumes after another replaced it sends nothing. The lease
is checked again when the first byte is about to be sent (`has_lease`), because a process may also be
suspended between the two.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from pathlib import Path

from activities.shared_turns import SharedTurns

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
            async with self._shared.one() if self._shared else nullcontext():
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
        """Whether the lease, if one is required, allows a request to be sent now."""
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
