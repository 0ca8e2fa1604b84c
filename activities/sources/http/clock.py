"""How long a search may wait for the answers of its source."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar


class SourceClock:
    """How long one search may still wait for the answers of its source. Waiting for a turn does not count."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.waited = 0.0

    @property
    def left(self) -> float | None:
        """Seconds that are left; None without a limit."""
        return None if self.seconds is None else max(self.seconds - self.waited, 0.0)


_CLOCK: ContextVar[SourceClock | None] = ContextVar("clock", default=None)


@contextmanager
def source_clock(seconds: float | None) -> Iterator[SourceClock]:
    """Count what the requests within the block wait for their answers.

    Each ends in TooSlow once all of them together have waited for `seconds`.
    """
    clock = SourceClock(seconds)
    token = _CLOCK.set(clock)
    try:
        yield clock
    finally:
        _CLOCK.reset(token)


@asynccontextmanager
async def time_for_one_request(most: float | None) -> AsyncIterator[float | None]:
    """Limit one request to `most` seconds and to what its search has left; yields the limit.

    Raises TimeoutError.
    """
    clock = _CLOCK.get()
    limits = [seconds for seconds in (most, clock.left if clock else None) if seconds is not None]
    started = time.monotonic()
    try:
        async with asyncio.timeout(min(limits, default=None)):
            yield min(limits, default=None)
    finally:
        if clock is not None:
            clock.waited += time.monotonic() - started
