"""Scenes whose histories are recorded: the other modes."""

from collections.abc import Sequence
from itertools import pairwise
from unittest.mock import patch

from activities import own_step_activity
from activities.contracts.evidence import Evidence
from activities.contracts.plan import TeamLedger
from activities.extractive import manage
from activities.own_step_activity import CodeStep, OwnStepInput, OwnStepOutput
from tests.workflows.conftest import Run, Stage, a_request
from tests.workflows.recording import first_run, keep
from tests.workflows.script import PROFILE, takes
from tests.workflows.test_replay import RUN_ID
from workflows.graph import library
from workflows.graph.definition import (
    AgentNode,
    CodeNode,
    DecisionNode,
    Edge,
    GraphDefinition,
    Node,
    ParallelNode,
    RoleNode,
    StateNode,
)


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


def branching() -> GraphDefinition:
    """Searches for what the judge recommends, and forms hypotheses beside the judgement."""
    return GraphDefinition(
        name="branching",
        entry="begin",
        nodes={
            "begin": StateNode(action="begin_iteration"),
            "wanted": StateNode(action="search_recommended"),
            "select": AgentNode(step="select_tools"),
            "search": ParallelNode(run="execute_tools"),
            "think": ParallelNode(),
            "judge": AgentNode(step="judge"),
            "hypothesize": AgentNode(step="hypothesize"),
            "again": DecisionNode(budget="iterations"),
            "write": AgentNode(step="writer"),
        },
        edges=(
            Edge(source="begin", target="wanted"),
            Edge(source="wanted", target="select"),
            Edge(source="select", target="search"),
            Edge(source="search", target="think"),
            Edge(source="think", target="judge", type="parallel"),
            Edge(source="think", target="hypothesize", type="parallel"),
            Edge(source="think", target="again"),
            Edge(source="again", target="write", type="conditional", when=("sufficient",)),
            Edge(source="again", target="begin"),
        ),
    )


async def graph(stage: Stage) -> None:
    """A graph of one's own with branches and a reviewer's words."""
    stage.script.profile = PROFILE.model_copy(update={"candidates": True})
    stage.script.before["judge"] = lambda step: takes(30) if step.iteration == 1 else None
    stage.script.sufficient_at = 5
    definition, limits = branching(), {"max_iterations": 10, "max_tokens": None}
    run = await stage.start(a_request("graph", graph=definition, history_events=60, limits=limits), RUN_ID)
    await run.until(lambda p: p.phase in {"judging", "hypothesising"})
    await run.handle.signal("steer", {"text": "older people"})
    await run.outcome()
    await keep("graph", await first_run(stage, run))


async def graph_own(stage: Stage) -> None:
    """A role and a step that an installed package adds; works are read in full before they are cited."""

    async def count(_step: OwnStepInput, works: Sequence[Evidence]) -> OwnStepOutput:
        return OwnStepOutput(said=f"{len(works)} works", facts=("a fact",))

    nodes: dict[str, Node] = {
        "wanted": StateNode(action="search_question"),
        "select": AgentNode(step="select_tools"),
        "search": ParallelNode(run="execute_tools"),
        "judge": AgentNode(step="judge"),
        "count": CodeNode(step="count"),
        "doubt": RoleNode(role="critic"),
        "write": AgentNode(step="writer", prompt="Write for a regulator."),
    }
    edges = tuple(Edge(source=one, target=other) for one, other in pairwise(nodes))
    definition = GraphDefinition(name="own", entry="wanted", nodes=nodes, edges=edges)
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
