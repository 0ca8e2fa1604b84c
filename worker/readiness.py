"""A file by which an exec probe sees that a worker polls and its Temporal server answers.

The worker writes to the file every `TOUCH_SECONDS` while both hold: a probe fails when the file is older than
a minute, as in `test -n "$(find FILE -mmin -1)"`.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

from temporalio.client import Client
from temporalio.service import RPCError

from activities.logs import log

CHECK_SECONDS = 3.0
"""How long the Temporal server may take to answer a check."""
TOUCH_SECONDS = 10.0
"""Between two checks."""


async def touch_while_ready(path: Path | None, client: Client, polls: Callable[[], bool]) -> None:
    """Touch the file again and again while the worker can work; never returns."""
    while True:
        if path is not None and await can_work(client, polls):
            try:
                path.touch()  # noqa: ASYNC240 - one system call
            except OSError as error:
                log.warning("ready_file_not_written", path=str(path), error=str(error))
        await asyncio.sleep(TOUCH_SECONDS)


async def can_work(client: Client, polls: Callable[[], bool]) -> bool:
    """Return true while the worker polls and its server answers."""
    if not polls():
        return False
    try:
        return await asyncio.wait_for(client.service_client.check_health(), CHECK_SECONDS)
    except (RPCError, TimeoutError, RuntimeError):
        return False
