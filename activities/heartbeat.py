"""Heartbeats from a timer in the background: how a dead worker is noticed and how a cancel arrives."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import structlog
from temporalio import activity

from activities.errors import DeterminatorError, to_application_error

log = structlog.get_logger()

FIRST_SECONDS = 1.0
"""Seconds until the first heartbeat. Steps that take less time send none, which spares the server a
request for each."""


@asynccontextmanager
async def heartbeating(details: Callable[[], object | None] | None = None) -> AsyncIterator[None]:
    """Heartbeat at a third of the heartbeat time-out while the body runs, first after `FIRST_SECONDS`; do
    nothing without a time-out.

    `details` is called for each heartbeat; what it returns, unless None, is shown with the activity under
    way, and is what is known of an attempt that timed out."""
    timeout = activity.info().heartbeat_timeout
    if not timeout:
        yield
        return

    async def beat() -> None:
        every = timeout.total_seconds() / 3
        await asyncio.sleep(min(FIRST_SECONDS, every))
        while True:
            known = details() if details else None
            activity.heartbeat(*(() if known is None else (known,)))
            await asyncio.sleep(every)

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def reporting_errors(event: str, **about: object) -> AsyncIterator[None]:
    """The body of an activity: heartbeats, and what it raises as an error of Temporal, logged as `event` with
    what is said `about` it."""
    async with heartbeating():
        try:
            yield
        except DeterminatorError as error:
            log.warning(event, **about, error=str(error))
            raise to_application_error(error) from error
