"""A deep run: the failure or cancellation of one section does not affect the others."""

import asyncio
from datetime import datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError

from activities.contracts.judge import JudgeInput, WorkJudgement
from activities.contracts.plan import AgentSelectionPlan, AgentTask, KnowledgeGapOutput, SelectInput
from activities.payloads import DATA_CONVERTER
from tests.workflows.conftest import QUESTION, Stage, a_request, until
from tests.workflows.deep import all_judging, question_of
from tests.workflows.script import document, takes
from workflows.run import RunParts
from workflows.sections.drafting import SectionResults, best_judgements
from workflows.state import EvidenceState, SectionsState
from workflows.types import SectionProgress


@pytest.mark.parametrize("failing", [1, 3])
async def test_sections_that_fail_leave_the_others_alone(stage: Stage, failing: int) -> None:
    """One of three, and all: what a step of theirs answers cannot even be read, and their workflow fails."""
    doomed = [f"s{n}" for n in range(3, 3 - failing, -1)]

    def tools(step: SelectInput) -> AgentSelectionPlan | str:
        if step.section in doomed:
            return "this is no list of searches"
        tasks = (AgentTask(gap=step.gaps[0], agent=name, query=step.question) for name in ("alpha", "beta"))
        return AgentSelectionPlan(tasks=tuple(tasks))

    stage.script.answers["tool_selector"] = tools
    outcome, report, _ = await stage.play(a_request("deep"))
    assert [(s.id, s.title, s.key_question) for s in report.sections] == [
        (f"s{n}", f"Section {n}", f"question number {n}") for n in (1, 2, 3)
    ]
    for section in report.sections:
        assert section.status == ("failed" if section.id in doomed else "complete")
        assert bool(section.claims) == (section.id not in doomed)
        for claim in section.claims:
            assert question_of(section.id) in claim.support[0].quote
        named = [text for text in report.limitations if f"“{section.title}”" in text]
        assert bool(named) == (section.id in doomed)
    assert outcome.answered == (failing < 3)
    assert outcome.stop_reason == ("sufficient_evidence" if failing < 3 else "all_sources_failed")


@pytest.mark.parametrize("cancelled", [("s2",), ("s1", "s2", "s3")])
async def test_sections_can_be_cancelled_alone_and_the_run_completes(
    stage: Stage, cancelled: tuple[str, ...]
) -> None:
    stage.script.before["judge"] = lambda _: takes(60)
    run = await stage.start(a_request("deep"))
    await all_judging(stage, run)
    for section in cancelled:
        await stage.cancel(stage.child(run, section))
    outcome = await run.outcome()
    report = await run.report()
    assert {s.id for s in report.sections if s.status == "cancelled"} == set(cancelled)
    assert outcome.stop_reason == ("sufficient_evidence" if len(cancelled) == 1 else "cancelled")
    assert (await run.handle.describe()).status == WorkflowExecutionStatus.COMPLETED
    # what had been found until then is written up all the same
    assert all(section.claims for section in report.sections)


async def test_a_cancelled_run_cancels_its_sections_and_leaves_a_partial_report(live: Stage) -> None:
    released = asyncio.Event()

    live.script.holds = {"judge": lambda _: released.wait()}
    live.script.sections = 5
    request = a_request("deep", limits={"max_parallel_sections": 2})
    run = await live.start(request, f"{live.queue}-cancelled")
    await all_judging(live, run, "s1", "s2")
    await run.handle.cancel()
    with pytest.raises(WorkflowFailureError):
        await run.outcome()
    assert not released.is_set(), "it does not wait for the calls under way"
    released.set()
    assert (await run.handle.describe()).status == WorkflowExecutionStatus.CANCELED
    for section in ("s1", "s2"):
        assert (await live.child(run, section).progress()).phase == "done"
    report = await run.report()
    assert report.stop_reason == "cancelled"
    assert [bool(s.claims) for s in report.sections] == [True, True, False, False, False]
    assert {s.status for s in report.sections} == {"cancelled"}
    assert [c.paid for c in live.fakes.of("writer")] == [False, False]


async def test_a_search_that_was_answered_before_a_cancel_is_kept(stage: Stage) -> None:
    def search(task: Any) -> Any:
        if task.source == "beta":
            takes(60)
        return [document(task.source, task.query.text)]

    stage.script.search = search
    run = await stage.start(a_request(search_seconds=None))
    await run.until(lambda p: p.phase == "searching")
    await until(lambda: asyncio.sleep(0, len(stage.fakes.answered)), lambda answered: answered == 1)
    await stage.cancelled(run)
    assert [r.source for r in (await run.report()).references] == ["alpha"]


