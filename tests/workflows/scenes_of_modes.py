"""Scenes whose histories are recorded: the other modes."""

from collections.abc import Sequence
from unittest.mock import patch

from activities import own_step_activity
from activities.contracts.evidence import Evidence
from activities.contracts.plan import TeamLedger
from activities.extractive.planning import manage
from activities.own_step_activity import CodeStep, OwnStepInput, OwnStepOutput
from tests.workflows.conftest import Run, Stage, a_request
from tests.workflows.graph.graphs import a_graph
from tests.workflows.recording import first_run, keep
from tests.workflows.script import PROFILE, takes
from tests.workflows.test_replay import RUN_ID
from workflows.graph import library
from workflows.graph.definition import AgentNode, CodeNode, Node, RoleNode


async def simple(stage: Stage) -> None:
    """Two iterations, the second with the general queries, and a person who pauses and steers."""
    stage.script.sufficient_at = 2
    stage.script.before["judge"] = lambda step: takes(30) if step.iteration == 1 else None
    run = await stage.start(a_request("simple", approve=("report",), approval_timeout_seconds=600.0))
    await run.until(lambda p: p.phase == "judging")
    await run.handle.signal("pause")
    await run.handle.signal("steer", {"text": "older people"})
    await run.handle.signal("resume")
    await run.outcome()
    await keep("simple", run)


async def team(stage: Stage) -> None:
    """Hypotheses, a manager that calls for the report too early, and a plan that is made again."""
    stage.script.profile = PROFILE.model_copy(update={"candidates": True})
    stage.script.sufficient_at = 9
    stage.script.answers["manager"] = lambda step: (
        TeamLedger(facts=("a fact",), plan=("a plan",), satisfied=True, next_speaker="reporter")
        if step.round < 5
        else manage(step)
    )
    run = await stage.start(a_request("team", limits={"max_iterations": 10, "max_tokens": None}))
    await run.outcome()
    await keep("team", run)


async def hierarchical(stage: Stage) -> None:
    """Two attempts of each sub-team; a reviewer speaks meanwhile."""
    stage.script.sufficient_at = 4
    stage.script.before["judge"] = lambda _: takes(60)
    run = await stage.start(a_request("hierarchical", limits={"max_iterations": 4, "max_tokens": None}))
    for section in ("s1", "s2", "s3"):
        await stage.child(run, section).until(lambda p: p.phase == "judging")
    await run.handle.signal("steer", {"text": "older people"})
    await run.outcome()
    await keep("hierarchical", run)
    await keep("hierarchical-sub-team", stage.child(run, "s1"))


async def graph(stage: Stage) -> None:
    """A graph that searches for what the judge recommends and forms hypotheses beside the judgement; a
    reviewer speaks."""
    stage.script.profile = PROFILE.model_copy(update={"candidates": True})
    stage.script.before["judge"] = lambda step: takes(30) if step.iteration == 1 else None
    stage.script.sufficient_at = 5
    line, branches = "begin recommended select search think again", "judge hypothesize"
    definition = a_graph(line, branches, until="sufficient")
    limits = {"max_iterations": 10, "max_tokens": None}
    run = await stage.start(a_request("graph", graph=definition, history_events=60, limits=limits), RUN_ID)
    await run.until(lambda p: p.phase in {"judging", "hypothesising"})
    await run.handle.signal("steer", {"text": "older people"})
    await run.outcome()
    await keep("graph", await first_run(stage, run))


async def graph_own(stage: Stage) -> None:
    """A role and a step that an installed package adds; works are read in full before they are cited."""

    async def count(_step: OwnStepInput, works: Sequence[Evidence]) -> OwnStepOutput:
        return OwnStepOutput(said=f"{len(works)} works", facts=("a fact",))

    own: dict[str, Node] = {
        "count": CodeNode(step="count"),
        "doubt": RoleNode(role="critic"),
        "write": AgentNode(step="writer", prompt="Write for a regulator."),
    }
    definition = a_graph("wanted select search judge count doubt", own=own)
    stage.script.unpaywall = True
    with (
        patch.object(own_step_activity, "code_steps", lambda: {"count": CodeStep("count", count)}),
        patch.object(library, "not_installed", lambda *_: ()),
    ):
        run = await stage.start(a_request("graph", graph=definition), RUN_ID)
        await run.outcome()
    await keep("graph-own", run)


async def auto(stage: Stage) -> None:
    run = await stage.start(a_request("auto"))
    await run.outcome()
    first = stage.client.get_workflow_handle(run.handle.id, run_id=run.handle.first_execution_run_id)
    await keep("auto", Run(first))
