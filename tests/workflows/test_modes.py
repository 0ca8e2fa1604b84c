"""The table of modes: what may run, what `auto` may choose and goes on as."""

import subprocess
import sys

import pytest
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ApplicationError

from activities.contracts.evidence import MODE_ALIASES, Effort, ModelChoice
from activities.contracts.plan import ParsedQuery, ParseQueryInput
from activities.settings import Settings
from tests.workflows.conftest import Stage, a_request
from tests.workflows.script import takes
from workflows.amounts import Limits
from workflows.auto import REASON_GRAPH
from workflows.graph.library import builtin
from workflows.modes import (
    AUTO,
    CHOICES,
    MODES,
    REASONS,
    TABLE,
    Available,
    ModeInfo,
    modes_for_auto,
    reason_against,
    refusal,
)
from workflows.types import ResearchRequest

EVERYTHING = Available(sources=True, model=True, manager_model=True, graph=True)
NEEDS_MODEL = ModeInfo(name="x", workflow="X", location="m:X", good_for="y", needs=("sources", "model"))


def test_every_name_and_alias_means_one_mode() -> None:
    names = [name for info in TABLE for name in (info.name, *info.aliases)]
    assert len(names) == len(set(names))
    assert {CHOICES[name] for name in names} == set(MODES)
    assert CHOICES[AUTO] == AUTO
    # a configuration file and a variable may name a mode as a flag does
    assert {alias: info.name for info in TABLE for alias in info.aliases} == MODE_ALIASES
    assert {alias: Settings.model_validate({"mode": alias}).mode for alias in MODE_ALIASES} == MODE_ALIASES


@pytest.mark.parametrize("info", TABLE, ids=lambda info: info.name)
def test_the_defaults_of_a_mode_are_limits_that_are_allowed(info: ModeInfo) -> None:
    limits = Limits.model_validate(dict(info.defaults))
    assert limits.model_dump(include=set(info.defaults)) == dict(info.defaults)
    ResearchRequest.model_validate({"question": "Does it work?", "mode": info.name, "limits": limits})


