"""Exit codes, and errors that carry one. A failure's message is the one line a person reads;
a configuration may have a line for each of its mistakes.
"""

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
