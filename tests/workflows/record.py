"""Records the histories that `test_replay` replays: `python -m tests.workflows.record SCENE ...`.

Record a new scene when a workflow gets a step or a branch that no history holds. Leave the old histories as
they are: they stand for the runs that are under way when a worker is upgraded.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import WorkflowFailureError, WorkflowHistory, WorkflowUpdateFailedError
from temporalio.worker import Worker

from activities.errors import RateLimited, Unavailable
from activities.extractive import manage
from activities.roles.allowances import ALLOWANCES
from activities.steps import (
    FollowUp,
    Hits,
    JudgeAssessment,
    KnowledgeGapOutput,
    Role,
    SearchTask,
    StepContext,
    TeamLedger,
)
from activities.types import Evidence, ReportPlan, ReportPlanSection, SourceInfo, SourceOption, Usage
from client.embedded.binary import find_temporal, free_port
from client.embedded.namespace import register_attributes
from client.runs.refreshing import known_items, start_refresh
from client.runs.rewinding import rewind
from tests.registered import registered_names
from tests.workflows.conftest import Run, Stage, a_request, a_stage, a_worker, until
from tests.workflows.fakes import COST, PROFILE, Fakes, document, down, outage, takes
from tests.workflows.test_dev_server import a_server, connected
from tests.workflows.test_look_up import Register, candidates_from
from tests.workflows.test_pubmed import NCBI, Authority, numbered
from tests.workflows.test_refresh import a_refresh_case, a_work
from tests.workflows.test_replay import HISTORIES, RUN_ID
from workflows.graph.definition import (
    AgentNode,
    DecisionNode,
    Edge,
    GraphDefinition,
    ParallelNode,
    StateNode,
)
from workflows.graph.library import builtin
from workflows.rate_gate import HOLD_GATE, GateTerms, RateGate
from workflows.types import EditPlan, Outcome

IMPERSONAL = {"identity": "worker", "stackTrace": ""}


async def keep(name: str, run: Run) -> None:
    """Write a run's history to its file."""
    await keep_history(name, await run.handle.fetch_history())


async def keep_history(name: str, history: WorkflowHistory) -> None:
    """Write a history to its file."""
    compact = json.dumps(json.loads(history.to_json(), object_hook=impersonal), separators=(",", ":"))
    (HISTORIES / f"{name}.json").write_text(compact + "\n")


def impersonal(fields: dict[str, Any]) -> dict[str, Any]:
    """An object of a history without what it says of the machine it was recorded on."""
    return fields | {key: value for key, value in IMPERSONAL.items() if key in fields}


async def iterative(stage: Stage) -> None:
    stage.script.sufficient_at = 2
    run = await stage.start(a_request())
    await run.outcome()
    await keep("iterative", run)


async def steered(stage: Stage) -> None:
    stage.script.before["judge"] = lambda _: takes(30)
    run = await stage.start(a_request(approve=("report",), approval_timeout_seconds=600.0))
    await run.until(lambda p: p.phase == "judging")
    await run.handle.signal("steer", {"text": "older people"})
    await run.handle.signal("pause")
    await run.handle.signal("resume")
    await run.handle.execute_update("extend_budget", {"tokens": 1_000})
    await run.outcome()
    await keep("iterative-steered", run)


async def continued(stage: Stage) -> None:
    stage.script.sufficient_at = 5
    run = await stage.start(a_request(history_events=50))
    await run.outcome()
    await keep("iterative-continued", run)


async def auto(stage: Stage) -> None:
    run = await stage.start(a_request("auto"))
    await run.outcome()
    first = stage.client.get_workflow_handle(run.handle.id, run_id=run.handle.first_execution_run_id)
    await keep("auto", Run(first))


async def edited_plan(stage: Stage) -> None:
    stage.script.sufficient_at = 2
    run = await stage.start(a_request("deep", approve=("plan",)))
    await run.until(lambda p: p.waiting_for == "plan")
    outline = tuple(ReportPlanSection(title=f"T{n}", key_question=f"Why {n}?") for n in (1, 2))
    plan = ReportPlan(report_title="Edited", report_outline=outline)
    await run.handle.execute_update("edit_plan", EditPlan(plan=plan, by="ann"))
    await run.handle.signal("approve", {"gate": "plan", "by": "bob"})
    await run.outcome()
    await keep("deep-edited-plan", run)
    await keep("deep-section", stage.child(run, "s1"))


