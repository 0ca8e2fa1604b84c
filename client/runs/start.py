"""Runs as the command line sees them: named, started, listed, asked.

A question needs a live worker; what `describe` and the list answer does not.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from temporalio.client import (
    Client,
    WorkflowExecution,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowHandle,
    WorkflowQueryFailedError,
)
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.service import RPCError, RPCStatusCode

from activities.types import EvidenceRef
from client.embedded.namespace import register_attributes, run_attributes
from workflows.types import EvidenceIndex, ItemsAfter, Outcome, Progress, ResearchRequest

WORKFLOW_OF_MODE = {"auto": "AutoResearch", "iterative": "IterativeResearch", "deep": "DeepResearch"}
RESEARCH = "WorkflowType IN (" + ", ".join(f"'{name}'" for name in WORKFLOW_OF_MODE.values()) + ")"
QUERY_SECONDS = 5.0
"""How long a question to a run may take before it counts as unanswered."""
SLUG_CHARS = 40
SUMMARY_CHARS = 160

Answer = TypeVar("Answer")


class NoSuchRun(Exception):
    """No run, or more than one, goes by that name; the message says which."""


class SeveralRuns(NoSuchRun):
    """More than one run goes by that name."""

    def __init__(self, name: str, found: Sequence[str]) -> None:
        shown = ", ".join(found[:4]) + (" ..." if len(found) > 4 else "")
        super().__init__(f"{name} is the beginning of several runs: {shown}")


class NoAnswer(Exception):
    """No worker answers questions about the run."""


@dataclass(frozen=True, slots=True)
class Row:
    """A run in a list: known without a worker."""

    run_id: str
    status: str
    """`running`, `completed`, `failed`, `canceled`, `terminated`, `timed_out`."""
    question: str
    mode: str
    phase: str
    stop_reason: str
    started: datetime
    closed: datetime | None


@dataclass(frozen=True, slots=True)
class Started:
    """What became of a wish to start a run."""

    run_id: str
    attached: bool
    """The same question with the same settings was being researched already."""
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
    """Start the run, or attach to it when it is under way; one that has ended starts anew.

    Raises RPCError.
    """
    run_id = run_id_of(request)
    before = await _description(client, run_id)
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
    return Started(run_id, attached=False, earlier=_status(before) if before else "")


async def find_run(client: Client, name: str) -> str:
    """The id that a full id, an unambiguous beginning of one, or `last` stands for. Raises NoSuchRun."""
    if name == "last":
        rows = await list_runs(client, limit=50)
        if not rows:
            raise NoSuchRun("there are no runs yet; start one with `determinator ask`")
        return rows[0].run_id
    if await _description(client, name) is not None:
        return name
    if not re.fullmatch(r"[\w./:-]+", name):
        raise NoSuchRun(f"{name[:100]!r} is not the name of a run; see `determinator list`")
    found = sorted({row.run_id for row in await list_runs(client, limit=20, beginning=name)})
    if not found:
        raise NoSuchRun(f"no run is called {name[:100]}; see `determinator list`")
    if len(found) > 1:
        raise SeveralRuns(name, found)
    return found[0]


async def list_runs(client: Client, limit: int = 20, beginning: str = "") -> list[Row]:
    """Research runs without their sections, the newest first."""
    query = f"{RESEARCH} AND ExecutionStatus != 'ContinuedAsNew'"
    if beginning:
        query += f" AND WorkflowId STARTS_WITH '{beginning}'"
    rows: list[Row] = []
    async for execution in client.list_workflows(query, page_size=200):
        if "/" not in execution.id:
            rows.append(await _row(execution))
        if len(rows) >= max(limit, 200):
            break
    # the server lists what runs before what has ended; people think in the order of starting
    rows.sort(key=lambda row: row.started, reverse=True)
    return rows[:limit]


async def describe(client: Client, run_id: str) -> Row:
    """What the server itself knows of a run. Raises NoSuchRun."""
    found = await _description(client, run_id)
    if found is None:
        raise NoSuchRun(f"no run is called {run_id}; see `determinator list`")
    return await _row(found)


async def query(
    client: Client, run_id: str, name: str, kind: type[Answer], argument: object = None
) -> Answer:
    """Ask a run. Raises NoAnswer when no worker is there to answer, NoSuchRun."""
    handle: WorkflowHandle[Any, Any] = client.get_workflow_handle(run_id)
    arguments = [] if argument is None else [argument]
    try:
        answer: Answer = await handle.query(
            name, args=arguments, result_type=kind, rpc_timeout=timedelta(seconds=QUERY_SECONDS)
        )
    except WorkflowQueryFailedError as error:
        raise NoAnswer(f"the run does not answer `{name}`: {error}") from error
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            raise NoSuchRun(f"no run is called {run_id}; see `determinator list`") from error
        if error.status == RPCStatusCode.UNAVAILABLE:
            raise
        raise NoAnswer(f"no worker answers for the run just now ({error.message})") from error
    return answer


async def progress(client: Client, run_id: str) -> Progress:
    """Where a run stands. Raises NoAnswer, NoSuchRun."""
    return await query(client, run_id, "progress", Progress)


async def found_by(client: Client, run_id: str) -> tuple[EvidenceRef, ...]:
    """What a run has found, page by page. Raises NoAnswer, NoSuchRun."""
    found: list[EvidenceRef] = []
    while True:
        page = await query(client, run_id, "evidence_index", EvidenceIndex, ItemsAfter(after=len(found)))
        found += page.items
        if not page.items or len(found) >= page.total:
            return tuple(found)


async def outcome(client: Client, run_id: str) -> Outcome | None:
    """The result of a run that has ended well; None while it runs. Raises WorkflowFailureError, NoSuchRun."""
    if (await describe(client, run_id)).status == "running":
        return None
    handle: WorkflowHandle[Any, Outcome] = client.get_workflow_handle(run_id, result_type=Outcome)
    return await handle.result()


async def _description(client: Client, run_id: str) -> WorkflowExecutionDescription | None:
    try:
        return await client.get_workflow_handle(run_id).describe()
    except RPCError as error:
        if error.status in (RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT):
            return None
        raise


def _status(execution: WorkflowExecution) -> str:
    return execution.status.name.lower() if execution.status else "unknown"


async def _row(execution: WorkflowExecution) -> Row:
    memo = await execution.memo()
    attributes = {pair.key.name: str(pair.value) for pair in execution.typed_search_attributes}
    kind = execution.workflow_type.removesuffix("Research").lower()
    return Row(
        run_id=execution.id,
        status=_status(execution),
        question=str(memo.get("question", "")) or attributes.get("DeterminatorQuestion", ""),
        mode=kind,
        phase=attributes.get("DeterminatorPhase", ""),
        stop_reason=attributes.get("DeterminatorStopReason", ""),
        started=execution.start_time,
        closed=execution.close_time,
    )
