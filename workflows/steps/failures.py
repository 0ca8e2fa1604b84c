"""The failure of an activity, read from Temporal's errors, and what is done again.

`contracts.errors` wrote them. What no failure of a source or a model explains is tried again.

An activity has few attempts, because each failure means one of a source or a model. The death of a worker
uses up an attempt too, although it says nothing about either, so a step whose last attempt was lost that way
is scheduled again.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar, get_args

from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    FailureError,
    RetryState,
    TimeoutType,
    is_cancelled_exception,
)
from temporalio.exceptions import TimeoutError as StepTimedOut

from activities.contracts.evidence import SearchStatus, StopReason, Usage
from workflows.steps import policy

T = TypeVar("T")

MAX_EXECUTIONS = 6
"""How often a step is executed at most, so that one that kills its worker ends."""


class OutOfBudget(Exception):
    """The next call does not fit into the budget."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason = reason


class StepFailed(Exception):
    """A model step failed, and its retries are used up."""

    def __init__(self, category: str, message: str) -> None:
        super().__init__(message)
        self.category = category


def model_failure(error: ActivityError) -> tuple[StepFailed, Usage]:
    """Why a model step failed, and the usage to charge.

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
    status: SearchStatus = next((one for one in get_args(SearchStatus) if one == value), "unavailable")
    exhausted = error.retry_state == RetryState.MAXIMUM_ATTEMPTS_REACHED
    return status, message_of(cause), policy.SEARCH_ATTEMPTS if exhausted else 1


def reason_of(error: ActivityError) -> str:
    """Why a step failed, as one line. Raises the error where it was cancelled: that is no failure."""
    if is_cancelled_exception(error):
        raise error
    return message_of(cause_of(error))


def cause_of(error: ActivityError) -> FailureError | None:
    """Return the error that the activity itself raised."""
    cause = error.cause
    return cause if isinstance(cause, FailureError) else None


def last_heartbeat(error: FailureError | None) -> dict[str, object]:
    """Return the last report of an attempt that timed out (`activities.models.progress`)."""
    if isinstance(error, StepTimedOut) and error.last_heartbeat_details:
        detail = error.last_heartbeat_details[0]
        if isinstance(detail, dict) and detail.get("usage"):
            return detail
    return {}


def first_detail(error: FailureError | None) -> dict[str, object]:
    """Return the details that `activities.contracts.errors.to_application_error` attached.

    Empty without any.
    """
    if isinstance(error, ApplicationError) and error.details and isinstance(error.details[0], dict):
        return error.details[0]
    return {}


def message_of(error: FailureError | None) -> str:
    """Return the error's message as one line."""
    return " ".join(str(error.message if error else "no error was given").split())[:300]


async def retry_on_worker_loss(step: Callable[[], Awaitable[T]]) -> T:
    """Retry an activity whose last attempt was lost to a dead worker. Raises ActivityError."""
    for _ in range(MAX_EXECUTIONS - 1):
        try:
            return await step()
        except ActivityError as error:
            lost = isinstance(error.cause, StepTimedOut) and error.cause.type == TimeoutType.HEARTBEAT
            if not lost or error.retry_state != RetryState.MAXIMUM_ATTEMPTS_REACHED:
                raise
    return await step()
