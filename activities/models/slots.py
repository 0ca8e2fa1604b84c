"""Limit the calls a server gets at once to as many as it serves, so that calls wait here and not there.

A server with one slot that gets four requests makes three wait while their time-outs run. Here a call that
waits has not begun: its limit on silence starts when its turn comes, in the order the calls were made, so
that the sections of a run share a server fairly. The time-out of the step itself, which `--max-time` sets,
includes the wait.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Slots:
    """The turns at one server. `count` 0: no limit."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._free = asyncio.Semaphore(count) if count else None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Around a call: waits until the server has a slot for it."""
        if self._free is None:
            yield
            return
        async with self._free:
            yield
