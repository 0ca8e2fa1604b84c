"""The searches of a round that ask one source are one step."""

import pytest

from activities.contracts.evidence import Evidence
from activities.contracts.plan import AgentSelectionPlan, AgentTask
from activities.contracts.search import Preview, SearchTask
from tests.workflows.conftest import Stage, a_request
from tests.workflows.script import document, option, outage

QUERIES = ("one", "two", "three")


def searches_of_a_library(stage: Stage) -> None:
    """A loop that searches a library three times, and another source once."""
    stage.script.undecided = True
    stage.script.sources = [option("library"), option("alpha")]
    tasks = [AgentTask(gap="g", agent="library", query=query) for query in QUERIES]
    tasks.insert(1, AgentTask(gap="g", agent="alpha", query="one"))
    stage.script.answers["tool_selector"] = lambda _: AgentSelectionPlan(tasks=tuple(tasks))


async def test_the_searches_of_a_round_in_one_source_are_one_step_and_each_has_its_row(stage: Stage) -> None:
    """One that fails is a row of its own, and costs the others nothing."""

    def search(task: SearchTask) -> list[Evidence]:
        if task.query.text == "two":
            raise outage()
        return [document(task.source, task.query.text)]

    searches_of_a_library(stage)
    stage.script.search = search
    outcome, report, _ = await stage.play(a_request(sources=("library", "alpha")))
    assert outcome.answered
    steps = [[task.query.text for task in step.tasks] for step in stage.fakes.together]
    assert sorted(steps) == [["one"], list(QUERIES)]
    rows = {(row.source, row.query, row.status, row.kept) for row in report.methodology.searches}
    ended = {"one": ("ok", 1), "two": ("unavailable", 0), "three": ("ok", 1)}
    assert rows == {("alpha", "one", "ok", 1), *(("library", query, *ended[query]) for query in QUERIES)}


async def test_a_step_asks_for_no_more_results_than_its_answer_can_name(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workflows.steps.search.RESULTS_A_STEP", 20)
    searches_of_a_library(stage)
    await stage.play(a_request(sources=("library", "alpha"), limits={"results_per_search": 10}))
    assert sorted(len(step.tasks) for step in stage.fakes.together) == [1, 1, 2]


async def test_what_was_listed_and_not_read_is_known_to_the_next_round(stage: Stage) -> None:
    """The ledger counts it, and the next round chooses among it too, without what was tried."""
    unread = Preview(name="https://a.test/1", title="Unread")
    stage.script.listed = {"alpha": ((unread,), ("https://a.test/2",))}
    stage.script.sufficient_at = 2
    outcome, report, _ = await stage.play(a_request(sources=("alpha",)))
    assert outcome.stop_reason == "sufficient_evidence"
    first, second = (step.choice for step in stage.fakes.together[:2])
    assert first
    assert second
    assert (first.listed, first.tried) == ((), ())
    assert (second.listed, second.tried) == ((unread,), ("https://a.test/2",))
    assert {row.listed for row in report.methodology.searches} == {1}


async def test_a_question_that_chooses_its_profile_is_prepared_once(stage: Stage) -> None:
    stage.script.undecided = True
    _, report, _ = await stage.play(a_request())
    assert [(step.profile, step.chooses_profile) for step in stage.fakes.prepared] == [("general", True)]
    assert report.profile == stage.script.profile.name


async def test_earlier_evidence_is_searched_beside_the_sample_and_never_in_its_place(stage: Stage) -> None:
    """A second question on a home that has nothing but the bundled sample and what the first one found."""
    profile = stage.script.profile
    stage.script.profile = profile.model_copy(update={"sources": ("evidence",)})
    stage.script.sources = [option("library"), option("evidence")]
    _, report, _ = await stage.play(a_request())
    assert {row.source for row in report.methodology.searches} == {"library", "evidence"}
