"""Time-outs and retries by kind of step.

Invariants: every retry policy has an end; every activity that may hang sends heartbeats; a start-to-close
time-out is longer than a single attempt should need; the schedule-to-close time-out is clipped to the time
the run has left, so that its deadline also ends a running step.
"""

from datetime import timedelta
from typing import TypedDict

from temporalio.common import RetryPolicy

from activities.contracts.candidates import LOOK_UP_ATTEMPTS

LONGEST_CALL = timedelta(hours=2)
"""The limit of a model: a call lasts as long as words come, and waits for its turn at a server with one slot.
What ends it is silence or its output cap (`activities.models.stream`), a dead worker its missing heartbeats;
this is the last limit."""


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


def _retries(attempts: int, longest: float = 30.0, first: float = 1.0) -> RetryPolicy:
    """So many attempts, the second after `first` seconds, each of the others within `longest` seconds."""
    return RetryPolicy(
        initial_interval=timedelta(seconds=first),
        backoff_coefficient=2.0,
        maximum_interval=timedelta(seconds=longest),
        maximum_attempts=attempts,
    )


def model_call(
    left: float | None, summary: str, *, streams: bool = False, model_down: bool = False
) -> Options:
    """Return a call to a model: minutes long, expensive, retried after the delay the server asks for.

    While the model is known to be down, a single attempt checks whether it is back.
    """
    return _clip(
        Options(
            start_to_close_timeout=LONGEST_CALL if streams else timedelta(minutes=5),
            schedule_to_close_timeout=3 * LONGEST_CALL if streams else timedelta(minutes=15),
            heartbeat_timeout=HEARTBEAT,
            retry_policy=_retries(1) if model_down else _retries(5, longest=60.0),
            summary=summary,
        ),
        left,
    )


def source_call(left: float | None, summary: str, queue: str | None) -> Options:
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
    return _clip(options, left)


def look_up(left: float | None, summary: str) -> Options:
    """All requests for one candidate: some twenty, which wait for their sources' rates.

    A few full texts, each from up to three places. The report is made without what does not come in time.
    """
    return _clip(
        Options(
            start_to_close_timeout=timedelta(seconds=90),
            schedule_to_close_timeout=timedelta(minutes=3),
            heartbeat_timeout=HEARTBEAT,
            retry_policy=_retries(LOOK_UP_ATTEMPTS),
            summary=summary,
        ),
        left,
    )


def internal_step(summary: str) -> Options:
    """Return the options of preparing and publishing: no model, no source."""
    return Options(
        start_to_close_timeout=timedelta(minutes=3),
        heartbeat_timeout=HEARTBEAT,
        retry_policy=_retries(8, longest=15.0, first=0.5),
        summary=summary,
    )


def generated_program(summary: str) -> Options:
    """Return a generated program, which runs twice for two minutes at most."""
    return internal_step(summary) | Options(start_to_close_timeout=timedelta(minutes=6))


def _clip(options: Options, left: float | None) -> Options:
    if left is None:
        return options
    allowed = max(timedelta(seconds=left), MINIMUM)
    for name in ("schedule_to_close_timeout", "start_to_close_timeout"):
        options[name] = min(options[name], allowed)
    return options


def shorten(text: str, limit: int = 80) -> str:
    """Return a text as one line of at most `limit` characters, for the Web UI's timeline."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
