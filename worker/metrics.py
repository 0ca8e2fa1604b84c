"""What a worker counts for Prometheus: runs, steps, tokens, money, searches, waits.

Beside the SDK's own metrics.

All are served on one address by the SDK's native core (`/metrics`), so that no second server and no further
library is needed. Each process counts what it executed; sums over processes are Prometheus' work. No label
has more values than this project and its configuration have names: no run id, no question.
"""

from datetime import timedelta
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError, is_cancelled_exception
from temporalio.runtime import PrometheusConfig, Runtime
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from activities.contracts.errors import DeterminatorError
from activities.contracts.evidence import Usage
from activities.contracts.search import HitsOfAll, SearchTasks
from activities.contracts.step import StepAnswer
from activities.report.schema import Published
from worker.logs import logging_runtime

STEPS = "determinator_steps"
RUNS = "determinator_runs"
TOKENS = "determinator_tokens"
COST = "determinator_cost_microusd"
UNPRICED = "determinator_unpriced_calls"
SEARCHES = "determinator_searches"
SOURCE_WAIT = "determinator_source_wait"
OURS = (STEPS, RUNS, TOKENS, COST, UNPRICED, SEARCHES, SOURCE_WAIT)
"""The names of our metrics; counters get `_total`, durations `_seconds`."""
WAITS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
"""Buckets in seconds: from a step that begins at once to one that waits behind a flooded queue."""
TIMED = (
    "temporal_activity_schedule_to_start_latency",
    "temporal_activity_execution_latency",
    "temporal_workflow_task_schedule_to_start_latency",
    "temporal_workflow_endtoend_latency",
    SOURCE_WAIT,
)


class CannotListen(DeterminatorError):
    """The address for metrics cannot be listened on."""


def worker_runtime(address: str | None) -> Runtime:
    """Return the SDK's native core, which serves metrics at `http://ADDRESS/metrics` where one is named.

    Names and units are as Prometheus has them. Raises CannotListen.
    """
    config = PrometheusConfig(
        bind_address=address or "",
        counters_total_suffix=True,
        unit_suffix=True,
        durations_as_seconds=True,
        histogram_bucket_overrides=dict.fromkeys(TIMED, WAITS),
    )
    try:
        return logging_runtime(config if address else None)
    except (RuntimeError, ValueError) as error:
        raise CannotListen(f"metrics cannot be served on {address}: {error}") from error


class MetricsInterceptor(Interceptor):
    """Counts each attempt of each activity.

    Without an address to serve metrics on it costs nothing worth measuring: the SDK's meter then discards
    what it gets.
    """

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        return _Counting(next)


class _Counting(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401
        try:
            output = await super().execute_activity(input)
        except BaseException as error:
            count_step("cancelled" if is_cancelled_exception(error) else "failed")
            count_failure(input.args[0] if input.args else None, error)
            raise
        count_step("done")
        count_output(output)
        return output


def count_step(outcome: str) -> None:
    """Count an attempt of the current activity that has ended."""
    counter = activity.metric_meter().create_counter(STEPS, "Attempts of steps, by outcome")
    counter.add(1, {"step": activity.info().activity_type, "outcome": outcome})


def count_output(output: object) -> None:
    """Count what a step has found, spent or published."""
    if isinstance(output, HitsOfAll):
        wait = activity.metric_meter().create_histogram_timedelta(
            SOURCE_WAIT, "Time a search waited for its source", "duration"
        )
        for hits in output.answers:
            count_search(hits.source, hits.status)
            wait.record(timedelta(seconds=hits.waited), {"source": hits.source})
    elif isinstance(output, StepAnswer):
        count_usage(output.usage, output.model)
    elif isinstance(output, Published):
        counter = activity.metric_meter().create_counter(RUNS, "Reports published, by why the run ended")
        counter.add(1, {"mode": output.mode, "stop_reason": output.stop_reason})


def count_failure(step: object, error: BaseException) -> None:
    """Count what a failed attempt says of its search, or has paid all the same."""
    details = error.details[0] if isinstance(error, ApplicationError) and error.details else None
    if not isinstance(details, dict):
        return
    for task in step.tasks if isinstance(step, SearchTasks) and details.get("status") else ():
        count_search(task.source, str(details["status"]))
    if details.get("usage"):
        count_usage(Usage.model_validate(details["usage"]), "failed")


def count_search(source: str, status: str) -> None:
    counter = activity.metric_meter().create_counter(SEARCHES, "Searches of sources, by status")
    counter.add(1, {"source": source, "status": status})


def count_usage(usage: Usage, model: str) -> None:
    """Tokens and money of the calls of one step."""
    meter = activity.metric_meter()
    tokens = meter.create_counter(TOKENS, "Tokens of model calls")
    kinds = {
        "input": usage.input_tokens - usage.cached_tokens,
        "cached": usage.cached_tokens,
        "output": usage.output_tokens,
    }
    for kind, number in kinds.items():
        if number > 0:
            tokens.add(number, {"model": model, "kind": kind})
    if usage.cost_microusd is None:
        meter.create_counter(UNPRICED, "Steps whose calls have no known price").add(1, {"model": model})
    elif usage.cost_microusd:
        meter.create_counter(COST, "Millionths of a US dollar").add(usage.cost_microusd, {"model": model})
