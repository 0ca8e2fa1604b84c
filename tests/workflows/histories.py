"""The recorded histories, each with the test whose run it is: `python -m tests.workflows.histories NAME ...`.

A history that is there stands for the runs that are under way when a worker is upgraded, and is not recorded
again within a line of versions.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowHandle

HERE = Path(__file__).parent
FOLDER = Path(os.environ.get("HISTORIES") or HERE.parent / "histories")
RECORDS = os.environ.get("RECORDS", "")
"""The history that the test of this process records."""
RUN_ID = "ask-1"
"""What a recorded run is called; the ids of its children begin with it."""
IMPERSONAL = {"identity": "worker", "stackTrace": ""}


@dataclass(frozen=True)
class History:
    test: str
    """File below this folder, and test; empty for one of a former version."""
    holds: str
    """What it must hold, in the words of `test_replay.words_of`."""
    run: int = 1
    """Which of the runs of the test, by their order."""
    section: str = ""
    first: bool = False
    """Whether it is of the first execution of the run, which continued as new."""


HISTORIES: Mapping[str, History] = {
    "auto": History(
        "test_modes.py::test_auto_goes_on_as_whatever_mode_was_chosen_and_says_why[simple]",
        "AutoResearch prepare parse_query publish_report",
    ),
    "deep-candidates": History(
        "test_deep_signals.py::test_every_message_may_reach_a_run_while_its_sections_work",
        "approve choose_candidates generate_hypotheses look_up_candidate steer",
    ),
    "deep-continued": History("test_long_runs.py::test_writing_goes_on_where_it_was", "continued_as_new"),
    "deep-continuing": History(
        "test_long_runs.py::test_writing_goes_on_where_it_was", "continues_as_new", first=True
    ),
    "deep-edited-plan": History(
        "test_deep_plan.py::test_a_plan_approved_after_three_days_is_the_plan_that_runs",
        "edit_plan approve write_section edit_report section_report",
    ),
    "deep-follow-up": History(
        "test_follow_up.py::test_a_run_builds_on_the_evidence_of_an_earlier_one[deep]",
        "import_evidence",
        run=2,
    ),
    "deep-leases": History(
        "test_deep_budget.py::test_what_a_section_leaves_goes_to_the_others",
        "request_lease sent:grant sent:offer_evidence",
    ),
    "deep-leases-section": History(
        "test_deep_budget.py::test_what_a_section_leaves_goes_to_the_others",
        "sent:request_lease grant offer_evidence reflect",
        section="/s3",
    ),
    "deep-parent-cancelled": History(
        "test_deep_sections.py::test_a_cancelled_run_cancels_its_sections_and_leaves_a_partial_report",
        "cancel_requested canceled",
    ),
    "deep-rejected": History("test_every_mode.py::test_rejected_by_reviewer[hierarchical]", "reject"),
    "deep-section-failed": History(
        "test_deep_sections.py::test_sections_that_fail_leave_the_others_alone[1]",
        "child_failed write_section",
    ),
    "graph": History(
        "test_every_mode.py::test_a_long_run_continues_as_new_and_loses_nothing[graph]",
        "GraphResearch check_graph continues_as_new",
        first=True,
    ),
    "graph-own": History(
        "graph/test_own_steps.py::"
        "test_a_role_and_a_step_of_ones_own_change_what_is_searched_and_what_the_writer_is_told",
        "GraphResearch ask_own_role run_code_step read_in_full",
    ),
    "hierarchical": History(
        "test_every_mode.py::test_a_paused_run_asks_nothing_until_it_is_resumed_and_then_does_as_told[hierarchical]",
        "HierarchicalResearch plan_report steer section_report write_section",
    ),
    "hierarchical-sub-team": History(
        "test_every_mode.py::test_a_paused_run_asks_nothing_until_it_is_resumed_and_then_does_as_told[hierarchical]",
        "SubTeamResearch manage_team steer sent:section_report",
        section="/s1",
    ),
    "iterative": History(
        "test_iterations.py::test_each_iteration_is_remembered_and_shown_to_the_next",
        "IterativeResearch observe evaluate_gaps select_tools",
    ),
    "iterative-analysed": History(
        "test_analysis.py::test_a_program_of_a_model_computes_what_the_fixed_analysis_lists",
        "analyse_effects extract_table run_program verify_sentences",
    ),
    "iterative-cancelled": History(
        "test_every_mode.py::test_cancelled[iterative]", "cancel_requested canceled"
    ),
    "iterative-clarified": History(
        "test_people.py::"
        "test_what_a_run_asks_back_is_answered_days_later_and_stands_in_every_later_prompt[auto]",
        "clarify_question answer",
        first=True,
    ),
    "iterative-continuing": History(
        "test_event_log.py::test_a_follower_disconnected_forty_times_gets_each_event_once",
        "continues_as_new store_events",
        first=True,
    ),
    "iterative-effects": History(
        "test_analysis.py::test_effects_are_read_where_works_compare_though_none_may_answer[placebo-3-1]",
        "appraise_effects judge_evidence",
    ),
    "iterative-every-source": History(
        "test_pubmed.py::test_every_source_is_searched_on_its_queue",
        "search_chembl search_library check_pubmed",
    ),
    "iterative-given-up": History("test_stuck.py::test_a_run_that_is_given_up_asks_no_model_more", "give_up"),
    "iterative-model-down": History(
        "test_models.py::test_a_run_that_waits_for_its_model_goes_on_when_it_is_back", "timer activity_failed"
    ),
    "iterative-ordered": History(
        "test_models.py::test_a_small_model_puts_passages_in_order_and_judges_nothing", "weigh_work"
    ),
    "iterative-rewound": History(
        "test_rewind.py::test_a_finished_run_goes_on_from_an_iteration[8000]",
        "reset judge_evidence attributes",
    ),
    "iterative-steered": History(
        "test_people.py::test_each_message_to_a_run_that_works_is_acted_on",
        "steer pause resume extend_budget add_source finish_now",
    ),
    "iterative-without-a-model": History(
        "test_analysis.py::test_without_a_model_only_the_users_effects_are_pooled",
        "judge_evidence write_section",
    ),
    "iterative-worker-lost": History(
        "test_surviving.py::test_a_run_survives_a_worker_that_is_lost_at_the_last_attempt",
        "activity_timed_out",
    ),
    "rate-gate": History(
        "test_long_runs.py::test_a_rate_gate_that_is_given_back_continues_as_new",
        "RateGate hold_gate continues_as_new",
        first=True,
    ),
    "refresh": History(
        "test_refresh.py::test_a_refresh_repeats_the_searches_and_names_what_is_new",
        "RefreshReport plan_refresh keep_refresh",
    ),
    "review": History(
        "test_review.py::test_an_amendment_and_an_overruled_decision_make_again_only_what_rests_on_them",
        "SystematicReview amend approve decide finish_now part pause resume publish_review",
    ),
    "review-continued": History(
        "test_review.py::test_a_review_draws_and_orders_alike_however_often_it_continues_as_new",
        "read_for_review continues_as_new",
        first=True,
    ),
    "review-extractor": History(
        "test_review_studies.py::test_a_person_may_be_one_of_the_extractors", "decide provide_full_text"
    ),
    "review-living": History(
        "test_review_studies.py::test_a_living_review_tells_which_conclusion_changed_and_nothing_else",
        "tell_changes",
    ),
    "review-studies": History(
        "test_review_studies.py::test_a_review_goes_from_full_texts_to_a_pooled_conclusion",
        "decide provide_full_text read_for_review settle_fields",
    ),
    "revision": History(
        "test_refresh.py::test_a_report_is_changed_as_it_was_asked",
        "plan_revision revise_report keep_revision",
    ),
    "simple": History(
        "test_every_mode.py::test_a_paused_run_asks_nothing_until_it_is_resumed_and_then_does_as_told[simple]",
        "SimpleResearch judge_evidence select_tools pause",
    ),
    "team": History(
        "test_team.py::test_each_member_has_its_own_temperature_and_may_have_a_model_of_its_own",
        "TeamResearch manage_team generate_hypotheses judge_evidence",
    ),
}


def id_of(number: int, name: str) -> str:
    """The id of the run that a test starts as its so-many-th under this name."""
    return RUN_ID if RECORDS and HISTORIES[RECORDS].run == number else name or f"ask-{number}"


async def record(client: Client, runs: Sequence[WorkflowHandle[Any, Any]]) -> None:
    """Write the history that is recorded now, of the runs that a test has started, without what it says of
    the machine."""
    if not RECORDS:
        return
    wanted = HISTORIES[RECORDS]
    run = runs[wanted.run - 1]
    first = run.first_execution_run_id if wanted.first else None
    history = await client.get_workflow_handle(f"{run.id}{wanted.section}", run_id=first).fetch_history()
    kept = json.loads(history.to_json(), object_hook=_impersonal)
    (FOLDER / f"{RECORDS}.json").write_text(json.dumps(kept, separators=(",", ":")) + "\n")


def _impersonal(fields: dict[str, Any]) -> dict[str, Any]:
    return fields | {key: value for key, value in IMPERSONAL.items() if key in fields}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        command = [sys.executable, "-m", "pytest", "-q", "-m", "", f"{HERE}/{HISTORIES[name].test}"]
        subprocess.run(command, env=os.environ | {"RECORDS": name}, check=True)