async def parent_cancelled(stage: Stage) -> None:
    stage.script.before["judge"] = lambda _: takes(600)
    run = await stage.start(a_request("deep"))
    for section in ("s1", "s2", "s3"):
        await stage.child(run, section).until(lambda p: p.phase == "judging")
    await run.handle.cancel()
    with suppress(WorkflowFailureError):
        await run.outcome()
    await keep("deep-parent-cancelled", run)


async def drafted_at_once(stage: Stage) -> None:
    """Sections are drafted at the same time and compared afterwards."""
    stage.script.sufficient_at = 2
    run = await stage.start(a_request("deep"))
    await run.outcome()
    await keep("deep-drafted-at-once", run)


async def drafting_cancelled(stage: Stage) -> None:
    stage.script.before["long_writer"] = lambda step: takes(600) if step.section_id == "s2" else None
    run = await stage.start(a_request("deep"))
    await until(lambda: asyncio.sleep(0, stage.fakes.of("long_writer")), lambda done: len(done) == 2)
    await run.handle.cancel()
    with suppress(WorkflowFailureError):
        await run.outcome()
    await keep("deep-drafting-cancelled", run)


async def first_run(stage: Stage, run: Run) -> Run:
    """The run a workflow id began with, which ended by continuing as new."""
    return Run(stage.client.get_workflow_handle(run.handle.id, run_id=run.handle.first_execution_run_id))


async def pubmed(stage: Stage) -> None:
    stage.script.pubmed_queue, stage.script.search = NCBI, numbered
    async with Worker(stage.client, task_queue=NCBI, activities=[Authority().check]):
        run = await stage.start(a_request())
        await run.outcome()
    await keep("iterative-pubmed", run)


async def reflected(stage: Stage) -> None:
    """The first searches find nothing, one source is down, and another has a second page that fails."""

    def search(task: SearchTask) -> Sequence[Evidence]:
        first = "gap 1" in task.query.text
        stage.script.cursor = None if first else {"page": "next"}
        if task.cursor:
            raise outage(RateLimited)
        if first:
            if task.source == "beta":
                raise outage()
            return ()
        return [document(task.source, task.query.text)]

    stage.script.sufficient_at, stage.script.search = 2, search
    stage.script.answers["gap_evaluator"] = lambda step: KnowledgeGapOutput(
        outstanding_gaps=(f"gap {step.iteration}",)
    )
    run = await stage.start(a_request())
    await run.outcome()
    await keep("iterative-reflected", run)


async def candidates(stage: Stage) -> None:
    """Every gate, and every message that may reach a deep run while its sections work."""
    stage.script.profile = PROFILE.model_copy(update={"name": "drug_repurposing", "candidates": True})
    stage.script.sufficient_at = 2
    stage.script.before["judge"] = lambda _: takes(600)
    gates = ("plan", "candidates", "report")
    run = await stage.start(a_request("deep", approve=gates, approval_timeout_seconds=86_400.0))
    await run.until(lambda p: p.waiting_for == "plan")
    await run.handle.signal("approve", {"gate": "plan", "by": "ann"})
    for section in ("s1", "s2", "s3"):
        await stage.child(run, section).until(lambda p: p.phase == "judging")
    await run.handle.signal("steer", {"text": "older people"})
    await run.handle.signal("add_source", {"source": "gamma"})
    await run.handle.signal("pause")
    await run.handle.execute_update("extend_budget", {"tokens": 9_000, "seconds": 60, "iterations": 1})
    await run.handle.signal("resume")
    await stage.env.sleep(timedelta(hours=1))
    await run.until(lambda p: p.waiting_for == "candidates")
    with suppress(WorkflowUpdateFailedError):
        await run.handle.execute_update("choose_candidates", {"names": ["penicillin"]})
    await run.handle.execute_update("choose_candidates", {"names": ["aspirin"], "by": "bob"})
    await run.until(lambda p: p.waiting_for == "report")
    await run.handle.signal("approve", {"gate": "report", "by": "ann"})
    await run.outcome()
    await keep("deep-candidates", run)
    await keep("deep-candidates-section", stage.child(run, "s1"))


