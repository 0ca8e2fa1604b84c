"""Records the histories that `test_replay` replays: `python -m tests.workflows.record`."""

import asyncio
import json
import re
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from temporalio.client import WorkflowFailureError

from activities.types import ReportPlan, ReportPlanSection
from tests.workflows.conftest import Run, Stage, a_request, a_stage
from tests.workflows.fakes import takes
from tests.workflows.test_replay import HISTORIES
from workflows.types import EditPlan


async def keep(name: str, run: Run) -> None:
    """Write a run's history to its file."""
    history = await run.handle.fetch_history()
    recorded = re.sub(r'"identity": *"[^"]*"', '"identity": "worker"', history.to_json())
    compact = json.dumps(json.loads(recorded), separators=(",", ":"))
    (HISTORIES / f"{name}.json").write_text(compact + "\n")


async def iterative(stage: Stage) -> None:
    stage.script.sufficient_at = 2
    run = await stage.start(a_request())
    await run.outcome()
    await keep("iterative", run)


async def steered(stage: Stage) -> None:
    stage.script.before["judge"] = lambda _: takes(30)
    run = await stage.start(a_request(approve=("report",), approval_timeout_seconds=600.0))
    await run.until(lambda p: p.phase == "judging")
    await run.handle.signal("steer", {"text": "older people"})
    await run.handle.signal("pause")
    await run.handle.signal("resume")
    await run.handle.execute_update("extend_budget", {"tokens": 1_000})
    await run.outcome()
    await keep("iterative-steered", run)


async def continued(stage: Stage) -> None:
    stage.script.sufficient_at = 5
    run = await stage.start(a_request(history_events=50))
    await run.outcome()
    await keep("iterative-continued", run)


async def auto(stage: Stage) -> None:
    run = await stage.start(a_request("auto"))
    await run.outcome()
    first = stage.client.get_workflow_handle(run.handle.id, run_id=run.handle.first_execution_run_id)
    await keep("auto", Run(first))


async def edited_plan(stage: Stage) -> None:
    stage.script.sufficient_at = 2
    run = await stage.start(a_request("deep", approve=("plan",)))
    await run.until(lambda p: p.waiting_for == "plan")
    outline = tuple(ReportPlanSection(title=f"T{n}", key_question=f"Why {n}?") for n in (1, 2))
    plan = ReportPlan(report_title="Edited", report_outline=outline)
    await run.handle.execute_update("edit_plan", EditPlan(plan=plan, by="ann"))
    await run.handle.signal("approve", {"gate": "plan", "by": "bob"})
    await run.outcome()
    await keep("deep-edited-plan", run)
    await keep("deep-section", stage.child(run, "s1"))


async def parent_cancelled(stage: Stage) -> None:
    stage.script.before["judge"] = lambda _: takes(600)
    run = await stage.start(a_request("deep"))
    for section in ("s1", "s2", "s3"):
        await stage.child(run, section).until(lambda p: p.phase == "judging")
    await run.handle.cancel()
    with suppress(WorkflowFailureError):
        await run.outcome()
    await keep("deep-parent-cancelled", run)


SCENES: tuple[Callable[[Stage], Awaitable[None]], ...] = (
    iterative,
    steered,
    continued,
    auto,
    edited_plan,
    parent_cancelled,
)


async def main() -> None:
    HISTORIES.mkdir(exist_ok=True)
    for scene in SCENES:
        with tempfile.TemporaryDirectory() as folder:
            async with a_stage(Path(folder)) as stage:
                await scene(stage)


if __name__ == "__main__":
    asyncio.run(main())
