"""How much a deep run costs beside the work itself: wall time against its critical path, calls and tokens.

    python benchmarks/deep.py [--sections 5] [--iterations 1]

A deep run plays on the real dev server with stub back ends of fixed latency (200 ms a model call, 100 ms a
search). The critical path is the longest chain of stub calls that had to follow one another: calls of one
workflow, or of a section and its run, that did not overlap. Steps that code answers without asking a model
(there is no evidence yet) are free, as in a real run. The ratio is what to compare.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker

from activities.evidence import EvidenceStore
from activities.payloads import DATA_CONVERTER
from activities.roles.allowances import ALLOWANCES
from activities.roles.registry import SPECS
from activities.steps import Charged, Hits, Role, SearchTask, StepContext
from activities.types import Evidence, Usage
from client.binary import find_temporal, free_port
from tests.workflows.fakes import Fakes, Script, document
from worker.build import build_worker
from workflows.auto import AutoResearch
from workflows.deep import DeepResearch
from workflows.iterative import IterativeResearch
from workflows.types import BudgetStatus, Outcome, ResearchRequest

MODEL_SECONDS = 0.2
SEARCH_SECONDS = 0.1
QUEUE = "bench"
T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """One stub call on the machine's clock."""

    workflow: str
    model: bool
    start: float
    end: float

    @property
    def seconds(self) -> float:
        return MODEL_SECONDS if self.model else SEARCH_SECONDS

    def may_follow(self, other: "Call") -> bool:
        """Whether this call had to wait for the other, as far as order tells."""
        related = (
            self.workflow == other.workflow
            or self.workflow.startswith(other.workflow + "/")
            or other.workflow.startswith(self.workflow + "/")
        )
        return related and other.end <= self.start


class Stubs(Fakes):
    """The scripted activities with latencies, and a record of when each was under way."""

    def __init__(self, store: EvidenceStore, script: Script) -> None:
        super().__init__(store, script)
        self.record: list[Call] = []

    async def _think(self, role: Role, step: StepContext, default: Callable[[], T]) -> Charged[T]:
        spec = SPECS[role]
        if spec.by_code(step, await self.store.get_many(spec.refs(step))) is not None:
            return Charged(output=default(), model="code")
        start = time.monotonic()
        await asyncio.sleep(MODEL_SECONDS)
        self.record.append(Call(activity.info().workflow_id or "", True, start, time.monotonic()))
        return await super()._think(role, step, default)

    async def hits(self, task: SearchTask, documents: list[Evidence]) -> Hits:  # type: ignore[override]  # narrower
        start = time.monotonic()
        await asyncio.sleep(SEARCH_SECONDS)
        self.record.append(Call(activity.info().workflow_id or "", False, start, time.monotonic()))
        return await super().hits(task, documents)


def critical_path(calls: list[Call]) -> tuple[float, int]:
    """Seconds of the longest chain, and the model calls in it."""
    best: list[tuple[float, int]] = []
    ordered = sorted(calls, key=lambda call: call.end)
    for place, call in enumerate(ordered):
        before = [best[i] for i in range(place) if call.may_follow(ordered[i])]
        seconds, models = max(before, default=(0.0, 0))
        best.append((seconds + call.seconds, models + call.model))
    return max(best)


def most_reserved(role: Role, _step: StepContext) -> Usage:
    """The dearest a call can be: all of its allowance."""
    allowance = ALLOWANCES[role]
    return Usage(
        calls=1,
        input_tokens=allowance.input_tokens,
        output_tokens=allowance.output_tokens,
        cost_microusd=1,
    )


async def play(sections: int, iterations: int) -> None:
    """One run, and its figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        port = free_port()
        server = dev_server(port, folder / "temporal.db")
        try:
            client = await connect(f"127.0.0.1:{port}")
            script = Script(
                mode="deep",
                sections=sections,
                sufficient_at=iterations,
                usage=most_reserved,
                search=lambda task: [document(task.source, task.query.text)],
            )
            stubs = Stubs(EvidenceStore.at(str(folder / "evidence")), script)
            worker: Worker = build_worker(
                client,
                QUEUE,
                workflows=[AutoResearch, IterativeResearch, DeepResearch],
                activities=stubs.activities,
            )
            async with worker:
                await run_once(client, "warm", sections)
                stubs.record.clear()
                stubs.calls.clear()
                start = time.monotonic()
                outcome, budget = await run_once(client, "measured", sections)
                wall = time.monotonic() - start
        finally:
            server.kill()
            server.wait()
    path, sequence = critical_path(stubs.record)
    models = sum(call.model for call in stubs.record)
    print(f"sections {sections}, satisfied in iteration {iterations}: {outcome.stop_reason}")
    print(f"wall time            {wall:6.2f} s")
    print(f"critical path        {path:6.2f} s   ({MODEL_SECONDS * 1000:.0f} ms a model call)")
    print(f"ratio                {wall / path:6.2f}")
    print(f"model calls          {models:6d}")
    print(f"  in sequence        {sequence:6d}")
    print(f"searches             {len(stubs.record) - models:6d}")
    print(f"tokens at most       {budget.used.tokens:6,d}   (every call using all of its allowance)")


def dev_server(port: int, database: Path) -> subprocess.Popen[bytes]:
    """A real Temporal server on a database of its own."""
    where = ["--ip", "127.0.0.1", "--port", str(port), "--db-filename", str(database)]
    return subprocess.Popen(
        [str(find_temporal()), "server", "start-dev", "--headless", "--log-level", "error", *where],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


async def connect(address: str) -> Client:
    """A client, once the server answers."""
    for _ in range(200):
        try:
            client = await Client.connect(address, data_converter=DATA_CONVERTER)
            await anext(client.list_workflows(), None)
        except Exception:  # noqa: BLE001 - whatever it is, the server is not up yet
            await asyncio.sleep(0.1)
        else:
            return client
    sys.exit("the dev server did not come up")


async def run_once(client: Client, name: str, sections: int) -> tuple[Outcome, BudgetStatus]:
    """Start a deep run and await it."""
    request = ResearchRequest.model_validate(
        {
            "question": "Does metformin lower mortality in people with diabetes?",
            "mode": "deep",
            "limits": {"max_sections": sections},
        }
    )
    handle = await client.start_workflow(
        "DeepResearch", request, id=name, task_queue=QUEUE, result_type=Outcome
    )
    outcome = await handle.result()
    return outcome, await handle.query("budget", result_type=BudgetStatus)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--sections", type=int, default=5)
    arguments.add_argument("--iterations", type=int, default=1)
    chosen = arguments.parse_args()
    asyncio.run(play(chosen.sections, chosen.iterations))
