"""Progress of a source with work that takes minutes, as reading a folder for the first time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

Report = Callable[[int, int], None]
"""Receives how much is done, and of how much."""


@dataclass(slots=True)
class Reading:
    """The files of a library that are read, for heartbeats."""

    done: int = 0
    total: int = 0

    def report(self, done: int, total: int) -> None:
        self.done, self.total = done, total

    def details(self) -> dict[str, int] | None:
        """Return a heartbeat's details: plain JSON; None while there is nothing to read."""
        return {"files_read": self.done, "files": self.total} if self.total else None


_REPORT: ContextVar[Report | None] = ContextVar("report", default=None)


@contextmanager
def reporting(report: Report) -> Iterator[None]:
    """While the body runs, sources report there."""
    token = _REPORT.set(report)
    try:
        yield
    finally:
        _REPORT.reset(token)


def current_report() -> Report | None:
    """Return where to report, None when nobody listens. To be called in the task of the search."""
    return _REPORT.get()
