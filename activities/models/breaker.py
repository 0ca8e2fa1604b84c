"""A circuit breaker: a model that is down is not called for some seconds.

So not every step waits for the same failure. Each worker process keeps a breaker for every model at every
address. It opens after `FAILURES` calls in a row that found the model down; while it is open a call fails at
once, without a request, and so reaches its fallback. After `REST_SECONDS` one call may ask again: an answer
closes the breaker, a failure leaves it open. A rate limit or a refusal is an answer: the server is there.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from activities.contracts.errors import ModelDown, ModelError

FAILURES = 3
"""One call may fail by chance; the third in a row, seconds apart by Temporal's retries, does not."""
IN_A_ROW_SECONDS = 60.0
"""A call that begins later than this after the last failure begins a new row."""
REST_SECONDS = 15.0
"""Seconds for which a model is not called. Shorter than a run waits before it asks again for a model that is
down, and than what five attempts at a step wait in all, so that no step is given up without a call."""


class Breaker:
    """The breaker of one model at one address. `clock` in seconds, monotonic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._failed_at = float("-inf")
        self._rests_until = float("-inf")
        self._last: ModelDown | None = None

    @contextmanager
    def passage(self) -> Iterator[None]:
        """Enclose a call. Raises ModelDown when none is to be made; `retry_after` says for how long."""
        begun = self._clock()
        self._admit(begun)
        try:
            yield
        except ModelDown as error:
            self._failed(error, begun)
            raise
        except ModelError:
            self._failures = 0
            raise
        else:
            self._failures = 0

    def _admit(self, now: float) -> None:
        if self._failures < FAILURES or self._last is None:
            return
        if now < self._rests_until:
            raise ModelDown(
                f"{self._last}; it was not asked again so soon", retry_after=self._rests_until - now
            )
        # this call probes for all; concurrent calls wait for its result, at most as long as it may last
        self._rests_until = now + REST_SECONDS

    def _failed(self, error: ModelDown, begun: float) -> None:
        """Concurrent calls fail together: they count as one failure of the row."""
        if begun > self._failed_at + IN_A_ROW_SECONDS and self._failures < FAILURES:
            self._failures = 0
        if begun >= self._failed_at:
            self._failures += 1
        self._last = error
        self._failed_at = self._clock()
        self._rests_until = self._failed_at + REST_SECONDS
