"""Exit codes, and errors that carry one.

A failure's message is the one line a person reads; a configuration may have a line for each of its mistakes.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class Exit(IntEnum):
    """Meaning of a command's exit code."""

    DONE = 0
    FAILED = 1
    BAD_INPUT = 2
    NO_CONNECTION = 3
    NOT_ENOUGH_EVIDENCE = 4
    INTERRUPTED = 130


class Failure(Exception):
    """Ends a command with a line on stderr and its exit code."""

    code = Exit.FAILED
    status = 500
    """Status of an answer over HTTP."""


class BadInput(Failure):
    """Refusal of what cannot be done; nothing was changed."""

    code = Exit.BAD_INPUT
    status = 400


class Mistakes(BadInput):
    """A file cannot be used; the message has a line for each mistake in it."""


class BadSettings(Mistakes):
    """The configuration cannot be used."""


class Unreachable(Failure):
    """There is no server, or it does not answer."""

    code = Exit.NO_CONNECTION
    status = 503


class NoConnection(Unreachable):
    """No Temporal server answers. The message is one line that says what to do."""


class BadConnectionSettings(BadInput):
    """The `TEMPORAL_*` variables or the profile file cannot be used."""


class NoAnswer(Unreachable):
    """No worker answers queries about the run."""


class NoSuchRun(BadInput):
    """No run, or more than one, has that name; the message says which."""

    status = 404


class SeveralRuns(NoSuchRun):
    """More than one run has that name."""

    def __init__(self, name: str, names: Sequence[str]) -> None:
        listing = ", ".join(names[:4]) + (" ..." if len(names) > 4 else "")
        super().__init__(f"{name} matches several runs: {listing}; give more of the id")


class OlderRun(BadInput):
    """A run began on a version whose steps were others; nothing of it is lost."""

    def __init__(self, run_id: str, line: str) -> None:
        super().__init__(
            f"{run_id} began on Determinator {line}, whose versions finish it and read its "
            f"steps: `determinator down` here, then `determinator watch {run_id}` of such a version with the "
            "same home"
        )


def no_such_run(name: str) -> NoSuchRun:
    """Return the error for a name that no run has; `last` is that of the newest."""
    if name == "last":
        return NoSuchRun("there are no runs yet; ask a question to start one")
    return NoSuchRun(f"no run is called {name[:100]}; list the runs to see their names")


def unknown_name(value: str, names: Sequence[str]) -> str:
    """Return `'pumbed' is not known; did you mean pubmed? There are: ...`."""
    from activities.configuration.declaration import did_you_mean  # imports pydantic

    return f"{value!r} is not known{did_you_mean(value, names) or '.'} There are: {', '.join(names)}."


def faults_of(error: "ValidationError", subject: str) -> str:
    """Return what pydantic refuses on one line; see `activities.configuration.wording`."""
    from activities.configuration import wording  # imports pydantic

    return wording.faults_of(error, subject)


def as_failure(error: Exception) -> Failure | None:
    """Return an error of the client or the server as one with an exit code and one line for people.

    None for one that nobody expects.
    """
    from temporalio.client import WorkflowUpdateFailedError
    from temporalio.service import RPCError, RPCStatusCode

    from activities.contracts.errors import DeterminatorError

    match error:
        case Failure():
            return error
        case WorkflowUpdateFailedError():
            return BadInput(f"the run refused: {error.cause}")
        case DeterminatorError():
            return Failure(str(error))
        case RPCError(
            status=RPCStatusCode.UNAVAILABLE | RPCStatusCode.DEADLINE_EXCEEDED | RPCStatusCode.CANCELLED
        ):
            return Unreachable(f"the Temporal server does not answer: {error.message}")
        case RPCError(status=RPCStatusCode.PERMISSION_DENIED | RPCStatusCode.UNAUTHENTICATED):
            return Unreachable(
                f"the Temporal server refuses access; check API key and namespace: {error.message}"
            )
        case RPCError(status=RPCStatusCode.NOT_FOUND):
            return BadInput(f"the server does not know it: {error.message}")
        case RPCError():
            return Failure(f"the Temporal server: {error.message}")
    return None