async def test_events_of_sections_reach_the_run_within_a_second(stage: Stage) -> None:
    """From the task that has an event to the one that tells it, with calls of a minute each: how long a busy
    machine takes for a task does not count. Timestamps of events have whole seconds."""
    stage.script.sufficient_at = 2
    stage.script.before["judge"] = lambda _: takes(60)
    _, _, run = await stage.play(a_request("deep"))
    late = dict[str, float]()
    for number in range(1, stage.script.sections + 1):
        history = await stage.child(run, f"s{number}").handle.fetch_history()
        said, known, begun = 0, 0, 0.0
        for event in history.events:
            known += event.HasField("external_workflow_execution_signaled_event_attributes")
            if event.HasField("workflow_task_started_event_attributes"):
                begun = event.event_time.ToMicroseconds() / 1e6
            signal = event.signal_external_workflow_execution_initiated_event_attributes
            if signal.signal_name != "section_report":
                continue
            said += 1
            (report,) = await DATA_CONVERTER.decode(signal.input.payloads, [SectionProgress])
            for reported in report.events:
                waited = begun - datetime.fromisoformat(reported.timestamp).timestamp()
                late[reported.type] = max(late.get(reported.type, 0.0), waited)
        assert 0 < said <= known
    assert {"searching", "search_complete", "judging", "judge_complete", "gap"} <= set(late)
    assert max(late.values()) < 2


async def test_at_most_so_many_sections_run_at_once(stage: Stage) -> None:
    begun, judged, most = set[str](), set[str](), 0

    def slow(step: Any) -> None:
        nonlocal most
        begun.add(step.section)
        most = max(most, len(begun - judged))
        takes(30)
        judged.add(step.section)

    stage.script.before["judge"] = slow
    stage.script.sections = 3
    await stage.play(a_request("deep", limits={"max_parallel_sections": 2}))
    assert most == 2
    assert judged == {"s1", "s2", "s3"}


async def test_a_section_that_begins_later_searches_itself_and_judges_what_others_found(stage: Stage) -> None:
    """No gap is left from the second iteration on: what was offered is judged before the section ends."""
    stage.script.sections, stage.script.sufficient_at = 2, None
    stage.script.answers["gap_evaluator"] = lambda _: KnowledgeGapOutput(research_complete=True)
    _, report, _ = await stage.play(a_request("deep", limits={"max_parallel_sections": 1}))
    gaps = {search.gap for search in report.methodology.searches}
    assert gaps == {QUESTION, "question number 1", "question number 2"}
    steps = [call.step for call in stage.fakes.of("judge")]
    judged = [(step.section, step.evidence) for step in steps if isinstance(step, JudgeInput)]
    first, second = ([refs for name, refs in judged if name == section] for section in ("s1", "s2"))
    assert len(first) == 1
    assert len(second) == 2
    offered = {ref.evidence_id for ref in first[0]}
    assert offered.isdisjoint(ref.evidence_id for ref in second[0])
    assert offered & {ref.evidence_id for ref in second[1]}


def test_of_a_work_that_answers_two_sections_alike_the_first_one_in_the_report_is_told() -> None:
    """Whichever ended first."""
    harm = WorkJudgement(evidence_id="w1", answers=3, finding="One serious event in 498 sessions.")
    effect = WorkJudgement(evidence_id="w1", answers=3, finding="More days without a ventilator.")
    assert list(best_judgements([effect], {"w1": harm}, [])) == [effect]
    assert list(best_judgements([harm], {"w1": effect}, [effect])) == []
    assert list(best_judgements([harm], {"w1": effect.replace(answers=2)}, [effect.replace(answers=2)])) == [
        harm
    ]


def test_works_are_ranked_by_the_order_of_sections_in_the_report() -> None:
    """Whichever ended first."""
    sections = SectionsState(found={"s2": ["c", "a"], "s1": ["a", "b"]})
    state = SimpleNamespace(evidence=EvidenceState(), sections=sections)
    outline = [SimpleNamespace(id=name) for name in ("s1", "s2", "s3")]
    context = SimpleNamespace(state=state, request=None, outline=outline)
    SectionResults(cast(RunParts, SimpleNamespace(context=context))).rank_relevant()
    assert state.evidence.relevant == ["a", "c", "b"]