async def looked_up(stage: Stage) -> None:
    """Candidates are looked up at the same time, in one source that answers and in one that fails."""
    candidates_from(stage, chembl=Register(), opentargets=Register(fails=Unavailable("down")))
    run = await stage.start(a_request())
    await run.outcome()
    await keep("iterative-looked-up", run)


async def slow_source(stage: Stage) -> None:
    """Sources that have more, and that use all the seconds of a search for their first pages."""
    stage.script.search = lambda task: Hits(
        source=task.source,
        query=task.query.text,
        status="empty",
        hits=900,
        waited=20.0,
        cursor={"page": "next"},
    )
    run = await stage.start(a_request(limits={"max_iterations": 1}))
    await run.outcome()
    await keep("iterative-slow-source", run)


async def shared(stage: Stage) -> None:
    """Sections that are offered what the others found, reflect on searches that brought little, and form
    hypotheses whose tests they search for."""
    stage.script.profile = PROFILE.model_copy(update={"candidates": True})
    stage.script.sections, stage.script.sufficient_at = 2, 3
    stage.script.search = lambda task: [document("alpha", task.query.text.split(" in ")[0])]
    run = await stage.start(a_request("deep"))
    await run.outcome()
    await keep("deep-shared", run)
    await keep("deep-shared-section", stage.child(run, "s1"))


async def proofread(stage: Stage) -> None:
    stage.script.sections = 2
    run = await stage.start(a_request("deep", writer="proofreader"))
    await run.outcome()
    await keep("deep-proofread", run)
    await keep("deep-proofread-section", stage.child(run, "s1"))


async def leases(stage: Stage) -> None:
    """A section asks for more than its share, and is given what the others left until nothing is left."""

    def usage(role: Role, _: StepContext) -> Usage:
        return COST.model_copy(update={"input_tokens": ALLOWANCES[role].input_tokens})

    stage.script.sufficient_at, stage.script.usage = None, usage
    stage.script.answers["gap_evaluator"] = lambda step: KnowledgeGapOutput(
        outstanding_gaps=(f"gap {step.iteration} of {step.question}",) if step.section == "s3" else ()
    )
    run = await stage.start(a_request("deep", limits={"max_tokens": 150_000, "max_iterations": 50}))
    await run.outcome()
    await keep("deep-leases", run)
    await keep("deep-leases-section", stage.child(run, "s3"))


async def continuing(stage: Stage) -> None:
    """The runs that end by continuing as new, and the one a deep run goes on as."""
    stage.script.sufficient_at = 5
    run = await stage.start(a_request(history_events=50))
    await run.outcome()
    await keep("iterative-continuing", await first_run(stage, run))
    stage.script.sufficient_at, stage.script.sections = 1, 5
    deep = await stage.start(a_request("deep", history_events=60), "ask-1")
    await deep.outcome()
    await keep("deep-continuing", await first_run(stage, deep))
    await keep("deep-continued", deep)


async def long_log(stage: Stage) -> None:
    """A run whose event log is long when it continues as new."""
    stage.script.sufficient_at = 14
    run = await stage.start(a_request(limits={"max_iterations": 14}, history_events=420))
    await run.outcome()
    await keep("iterative-long-log", await first_run(stage, run))


async def cancelled(stage: Stage) -> None:
    stage.script.before["judge"] = lambda _: takes(600)
    run = await stage.start(a_request())
    await run.until(lambda p: p.phase == "judging")
    await run.handle.cancel()
    with suppress(WorkflowFailureError):
        await run.outcome()
    await keep("iterative-cancelled", run)


async def finished_early(stage: Stage) -> None:
    """A reviewer ends a pause by asking for what there is."""
    stage.script.sufficient_at = None
    stage.script.before["judge"] = lambda _: takes(60)
    run = await stage.start(a_request("deep"))
    for section in ("s1", "s2", "s3"):
        await stage.child(run, section).until(lambda p: p.phase == "judging")
    await run.handle.signal("pause")
    await run.handle.signal("finish_now")
    await run.outcome()
    await keep("deep-finished", run)
    await keep("deep-finished-section", stage.child(run, "s1"))


async def rejected(stage: Stage) -> None:
    run = await stage.start(a_request("deep", approve=("plan",)))
    await run.until(lambda p: p.waiting_for == "plan")
    await run.handle.signal("reject", {"gate": "plan", "by": "ann", "note": "too broad"})
    await run.outcome()
    await keep("deep-rejected", run)


