"""Retrying steps that were lost to a dead worker.

An activity has few attempts, because each failure means one of a source or a model. The death of a worker
uses up an attempt too, although it says nothing about either, so a step whose last attempt was lost that way
is scheduled again.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from temporalio.exceptions import ActivityError, RetryState, TimeoutType
from temporalio.exceptions import TimeoutError as TimedOut

T = TypeVar("T")

MAX_EXECUTIONS = 6
"""How often a step is executed at most, so that one that kills its worker ends."""


async def retry_on_worker_loss(step: Callable[[], Awaitable[T]]) -> T:
    """Retry an activity whose last attempt was lost to a dead worker. Raises ActivityError."""
    for _ in range(MAX_EXECUTIONS - 1):
        try:
            return await step()
        except ActivityError as error:
            if not worker_was_lost(error):
                raise
    return await step()


def worker_was_lost(error: ActivityError) -> bool:
    """Whether the last attempt ended because its worker stopped sending heartbeats."""
    cause = error.cause
    lost = isinstance(cause, TimedOut) and cause.type == TimeoutType.HEARTBEAT
    return lost and error.retry_state == RetryState.MAXIMUM_ATTEMPTS_REACHED
