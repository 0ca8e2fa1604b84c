"""Exit codes, and errors that carry one. A failure's message is the one line a person reads;
a configuration may have a line for each of its mistakes.
"""

import difflib
from collections.abc import Sequence
from enum import IntEnum


class Exit(IntEnum):
    """What a command's exit code means."""

    DONE = 0
    FAILED = 1
    BAD_INPUT = 2
    NO_CONNECTION = 3
    NOT_ENOUGH_EVIDENCE = 4
    INTERRUPTED = 130


class Failure(Exception):
    """Ends a command with a line on stderr and its exit code."""

    code = Exit.FAILED


class BadInput(Failure):
    """What was asked for cannot be done; nothing was changed."""

    code = Exit.BAD_INPUT


class BadSettings(BadInput):
    """The configuration cannot be used; the message has a line for each mistake in it."""


class Unreachable(Failure):
    """There is no server, or it does not answer."""

    code = Exit.NO_CONNECTION


def unknown(value: str, known: Sequence[str]) -> str:
    """`'pumbed' is not known; did you mean pubmed? There are: ...`"""
    near = difflib.get_close_matches(value, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else "."
    return f"{value!r} is not known{hint} There are: {', '.join(known)}."


def as_failure(error: Exception) -> Failure | None:
    """An error of the client, the server or the connection as one with an exit code and one line for people;
    None for one that no command expects."""
    from temporalio.client import WorkflowUpdateFailedError
    from temporalio.service import RPCError, RPCStatusCode

    from activities.errors import DeterminatorError
    from client.connection import BadConnectionSettings, NoConnection, WorkerBusy
    from client.runs.errors import NoAnswer, NoSuchRun

    match error:
        case Failure():
            return error
        case BadConnectionSettings() | NoSuchRun() | WorkerBusy():
            return BadInput(str(error))
        case NoConnection() | NoAnswer():
            return Unreachable(str(error))
        case WorkflowUpdateFailedError():
            return BadInput(f"the run refused: {error.cause}")
        case DeterminatorError():
            return Failure(str(error))
        case RPCError(status=RPCStatusCode.UNAVAILABLE | RPCStatusCode.DEADLINE_EXCEEDED):
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