async def section_failed(stage: Stage) -> None:
    """One section's workflow fails, another is cancelled alone."""
    stage.script.before["judge"] = lambda step: takes(60) if step.section == "s3" else None
    stage.script.answers["tool_selector"] = lambda step: (
        "this is no list of searches"
        if step.section == "s2"
        else {"tasks": [{"gap": "all", "agent": "alpha", "query": step.question}]}
    )
    run = await stage.start(a_request("deep"))
    await stage.child(run, "s3").until(lambda p: p.phase == "judging")
    await stage.child(run, "s3").handle.cancel()
    await run.outcome()
    await keep("deep-section-failed", run)
    await keep("deep-section-cancelled", stage.child(run, "s3"))


async def model_down(stage: Stage) -> None:
    """A run waits for its model until it is back."""
    begun: list[float] = []

    def away(_: object) -> None:
        begun.append(stage.fakes.now)
        if stage.fakes.now < begun[0] + 900:
            raise down()

    stage.script.before["judge"] = away
    run = await stage.start(a_request(wait_for_model=True, limits={"max_seconds": 7_200}))
    await run.outcome()
    await keep("iterative-model-down", run)


async def worker_lost(stage: Stage) -> None:
    """The worker that holds the judge's last attempt sends no heartbeat (takes five times the heartbeat
    time-out of real time: the server does not skip it)."""
    stage.script.hangs = "judge"
    run = await stage.start(a_request())
    attempts = stage.fakes.attempts
    await until(lambda: asyncio.sleep(0.2, attempts.count("judge")), lambda made: made > 5, 180.0)
    stage.script.hangs = None
    await run.outcome()
    await keep("iterative-worker-lost", run)


async def every_source(stage: Stage) -> None:
    """Each search activity that a worker registers."""
    with pytest.MonkeyPatch.context() as patched, tempfile.TemporaryDirectory() as folder:
        queues, _ = await registered_names(Path(folder), patched)
    names = sorted(
        name.removeprefix("search_") for found in queues.values() for name in found if "search_" in name
    )
    stage.script.sources = [
        SourceOption(info=SourceInfo(name=n, title=n, covers="papers", queue="stage-sources"), enabled=True)
        for n in names
    ]
    searches: list[Callable[..., Any]] = [stage.fakes._search(name) for name in names]
    limits = {"max_gaps": 10, "searches_per_gap": 10, "max_sections": 2}
    async with Worker(stage.client, task_queue="stage-sources", activities=searches):
        run = await stage.start(a_request(sources=tuple(names), limits=limits))
        await run.outcome()
    await keep("iterative-mechanism-sources", run)


async def indexed(stage: Stage) -> None:
    """On the real server: the one that skips time has no search attributes."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, a_server(find_temporal(), port, Path(folder) / "t.db"):
        client = await connected(port)
        await register_attributes(client)
        fakes = Fakes(stage.fakes.store)
        fakes.script.sufficient_at = 2
        async with a_worker(client, fakes):
            real = Stage(client, fakes)
            run = await real.start(a_request(indexed=True), "ask-1")
            await run.outcome()
            await keep("iterative-coarse-phases", run)


async def followed_up(stage: Stage) -> None:
    """A deep run that begins with the evidence of another run."""
    ref = await stage.fakes.store.put(document("alpha", "earlier"))
    stage.fakes.documents[ref.blob] = document("alpha", "earlier")
    blob = await known_items(stage.fakes.store, [ref])
    run = await stage.start(a_request("deep", follow_up=FollowUp(run_id="ask-0", blob=blob)))
    await run.outcome()
    await keep("deep-follow-up", run)


async def rewound(stage: Stage) -> None:
    """On the real server: the one that skips time cannot reset. The history begins with what was kept."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, a_server(find_temporal(), port, Path(folder) / "t.db"):
        client = await connected(port)
        fakes = Fakes(stage.fakes.store)
        fakes.script.sufficient_at = 2
        async with a_worker(client, fakes):
            run = await Stage(client, fakes).start(a_request(), RUN_ID)
            await run.outcome()
            await rewind(client, RUN_ID, 2)
            run = Run(client.get_workflow_handle(RUN_ID, result_type=Outcome))
            await run.outcome()
            await keep("iterative-rewound", run)


