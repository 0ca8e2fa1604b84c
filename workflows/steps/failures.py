"""What a failed activity says: read from Temporal's errors as `activities.errors` wrote them."""

from typing import get_args

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, FailureError, RetryState

with workflow.unsafe.imports_passed_through():
    from activities.types import SearchStatus, StopReason, Usage

from workflows.steps import policy


class OutOfBudget(Exception):
    """The next call does not fit into the budget."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason = reason


class StepFailed(Exception):
    """A thinking step failed for good."""

    def __init__(self, category: str, message: str) -> None:
        super().__init__(message)
        self.category = category


def model_failure(error: ActivityError) -> tuple[StepFailed, Usage]:
    """What a failed thinking step says of the model, and what was paid for it. A call that timed out was
    made, though nobody knows what it used."""
    cause = cause_of(error)
    detail = first_detail(cause)
    try:
        usage = Usage.model_validate(detail.get("usage", {"calls": 1}))
    except ValueError:
        usage = Usage(calls=1)
    return StepFailed(str(detail.get("category", "unavailable")), message_of(cause)), usage


def search_failure(error: ActivityError) -> tuple[SearchStatus, str, int]:
    """How a failed search stands in the ledger: status, detail, attempts. A time-out, or a worker that never
    took it, is an outage."""
    cause = cause_of(error)
    given = first_detail(cause).get("status")
    status: SearchStatus = next((known for known in get_args(SearchStatus) if known == given), "unavailable")
    exhausted = error.retry_state == RetryState.MAXIMUM_ATTEMPTS_REACHED
    return status, message_of(cause), policy.SEARCH_ATTEMPTS if exhausted else 1


def cause_of(error: ActivityError) -> FailureError | None:
    """What the activity itself raised."""
    cause = error.cause
    return cause if isinstance(cause, FailureError) else None


def first_detail(error: FailureError | None) -> dict[str, object]:
    """What `activities.errors.to_application_error` put in."""
    if isinstance(error, ApplicationError) and error.details and isinstance(error.details[0], dict):
        return error.details[0]
    return {}


def message_of(error: FailureError | None) -> str:
    """One line for a person."""
    return " ".join(str(error.message if error else "it failed").split())[:300]
