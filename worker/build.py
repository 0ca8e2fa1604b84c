"""Build workers from a client: which workflows, which activities, on which queue, with which limits.

Our workflows run without the sandbox (`sandboxed=False`). The tests find a clock, a random number or a file
read in one before a release: every recorded history replays in the sandbox (`tests/workflows/sandbox.py`),
and what workflow code imports and calls is read. With all modules passed through it would cost 40 % more
processor time (0.53 s for 0.37 s in a replay of six histories, 25 ms a workflow). Modes of other packages,
which no test of ours has read, run in it.
"""

import asyncio
import hashlib
import os
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from temporalio import activity
from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.worker import Interceptor, Worker, WorkerDeploymentConfig
from temporalio.worker.workflow_sandbox import (
    RestrictedWorkflowAccessError,
    SandboxedWorkflowRunner,
    SandboxRestrictions,
)

from activities.hooks import HookInterceptor, load_hooks
from activities.lanes import Lane
from activities.logs import log
from worker.resources import Resources
from workflows.graph.definition import GraphCheck, GraphDefinition

BUGS: tuple[type[Exception], ...] = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NameError,
    OSError,
    RestrictedWorkflowAccessError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""A bug in workflow code ends the run at once with its message; by default it would retry for ever. What is
not here matters as much: non-determinism (an upgraded worker replays an old history) must leave the run
waiting for a worker that can replay it, and not discard paid work."""

SANDBOX = SandboxedWorkflowRunner(
    SandboxRestrictions.default.with_passthrough_modules(
        "determinator", "activities", "workflows", "pydantic", "pydantic_core", "annotated_types", "structlog"
    )
)
"""What modes of other packages run in: their own modules are loaded for each run, and may ask no clock of the
machine, no randomness and no file."""
ROOT = Path(__file__).parents[1]
PACKAGES = ("activities", "workflows", "worker")
"""What a worker executes of this project."""
GRACE = timedelta(seconds=5)
"""Time for activities to end by themselves on shutdown; they are retried elsewhere after that."""
HEARTBEATS = timedelta(seconds=4)
"""Longest delay of a heartbeat by the SDK, so that progress is shown while a call runs. By default it would
be delayed for four fifths of the time-out."""
WORKFLOW_TASKS = 16
"""Tasks of workflows at the same time, each in a thread. They take milliseconds, one after the other; the
default of 500 threads costs memory when a hundred runs begin at once."""
STICKY = timedelta(seconds=3)
"""How long a workflow task waits for the worker that has the workflow in its cache; the default of 10 is how
long a run stands still when that worker died."""


def build_worker(
    client: Client,
    task_queue: str,
    *,
    activities: Sequence[Callable[..., Any]] = (),
    workflows: Sequence[type] = (),
    interceptors: Sequence[Interceptor] = (),
    max_concurrent_activities: int = 100,
) -> Worker:
    """One worker on one queue, with the settings that all workers share."""

    deployment_config = deployment()
    return Worker(
        client,
        task_queue=task_queue,
        activities=activities,
        workflows=workflows,
        workflow_runner=SANDBOX,
        interceptors=interceptors,
        max_concurrent_activities=max_concurrent_activities,
        max_concurrent_workflow_tasks=WORKFLOW_TASKS,
        graceful_shutdown_timeout=GRACE,
        max_heartbeat_throttle_interval=HEARTBEATS,
        sticky_queue_schedule_to_start_timeout=STICKY,
        workflow_failure_exception_types=BUGS,
        deployment_config=deployment_config,
        build_id=None if deployment_config else code_id(),
    )


@cache
def code_id() -> str:
    """Return the version of this project and a digest of its code.

    Histories name the build of a worker by it.

    The SDK's own digest reads the byte code of all modules that are imported: 0.2 s at each start.
    """
    digest = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            digest.update(path.relative_to(ROOT).as_posix().encode())
            digest.update(path.read_bytes())
    return f"{version('determinator')}-{digest.hexdigest()[:16]}"


@activity.defn(name="check_graph")
async def check_graph(definition: GraphDefinition | None) -> GraphCheck:
    """Return what is wrong with a definition, or the built-in graph where the request has none.

    Workflow code does not import the library that the check needs, and the built-in graphs are files.
    """
    from workflows.graph.library import DEFAULT, builtin, missing_parts
    from workflows.graph.validation import problems

    if definition is None:
        return GraphCheck(definition=builtin(DEFAULT))
    faults = problems(definition) or missing_parts(definition)
    return GraphCheck(problems=tuple(map(str, faults)))


def deployment() -> WorkerDeploymentConfig | None:
    """Worker versioning, only when the deployment's variables are set.

    `TEMPORAL_DEPLOYMENT_NAME` and `TEMPORAL_WORKER_BUILD_ID`, as Temporal's worker controller sets them.

    An unversioned worker that claims a version hangs silently until an operator makes that version current.
    """
    name, build = os.environ.get("TEMPORAL_DEPLOYMENT_NAME"), os.environ.get("TEMPORAL_WORKER_BUILD_ID")
    if not name or not build:
        return None
    return WorkerDeploymentConfig(
        version=WorkerDeploymentVersion(deployment_name=name, build_id=build),
        use_worker_versioning=True,
        default_versioning_behavior=VersioningBehavior.AUTO_UPGRADE,
    )


def research_worker(client: Client, resources: Resources, queue: str, executes: bool = True) -> Worker:
    """Return the worker of a queue.

    One that does not execute steps decides which come next. Strictly limited sources have queues of their
    own, which a process polls only while it holds their gate (`worker.rate_gate_holder`). Raises HookError.
    """
    from worker.metrics import MetricsHook, MetricsInterceptor
    from worker.rate_gate_holder import gate_activities
    from worker.room import RoomInterceptor
    from workflows.modes import workflow_classes
    from workflows.rate_gate import RateGate
    from workflows.refresh import RefreshReport
    from workflows.review.workflow import SystematicReview

    settings = resources.settings
    interceptors = [
        HookInterceptor([*load_hooks(settings), MetricsHook()]),
        MetricsInterceptor(),
        RoomInterceptor(settings.home),
    ]
    gates = gate_activities(
        client,
        resources.http,
        resources.sources,
        resources.search,
        extra=resources.gated,
        interceptors=interceptors,
        build_id=code_id(),
    )
    return build_worker(
        client,
        queue,
        workflows=[*workflow_classes(), RateGate, RefreshReport, SystematicReview],
        activities=[*resources.activities, check_graph, *gates] if executes else [],
        interceptors=interceptors,
    )


LOOK_SECONDS = 0.5
"""How often it is looked for new lanes, which reads the names in one folder."""
USED_SECONDS = 30 * 86_400.0
"""Lanes that no command has used for so long are not served until one does."""
MAX_LANES = 20
"""Lanes that are served, those used last."""

Build = Callable[[str, bool], Worker]
"""Makes the worker of a queue, with or without activities."""


async def serve_lanes(folder: Path, lane_of_worker: Lane, queue: str, build: Build) -> None:
    """Serve the lanes of a home as they appear.

    Decide what comes next in all of them, and execute the steps of those whose settings are the worker's.
    Raises what ended one of its workers.
    """
    workers: dict[str, tuple[Worker, asyncio.Task[None]]] = {}
    try:
        while True:
            for lane in lanes_in(folder):
                if lane.id not in workers and len(workers) < MAX_LANES:
                    worker = build(lane.queue(queue), not lane_of_worker.lacks(lane))
                    workers[lane.id] = worker, asyncio.create_task(worker.run())
                    log.info("lane_served", lane=lane.id, lacks=lane_of_worker.lacks(lane))
            for _, task in workers.values():
                if task.done():
                    task.result()
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        await asyncio.gather(*(worker.shutdown() for worker, task in workers.values() if not task.done()))
        await asyncio.gather(*(task for _, task in workers.values()), return_exceptions=True)


def lanes_in(folder: Path) -> list[Lane]:
    """Return the lanes that were used lately, the latest first."""
    times = {file: file.stat().st_mtime for file in folder.glob("*.json")}
    since = time.time() - USED_SECONDS
    lanes = []
    for file in sorted((file for file, at in times.items() if at > since), key=lambda file: -times[file]):
        try:
            lanes.append(Lane.model_validate_json(file.read_bytes()))
        except (OSError, ValidationError) as error:
            log.warning("lane_not_read", file=file.name, error=str(error))
    return lanes