async def refreshed(stage: Stage) -> None:
    """On the real server, with the activities themselves: a new work, a source that is gone."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, a_server(find_temporal(), port, Path(folder) / "t.db"):
        client = await connected(port)
        async with a_refresh_case(client, Path(folder) / "home") as case:
            case.papers.works.append(a_work("new"))
            handle = await start_refresh(client, await case.request(), case.queue)
            await handle.result()
            await keep_history("refresh", await handle.fetch_history())


async def rate_gate(stage: Stage) -> None:
    """A holder that fails once, then gives the gate back."""

    @activity.defn(name=HOLD_GATE)
    async def hold_gate(_: GateTerms) -> None:
        takes(1)

    async with Worker(stage.client, task_queue="stage-gate", workflows=[RateGate], activities=[hold_gate]):
        handle = await stage.client.start_workflow(
            RateGate.run, GateTerms(queue=NCBI), id="ask-1", task_queue="stage-gate"
        )
        first = stage.client.get_workflow_handle("ask-1", run_id=handle.first_execution_run_id)

        async def events() -> int:
            return len((await first.fetch_history()).events)

        await until(events, lambda count: count > 10)
        await stage.client.get_workflow_handle("ask-1").terminate()
    await keep("rate-gate", Run(first))


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
    """Three attempts of each sub-team, the first of them the best; a reviewer speaks meanwhile."""
    confidence = {1: 0.7, 2: 0.4, 3: 0.5}
    stage.script.answers["judge"] = lambda step: JudgeAssessment(
        scores={"relevance": 5},
        confidence=confidence[step.iteration],
        gaps=(f"gap {step.iteration} of {step.question}",),
        relevant=tuple(ref.evidence_id for ref in step.evidence[:3]),
    )
    stage.script.before["judge"] = lambda _: takes(60)
    run = await stage.start(a_request("hierarchical", limits={"max_iterations": 3, "max_tokens": None}))
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
    """A graph of one's own with branches and a reviewer's words; the built-in `deep`; one that is refused."""
    stage.script.profile = PROFILE.model_copy(update={"candidates": True})
    stage.script.before["judge"] = lambda step: takes(30) if step.iteration == 1 else None
    stage.script.sufficient_at = 5
    definition, limits = branching(), {"max_iterations": 10, "max_tokens": None}
    run = await stage.start(a_request("graph", graph=definition, history_events=60, limits=limits), RUN_ID)
    await run.until(lambda p: p.phase == "hypothesising")
    await run.handle.signal("steer", {"text": "older people"})
    await run.outcome()
    await keep("graph", await first_run(stage, run))
    stage.script.sufficient_at = 2
    deep = await stage.start(a_request("graph", graph=builtin("deep"), approve=("plan",)), RUN_ID)
    await deep.until(lambda p: p.waiting_for == "plan")
    await deep.handle.signal("approve", {"gate": "plan", "by": "ann"})
    await deep.outcome()
    await keep("graph-deep", deep)
    endless = definition.model_copy(update={"nodes": {**definition.nodes, "again": DecisionNode()}})
    refused = await stage.start(a_request("graph", graph=endless), RUN_ID)
    with suppress(WorkflowFailureError):
        await refused.outcome()
    await keep("graph-refused", refused)


SCENES: tuple[Callable[[Stage], Awaitable[None]], ...] = (
    iterative,
    steered,
    continued,
    auto,
    edited_plan,
    parent_cancelled,
    drafted_at_once,
    drafting_cancelled,
    pubmed,
    reflected,
    candidates,
    looked_up,
    slow_source,
    shared,
    proofread,
    leases,
    continuing,
    long_log,
    cancelled,
    finished_early,
    rejected,
    section_failed,
    model_down,
    worker_lost,
    every_source,
    rate_gate,
    indexed,
    simple,
    team,
    hierarchical,
    followed_up,
    rewound,
    refreshed,
    graph,
)


async def main(names: Sequence[str]) -> None:
    """Record the named scenes; with no name, list them."""
    scenes = {scene.__name__: scene for scene in SCENES}
    if not names or not set(names) <= set(scenes):
        sys.exit(f"usage: python -m tests.workflows.record SCENE ...\nscenes: {', '.join(scenes)}")
    HISTORIES.mkdir(exist_ok=True)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            async with a_stage(Path(folder)) as stage:
                await scenes[name](stage)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
