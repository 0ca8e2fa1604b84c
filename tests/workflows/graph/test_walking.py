"""Runs that walk a graph: the built-in ones give the steps of the workflows, any valid one ends with a report
within its limits, and one that is not valid is refused before anything is paid for."""

import asyncio
import random
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ApplicationError

from tests.workflows.conftest import Stage, a_request, a_stage, until
from tests.workflows.deep import all_judging
from tests.workflows.graph.graphs import SPOILED, a_graph, valid_graphs
from tests.workflows.script import down, failing, outage, takes
from tests.workflows.test_random_runs import Weather, holds, play
from workflows.graph.definition import Facts, GraphDefinition, GraphView
from workflows.graph.library import builtin

Script = Callable[[Stage], None]


def in_one_order(roles: list[str]) -> list[str]:
    """The judge and the observer of the next iteration run at the same time: the judge is named first."""
    ordered = list(roles)
    for place in range(len(ordered) - 1):
        if ordered[place].startswith("observer ") and ordered[place + 1].startswith("judge "):
            ordered[place : place + 2] = ordered[place + 1], ordered[place]
    return ordered


async def steps_of(folder: Path, script: Script, mode: str, **more: Any) -> tuple[Any, ...]:
    """The steps of each workflow of a run, in order, its searches, and how it ended."""
    async with a_stage(folder) as stage:
        script(stage)
        outcome, report, run = await stage.play(a_request(mode, **more), "ask-1")
        steps: dict[str, list[str]] = {}
        for call in stage.fakes.calls:
            steps.setdefault(call.workflow_id, []).append(f"{call.role} {call.step.section}")
        steps = {name: in_one_order(roles) for name, roles in steps.items()}
        run_has_sections = mode == "deep" or ("graph" in more and more["graph"].has_sections)
        if run_has_sections:
            # sections are written at the same time, as soon as each is researched
            steps["ask-1"] = sorted(steps["ask-1"])
        searches = sorted((task.source, task.query.text) for task in stage.fakes.searches)
        tokens = (await run.budget()).used.tokens
        # a section that ends first is written first, and its works are divided before those of the others
        cited = 0 if run_has_sections else len(report.references)
        return steps, searches, outcome.stop_reason, cited, tokens


def nothing_found(stage: Stage) -> None:
    stage.script.search = lambda _: ()


def no_source(stage: Stage) -> None:
    stage.script.search = failing(outage())


def judge_down_twice(stage: Stage) -> None:
    stage.script.before["judge"] = failing(down(), 10)


@pytest.mark.parametrize(
    ("mode", "script", "rounds"), [("iterative", judge_down_twice, 3), ("deep", no_source, 2)]
)
async def test_a_built_in_graph_gives_the_steps_of_its_workflow(
    tmp_path: Path, mode: str, script: Script, rounds: int
) -> None:
    limits = {"max_iterations": rounds, "max_tokens": None}
    plain = await steps_of(tmp_path / "plain", script, mode, limits=limits)
    graph = await steps_of(tmp_path / "graph", script, "graph", limits=limits, graph=builtin(mode))
    assert graph == plain


async def test_a_graph_that_is_not_valid_is_refused_before_a_call(stage: Stage) -> None:
    for code in ("unguarded_cycle", "no_way_on"):
        run = await stage.start(a_request("graph", graph=SPOILED[code](LINE)))
        with pytest.raises(WorkflowFailureError) as failure:
            await run.outcome()
        cause = failure.value.cause
        assert isinstance(cause, ApplicationError), code
        assert (cause.type, bool(cause.details)) == ("GraphInvalid", True), code
    assert (stage.fakes.calls, stage.fakes.searches, stage.fakes.prepared) == ([], [], [])


LINE = a_graph("wanted select search think", branches="judge hypothesize")
"""The question is searched for once, and the report is written."""


async def view(run: Any) -> GraphView:
    found: GraphView = await run.ask("graph", GraphView)
    return found


async def test_branches_run_at_the_same_time_and_the_query_names_the_nodes(stage: Stage) -> None:
    stage.script.before["judge"] = lambda _: takes(600)
    stage.script.before["hypothesis_generator"] = lambda _: takes(600)
    run = await stage.start(a_request("graph", graph=LINE))

    at_once = {"think", "judge", "hypothesize"}
    found: GraphView = await until(lambda: view(run), lambda now: set(now.running) == at_once)
    assert (found.name, found.at) == (LINE.name, "think")
    assert found.visited == ("wanted", "select", "search")
    outcome = await run.outcome()
    assert outcome.stop_reason == "sufficient_evidence"
    ended = await view(run)
    assert ended.running == ()
    assert ended.at == "write"
    assert set(ended.results) == set(LINE.nodes)
    assert ended.nodes == tuple(LINE.nodes)
    assert ended.visits == dict.fromkeys(LINE.nodes, 1)
    assert set(ended.state) == set(Facts.model_fields)
    assert (ended.state["sufficient"], ended.state["iteration"], ended.state["last"]) == (True, 1, "judge")
    assert ended.state["tokens_used"] == (await run.budget()).used.tokens > 0
    turns = [str(event.data["member"]) for event in await run.events() if event.type == "turn"]
    assert sorted(turns) == sorted(LINE.nodes)


async def test_a_step_that_has_nothing_to_search_for_counts_no_searches(stage: Stage) -> None:
    _, _, run = await stage.play(a_request("graph", graph=a_graph("search think", branches="judge")))
    said = [event.message for event in await run.events() if event.type == "searching"]
    assert said == ["no search that was not made before"]


async def test_a_graph_cannot_claim_that_its_evidence_is_sufficient(stage: Stage) -> None:
    stage.script.sufficient_at = None
    outcome, _, _ = await stage.play(a_request("graph", graph=LINE))
    assert outcome.stop_reason == "max_iterations_reached"
    assert outcome.verified_claims > 0


async def test_a_branch_without_budget_lets_the_other_end_and_leaves_a_report(stage: Stage) -> None:
    outcome, _, run = await stage.play(a_request("graph", graph=LINE, limits={"max_tokens": 6_000}))
    assert outcome.stop_reason == "token_budget_exceeded"
    assert (await run.budget()).reserved_tokens == 0
    assert [event.type for event in await run.events()].count("complete") == 1


async def test_a_cancelled_graph_with_sections_reports_what_they_found(stage: Stage) -> None:
    stage.script.before["judge"] = lambda _: takes(600)
    run = await stage.start(a_request("graph", graph=builtin("deep")))
    await all_judging(stage, run)
    report = await stage.cancelled(run)
    assert report.stop_reason == "cancelled"
    assert report.references
    assert (await view(run)).at == "synthesize"


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=valid_graphs())
def test_any_valid_graph_ends_once_with_a_report_within_its_limits(
    tmp_path_factory: pytest.TempPathFactory, graph: GraphDefinition
) -> None:
    seed = zlib.crc32(graph.model_dump_json().encode())  # hypothesis would draw 0 most of the time

    async def one() -> None:
        async with a_stage(tmp_path_factory.mktemp("graph")) as stage:
            play(stage, Weather(seed))
            draw = random.Random(seed)
            limits = {
                "max_iterations": draw.randint(1, 4),
                "max_tokens": draw.choice([None, 0, 20_000, 100_000]),
                "max_seconds": draw.choice([600.0, 3_600.0]),
            }
            run = await stage.start(
                a_request("graph", graph=graph, limits=limits, history_events=draw.choice([60, 8_000]))
            )
            stop = (await run.outcome()).stop_reason
            await holds(stage, run, stop, seed)

    asyncio.run(one())
