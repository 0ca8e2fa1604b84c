"""A run that stands still because its workflow task fails again and again."""

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client
from temporalio.service import RPCError

MIN_ATTEMPTS = 3
"""Attempts at one task after which a run counts as stuck: the first may be those of a worker that died."""


async def stuck(client: Client, run_id: str) -> str:
    """Why a run stands still, in one line; empty for one that goes on, or that is not known."""
    handle = client.get_workflow_handle(run_id)
    try:
        described = await handle.describe()
        attempts = described.raw_description.pending_workflow_task.attempt
        if attempts < MIN_ATTEMPTS:
            return ""
        reason = ""
        async for event in handle.fetch_history_events():
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED:
                reason = event.workflow_task_failed_event_attributes.failure.message
    except RPCError:
        return ""
    why = f" ({' '.join(reason.split())[:300]})" if reason else ""
    return f"it stands still: its next step was tried {attempts} times and cannot be decided{why}"
