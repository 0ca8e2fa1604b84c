"""Splitting a fleet: processes that only decide, only search, or only call models.

By default every worker of a task queue does everything. `determinator worker --queues searches,models` names
what one process does; then searches and model calls go to queues of their own, `QUEUE-searches` and
`QUEUE-models`, so that slow model calls occupy no place that a search needs, and each kind is scaled by
itself. Between them the processes of a fleet have to serve all three, or runs wait; each is started with
`--queues`.

Workflows do not know of it: an interceptor of the processes that execute them names the queue of each step. A
queue that a step already has, that of a strictly limited API, stays.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from temporalio import workflow
from temporalio.worker import (
    Interceptor,
    StartActivityInput,
    Worker,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

from activities.configuration.values import Part
from activities.role_activity import ThinkActivities
from workflows.rate_gate import HOLD_GATE

DEFINITION = "__temporal_activity_definition"
"""Attribute that `activity.defn` leaves on a function."""
SEARCHES = frozenset({HOLD_GATE, "look_up_candidate"})
"""What calls sources, beside the activities whose names begin with `search_`."""

OF_REVIEWS = frozenset({"read_for_review"})
"""The step of a review that asks a model, beside the thinking steps."""


def part_of(step: str) -> Part:
    """Which processes execute a step, by its activity.

    What neither searches nor asks a model (preparing, publishing) is executed where workflows are.
    """
    if step.startswith("search_") or step in SEARCHES:
        return "searches"
    return "models" if step in model_steps() else "workflows"


@cache
def model_steps() -> frozenset[str]:
    """Return the activities that may ask a model."""
    steps = (getattr(ThinkActivities, name) for name in vars(ThinkActivities))
    return frozenset(name_of(step) for step in steps if hasattr(step, DEFINITION)) | OF_REVIEWS


def name_of(step: Callable[..., Any]) -> str:
    return str(getattr(step, DEFINITION).name)


def queue_of(task_queue: str, part: Part) -> str:
    return task_queue if part == "workflows" else f"{task_queue}-{part}"


class SplitQueues(Interceptor):
    """Given to workers that execute workflows: sends steps to the queues of their parts."""

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002 - the SDK's name
    ) -> type[WorkflowInboundInterceptor]:
        return _Inbound


class _Inbound(WorkflowInboundInterceptor):
    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        super().init(_Outbound(outbound))


class _Outbound(WorkflowOutboundInterceptor):
    def start_activity(self, input: StartActivityInput) -> workflow.ActivityHandle[Any]:  # noqa: A002
        if input.task_queue is None:
            queue = queue_of(workflow.info().task_queue, part_of(input.activity))
            input = replace(input, task_queue=queue)  # noqa: A001
        return super().start_activity(input)


class WorkerGroup:
    """Several workers of one process that start and end together."""

    def __init__(self, workers: Sequence[Worker]) -> None:
        self._workers = workers

    @property
    def is_running(self) -> bool:
        return all(worker.is_running for worker in self._workers)

    async def run(self) -> None:
        """Poll until `shutdown`. Raises what ended one of them, after the others have ended."""
        running = [asyncio.create_task(worker.run()) for worker in self._workers]
        try:
            await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            await self.shutdown()
        finally:
            for ended in await asyncio.gather(*running, return_exceptions=True):
                if isinstance(ended, BaseException):
                    raise ended

    async def shutdown(self) -> None:
        """Stop polling, and wait until what is under way has ended."""
        await asyncio.gather(*(worker.shutdown() for worker in self._workers if worker.is_running))
