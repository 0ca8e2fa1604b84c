"""Starting a run."""

import hashlib
import re
from dataclasses import dataclass

from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from client.embedded.namespace import register_attributes, run_attributes
from client.runs.listing import description, status_of
from workflows.modes import WORKFLOW_OF_MODE
from workflows.types import ResearchRequest

SLUG_CHARS = 40
SUMMARY_CHARS = 160


@dataclass(frozen=True, slots=True)
class Started:
    """The run that answers a request."""

    run_id: str
    attached: bool
    """The same question with the same settings was already being researched."""
    earlier: str = ""
    """Status of an earlier run of the same id that had ended."""


def run_id_of(request: ResearchRequest) -> str:
    """`ask-<slug>-<hash>`: readable, and the same for the same question and settings."""
    words = re.findall(r"[a-z0-9]+", request.question.lower())
    slug = ""
    for word in words:
        if len(slug) + len(word) >= SLUG_CHARS:
            break
        slug = f"{slug}-{word}" if slug else word
    settings = request.model_dump_json(exclude={"indexed", "history_events"})
    return f"ask-{slug or 'question'}-{hashlib.sha256(settings.encode()).hexdigest()[:8]}"


async def start(client: Client, request: ResearchRequest, task_queue: str) -> Started:
    """Start the run, or attach to it while it is running; one that has ended starts again.

    Raises RPCError.
    """
    run_id = run_id_of(request)
    before = await description(client, run_id)
    if before is not None and before.status == WorkflowExecutionStatus.RUNNING:
        return Started(run_id, attached=True)
    indexed = await register_attributes(client)
    request = request.model_copy(update={"indexed": indexed})
    await client.start_workflow(
        WORKFLOW_OF_MODE[request.mode],
        request,
        id=run_id,
        task_queue=task_queue,
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        memo={"question": request.question[:1000], "mode": request.mode},
        search_attributes=run_attributes(request.question, request.mode, request.profile)
        if indexed
        else None,
        static_summary=request.question[:SUMMARY_CHARS],
    )
    return Started(run_id, attached=False, earlier=status_of(before) if before else "")
