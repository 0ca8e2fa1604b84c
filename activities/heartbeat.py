"""The attempt under way: its heartbeats, its time, and whether it is the last one.

Heartbeats come from a timer in the background: by them a dead worker is noticed and a cancel arrives.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

from temporalio import activity

from activities.contracts.errors import DeterminatorError, to_application_error
from activities.logs import log

FIRST_SECONDS = 3.0
"""Seconds until the first heartbeat. Steps that take less time send none, which spares the server a
request for each."""
HAND_OVER_SECONDS = 5.0
HAND_OVER_SHARE = 0.1
"""Part of a step's time reserved for reading, storing and returning the answer: the smaller of the two."""


@asynccontextmanager
async def heartbeating(details: Callable[[], object | None] | None = None) -> AsyncIterator[None]:
    """Heartbeat at a third of the heartbeat time-out while the body runs, first after `FIRST_SECONDS`.

    Do nothing without a time-out.

    `details` is called for each heartbeat; what it returns, unless None, is shown with the activity under
    way, and is what is known of an attempt that timed out.
    """
    timeout = activity.info().heartbeat_timeout
    if not timeout:
        yield
        return

    async def beat() -> None:
        interval = timeout.total_seconds() / 3
        await asyncio.sleep(min(FIRST_SECONDS, interval))
        while True:
            detail = details() if details else None
            activity.heartbeat(*(() if detail is None else (detail,)))
            await asyncio.sleep(interval)

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def reporting_errors(
    event: str = "", details: Callable[[], object | None] | None = None, **about: object
) -> AsyncIterator[None]:
    """Yield the body of an activity.

    Heartbeats with their `details`, and what it raises as an error of Temporal, logged as `event`, where
    there is one, with what is said `about` it.
    """
    async with heartbeating(details):
        try:
            yield
        except DeterminatorError as error:
            if event:
                log.warning(event, **about, error=str(error))
            raise to_application_error(error) from error


def seconds_left(info: activity.Info, *, of_step: bool = False) -> float | None:
    """How long an attempt has to answer, with enough left to hand the answer over; None without a limit.

    `of_step`: how long the step has, with the attempts that follow.
    """
    ends = [
        start + limit
        for start, limit in (
            (info.started_time, None if of_step else info.start_to_close_timeout),
            (info.scheduled_time, info.schedule_to_close_timeout),
        )
        if limit
    ]
    if not ends:
        return None
    seconds = (min(ends) - datetime.now(UTC)).total_seconds()
    return max(seconds - min(HAND_OVER_SECONDS, seconds * HAND_OVER_SHARE), 0.0)


def on_last_attempt() -> bool:
    """Whether the activity under way will not be retried after this attempt; True outside an activity."""
    if not activity.in_activity():
        return True
    info = activity.info()
    attempts = info.retry_policy.maximum_attempts if info.retry_policy else 0
    return 0 < attempts <= info.attempt


def has_timed_out() -> bool:
    """Tell whether the server has given up the attempt under way, and nobody wants it cancelled."""
    reasons = activity.cancellation_details() if activity.in_activity() else None
    return reasons is not None and (reasons.timed_out or reasons.not_found) and not reasons.cancel_requested
