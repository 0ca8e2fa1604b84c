"""Histories of finished runs must replay with today's code: a change that reorders what old runs did would
leave them stuck after an upgrade.

To record them again after a deliberate change: `python -m tests.workflows.record`.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

from activities.payloads import DATA_CONVERTER
from tests.workflows.conftest import WORKFLOWS
from tests.workflows.sandbox import SANDBOX

HISTORIES = Path(__file__).parents[1] / "histories"
RUN_ID = "ask-1"
"""What the recorded runs were called; the ids of their children begin with it."""
NAMES = (
    "auto",
    "deep-edited-plan",
    "deep-parent-cancelled",
    "deep-section",
    "iterative",
    "iterative-continued",
    "iterative-steered",
)


def a_replayer() -> Replayer:
    return Replayer(
        workflows=WORKFLOWS,
        data_converter=DATA_CONVERTER,
        workflow_runner=SANDBOX,
        workflow_failure_exception_types=[],
    )


def recorded(name: str) -> dict[str, Any]:
    events: dict[str, Any] = json.loads((HISTORIES / f"{name}.json").read_text())
    return events


@pytest.mark.parametrize("name", NAMES)
async def test_a_recorded_run_replays(name: str) -> None:
    await a_replayer().replay_workflow(WorkflowHistory.from_json(RUN_ID, recorded(name)))


async def test_a_history_that_was_tampered_with_does_not_replay() -> None:
    """The judge's place taken by the writer: the replayer must notice, or the tests above prove nothing."""
    events = recorded("iterative")
    named = [
        event["activityTaskScheduledEventAttributes"]["activityType"]
        for event in events["events"]
        if "activityTaskScheduledEventAttributes" in event
    ]
    judge = next(kind for kind in named if kind["name"] == "judge_evidence")
    judge["name"] = "write_report"
    history = WorkflowHistory.from_json(RUN_ID, events)
    with pytest.raises(NondeterminismError):
        await a_replayer().replay_workflow(history)
