"""What a worker counts for Prometheus: runs, steps, tokens, money, searches, waits.

Beside the SDK's own metrics.

All are served on one address by the SDK's native core (`/metrics`), so that no second server and no further
library is needed. Each process counts what it executed; sums over processes are Prometheus' work. No label
has more values than this project and its configuration have names: no run id, no question.
"""

from datetime import timedelta
from typing import Any

from temporalio import activity
from temporalio.exceptions import is_cancelled_exception
from temporalio.runtime import PrometheusConfig, Runtime
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from activities.contracts.errors import DeterminatorError
from activities.contracts.evidence import Usage
from activities.contracts.search import Hits, SearchTask
from activities.hooks import Call, CallOutcome
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


class MetricsHook:
    """Counts what searches find and what model calls use, also those that fail."""

    async def after(self, call: Call, outcome: CallOutcome) -> None:
        meter = activity.metric_meter()
        if isinstance(call.step, SearchTask) and outcome.status:
            source = {"source": call.step.source}
            counter = meter.create_counter(SEARCHES, "Searches of sources, by status")
            counter.add(1, {**source, "status": outcome.status})
            if isinstance(outcome.output, Hits):
                wait = meter.create_histogram_timedelta(
                    SOURCE_WAIT, "Time a search waited for its source", "duration"
                )
                wait.record(timedelta(seconds=outcome.output.waited), source)
        elif call.kind == "model":
            count_usage(outcome.usage, outcome.model or "failed")


class MetricsInterceptor(Interceptor):
    """Counts each attempt of each activity, and the reports.

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
            raise
        count_step("done")
        if isinstance(output, Published):
            counter = activity.metric_meter().create_counter(RUNS, "Reports published, by why the run ended")
            counter.add(1, {"mode": output.mode, "stop_reason": output.stop_reason})
        return output


def count_step(outcome: str) -> None:
    """Count an attempt of the current activity that has ended."""
    counter = activity.metric_meter().create_counter(STEPS, "Attempts of steps, by outcome")
    counter.add(1, {"step": activity.info().activity_type, "outcome": outcome})


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
