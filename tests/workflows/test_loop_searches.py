"""Searches that are one step: those of a library, which cost neither money nor a rate."""

import pytest

from activities.steps import AgentSelectionPlan, AgentTask
from activities.types import SourceInfo, SourceOption
from tests.workflows.conftest import Stage, a_request

QUERIES = ("one", "two", "three")


def searches_of_a_library(stage: Stage) -> None:
    """A loop that searches a library three times, and another source once."""
    stage.script.undecided = True
    stage.script.sources = [
        SourceOption(info=SourceInfo(name=name, title=name, covers="papers"), enabled=True)
        for name in ("library", "alpha")
    ]
    tasks = [AgentTask(gap="g", agent="library", query=query) for query in QUERIES]
    tasks.insert(1, AgentTask(gap="g", agent="alpha", query="one"))
    stage.script.answers["tool_selector"] = lambda _: AgentSelectionPlan(tasks=tuple(tasks))


@pytest.mark.parametrize("fails", [False, True])
async def test_the_searches_of_a_library_are_one_step_and_each_has_its_row(stage: Stage, fails: bool) -> None:
    searches_of_a_library(stage)
    stage.script.together_fails = fails
    outcome, report, _ = await stage.play(a_request(sources=("library", "alpha")))
    assert outcome.answered
    assert [[task.query.text for task in step.tasks] for step in stage.fakes.together] == [list(QUERIES)]
    rows = {(row.source, row.query, row.status, row.kept) for row in report.methodology.searches}
    assert rows == {("alpha", "one", "ok", 1), *(("library", query, "ok", 1) for query in QUERIES)}
    alone = [task.query.text for task in stage.fakes.searches if task.source == "library"]
    assert alone == list(QUERIES)


async def test_a_question_that_chooses_its_profile_is_prepared_once(stage: Stage) -> None:
    stage.script.undecided = True
    _, report, _ = await stage.play(a_request())
    assert [(step.profile, step.chooses_profile) for step in stage.fakes.prepared] == [("general", True)]
    assert report.profile == stage.script.profile.name


async def test_earlier_evidence_is_searched_beside_the_sample_and_never_in_its_place(stage: Stage) -> None:
    """A second question on a home that has nothing but the bundled sample and what the first one found."""
    profile = stage.script.profile
    stage.script.profile = profile.model_copy(update={"sources": ("evidence",)})
    stage.script.sources = [
        SourceOption(info=SourceInfo(name=name, title=name, covers="papers"), enabled=True)
        for name in ("library", "evidence")
    ]
    _, report, _ = await stage.play(a_request())
    assert {row.source for row in report.methodology.searches} == {"library", "evidence"}
