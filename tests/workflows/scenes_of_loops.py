"""Scenes whose histories are recorded: single loops, and the workflows beside them."""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import WorkflowFailureError
from temporalio.worker import Worker

from activities.contracts.evidence import Evidence, ModelChoice, SourceInfo, SourceOption
from activities.contracts.judge import JudgeBatch, JudgeInput, Weighed
from activities.contracts.plan import Clarified
from activities.contracts.revise import Instruction, Revised
from activities.contracts.search import SearchTask
from activities.contracts.step import Reading
from activities.contracts.write import SentenceVerdict, Verdicts
from client.embedded.binary import find_temporal, free_port
from client.embedded.namespace import register_attributes
from client.runs.refreshing import start_refresh
from client.runs.rewinding import rewind
from tests.registered import registered_names
from tests.workflows.conftest import Run, Stage, a_request, a_worker, until
from tests.workflows.fakes import Fakes
from tests.workflows.recording import first_run, keep, keep_history
from tests.workflows.script import document, down, outage, takes
from tests.workflows.test_analysis import POOLING, different, trials
from tests.workflows.test_deep_writing import UNSUPPORTED, sentences
from tests.workflows.test_dev_server import a_server, connected
from tests.workflows.test_pubmed import NCBI, Authority, numbered
from tests.workflows.test_refresh import a_refresh_case, a_work
from tests.workflows.test_replay import RUN_ID
from workflows.rate_gate import HOLD_GATE, GateTerms, RateGate
from workflows.types import Answers, Outcome


async def steered(stage: Stage) -> None:
    """Every message that may reach a loop while it works."""
    run = await stage.judging(a_request(approve=("report",), approval_timeout_seconds=600.0))
    await run.handle.signal("steer", {"text": "older people"})
    await run.handle.signal("pause")
    await run.handle.signal("resume")
    await run.handle.execute_update("extend_budget", {"tokens": 1_000})
    await run.handle.signal("add_source", {"source": "gamma"})
    await run.handle.signal("finish_now")
    await run.outcome()
    await keep("iterative-steered", run)


async def analysed(stage: Stage) -> None:
    """A program of a model computes what the fixed analysis lists; a table is filled, and a sentence that the
    verifier does not confirm is written once more."""
    trials(stage, different)
    stage.script.program = POOLING
    stage.script.answers["writer"] = lambda step: sentences(stage, step, "ask")
    stage.script.answers["verifier"] = lambda step: Verdicts(
        verdicts=tuple(SentenceVerdict(id=s.id, problem=UNSUPPORTED) for s in step.sentences)
    )
    stage.script.reports = lambda step: [("first",)]
    run = await stage.start(a_request(columns=("dose",), analyse=True, expected="lower"))
    await run.outcome()
    await keep("iterative-analysed", run)


def comparing(stage: Stage) -> None:
    """All works compare with a placebo."""

    def judge(step: JudgeInput) -> JudgeBatch:
        batch = stage.fakes.judged(step, enough=True)
        judged = (one.model_copy(update={"comparator": "placebo"}) for one in batch.judgements)
        return batch.model_copy(update={"judgements": tuple(judged)})

    stage.script.answers["judge"] = judge


async def many_works(stage: Stage) -> None:
    """More works than one call of the judge reads; they compare, so their effects are read, and what follows
    is told to the writer. `iterative-many-works` is of a version that read them beside the writing."""
    comparing(stage)
    stage.script.search = lambda task: [
        document(task.source, task.query.text, number) for number in range(1, 31)
    ]
    run = await stage.start(a_request())
    await run.outcome()
    await keep("iterative-effects-first", run)


async def without_a_model(stage: Stage) -> None:
    """One search and one look."""
    stage.script.models = {"default": ModelChoice()}
    run = await stage.start(a_request())
    await run.outcome()
    await keep("iterative-without-a-model", run)


async def iterative(stage: Stage) -> None:
    """In the first iteration one source is down."""

    def search(task: SearchTask) -> Sequence[Evidence]:
        if task.source == "beta" and not stage.fakes.of("judge"):
            raise outage()
        return [document(task.source, task.query.text)]

    stage.script.sufficient_at, stage.script.search = 2, search
    run = await stage.start(a_request())
    await run.outcome()
    await keep("iterative", run)


