"""The one function that ends the process."""

import contextlib
import logging
import os
import sys
from collections.abc import Callable
from typing import NoReturn

_afterwards: list[Callable[[], None]] = []


def afterwards(action: Callable[[], None]) -> None:
    """Have `leave` do something once all output is written. Its errors are nobody's concern any more."""
    _afterwards.append(action)


def leave(code: int) -> NoReturn:
    """Flush what was written and end at once.

    The interpreter's own clean-up can crash a process that used a Temporal client (a native runtime is torn
    down under running threads), which would turn a good exit code into 134 or 139.
    """
    flush()
    for action in _afterwards:
        with contextlib.suppress(Exception):
            action()
    os._exit(code)


def flush() -> None:
    """Write out what is buffered."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the reader of a pipe may close it
            stream.flush()
    with contextlib.suppress(OSError, ValueError):
        logging.shutdown()
