"""Time-outs and retries by kind of step, and the failure of an activity as Temporal's errors tell it.

Invariants: every retry policy has an end; every activity that may hang sends heartbeats; a start-to-close
time-out is longer than a single attempt should need; the schedule-to-close time-out is clipped to the time
the run has left, so that its deadline also ends a running step.

An activity has few attempts, because each failure means one of a source or a model. The death of a worker
uses up an attempt too, although it says nothing about either, so a step whose last attempt was lost that way
is scheduled again. What no failure of a source or a model explains is tried again too.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
from typing import TypedDict, TypeVar, get_args

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    FailureError,
    RetryState,
    TimeoutType,
    is_cancelled_exception,
)
from temporalio.exceptions import TimeoutError as StepTimedOut

from activities.contracts.candidates import LOOK_UP_ATTEMPTS
from activities.contracts.evidence import SearchStatus, StopReason, Usage

LONGEST_CALL = timedelta(hours=2)
"""The limit of a model: a call lasts as long as words come, and waits for its turn at a server with one slot.
What ends it is silence or its output cap (`activities.models.response`), a dead worker its missing
heartbeats; this is the last limit."""


class Options(TypedDict, total=False):
    """Keyword arguments of `workflow.execute_activity`."""

    start_to_close_timeout: timedelta
    schedule_to_close_timeout: timedelta
    heartbeat_timeout: timedelta
    retry_policy: RetryPolicy
    task_queue: str
    summary: str


HEARTBEAT = timedelta(seconds=12)
"""Time after which a dead worker is noticed, and the longest delay of a cancel."""
MINIMUM = timedelta(seconds=1)
"""Time-out of a step that is started when hardly any time is left."""

SEARCH_ATTEMPTS = 4


def _retries(attempts: int, max_seconds: float = 30.0, first_seconds: float = 1.0) -> RetryPolicy:
    """So many attempts, the second after `first_seconds`, each of the others within `max_seconds`."""
    return RetryPolicy(
        initial_interval=timedelta(seconds=first_seconds),
        backoff_coefficient=2.0,
        maximum_interval=timedelta(seconds=max_seconds),
        maximum_attempts=attempts,
    )


def model_call(
    remaining: float | None, summary: str, *, streams: bool = False, model_down: bool = False
) -> Options:
    """Return a call to a model: minutes long, expensive, retried after the delay the server asks for.

    While the model is known to be down, a single attempt checks whether it is back.
    """
    return _clip(
        Options(
            start_to_close_timeout=LONGEST_CALL if streams else timedelta(minutes=5),
            schedule_to_close_timeout=3 * LONGEST_CALL if streams else timedelta(minutes=15),
            heartbeat_timeout=HEARTBEAT,
            retry_policy=_retries(1) if model_down else _retries(5, max_seconds=60.0),
            summary=summary,
        ),
        remaining,
    )


def source_call(remaining: float | None, summary: str, queue: str | None) -> Options:
    """Return the searches of a round in one source, on a queue of its own when the source's rate is strict.

    Each of its requests has a time limit; all together wait for the rate, or for a folder that is read for
    the first time, and go on where the last attempt ended.
    """
    options = Options(
        start_to_close_timeout=timedelta(minutes=10),
        schedule_to_close_timeout=timedelta(minutes=30),
        heartbeat_timeout=HEARTBEAT,
        retry_policy=_retries(SEARCH_ATTEMPTS),
        summary=summary,
    )
    if queue is not None:
        options["task_queue"] = queue
    return _clip(options, remaining)


def look_up(remaining: float | None, summary: str) -> Options:
    """Return all requests for one candidate, some twenty, or for a few full texts.

    They wait for their sources' rates. The report is made without what does not come in time.
    """
    return _clip(
        Options(
            start_to_close_timeout=timedelta(seconds=90),
            schedule_to_close_timeout=timedelta(minutes=3),
            heartbeat_timeout=HEARTBEAT,
            retry_policy=_retries(LOOK_UP_ATTEMPTS),
            summary=summary,
        ),
        remaining,
    )


def internal_step(summary: str) -> Options:
    """Return the options of preparing and publishing: no model, no source."""
    return Options(
        start_to_close_timeout=timedelta(minutes=3),
        heartbeat_timeout=HEARTBEAT,
        retry_policy=_retries(8, max_seconds=15.0, first_seconds=0.5),
        summary=summary,
    )


def generated_program(summary: str) -> Options:
    """Return a generated program, which runs twice for two minutes at most."""
    return internal_step(summary) | Options(start_to_close_timeout=timedelta(minutes=6))


def _clip(options: Options, remaining: float | None) -> Options:
    if remaining is None:
        return options
    limit = max(timedelta(seconds=remaining), MINIMUM)
    for name in ("schedule_to_close_timeout", "start_to_close_timeout"):
        options[name] = min(options[name], limit)
    return options


def shorten(text: str, limit: int = 80) -> str:
    """Return a text as one line of at most `limit` characters, for the Web UI's timeline."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


