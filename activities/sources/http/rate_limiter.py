"""A gate that lets requests through no faster than an API allows, as the API itself counts them.

What an API sees is when requests arrive, and a request arrives at some unknown moment between being sent and
being answered. So the gate does not merely space what it sends: of any N + 1 requests in a row (N requests
are allowed in a window) the last is sent only when the window has passed since the first was *answered*.
Whatever the network does, no window of that length, wherever it is laid, ever sees more than N.

A gate is held by one process. Where several might, the holder proves its right with a lease
(`require_lease`, `extend_lease`): a process that was stopped and wakes up after another took its place lets
nothing through. The lease is checked again when the first byte is about to be sent (`has_lease`), because a
process may also be stopped between the two.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

MARGIN = 0.02
"""Seconds added to every window: clocks on both sides are read a little late."""


@dataclass(slots=True)
class _Passage:
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    at: float = 0.0
    """When the answer came, on the loop's clock."""


class Gate:
    """Allows `per_second` requests in any second (below one: one in any 1 / `per_second` seconds)."""

    def __init__(self, per_second: float) -> None:
        if per_second <= 0:
            raise ValueError("a gate lets through more than nothing")
        self.per_second = per_second
        self._allowed = max(int(per_second), 1)
        self._window = self._allowed / per_second + MARGIN
        self._spacing = self._window / self._allowed
        self._passages: deque[_Passage] = deque(maxlen=self._allowed)
        self._turn = asyncio.Lock()
        self._not_before = 0.0
        self._lease: float | None = None
        self._renewed = asyncio.Event()

    @property
    def window(self) -> float:
        """Seconds in which `per_second` is counted, with the margin."""
        return self._window

    @asynccontextmanager
    async def passage(self) -> AsyncIterator[None]:
        """Wait for one's turn (first come, first served), then make the request inside the body."""
        async with self._turn:
            await self._wait_for_turn()
            loop = asyncio.get_running_loop()
            passage = _Passage()
            self._passages.append(passage)
            self._not_before = max(self._not_before, loop.time() + self._spacing)
        try:
            yield
        finally:
            passage.at = loop.time()
            passage.answered.set()

    def hold(self, seconds: float) -> None:
        """Let nothing through for so long: the API said it was too much, or another process just held it."""
        self._not_before = max(self._not_before, asyncio.get_running_loop().time() + seconds)

    def require_lease(self) -> None:
        """Let nothing through until `extend_lease`, and then only while the lease lasts."""
        self._lease = float("-inf")
        self._renewed.clear()

    def extend_lease(self, until: float) -> None:
        """The right to let requests through lasts until this moment of the loop's clock."""
        self._lease = until
        self._renewed.set()

    def drop_lease(self) -> None:
        """No lease is needed any more."""
        self._lease = None
        self._renewed.set()

    def has_lease(self) -> bool:
        """Whether a request may be sent at this moment, as far as a lease is needed for it."""
        return self._lease is None or asyncio.get_running_loop().time() < self._lease

    async def _wait_for_turn(self) -> None:
        loop = asyncio.get_running_loop()
        if len(self._passages) == self._allowed:
            first = self._passages[0]
            await first.answered.wait()
            self._not_before = max(self._not_before, first.at + self._window)
        while True:
            delay = self._not_before - loop.time()
            if delay > 0:
                await asyncio.sleep(delay)
            elif not self.has_lease():
                self._renewed.clear()
                await self._renewed.wait()
            else:
                return
