"""Work that a run waits for, as heartbeats report it: model calls, and files of a library that are read.

Read from the server's description of the run and of its running sections, which costs no history and needs no
worker.
"""

import asyncio
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict, ValidationError
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import Client
from temporalio.service import RPCError

from activities.contracts.evidence import Usage
from workflows.types import Progress


class Heartbeat(BaseModel):
    """The report of a thinking step, or of a search of a library, while it runs.

    See `activities.models.progress` and `activities.sources.base`.
    """

    model_config = ConfigDict(extra="ignore")

    role: str = ""
    waiting: bool = False
    usage: Usage = Usage()
    files_read: int = 0
    files: int = 0


class ModelCall(BaseModel):
    """One model call under way, or one library being read."""

    model_config = ConfigDict(frozen=True)

    role: str
    section: str = ""
    """Id of the section that makes it; empty for the run itself."""
    attempt: int = 1
    seconds: float = 0.0
    """Since this attempt was started."""
    tokens: int = 0
    """Tokens of the answer so far; some seconds old."""
    waiting: bool = False
    """For its turn at a server that answers one call at a time."""
    files_read: int = 0
    files: int = 0
    """Files of a library that is being read; 0 for a model call."""


async def calls_under_way(client: Client, seen: Progress) -> tuple[ModelCall, ...]:
    """Return the calls of a run and its running sections that can be read, the oldest first."""
    workflows = [("", seen.run_id)]
    workflows += [(s.id, s.workflow_id) for s in seen.sections if s.status == "running" and s.workflow_id]
    calls_of_each = await asyncio.gather(*(_calls_of(client, section, name) for section, name in workflows))
    return tuple(sorted((call for calls in calls_of_each for call in calls), key=lambda call: -call.seconds))


async def _calls_of(client: Client, section: str, workflow_id: str) -> list[ModelCall]:
    try:
        described = await client.get_workflow_handle(workflow_id).describe()
    except RPCError:
        return []
    calls = []
    for pending in described.raw_description.pending_activities:
        if beat := await _heartbeat(client, pending):
            running = datetime.now(UTC) - pending.last_started_time.ToDatetime(UTC)
            call = ModelCall(
                role=beat.role or "library",
                section=section,
                attempt=pending.attempt,
                seconds=max(running.total_seconds(), 0.0),
                tokens=beat.usage.output_tokens,
                waiting=beat.waiting,
                files_read=beat.files_read,
                files=beat.files,
            )
            calls.append(call)
    return calls


async def _heartbeat(client: Client, pending: PendingActivityInfo) -> Heartbeat | None:
    """Return what a step reported last; None for one that reports nothing of the kind, or nothing yet."""
    if not pending.HasField("last_started_time") or not pending.heartbeat_details.payloads:
        return None
    try:
        (reported,) = await client.data_converter.decode(pending.heartbeat_details.payloads)
        beat = Heartbeat.model_validate(reported)
    except (ValidationError, ValueError, RuntimeError):
        return None
    return beat if beat.role or beat.files else None


def call_line(call: ModelCall) -> str:
    """`judge [s2]  12 s  340 tokens  attempt 2`, or `indexing 1,200 of 3,000 files`."""
    if call.files:
        return f"indexing {call.files_read:,} of {call.files:,} file{'s' * (call.files != 1)}"
    parts = [
        f"{call.role.replace('_', ' ')}{f' [{call.section}]' if call.section else ''}",
        f"{call.seconds:.0f} s",
    ]
    if call.waiting:
        parts.append("waits for its turn")
    elif call.tokens:  # a server that does not stream says how many when it has answered
        parts.append(f"{call.tokens:,} tokens")
    if call.attempt > 1:
        parts.append(f"attempt {call.attempt}")
    return "  ".join(parts)


def seconds_left(seen: Progress) -> float | None:
    """Return seconds until the last iteration ends, at most, at the speed of this run so far.

    None before an iteration is complete, and while a run waits.

    An upper bound: a run mostly stops before its last iteration. The time for writing is added to it.
    """
    if seen.phase in ("done", "paused", "waiting_for_approval"):
        return None
    running = [s.iteration for s in seen.sections if s.status == "running"]
    iteration = min(running, default=seen.iteration)
    if iteration < 2 or seen.max_iterations < iteration:
        return None
    a_round = seen.budget.elapsed_seconds / (iteration - 1)
    left = a_round * (seen.max_iterations - iteration + 1)
    if seen.budget.limits.max_seconds is not None:
        left = min(left, max(seen.budget.limits.max_seconds - seen.budget.elapsed_seconds, 0.0))
    return left
