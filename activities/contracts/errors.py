"""The error hierarchy: whether each error is retried, after how long, and its status in the search ledger.

    DeterminatorError
    +-- SourceError          a search failed; carries the ledger's status
    |   +-- RateLimited      429 or a body that says so             retried, Retry-After honoured
    |   +-- Unavailable      5xx, time-out, no connection           retried
    |   +-- Malformed        an answer that cannot be read          retried once or twice: it may be temporary
    |   +-- Refused          400, 401, 403, 404, 414, unsafe URL    never retried
    +-- ModelError           a model call failed; carries the usage already paid
    |   +-- ModelBusy        429                                    retried, Retry-After honoured
    |   +-- ModelDown        5xx, time-out, no connection           retried
    |   +-- ModelRefused     auth, bad request, refusal, filter, context length, unknown model: never retried
    |   +-- ModelUnusable    no valid structured answer after the repair turn: never retried
    +-- DecisionError        a person's decision that cannot be taken: never retried
    +-- StoreError           the evidence store failed              retried
    |   +-- DiskFull         there is no room for what it stores    repeated once there is
    +-- PayloadTooLarge      over the payload limit                 never retried

Plain libraries raise these; `to_application_error` is the only place that translates them for Temporal.
"""

import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from activities.credentials import redacted

if TYPE_CHECKING:  # pydantic takes half of the start of the supervising process, which raises some of these
    from temporalio.exceptions import ApplicationError

    from activities.contracts.evidence import SearchStatus, Usage

RETRY_AFTER_CAP = timedelta(minutes=5)
"""Seconds; longest delay between attempts. A Retry-After of 114 hours has been seen."""


class DeterminatorError(Exception):
    """Base of our own errors. `retryable` says whether the same call may succeed later."""

    retryable = False

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(redacted(message))
        self.retry_after = retry_after
        """Seconds the other side asked us to wait."""


class SourceError(DeterminatorError):
    status: "SearchStatus" = "unavailable"


class RateLimited(SourceError):
    retryable = True
    status: "SearchStatus" = "rate_limited"


class Unavailable(SourceError):
    retryable = True
    status: "SearchStatus" = "unavailable"


class TooSlow(Unavailable):
    """No complete answer within the time limit of one request."""


class Malformed(SourceError):
    retryable = True
    status: "SearchStatus" = "malformed"


class Refused(SourceError):
    status: "SearchStatus" = "refused"


class DecisionError(DeterminatorError):
    """A person's decision cannot be taken; the message is one line that says how to mend it."""


class ModelError(DeterminatorError):
    """A model call failed. `usage` is what was paid before it did."""

    category = "model_error"

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        usage: "Usage | None" = None,
        category: str = "",
    ) -> None:
        super().__init__(message, retry_after=retry_after)
        from activities.contracts.evidence import Usage

        self.usage = usage or Usage()
        self.category = category or type(self).category


class ModelBusy(ModelError):
    retryable = True
    category = "rate_limited"


class ModelDown(ModelError):
    retryable = True
    category = "unavailable"


class ModelRefused(ModelError):
    category = "refused"


class ModelUnusable(ModelError):
    category = "unusable_answer"


class StoreError(DeterminatorError):
    retryable = True


class DiskFull(StoreError):
    """The disk has no room for what is to be stored, or a quota is used up."""


class DamagedEvidence(StoreError):
    """A stored text is not the one that was stored: its digest is another."""

    retryable = False


class NoSuchKey(StoreError):
    """What is asked for is no key of a store, so that no store will ever have it."""

    retryable = False


class PayloadTooLarge(DeterminatorError):
    """A value too large for a workflow's history; put it into the evidence store."""


def next_delay(error: DeterminatorError) -> timedelta | None:
    """Return the delay the other side asked for, capped; None leaves it to the retry policy."""
    if error.retry_after is None:
        return None
    return timedelta(seconds=min(max(error.retry_after, 0.0), RETRY_AFTER_CAP.total_seconds()))


def to_application_error(error: DeterminatorError) -> "ApplicationError":
    """Translate for Temporal. The first detail is a dict: `status` for searches.

    `usage` and `category` for models; `retry_after`, in seconds, where the other side asked for a pause.
    """
    from temporalio.exceptions import ApplicationError  # processes that read documents do without it

    details: dict[str, object] = {"retry_after": error.retry_after} if error.retry_after else {}
    if isinstance(error, SourceError):
        details["status"] = error.status
    if isinstance(error, ModelError):
        details["usage"] = error.usage.model_dump(mode="json")
        details["category"] = error.category
    return ApplicationError(
        str(error),
        details,
        type=type(error).__name__,
        non_retryable=not error.retryable,
        next_retry_delay=next_delay(error) if error.retryable else None,
    )


def install(extra: str, prefix: Path | None = None) -> str:
    """Return the command that adds an extra of the package to this installation.

    Its `prefix` tells pip from the tools that keep an environment of their own, where pip cannot be called.
    """
    prefix = prefix or Path(sys.prefix)
    if (prefix / "uv-receipt.toml").exists():
        how = f"uv pip install --python {prefix}"
    else:
        is_pipx = (prefix / "pipx_metadata.json").exists()
        how = f"pipx runpip {prefix.name} install" if is_pipx else "pip install"
    return f"{how} 'determinator[{extra}]'"


class NotInstalled(DeterminatorError):
    """A library or program that a part of the system needs is not there.

    The message says how to install it.
    """

    def __init__(self, subject: str, how: str) -> None:
        super().__init__(f"{subject} not installed; {how}")

    @classmethod
    def of_extra(cls, subject: str, extra: str) -> "NotInstalled":
        """Return the error for a library behind an extra of the package."""
        return cls(f"{subject} are", install(extra))