def test_a_question_imports_no_mode_not_even_its_own() -> None:
    """The client names the workflow of a mode; only a worker, which may be given any, has them all."""
    modes = [*(name for name in (AUTO, *MODES) if name != "graph"), "graph"]
    code = (
        "import sys\n"
        "import client.cli.options, client.runs.follow, client.runs.start\n"
        "from activities.settings import Settings\n"
        "from client.runs.options import AskOptions\n"
        "from client.runs.request import build_request\n"
        f"for mode in {modes}:\n"
        "    build_request(Settings(), 'Does it work?', AskOptions(mode=mode))\n"
        "    print(*sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for mode, line in zip(modes, done.stdout.splitlines(), strict=True):
        loaded = set(line.split())
        assert "workflows.modes" in loaded
        assert not loaded & {place.partition(":")[0] for info in TABLE for place in info.location.split()}
        # the request of the mode graph holds a graph, which has been checked
        assert ("networkx" in loaded) is (mode == "graph")


def test_what_a_mode_needs_and_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workflows.modes.MODES", {"x": NEEDS_MODEL})
    assert refusal("x", Available(sources=True, model=False)).endswith("no language model is connected")
    assert refusal("x", Available(sources=False, model=False)).count(", and ") == 1
    assert refusal("y", EVERYTHING)


def test_auto_is_offered_no_mode_that_lacks_what_it_works_best_with() -> None:
    poor = modes_for_auto(Available(sources=True, model=False))
    assert set(poor) == set(MODES) - {"team", "graph"}
    assert [
        reason_against(MODES[name], Available(sources=True, model=False)) for name in ("team", "graph")
    ] == [
        REASONS["manager_model"],
        REASONS["graph"],
    ]
    assert set(modes_for_auto(EVERYTHING)) == set(MODES)
    assert "iterative" in poor


def test_a_small_budget_keeps_auto_from_the_modes_that_want_more() -> None:
    small = Available(sources=True, model=True, manager_model=True, graph=True, tokens=20_000)
    assert set(modes_for_auto(small)) == {info.name for info in TABLE if info.least_tokens <= 20_000}
    assert reason_against(MODES["deep"], small)
    # without a model nothing is paid, so the token limit does not matter
    assert "deep" in modes_for_auto(Available(sources=True, model=False, tokens=0))


@pytest.mark.parametrize("mode", [AUTO, *MODES])
async def test_a_mode_that_cannot_run_is_refused_with_the_reason_and_never_replaced(
    stage: Stage, mode: str
) -> None:
    stage.script.sources = stage.script.sources[2:]  # gamma, which is not enabled
    run = await stage.start(a_request(mode))
    with pytest.raises(WorkflowFailureError) as failure:
        await run.outcome()
    cause = failure.value.cause
    assert isinstance(cause, ApplicationError)
    assert cause.type == "ModeUnavailable"
    assert cause.message == refusal(mode, Available(sources=False, model=True))
    assert stage.fakes.calls == []
    assert stage.fakes.searches == []


async def test_auto_asks_the_query_parser_to_choose_among_what_is_available(stage: Stage) -> None:
    await stage.play(a_request(AUTO, limits={"max_tokens": 30_000}))
    await stage.play(a_request("iterative"))
    steps = [call.step for call in stage.fakes.of("query_parser")]
    given = [step.modes for step in steps if isinstance(step, ParseQueryInput)]
    has = Available(sources=True, model=True, manager_model=True, tokens=30_000)
    assert given == [modes_for_auto(has), {}]


@pytest.mark.parametrize(("effort", "team"), [("normal", True), ("small", False)])
async def test_auto_is_offered_a_team_only_where_a_model_can_manage_it(
    stage: Stage, effort: Effort, team: bool
) -> None:
    stage.script.models = {"default": ModelChoice(backend="openai", model="one", effort=effort)}
    await stage.play(a_request(AUTO))
    step = stage.fakes.of("query_parser")[0].step
    assert isinstance(step, ParseQueryInput)
    assert ("team" in step.modes) is team
    assert "graph" not in step.modes


async def test_auto_walks_a_graph_that_was_given_and_says_why(stage: Stage) -> None:
    stage.script.mode = "deep"  # what the question alone would get
    _, report, run = await stage.play(a_request(AUTO, graph=builtin("iterative")))
    assert report.mode == "graph"
    chosen = [event.data for event in await run.events() if event.type == "mode_chosen"]
    assert [(data["mode"], data["reason"]) for data in chosen] == [("graph", REASON_GRAPH)]
    assert (await run.progress()).chosen_because == REASON_GRAPH


@pytest.mark.parametrize("mode", ["simple", "graph"])
async def test_auto_goes_on_as_whatever_mode_was_chosen_and_says_why(stage: Stage, mode: str) -> None:
    stage.script.mode = mode
    outcome, report, run = await stage.play(a_request(AUTO))
    described = await run.handle.describe()
    first = described.raw_description.workflow_execution_info.first_run_id
    if mode == "graph":  # answers a query of its own
        assert described.workflow_type == "GraphResearch"
    else:
        assert (described.workflow_type, first) == ("AutoResearch", described.run_id)
    assert (outcome.run_id, report.mode) == (run.handle.id, mode)
    assert outcome.verified_claims > 0
    assert len(stage.fakes.of("query_parser")) == 1
    progress = await run.progress()
    assert (progress.mode, progress.chosen_because) == (mode, "because the script says so")
    events = await run.events()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [event.data["mode"] for event in events if event.type == "mode_chosen"] == [mode]


async def test_auto_that_is_cancelled_leaves_a_report(stage: Stage) -> None:
    stage.script.before["query_parser"] = lambda _: takes(30)
    run = await stage.start(a_request("auto"))
    await run.until(lambda p: p.phase == "reading")
    assert (await stage.cancelled(run)).stop_reason == "cancelled"


async def test_auto_chooses_the_profile_as_well(stage: Stage) -> None:
    stage.script.answers["query_parser"] = lambda step: ParsedQuery(
        improved_query=step.question, research_mode="iterative", profile="drug_repurposing"
    )
    await stage.play(a_request("auto"))
    assert [p.profile for p in stage.fakes.prepared] == ["general", "drug_repurposing"]


@pytest.mark.parametrize(("left_open", "rounds"), [(("max_iterations",), 11), ((), 6)])
async def test_limits_that_were_not_set_are_the_chosen_modes_own(
    stage: Stage, left_open: tuple[str, ...], rounds: int
) -> None:
    """Ten rounds for a team, or the five of the request, and the one that was added meanwhile: what is said
    while it chooses is carried on."""
    stage.script.mode = "team"
    stage.script.before["query_parser"] = lambda _: takes(30)
    run = await stage.start(a_request("auto", open_limits=left_open))
    await run.until(lambda p: p.phase == "reading")
    await run.handle.signal("steer", {"text": "older people"})
    await run.handle.execute_update("extend_budget", {"iterations": 1})
    await run.outcome()
    assert {call.step.steering for call in stage.fakes.of("manager")} == {("older people",)}
    assert (await run.progress()).max_iterations == rounds
    assert (await run.budget()).limits.max_iterations == rounds
