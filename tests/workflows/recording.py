"""How a run's history is kept as a file, without what it says of the machine."""

import json
from typing import Any

from temporalio.client import WorkflowHistory

from tests.workflows.conftest import Run, Stage
from tests.workflows.test_replay import HISTORIES

IMPERSONAL = {"identity": "worker", "stackTrace": ""}


async def keep(name: str, run: Run) -> None:
    """Write a run's history to its file."""
    await keep_history(name, await run.handle.fetch_history())


async def keep_history(name: str, history: WorkflowHistory) -> None:
    """Write a history to its file."""
    compact = json.dumps(json.loads(history.to_json(), object_hook=impersonal), separators=(",", ":"))
    (HISTORIES / f"{name}.json").write_text(compact + "\n")


def impersonal(fields: dict[str, Any]) -> dict[str, Any]:
    """An object of a history without what it says of the machine it was recorded on."""
    return fields | {key: value for key, value in IMPERSONAL.items() if key in fields}


async def first_run(stage: Stage, run: Run) -> Run:
    """The run a workflow id began with, which ended by continuing as new."""
    return Run(stage.client.get_workflow_handle(run.handle.id, run_id=run.handle.first_execution_run_id))
