"""Histories of finished runs must replay with today's code: a change that reorders what old runs did would
leave them stuck after an upgrade.

To record one for a new step: a scene in `tests.workflows.record`, a run of `python -m tests.workflows.record
SCENE`, and a line in `CONTAINS`.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

from activities.payloads import DATA_CONVERTER
from tests.registered import registered_names
from tests.workflows.conftest import WORKFLOWS
from tests.workflows.sandbox import SANDBOX

pytestmark = pytest.mark.invariant

HISTORIES = Path(__file__).parents[1] / "histories"
RUN_ID = "ask-1"
"""What the recorded runs were called; the ids of their children begin with it."""
CONTAINS: dict[str, set[str]] = {
    "auto": {"AutoResearch", "prepare", "parse_query"},
    "deep-candidates": {"approve", "choose_candidates", "generate_hypotheses", "look_up_candidate", "steer"},
    "deep-continued": {"continued_as_new"},
    "deep-continuing": {"continues_as_new"},
    "deep-edited-plan": {"edit_plan", "approve", "write_section", "edit_report", "section_report"},
    "deep-effects-beside": {"appraise_effects", "edit_report", "patched"},
    "deep-follow-up": {"import_evidence"},
    "deep-leases": {"request_lease", "sent:grant", "sent:offer_evidence"},
    "deep-leases-section": {"sent:request_lease", "grant", "offer_evidence", "reflect"},
    "deep-parent-cancelled": {"cancel_requested", "canceled"},
    "deep-rejected": {"reject"},
    "deep-section-failed": {"child_failed", "write_section"},
    "iterative-clarified": {"clarify_question", "answer"},
    "iterative-ordered": {"weigh_work"},
    "revision": {"plan_revision", "revise_report", "keep_revision"},
    "graph": {"GraphResearch", "check_graph", "generate_hypotheses", "steer", "continues_as_new"},
    "graph-own": {"GraphResearch", "ask_own_role", "run_code_step", "read_in_full"},
    "hierarchical": {"HierarchicalResearch", "plan_report", "steer", "section_report", "write_section"},
    "hierarchical-sub-team": {"SubTeamResearch", "manage_team", "steer", "sent:section_report"},
    "iterative": {"IterativeResearch", "observe", "evaluate_gaps", "select_tools"},
    "iterative-analysed": {"analyse_effects", "extract_table", "run_program", "verify_sentences"},
    "iterative-cancelled": {"cancel_requested", "canceled"},
    "iterative-continuing": {"continues_as_new", "store_events"},
    "iterative-effects-first": {"appraise_effects", "judge_evidence", "patched"},
    "iterative-every-source": {"search_chembl", "search_library", "check_pubmed"},
    "iterative-many-works": {"appraise_effects", "judge_evidence"},
    "iterative-model-down": {"timer", "activity_failed"},
    "iterative-rewound": {"reset", "judge_evidence", "pause", "approve"},
    "iterative-steered": {"steer", "pause", "resume", "extend_budget", "add_source", "finish_now"},
    "iterative-without-a-model": {"judge_evidence", "write_section"},
    "iterative-worker-lost": {"activity_timed_out"},
    "rate-gate": {"RateGate", "hold_gate", "continues_as_new"},
    "refresh": {"RefreshReport", "plan_refresh", "keep_refresh"},
    "simple": {"SimpleResearch", "judge_evidence", "select_tools", "pause", "steer"},
    "team": {"TeamResearch", "manage_team", "generate_hypotheses", "judge_evidence"},
}
"""Each history with what it must hold, in the words of `words_of`."""
OUTCOMES = {
    "EVENT_TYPE_ACTIVITY_TASK_FAILED": "activity_failed",
    "EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT": "activity_timed_out",
    "EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED": "child_failed",
    "EVENT_TYPE_MARKER_RECORDED": "patched",
    "EVENT_TYPE_TIMER_FIRED": "timer",
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


def a_replayer() -> Replayer:
    return Replayer(
        workflows=WORKFLOWS,
        data_converter=DATA_CONVERTER,
        unsandboxed_workflow_runner=SANDBOX,
        workflow_failure_exception_types=[],
    )


def recorded(name: str) -> dict[str, Any]:
    events: dict[str, Any] = json.loads((HISTORIES / f"{name}.json").read_text())
    return events


@pytest.mark.parametrize("name", CONTAINS)
async def test_a_recorded_run_replays(name: str) -> None:
    await a_replayer().replay_workflow(WorkflowHistory.from_json(RUN_ID, recorded(name)))


@pytest.mark.parametrize(("name", "wanted"), CONTAINS.items())
def test_a_history_holds_what_it_was_recorded_for(name: str, wanted: set[str]) -> None:
    assert words_of(name) >= wanted


def test_every_recorded_history_is_replayed() -> None:
    assert {path.stem for path in HISTORIES.glob("*.json")} == set(CONTAINS)


async def test_every_step_and_message_occurs_in_a_history(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a worker registers and what a run accepts; a new one is recorded with `tests.workflows.record`."""
    queues, workflows = await registered_names(home, monkeypatch)
    held = set[str]().union(*map(words_of, CONTAINS))
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
