"""What a worker registers, read from `worker.build` itself without a server."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import Worker

from activities.settings import Settings
from worker import build, rate_gate_holder
from worker.rate_gate_holder import LimitedQueue
from worker.resources import open_resources


async def registered_names(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    """The activity names of each task queue, and the workflow type names."""
    caught: dict[str, Any] = {}

    def catch(client: Client, task_queue: str, **more: Any) -> Worker:
        caught.update(more, task_queue=task_queue)
        return cast(Worker, None)  # nothing here runs it

    gated: dict[str, Sequence[Callable[..., Any]]] = {}

    class CaughtGates(rate_gate_holder.GateActivities):
        def __init__(self, client: Client, queues: Mapping[str, LimitedQueue], *more: Any) -> None:
            super().__init__(client, queues, *more)
            gated.update({queue: served.activities for queue, served in queues.items()})

    monkeypatch.setattr(build, "build_worker", catch)
    monkeypatch.setattr(rate_gate_holder, "GateActivities", CaughtGates)
    async with open_resources(Settings(home=folder)) as resources:
        build.research_worker(cast(Client, None), resources, resources.settings.task_queue)
    activities = {caught["task_queue"]: caught["activities"], **gated}
    return (
        {queue: frozenset(map(activity_name, found)) for queue, found in activities.items()},
        frozenset(map(workflow_name, caught["workflows"])),
    )


def activity_name(function: Callable[..., Any]) -> str:
    """The name an activity is registered under."""
    definition = activity._Definition.must_from_callable(function)  # the SDK has no public way
    assert definition.name is not None
    return definition.name


def workflow_name(cls: type) -> str:
    """The type name a workflow class is registered under."""
    definition = workflow._Definition.must_from_class(cls)  # the SDK has no public way
    assert definition.name is not None
    return definition.name
