"""Runs as the server knows them: listed, described, found by name. No worker is needed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from temporalio.client import Client, WorkflowExecution, WorkflowExecutionDescription
from temporalio.service import RPCError, RPCStatusCode

from workflows.modes import WORKFLOW_OF_MODE

RESEARCH = "WorkflowType IN (" + ", ".join(f"'{name}'" for name in WORKFLOW_OF_MODE.values()) + ")"
"""Visibility query for research runs."""


MAX_IDS = 20_000
"""Executions that are read in search of a part of an id."""


class NoSuchRun(Exception):
    """No run, or more than one, has that name; the message says which."""


class SeveralRuns(NoSuchRun):
    """More than one run has that name."""

    def __init__(self, name: str, found: Sequence[str]) -> None:
        shown = ", ".join(found[:4]) + (" ..." if len(found) > 4 else "")
        super().__init__(f"{name} matches several runs: {shown}; give more of the id")


@dataclass(frozen=True, slots=True)
class Row:
    """A run in a list."""

    run_id: str
    status: str
    """`running`, `completed`, `failed`, `canceled`, `terminated`, `timed_out`."""
    question: str
    mode: str
    phase: str
    stop_reason: str
    started: datetime
    closed: datetime | None


def no_such_run(name: str) -> NoSuchRun:
    """The error for a name that no run has."""
    return NoSuchRun(f"no run is called {name[:100]}; `determinator list` shows the runs")


async def find_run(client: Client, name: str) -> str:
    """The id for a full id, any unambiguous part of one, or `last`. A part at the beginning goes over one
    elsewhere. Raises NoSuchRun."""
    if name == "last":
        rows = await list_runs(client, limit=50)
        if not rows:
            raise NoSuchRun("there are no runs yet; start one with `determinator ask`")
        return rows[0].run_id
    if await description(client, name) is not None:
        return name
    if not re.fullmatch(r"[\w./:-]+", name):
        raise NoSuchRun(f"{name[:100]!r} cannot be the name of a run; `determinator list` shows the runs")
    found = await run_ids(client, beginning=name)
    if not found:
        found = [run_id for run_id in await run_ids(client) if name in run_id]
    if not found:
        raise no_such_run(name)
    if len(found) > 1:
        raise SeveralRuns(name, found)
    return found[0]


async def run_ids(client: Client, beginning: str = "") -> list[str]:
    """The ids of research runs without their sections, sorted; `MAX_IDS` executions are read at most."""
    query = f"{RESEARCH} AND ExecutionStatus != 'ContinuedAsNew'"
    if beginning:
        query += f" AND WorkflowId STARTS_WITH '{beginning}'"
    found: set[str] = set()
    async for execution in client.list_workflows(query, page_size=1000, limit=MAX_IDS):
        if "/" not in execution.id:
            found.add(execution.id)
    return sorted(found)


async def list_runs(client: Client, limit: int = 20) -> list[Row]:
    """Research runs without their sections, the newest first."""
    query = f"{RESEARCH} AND ExecutionStatus != 'ContinuedAsNew'"
    rows: list[Row] = []
    async for execution in client.list_workflows(query, page_size=200):
        if "/" not in execution.id:
            rows.append(await as_row(execution))
        if len(rows) >= max(limit, 200):
            break
    # the server lists running workflows before closed ones; a list for people is ordered by start time
    rows.sort(key=lambda row: row.started, reverse=True)
    return rows[:limit]


async def describe(client: Client, run_id: str) -> Row:
    """What the server itself knows of a run. Raises NoSuchRun."""
    found = await description(client, run_id)
    if found is None:
        raise no_such_run(run_id)
    return await as_row(found)


async def description(client: Client, run_id: str) -> WorkflowExecutionDescription | None:
    """The server's description of a run; None when there is no such run. Raises RPCError."""
    try:
        return await client.get_workflow_handle(run_id).describe()
    except RPCError as error:
        if error.status in (RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT):
            return None
        raise


def status_of(execution: WorkflowExecution) -> str:
    """The execution's status in lower case."""
    return execution.status.name.lower() if execution.status else "unknown"


async def as_row(execution: WorkflowExecution) -> Row:
    """An execution as a row of the list."""
    memo = await execution.memo()
    attributes = {pair.key.name: str(pair.value) for pair in execution.typed_search_attributes}
    kind = execution.workflow_type.removesuffix("Research").lower()
    return Row(
        run_id=execution.id,
        status=status_of(execution),
        question=str(memo.get("question", "")) or attributes.get("DeterminatorQuestion", ""),
        mode=kind,
        phase=attributes.get("DeterminatorPhase", ""),
        stop_reason=attributes.get("DeterminatorStopReason", ""),
        started=execution.start_time,
        closed=execution.close_time,
    )
