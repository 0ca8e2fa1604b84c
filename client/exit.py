"""The one function that ends the process."""

import contextlib
import logging
import os
import sys
from typing import NoReturn

IDLE = 10
"""Exit code of a worker of an embedded server that ends because there is nothing to do."""


def leave(code: int) -> NoReturn:
    """Flush what was written and end at once.

    The interpreter's own clean-up can crash a process that used a Temporal client (a native runtime is torn
    down under running threads), which would turn a good exit code into 134 or 139.
    """
    if (connection := sys.modules.get("client.connection")) is not None:
        connection.flush_traces()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the reader of a pipe may close it
            stream.flush()
    with contextlib.suppress(OSError, ValueError):
        logging.shutdown()
    os._exit(code)
