"""Retrying at once what a dead worker of this machine was executing.

Temporal notices a dead worker by its missing heartbeats, after 15 seconds. The successor of a worker can know
earlier: an activity that a process of this machine started, and whose process is gone, will never be
answered. It is failed by its id, which lets its own retry policy schedule the next attempt.

The server also keeps a queue for each worker, to which it sends what concerns the workflows in that worker's
cache, and waits for an answer before it asks another. The successor has it forget the dead worker's queue.

Only for the embedded mode, where every worker of the namespace runs on this machine. A process that is alive,
or whose identity does not name a process of this machine, is left to its heartbeats.
"""

import asyncio
import os
import socket
import sys
from datetime import timedelta
from pathlib import Path

import structlog
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.workflowservice.v1 import ResetStickyTaskQueueRequest
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from workflows.steps.retry import WORKER_LOST

log = structlog.get_logger()

AT_ONCE = 10
"""Workflows that are described at the same time."""
RETRY_DELAY = timedelta(milliseconds=100)


async def retry_lost_activities(client: Client, queue: str) -> int:
    """Fail every activity under way whose process is gone, and have the runs of a task queue continued by its
    present worker; return how many activities were lost. Never raises RPCError: what is not found here is
    noticed by its time-out."""
    allowed = asyncio.Semaphore(AT_ONCE)
    lost = 0

    async def look_at(workflow_id: str, run_id: str, task_queue: str) -> None:
        nonlocal lost
        async with allowed:
            try:
                if task_queue == queue:
                    await forget_worker(client, workflow_id, run_id)
                lost += await retry_lost_in(client, workflow_id, run_id)
            except RPCError as error:
                log.warning("lost_activities_not_checked", workflow_id=workflow_id, error=str(error))

    try:
        open_runs = [
            (found.id, found.run_id, found.task_queue)
            async for found in client.list_workflows("ExecutionStatus = 'Running'")
        ]
    except RPCError as error:
        log.warning("lost_activities_not_checked", error=str(error))
        return 0
    await asyncio.gather(*(look_at(*run) for run in open_runs))
    return lost


async def forget_worker(client: Client, workflow_id: str, run_id: str) -> None:
    """Have the next task of a workflow sent to any worker of its task queue, and not to the one that had it
    last. Raises RPCError."""
    await client.workflow_service.reset_sticky_task_queue(
        ResetStickyTaskQueueRequest(
            namespace=client.namespace,
            execution=WorkflowExecution(workflow_id=workflow_id, run_id=run_id),
        )
    )


async def retry_lost_in(client: Client, workflow_id: str, run_id: str) -> int:
    """Fail the lost activities of one workflow. Raises RPCError."""
    described = await client.get_workflow_handle(workflow_id, run_id=run_id).describe()
    lost = 0
    for pending in described.raw_description.pending_activities:
        started = pending.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
        if not started or not is_gone(pending.last_worker_identity):
            continue
        handle = client.get_async_activity_handle(
            workflow_id=workflow_id, run_id=run_id, activity_id=pending.activity_id
        )
        await handle.fail(
            ApplicationError(
                "the worker that executed this attempt died", type=WORKER_LOST, next_retry_delay=RETRY_DELAY
            )
        )
        log.info(
            "lost_activity_retried",
            workflow_id=workflow_id,
            activity=pending.activity_type.name,
            worker=pending.last_worker_identity,
        )
        lost += 1
    return lost


def is_gone(identity: str) -> bool:
    """Whether an identity (`pid@host`, as the SDK makes it) names a process of this machine that is dead."""
    pid, separator, host = identity.partition("@")
    if not separator or not pid.isdigit() or host != socket.gethostname() or sys.platform == "win32":
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return is_zombie(int(pid))


def is_zombie(pid: int) -> bool:
    """Whether a process has ended and was not reaped: the first process of a container may never do that."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (OSError, LookupError):  # it was reaped meanwhile, or the system has no such files
        return False
