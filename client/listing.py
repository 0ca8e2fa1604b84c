"""Runs as the server knows them: listed, described, found by name. No worker is needed."""

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, StringConstraints, ValidationError
from temporalio.client import Client, WorkflowExecution, WorkflowExecutionDescription
from temporalio.service import RPCError, RPCStatusCode

from activities.codec import CodecError
from activities.configuration.declaration import option
from activities.contracts.evidence import Frozen
from client.failures import BadInput, NoSuchRun, SeveralRuns, faults_of, no_such_run
from workflows.attributes import MODE, PHASE, QUESTION, STOP_REASON
from workflows.modes import WORKFLOW_OF_MODE

RESEARCH = "WorkflowType IN (" + ", ".join(f"'{name}'" for name in WORKFLOW_OF_MODE.values()) + ")"


STATUSES = {
    "running": "Running",
    "completed": "Completed",
    "failed": "Failed",
    "cancelled": "Canceled",
    "terminated": "Terminated",
    "timed_out": "TimedOut",
}
"""Statuses as they are named here, and as the server names them."""
FAILED = ("failed", "terminated", "timed_out")
"""Those of a run that has no end of its own."""
PHASES = {"waiting": "waiting_for_approval", "paused": "paused"}
"""States that are phases of a running run."""
State = Literal["running", "waiting", "paused", "completed", "failed", "cancelled", "terminated", "timed_out"]
MAX_IDS = 20_000
"""Executions that are read in search of a part of an id."""
UNREADABLE = "(encrypted with a key that is not here)"
"""In place of the question of a run whose payloads cannot be read."""


@dataclass(frozen=True, slots=True)
class Row:
    run_id: str
    status: str
    """`running`, `completed`, `failed`, `canceled`, `terminated`, `timed_out`: as the JSON has named it."""
    question: str
    mode: str
    phase: str
    stop_reason: str
    started: datetime
    closed: datetime | None
    user: str = ""
    """Whom it was started for; empty where the server does not know."""
    line: str = ""
    """The line of versions that it began on (`0.2`); empty where the server does not know."""
    address: str = ""
    """The address of the model server that a command named for it."""


def shortest_name(run_id: str) -> str:
    """Return the hash at the end of an id, which names the run as well; an id without one as it is."""
    return run_id[-8:] if re.search(r"-[0-9a-f]{8}$", run_id) else run_id


async def find_run(client: Client, name: str) -> str:
    """Return the id for a full id, any unambiguous part of one, or `last`.

    A part at the beginning goes over one elsewhere. Raises NoSuchRun.
    """
    if name == "last":
        rows = await list_runs(client)
        if not rows:
            raise no_such_run(name)
        return rows[0].run_id
    if await description(client, name) is not None:
        return name
    if not re.fullmatch(r"[\w./:-]+", name):
        raise NoSuchRun(f"{name[:100]!r} cannot be the name of a run; list the runs to see their names")
    ids = await run_ids(client, prefix=name) or matching(await run_ids(client), name)
    if not ids:
        raise no_such_run(name)
    if len(ids) > 1:
        raise SeveralRuns(name, ids)
    return ids[0]


def matching(names: Iterable[str], part: str) -> list[str]:
    """Return the name that is the part itself, else those that begin with it, else those that contain it."""
    matches = [name for name in names if part in name]
    return (
        [name for name in matches if name == part]
        or [name for name in matches if name.startswith(part)]
        or matches
    )


async def count_reviews(client: Client) -> int:
    """Return how many systematic reviews the server knows."""
    query = "WorkflowType = 'SystematicReview' AND ExecutionStatus != 'ContinuedAsNew'"
    return (await client.count_workflows(query)).count


async def run_ids(client: Client, prefix: str = "") -> list[str]:
    """Return the ids of research runs without their sections, sorted, of `MAX_IDS` executions at most."""
    query = f"{RESEARCH} AND ExecutionStatus != 'ContinuedAsNew'"
    if prefix:
        query += f" AND WorkflowId STARTS_WITH '{prefix}'"
    ids: set[str] = set()
    async for execution in client.list_workflows(query, page_size=1000, limit=MAX_IDS):
        if "/" not in execution.id:
            ids.add(execution.id)
    return sorted(ids)


BEFORE_LINES = "0.1"
"""The line of runs that noted their user and no line."""


