"""Heartbeats from a timer in the background: how a dead worker is noticed and how a cancel arrives."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from temporalio import activity


@asynccontextmanager
async def heartbeating(*details: object) -> AsyncIterator[None]:
    """Heartbeat at a third of the heartbeat time-out while the body runs; do nothing without a time-out."""
    timeout = activity.info().heartbeat_timeout
    if not timeout:
        yield
        return

    async def beat() -> None:
        while True:
            activity.heartbeat(*details)
            await asyncio.sleep(timeout.total_seconds() / 3)

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
