"""Histories of finished runs must replay with today's code: a change that reorders what old runs did would
leave them stuck after an upgrade. `tests.workflows.histories` has a row for each.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner, WorkflowRunner
from temporalio.workflow import NondeterminismError

from activities.payloads import DATA_CONVERTER
from tests.registered import registered_names
from tests.workflows.conftest import WORKFLOWS
from tests.workflows.histories import FOLDER, HISTORIES, RUN_ID
from tests.workflows.sandbox import SANDBOX

pytestmark = pytest.mark.invariant

OUTCOMES = {
    "EVENT_TYPE_ACTIVITY_TASK_FAILED": "activity_failed",
    "EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT": "activity_timed_out",
    "EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED": "child_failed",
    "EVENT_TYPE_MARKER_RECORDED": "patched",
    "EVENT_TYPE_TIMER_FIRED": "timer",
    "EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES": "attributes",
    "EVENT_TYPE_WORKFLOW_TASK_FAILED": "reset",
    "EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED": "canceled",
    "EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED": "cancel_requested",
    "EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW": "continues_as_new",
}


def words_of(name: str) -> set[str]:
    """What a history holds: the workflow's type, the names of its activities and of the signals and updates
    it received, `sent:` before the signals it sent, and the outcomes above."""
    events = recorded(name)["events"]
    begun = events[0]["workflowExecutionStartedEventAttributes"]
    found = {begun["workflowType"]["name"]}
    if begun.get("continuedExecutionRunId"):
        found.add("continued_as_new")
    for event in events:
        found |= {OUTCOMES[event["eventType"]]} if event["eventType"] in OUTCOMES else set()
        scheduled = event.get("activityTaskScheduledEventAttributes")
        signaled = event.get("workflowExecutionSignaledEventAttributes")
        sent = event.get("signalExternalWorkflowExecutionInitiatedEventAttributes")
        update = event.get("workflowExecutionUpdateAcceptedEventAttributes")
        found |= {scheduled["activityType"]["name"]} if scheduled else set()
        found |= {signaled["signalName"]} if signaled else set()
        found |= {f"sent:{sent['signalName']}"} if sent else set()
        found |= {update["acceptedRequest"]["input"]["name"]} if update else set()
    return found


def a_replayer(runner: WorkflowRunner = SANDBOX) -> Replayer:
    return Replayer(
        workflows=WORKFLOWS,
        data_converter=DATA_CONVERTER,
        unsandboxed_workflow_runner=runner,
        workflow_failure_exception_types=[],
        debug_mode=True,  # a loaded machine needs over two seconds for a step, and a replay then never ends
    )


def recorded(name: str) -> dict[str, Any]:
    events: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return events


MANY_WORKS = frozenset({"deep-continued", "deep-effects-beside", "deep-leases"})
"""Recorded with a lower limit of works that are written about in one call, which no sandbox would see."""


@pytest.mark.parametrize("name", HISTORIES)
async def test_a_recorded_run_replays(name: str, request: pytest.FixtureRequest) -> None:
    if name in MANY_WORKS:
        request.getfixturevalue("many_works")
    replayer = a_replayer(UnsandboxedWorkflowRunner() if name in MANY_WORKS else SANDBOX)
    await replayer.replay_workflow(WorkflowHistory.from_json(RUN_ID, recorded(name)))


@pytest.mark.parametrize("name", HISTORIES)
def test_a_history_holds_what_it_was_recorded_for(name: str) -> None:
    row = HISTORIES[name]
    assert words_of(name) >= set(row.holds.split())
    file, _, test = row.test.partition("::")
    assert not file or f"def {test.partition('[')[0]}(" in (Path(__file__).parent / file).read_text()


def test_every_recorded_history_is_replayed() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(HISTORIES)


async def test_every_step_and_message_occurs_in_a_history(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a worker registers and what a run accepts; a new one is recorded."""
    queues, workflows = await registered_names(home, monkeypatch)
    held = set[str]().union(*map(words_of, HISTORIES))
    assert held >= set[str]().union(workflows, *queues.values())
    accepted = [workflow._Definition.must_from_class(cls) for cls in WORKFLOWS]  # the SDK has no public way
    assert held >= {name for found in accepted for name in (*found.signals, *found.updates) if name}


async def test_a_history_that_was_tampered_with_does_not_replay() -> None:
    """The judge replaced by the writer: the replayer must notice, or the tests above prove nothing."""
    events = recorded("iterative")
    named = [
        event["activityTaskScheduledEventAttributes"]["activityType"]
        for event in events["events"]
        if "activityTaskScheduledEventAttributes" in event
    ]
    judge = next(kind for kind in named if kind["name"] == "judge_evidence")
    judge["name"] = "write_section"
    history = WorkflowHistory.from_json(RUN_ID, events)
    with pytest.raises(NondeterminismError):
        await a_replayer().replay_workflow(history)
