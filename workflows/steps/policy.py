"""Time-outs and retries by kind of step.

Invariants: every policy has an end; every activity that may hang heartbeats; a start-to-close time-out is
longer than any single attempt should take; the schedule-to-close time-out is clipped to what is left of the
run's time, so that a durable deadline races every step.
"""

from datetime import timedelta
from typing import TypedDict

from temporalio.common import RetryPolicy


class Options(TypedDict, total=False):
    """Keyword arguments of `workflow.execute_activity`."""

    start_to_close_timeout: timedelta
    schedule_to_close_timeout: timedelta
    heartbeat_timeout: timedelta
    retry_policy: RetryPolicy
    task_queue: str
    summary: str


HEARTBEAT = timedelta(seconds=15)
"""How soon a dead worker is noticed and how late a cancel may arrive."""
MINIMUM = timedelta(seconds=1)
"""A step that has been begun gets this much, however little time is left."""

_THINKING = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=60),
    maximum_attempts=5,
)
_DISTRUSTED = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=1)
SEARCH_ATTEMPTS = 4

_SEARCHING = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=30),
    maximum_attempts=SEARCH_ATTEMPTS,
)
_BOOKKEEPING = RetryPolicy(
    initial_interval=timedelta(milliseconds=500),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=15),
    maximum_attempts=8,
)


def thinking(left: float | None, summary: str, *, model_down: bool = False) -> Options:
    """A call to a model: minutes long, dear, retried with the delay the server asks for. While the model is
    known to be down a single attempt asks whether it is back."""
    policy = _DISTRUSTED if model_down else _THINKING
    return _clip(
        Options(
            start_to_close_timeout=timedelta(minutes=5),
            schedule_to_close_timeout=timedelta(minutes=15),
            heartbeat_timeout=HEARTBEAT,
            retry_policy=policy,
            summary=summary,
        ),
        left,
    )


def searching(left: float | None, summary: str, queue: str | None) -> Options:
    """One exchange with a source; on a queue of its own when the source's rate is strict."""
    options = Options(
        start_to_close_timeout=timedelta(seconds=90),
        schedule_to_close_timeout=timedelta(minutes=10),
        heartbeat_timeout=HEARTBEAT,
        retry_policy=_SEARCHING,
        summary=summary,
    )
    if queue is not None:
        options["task_queue"] = queue
    return _clip(options, left)


def bookkeeping(summary: str) -> Options:
    """Preparing and publishing: no model, no source; never clipped, so that a report always comes out."""
    return Options(
        start_to_close_timeout=timedelta(minutes=3),
        heartbeat_timeout=HEARTBEAT,
        retry_policy=_BOOKKEEPING,
        summary=summary,
    )


def _clip(options: Options, left: float | None) -> Options:
    if left is None:
        return options
    allowed = max(timedelta(seconds=left), MINIMUM)
    for name in ("schedule_to_close_timeout", "start_to_close_timeout"):
        options[name] = min(options[name], allowed)
    return options


def shorten(text: str, limit: int = 80) -> str:
    """One line for the Web UI's timeline."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
