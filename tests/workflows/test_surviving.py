"""A worker that dies is no failure of the source or the model it was asking."""

import asyncio

import pytest
from temporalio.exceptions import ActivityError, ApplicationError, RetryState, TimeoutType
from temporalio.exceptions import TimeoutError as TimedOut

from activities.contracts.evidence import Usage
from tests.workflows.conftest import Stage, a_request, until
from workflows.steps.policy import MAX_EXECUTIONS, model_failure, retry_on_worker_loss

pytestmark = pytest.mark.invariant


def failed(cause: Exception, state: RetryState = RetryState.MAXIMUM_ATTEMPTS_REACHED) -> ActivityError:
    error = ActivityError(
        "it failed",
        scheduled_event_id=1,
        started_event_id=2,
        identity="worker",
        activity_type="search_alpha",
        activity_id="1",
        retry_state=state,
    )
    error.__cause__ = cause
    return error


def timed_out(kind: TimeoutType, *heartbeats: object) -> TimedOut:
    return TimedOut("nothing was heard", type=kind, last_heartbeat_details=heartbeats)


class Step:
    def __init__(self, *failures: ActivityError) -> None:
        self.failures = list(failures)
        self.executed = 0

    async def __call__(self) -> str:
        self.executed += 1
        if self.failures:
            raise self.failures.pop(0)
        return "answered"


async def test_a_step_is_executed_again_when_its_worker_died_on_the_last_attempt() -> None:
    step = Step(*[failed(timed_out(TimeoutType.HEARTBEAT))] * 3)
    assert await retry_on_worker_loss(step) == "answered"
    assert step.executed == 4


async def test_a_step_that_kills_every_worker_is_given_up() -> None:
    step = Step(*[failed(timed_out(TimeoutType.HEARTBEAT))] * 100)
    with pytest.raises(ActivityError):
        await retry_on_worker_loss(step)
    assert step.executed == MAX_EXECUTIONS


@pytest.mark.parametrize(
    "error",
    [
        failed(ApplicationError("the source is down")),
        failed(timed_out(TimeoutType.START_TO_CLOSE)),
        failed(timed_out(TimeoutType.SCHEDULE_TO_CLOSE)),
        failed(timed_out(TimeoutType.HEARTBEAT), RetryState.TIMEOUT),
        failed(timed_out(TimeoutType.HEARTBEAT), RetryState.CANCEL_REQUESTED),
    ],
)
async def test_what_failed_by_itself_or_has_no_time_left_is_not_executed_again(error: ActivityError) -> None:
    step = Step(error)
    with pytest.raises(ActivityError):
        await retry_on_worker_loss(step)
    assert step.executed == 1


def test_a_call_that_timed_out_is_charged_what_its_last_heartbeat_said() -> None:
    used = Usage(calls=1, input_tokens=1_200, output_tokens=300)
    heartbeat = {"role": "judge", "usage": used.model_dump(mode="json")}
    failure, charged = model_failure(failed(timed_out(TimeoutType.START_TO_CLOSE, heartbeat)))
    assert charged == used
    assert failure.category == "unavailable"


@pytest.mark.chaos  # five times the heartbeat time-out: time is not skipped while an activity is under way
async def test_a_run_survives_a_worker_that_is_lost_at_the_last_attempt(stage: Stage) -> None:
    stage.script.hangs = "judge"
    run = await stage.start(a_request())
    attempts = stage.fakes.attempts
    await until(lambda: asyncio.sleep(0.2, attempts.count("judge")), lambda made: made > 5, 180.0)
    stage.script.hangs = None
    assert (await run.outcome()).stop_reason == "sufficient_evidence"
