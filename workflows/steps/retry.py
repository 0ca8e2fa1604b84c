"""Steps outlive the workers that take them.

An activity has few attempts, because each stands for a failure of a source or a model. A worker that dies
uses up an attempt as well, which says nothing of either: a step whose last attempt was lost to a death is
taken again.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from temporalio.exceptions import ActivityError, RetryState, TimeoutType
from temporalio.exceptions import TimeoutError as TimedOut

T = TypeVar("T")

LIVES = 6
"""How often a step is taken at most. A step that kills whoever takes it must come to an end."""


async def surviving(step: Callable[[], Awaitable[T]]) -> T:
    """Take a step, and again when workers died under it. Raises ActivityError."""
    for _ in range(LIVES - 1):
        try:
            return await step()
        except ActivityError as error:
            if not worker_died(error):
                raise
    return await step()


def worker_died(error: ActivityError) -> bool:
    """Whether the last attempt ended because nothing more was heard of the worker."""
    return (
        error.retry_state == RetryState.MAXIMUM_ATTEMPTS_REACHED
        and isinstance(error.cause, TimedOut)
        and error.cause.type == TimeoutType.HEARTBEAT
    )
