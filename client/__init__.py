"""Determinator's client. `from client import Determinator` is the whole of it for a Python program."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from client.api import BlockingDeterminator, Determinator
    from client.failures import BadInput, Failure
    from client.reports.run_report import RunReport
    from client.reports.verify import Verification
    from client.run import BlockingRun, Run, RunStatus

__all__ = [
    "BadInput",
    "BlockingDeterminator",
    "BlockingRun",
    "Determinator",
    "Failure",
    "Run",
    "RunReport",
    "RunStatus",
    "Verification",
]
_PLACES = {
    "BadInput": "client.failures",
    "BlockingDeterminator": "client.api",
    "BlockingRun": "client.run",
    "Determinator": "client.api",
    "Failure": "client.failures",
    "Run": "client.run",
    "RunReport": "client.reports.run_report",
    "RunStatus": "client.run",
    "Verification": "client.reports.verify",
}


def __getattr__(name: str) -> object:
    """Import what is asked for: a command imports this package and seldom needs all of it."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_PLACES[name]), name)