class Listing(Frozen):
    """What a list of runs is narrowed by: the options, arguments and parameters of every surface."""

    model_config = ConfigDict(extra="forbid", defer_build=False)

    state: Annotated[State | None, option("Only runs in this state.")] = None
    text: Annotated[
        str, option("Only runs with this in their question or id."), StringConstraints(strip_whitespace=True)
    ] = ""
    limit: Annotated[int, option("How many runs at most; default: 20."), Field(ge=1, le=200)] = 20

    @classmethod
    def read(cls, values: Mapping[str, object]) -> Self:
        """Return what is asked for, of the values that say something. Raises BadInput."""
        try:
            return cls.model_validate({name: value for name, value in values.items() if value is not None})
        except ValidationError as error:
            raise BadInput(faults_of(error, "what was asked")) from error

    @property
    def is_narrow(self) -> bool:
        return self.model_fields_set - {"limit"} != set()

    def query(self) -> str:
        """Return the part that the server decides, as a visibility query."""
        parts = [RESEARCH, "ExecutionStatus != 'ContinuedAsNew'"]
        if self.state is not None:
            # only running runs have a phase
            parts.append(f"ExecutionStatus = '{STATUSES.get(self.state, 'Running')}'")
        return " AND ".join(parts)

    def admits(self, row: Row) -> bool:
        """Return the part that is decided here: not every server has our search attributes."""
        if self.state in PHASES and row.phase != PHASES[self.state]:
            return False
        text = self.text.casefold()
        return text in row.question.casefold() or text in row.run_id


EVERY = Listing()


async def list_runs(client: Client, only: Listing = EVERY, user: str | None = None) -> list[Row]:
    """Research runs without their sections, the newest first; `user`: those of one user.

    A run that was rewound has several executions under one id: the newest one counts.
    """
    executions: dict[str, list[WorkflowExecution]] = {}
    rows: dict[str, Row] = {}
    async for execution in client.list_workflows(only.query(), page_size=200):
        if "/" in execution.id:
            continue
        executions.setdefault(execution.id, []).append(execution)
        row = await as_row(execution)
        if user in (None, row.user) and only.admits(row):
            rows.setdefault(execution.id, row)
        if len(rows) >= max(only.limit, 200):
            break
    for name in [name for name, several in executions.items() if len(several) > 1]:
        state = await description(client, name)
        rows.pop(name, None)
        if state and any(e.run_id == state.run_id for e in executions[name]):
            row = await as_row(state)
            if user in (None, row.user) and only.admits(row):
                rows[name] = row
    # the server lists running workflows before closed ones; a list for people is ordered by start time
    page = sorted(rows.values(), key=lambda row: row.started, reverse=True)[: only.limit]
    if only.state in (None, "running"):
        return page
    # of a run that was rewound the server lists earlier executions by the state in which these ended
    states = await asyncio.gather(*(description(client, row.run_id) for row in page))
    return [row for row, state in zip(page, states, strict=True) if state and status_of(state) == row.status]


async def describe(client: Client, run_id: str) -> Row:
    """Return what the server itself knows of a run. Raises NoSuchRun."""
    state = await description(client, run_id)
    if state is None:
        raise no_such_run(run_id)
    return await as_row(state)


async def description(client: Client, run_id: str) -> WorkflowExecutionDescription | None:
    """Return the server's description of a run; None when there is no such run. Raises RPCError."""
    try:
        return await client.get_workflow_handle(run_id).describe()
    except RPCError as error:
        if error.status in (RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT):
            return None
        raise


def status_of(execution: WorkflowExecution) -> str:
    """Return the execution's status in lower case."""
    return execution.status.name.lower() if execution.status else "unknown"


async def as_row(execution: WorkflowExecution) -> Row:
    """Return the memo of a run; one that cannot be decrypted says so, and the others are listed."""
    try:
        memo: Mapping[str, object] = await execution.memo()
    except (CodecError, KeyError):  # the SDK raises KeyError for an encoding that it does not know
        memo = {"question": UNREADABLE}
    attributes = {pair.key.name: str(pair.value) for pair in execution.typed_search_attributes}
    kind = execution.workflow_type.removesuffix("Research").lower()
    return Row(
        run_id=execution.id,
        status=status_of(execution),
        question=str(memo.get("question", "")) or attributes.get(QUESTION.name, ""),
        mode=attributes.get(MODE.name, "") or kind,
        phase=attributes.get(PHASE.name, ""),
        stop_reason=attributes.get(STOP_REASON.name, ""),
        started=execution.start_time,
        closed=execution.close_time,
        user=str(memo.get("user", "")),
        line=str(memo.get("line", "")) or (BEFORE_LINES if memo.get("user") is not None else ""),
        address=str(memo.get("address", "")),
    )