T = TypeVar("T")

MAX_EXECUTIONS = 6
"""How often a step is executed at most, so that one that kills its worker ends."""


class OutOfBudget(Exception):
    """The next call does not fit into the budget."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason = reason


class StepFailed(Exception):
    """A step that a role does failed, and its retries are used up."""

    def __init__(self, category: str, message: str) -> None:
        super().__init__(message)
        self.category = category


def model_failure(error: ActivityError) -> tuple[StepFailed, Usage]:
    """Return why a step that a role does failed, and the usage to charge.

    Of a call that timed out, its last heartbeat says what it had used; without one it counts as one call of
    unknown size.
    """
    cause = cause_of(error)
    detail = last_heartbeat(cause) or first_detail(cause)
    try:
        usage = Usage.model_validate(detail.get("usage", {"calls": 1}))
    except ValueError:
        usage = Usage(calls=1)
    return StepFailed(str(detail.get("category", "unavailable")), message_of(cause)), usage


def search_failure(error: ActivityError) -> tuple[SearchStatus, str, int]:
    """Status, detail and attempts of a failed search for the search ledger.

    A time-out, or a search that no worker picked up, counts as an outage.
    """
    cause = cause_of(error)
    value = first_detail(cause).get("status")
    status: SearchStatus = next((name for name in get_args(SearchStatus) if name == value), "unavailable")
    is_exhausted = error.retry_state == RetryState.MAXIMUM_ATTEMPTS_REACHED
    return status, message_of(cause), SEARCH_ATTEMPTS if is_exhausted else 1


def reason_of(error: ActivityError) -> str:
    """Return why a step failed, as one line. Raises the error where it was cancelled: that is no failure."""
    if is_cancelled_exception(error):
        raise error
    return message_of(cause_of(error))


def cause_of(error: ActivityError) -> FailureError | None:
    """Return the error that the activity itself raised."""
    cause = error.cause
    return cause if isinstance(cause, FailureError) else None


def last_heartbeat(error: FailureError | None) -> dict[str, object]:
    """Return the last report of an attempt that timed out (`activities.models.base`)."""
    if isinstance(error, StepTimedOut) and error.last_heartbeat_details:
        detail = error.last_heartbeat_details[0]
        if isinstance(detail, dict) and detail.get("usage"):
            return detail
    return {}


def first_detail(error: FailureError | None) -> dict[str, object]:
    """Return the details that `activities.contracts.errors.to_application_error` attached, if any."""
    if isinstance(error, ApplicationError) and error.details and isinstance(error.details[0], dict):
        return error.details[0]
    return {}


def message_of(error: FailureError | None) -> str:
    """Return the error's message as one line."""
    return " ".join(str(error.message if error else "no error was given").split())[:300]


async def run_all(steps: Iterable[Awaitable[T]]) -> list[T]:
    """Run steps at once, and return their answers; when the run is cancelled, wait until each has ended."""
    tasks = [asyncio.ensure_future(step) for step in steps]
    try:
        return await asyncio.gather(*tasks)
    except (asyncio.CancelledError, FailureError) as error:
        # A step that is cancelled in an activity raises its error, maybe before the others have ended.
        if is_cancelled_exception(error):
            await workflow.wait(tasks)
        raise


async def retry_on_worker_loss(step: Callable[[], Awaitable[T]]) -> T:
    """Retry an activity whose last attempt was lost to a dead worker. Raises ActivityError."""
    for _ in range(MAX_EXECUTIONS - 1):
        try:
            return await step()
        except ActivityError as error:
            was_lost = isinstance(error.cause, StepTimedOut) and error.cause.type == TimeoutType.HEARTBEAT
            if not was_lost or error.retry_state != RetryState.MAXIMUM_ATTEMPTS_REACHED:
                raise
    return await step()
