"""How often one user may start something: a sliding window in memory, forgotten when the page restarts."""

import time
from collections import defaultdict, deque
from collections.abc import Callable

RUNS_AN_HOUR = 20
"""Runs that one user may start within an hour."""
SIGN_INS_A_MINUTE = 10
"""Attempts to sign in from one address within a minute."""


class RateLimit:
    """At most `most` events of one name within `seconds`."""

    def __init__(self, most: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._events: dict[str, deque[float]] = defaultdict(deque)

    def admit(self, name: str) -> float:
        """Count an event and return 0, or return the seconds until the next one is admitted."""
        now = self._clock()
        events = self._events[name]
        while events and events[0] <= now - self._seconds:
            events.popleft()
        if len(events) >= self._most:
            return events[0] + self._seconds - now
        events.append(now)
        return 0.0
