"""Signals between a run and its sections, which lose no cancel."""

import asyncio
from typing import Any

from temporalio import workflow


async def send_signal(handle: workflow.ExternalWorkflowHandle[Any], name: str, *payload: object) -> None:
    """Signal another workflow. Raises FailureError when it cannot be reached.

    The SDK absorbs a cancel that meets a signal under way, and the task would go on as if nobody had
    cancelled it. Here the signal is delivered by a task of its own, and the cancel is raised.
    """
    sending = asyncio.create_task(_send(handle, name, payload))
    # what nobody awaits any more may fail: the receiver has ended
    sending.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.shield(sending)


async def _send(handle: workflow.ExternalWorkflowHandle[Any], name: str, payload: tuple[object, ...]) -> None:
    await handle.signal(name, *payload)