async def long_log(stage: Stage) -> None:
    """A run whose event log is long when it continues as new."""
    stage.script.sufficient_at = 14
    run = await stage.start(a_request(limits={"max_iterations": 14}, history_events=420))
    await run.outcome()
    await keep("iterative-continuing", await first_run(stage, run))


async def cancelled(stage: Stage) -> None:
    run = await stage.judging(a_request(), 600)
    await run.handle.cancel()
    with suppress(WorkflowFailureError):
        await run.outcome()
    await keep("iterative-cancelled", run)


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
    """Each search activity that a worker registers, and PubMed asked about
    what is cited."""
    with pytest.MonkeyPatch.context() as patched, tempfile.TemporaryDirectory() as folder:
        queues, _ = await registered_names(Path(folder), patched)
    names = sorted(
        name.removeprefix("search_") for found in queues.values() for name in found if "search_" in name
    )
    stage.script.sources = [
        SourceOption(info=SourceInfo(name=n, title=n, covers="papers", queue="stage-sources"), enabled=True)
        for n in names
    ]
    # the second iteration is the selector's, which the script lets choose every source
    stage.script.sufficient_at = 2
    stage.script.pubmed_queue, stage.script.search = "stage-sources", numbered
    searches: list[Callable[..., Any]] = [stage.fakes._search(name) for name in names]
    searches.append(Authority().check)
    limits = {"max_gaps": 10, "searches_per_gap": 10, "max_sections": 2}
    async with Worker(stage.client, task_queue="stage-sources", activities=searches):
        run = await stage.start(a_request(sources=tuple(names), limits=limits))
        await run.outcome()
    await keep("iterative-every-source", run)


async def rewound(stage: Stage) -> None:
    """On the real server: the one that skips time cannot reset. The history begins with what was kept. The
    phase that the search attribute shows changes with a gate, which a person pauses and approves."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, a_server(find_temporal(), port, Path(folder) / "t.db"):
        client = await connected(port)
        await register_attributes(client)
        fakes = Fakes(stage.fakes.store)
        fakes.script.sufficient_at = 2
        async with a_worker(client, fakes):
            run = await Stage(client, fakes).start(a_request(indexed=True, approve=("report",)), RUN_ID)
            await pass_gate(run)
            await rewind(client, RUN_ID, 2)
            run = Run(client.get_workflow_handle(RUN_ID, result_type=Outcome))
            await pass_gate(run)
            await keep("iterative-rewound", run)


async def pass_gate(run: Run) -> None:
    """Pause the run at its gate, resume it and approve."""
    await run.until(lambda p: p.waiting_for == "report")
    await run.handle.signal("pause")
    await run.until(lambda p: p.paused)
    await run.handle.signal("resume")
    await run.handle.signal("approve", {"gate": "report"})
    await run.outcome()


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


async def revised(stage: Stage) -> None:
    """On the real server: a person has a finished report changed."""
    port = free_port()
    models = {"default": ModelChoice(backend="openai", model="m")}
    asked = Instruction(kind="change", text="shorter", by="ada", models=models)
    with tempfile.TemporaryDirectory() as folder, a_server(find_temporal(), port, Path(folder) / "t.db"):
        client = await connected(port)
        async with a_refresh_case(client, Path(folder) / "home") as case:
            assert case.fakes is not None
            case.fakes.script.answers["reviser"] = lambda _: Revised(title="A shorter report")
            handle = await start_refresh(client, await case.request(instruction=asked), case.queue)
            assert (await handle.result()).version == 2
            await keep_history("revision", await handle.fetch_history())


async def clarified(stage: Stage) -> None:
    """A run that asks back, and waits for the answer."""
    reading = Reading(question="In whom?", assumed="adults")
    stage.script.answers["clarifier"] = lambda _: Clarified(readings=(reading,))
    run = await stage.start(a_request(clarify="ask"))
    await run.until(lambda p: p.waiting_for == "clarification")
    await run.handle.execute_update("answer", Answers(answers=("children",), by="ada"))
    await run.outcome()
    await keep("iterative-clarified", run)


async def ordered(stage: Stage) -> None:
    """A small model puts the passages in order."""
    stage.script.models = {"default": ModelChoice(backend="openai", model="tiny", effort="small")}
    stage.script.answers["orderer"] = lambda _: Weighed(yes=0.9)
    run = await stage.start(a_request())
    await run.outcome()
    await keep("iterative-ordered", run)


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
