"""Errors about runs. They are in a module of their own, so that a command can catch them without importing
the contracts of the workflows."""

from collections.abc import Sequence


class NoSuchRun(Exception):
    """No run, or more than one, has that name; the message says which."""


class SeveralRuns(NoSuchRun):
    """More than one run has that name."""

    def __init__(self, name: str, found: Sequence[str]) -> None:
        shown = ", ".join(found[:4]) + (" ..." if len(found) > 4 else "")
        super().__init__(f"{name} matches several runs: {shown}; give more of the id")


def no_such_run(name: str) -> NoSuchRun:
    """The error for a name that no run has."""
    return NoSuchRun(f"no run is called {name[:100]}; `determinator list` shows the runs")


class NoAnswer(Exception):
    """No worker answers queries about the run."""
