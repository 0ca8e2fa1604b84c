"""Starting a run.

Invariant: no run gets the id of another, so nothing that a run left (its report, versions, evidence) is ever
overwritten. Ids of the same question and settings form a chain; a new run gets the first free one.
"""

import hashlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError

from activities.permits import Kind, request_key, sign
from activities.settings import Settings
from client.embedded.namespace import register_attributes, run_attributes
from client.runs.listing import description
from workflows.modes import WORKFLOW_OF_MODE
from workflows.types import ResearchRequest

SLUG_CHARS = 40
SUMMARY_CHARS = 160
ADDED_FIELDS = ("graph", "follow_up", "search_seconds")
ADDED_LIMITS = ("max_section_cost_microusd", "max_section_seconds")
"""Fields of a request and of its limits that did not exist in the first version."""


@dataclass(frozen=True, slots=True)
class Started:
    """The run that answers a request."""

    run_id: str
    attached: bool
    """The same question with the same settings was already being researched."""
    earlier: str = ""
    """Id of the latest earlier run of the same question and settings."""


def run_id_of(request: ResearchRequest, number: int = 1) -> str:
    """`ask-<slug>-<hash>`: readable, and the same for the same question, settings and number.

    `number` counts the runs of the same question and settings, from 1.
    """
    words = re.findall(r"[a-z0-9]+", request.question.lower())
    slug = ""
    for word in words:
        if len(slug) + len(word) >= SLUG_CHARS:
            break
        slug = f"{slug}-{word}" if slug else word
    without: dict[str, bool | set[str]] = dict.fromkeys(
        ("indexed", "history_events", "signatures", "open_limits"), True
    )
    # the ids of runs that do without what later versions added do not depend on it
    for name in ADDED_FIELDS:
        if getattr(request, name) == ResearchRequest.model_fields[name].default:
            without[name] = True
    unset = {name for name in ADDED_LIMITS if getattr(request.limits, name) is None}
    if unset:
        without["limits"] = unset
    settings = request.model_dump_json(exclude=without)
    if number > 1:
        settings += f"#{number}"
    return f"ask-{slug or 'question'}-{hashlib.sha256(settings.encode()).hexdigest()[:8]}"


def signing_key(settings: Settings) -> bytes:
    """The key of this home that requests are signed with; empty when the home cannot be written, where only
    what the workers' configuration allows can be named."""
    try:
        return request_key(settings.home)
    except OSError:
        return b""


def signed(request: ResearchRequest, run_id: str, key: bytes) -> ResearchRequest:
    """The request with signatures of the files it names; as it is without a key."""
    named: dict[Kind, str | None] = {"library": request.library, "profile_path": request.profile_path}
    signatures = {kind: sign(key, run_id, kind, name) for kind, name in named.items() if key and name}
    return request.model_copy(update={"signatures": signatures})


async def never_kept(_: str) -> bool:
    """No run has left a report."""
    return False


async def start(
    client: Client,
    request: ResearchRequest,
    task_queue: str,
    *,
    kept: Callable[[str], Awaitable[bool]] = never_kept,
    indexed: bool = False,
    key: bytes = b"",
) -> Started:
    """Join a running run of the same request on this queue, else start one with an id of its own.

    `kept` says whether a run that the server no longer knows has left a report under an id; `indexed`, that
    the search attributes are known to be registered; `key` signs what the request names (see
    `activities.permits`). Raises RPCError.
    """
    number, earlier = 1, ""
    while True:
        run_id = run_id_of(request, number)
        before = await description(client, run_id)
        if before is None and not await kept(run_id):
            request = request.model_copy(
                update={"indexed": indexed or request.indexed or await register_attributes(client)}
            )
            try:
                await _start(client, signed(request, run_id, key), run_id, task_queue)
            except WorkflowAlreadyStartedError:  # by another command, a moment ago
                continue
            return Started(run_id, attached=False, earlier=earlier)
        if before is not None and (
            before.status == WorkflowExecutionStatus.RUNNING and before.task_queue == task_queue
        ):
            return Started(run_id, attached=True)
        number, earlier = number + 1, run_id


async def _start(client: Client, request: ResearchRequest, run_id: str, task_queue: str) -> None:
    """Raises WorkflowAlreadyStartedError when the id was used meanwhile."""
    await client.start_workflow(
        WORKFLOW_OF_MODE[request.mode],
        request,
        id=run_id,
        task_queue=task_queue,
        id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
        id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
        memo={"question": request.question[:1000], "mode": request.mode},
        search_attributes=run_attributes(request.question, request.mode, request.profile)
        if request.indexed
        else None,
        static_summary=request.question[:SUMMARY_CHARS],
    )
