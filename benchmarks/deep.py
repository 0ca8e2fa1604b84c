"""How much time a deep run adds to that of its model and its sources: `python -m benchmarks.deep`.

A real Temporal development server, the real workflows and a worker in this process; models and sources are
stubs that take a fixed time, and every model call uses the whole of its allowance. Reported beside the wall
time is the critical path: the longest chain of calls that waited for each other, at the stubs' own speed.
Aimed for, with five sections: wall time at most 1.15 times the critical path, at most 6 model calls in
sequence for one round and 9 for two, at most 40 model calls and 250,000 tokens, no claim repeated. Repetition
is the share of claims that repeat a claim of an earlier section, as they were drafted and as they were
published, where every search finds two works that all searches find and the writers cite whatever they are
shown that no claim they were shown states. A bare Temporal step is timed as well, alone and in five workflows
at once: on a machine that has other things to do it shows what the ratio consists of.
"""

import argparse
import asyncio
import logging
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.worker import Worker

from activities.contracts.evidence import Evidence, Support, Usage
from activities.contracts.search import SearchTask
from activities.contracts.step import Role, StepContext
from activities.contracts.write import DraftClaim, DraftParagraph, SectionDraft, WriteInput
from activities.evidence_store import EvidenceStore
from activities.payloads import DATA_CONVERTER
from activities.roles.allowances import ALLOWANCES
from client.embedded.binary import find_temporal, free_port
from client.embedded.server import PACE
from tests.workflows.conftest import WORKFLOWS, Stage, a_request
from tests.workflows.fakes import Fakes
from tests.workflows.script import Call, document
from worker import daemon as event_loop
from worker.build import build_worker

MODEL_SECONDS = 0.2
SEARCH_SECONDS = 0.1
WALL_RATIO, CALLS, TOKENS = 1.15, 40, 250_000
SEQUENCE = {1: 6, 2: 9}
"""Model calls in sequence at most, by rounds."""


@dataclass(frozen=True)
class Span:
    """One call to a model or a source."""

    section: str
    """Workflow id of the section; empty for what the deep run does for all of them."""
    began: float
    ended: float
    is_model: bool


@dataclass(frozen=True)
class Figures:
    wall: float
    critical: float
    """Seconds."""
    in_sequence: int
    calls: int
    tokens: int
    drafted: float
    """Share of claims that repeat one of an earlier section, before the sections are compared."""
    published: float


def whole_allowance(role: Role, _: StepContext) -> Usage:
    """The most a call may use."""
    allowance = ALLOWANCES[role]
    return Usage(calls=1, input_tokens=allowance.input_tokens, output_tokens=allowance.output_tokens)


def overlapping(task: SearchTask) -> list[Evidence]:
    """One work that only this search finds, and two that every search finds."""
    common = [document("common", f"number {number}") for number in (1, 2)]
    return [document(task.source, task.query.text), *common]


def citing_writer(step: WriteInput, fakes: Fakes) -> SectionDraft:
    """A claim for each item, unless a claim it was shown states it already."""
    stated = {claim.text for claim in step.written}
    documents = [fakes.documents[ref.blob] for ref in step.evidence[:6]]
    claims = [
        DraftClaim(text=d.text, support=(Support(evidence_id=d.evidence_id, quote=d.text),))
        for d in documents
        if d.text not in stated
    ]
    return SectionDraft(title=step.title, paragraphs=(DraftParagraph(claims=tuple(claims)),))


def published_drafts(fakes: Fakes) -> dict[str, SectionDraft]:
    """The drafts as they were published."""
    return {s.section.id: s.draft for s in fakes.published[-1].sections}


def section_of(call: Call, run_id: str) -> str:
    """The section that a call belongs to: a section's own research, or its draft."""
    if isinstance(call.step, WriteInput):
        return f"{run_id}/{call.step.section_id}"
    return "" if call.workflow_id == run_id else call.workflow_id


def longest_chain(spans: list[Span], weight: tuple[float, float]) -> float:
    """The heaviest chain of calls each of which began after the one before it had ended; `weight` of a model
    call and of a search. Calls of different sections do not wait for each other."""
    chains: list[tuple[Span, float]] = []
    for span in sorted(spans, key=lambda s: s.began):
        before = [
            chain
            for other, chain in chains
            if other.ended <= span.began and (not span.section or other.section in ("", span.section))
        ]
        chains.append((span, max(before, default=0.0) + weight[0 if span.is_model else 1]))
    return max((chain for _, chain in chains), default=0.0)


async def measure(client: Client, folder: Path, name: str, mode: str, rounds: int, sections: int) -> Figures:
    """One run whose judge is satisfied in its `rounds`-th iteration."""
    fakes = Fakes(EvidenceStore.at(str(folder / name)))
    fakes.script.mode, fakes.script.sections, fakes.script.sufficient_at = "deep", sections, rounds
    fakes.script.model_seconds, fakes.script.search_seconds = MODEL_SECONDS, SEARCH_SECONDS
    fakes.script.usage = whole_allowance
    fakes.script.search = overlapping
    fakes.script.answers["writer"] = lambda step: citing_writer(step, fakes)
    async with build_worker(client, name, workflows=WORKFLOWS, activities=fakes.activities):
        stage = Stage(client, fakes, queue=name)
        began = time.monotonic()
        run = await stage.start(a_request(mode), name)
        outcome = await run.outcome()
        wall = time.monotonic() - began
    if outcome.stop_reason != "sufficient_evidence":
        raise SystemExit(f"the run ended with {outcome.stop_reason}")
    paid = [call for call in fakes.calls if call.paid]
    spans = [Span(section_of(call, name), call.began, call.ended, True) for call in paid]
    spans += [Span(section, began, ended, False) for section, began, ended in fakes.search_times]
    return Figures(
        wall=wall,
        critical=longest_chain(spans, (MODEL_SECONDS, SEARCH_SECONDS)),
        in_sequence=round(longest_chain(spans, (1, 0))),
        calls=len(paid),
        tokens=sum(call.usage.tokens for call in paid),
        drafted=repeated_share(published_drafts(fakes)),
        published=repeated_share({s.section.id: s.draft for s in fakes.published[-1].sections}),
    )


def repeated_share(drafts: Mapping[str, SectionDraft]) -> float:
    """The share of claims with a quote that a claim of an earlier section has, 0 to 1."""
    earlier: set[Support] = set()
    total = repeated = 0
    for draft in drafts.values():
        own = [claim for paragraph in draft.paragraphs for claim in paragraph.claims]
        total += len(own)
        repeated += sum(not earlier.isdisjoint(claim.support) for claim in own)
        earlier.update(support for claim in own for support in claim.support)
    return repeated / total if total else 0.0


@activity.defn
async def nothing() -> None:
    """A step that does nothing."""


@workflow.defn(sandboxed=False)
class Steps:
    """So many steps, one after the other."""

    @workflow.run
    async def run(self, steps: int) -> None:
        for _ in range(steps):
            await workflow.execute_activity(nothing, start_to_close_timeout=timedelta(seconds=30))


async def bare_step(client: Client, name: str, at_once: int, steps: int = 10) -> float:
    """Seconds a step takes that does nothing, with so many workflows executing steps at the same time."""
    async with Worker(client, task_queue=name, workflows=[Steps], activities=[nothing]):
        began = time.monotonic()
        await asyncio.gather(
            *(
                client.execute_workflow(Steps.run, steps, id=f"{name}-{number}", task_queue=name)
                for number in range(at_once)
            )
        )
        return (time.monotonic() - began) / steps


async def connected(port: int) -> Client:
    """A client, once the server answers."""
    while True:
        with suppress(RPCError, RuntimeError):
            client = await Client.connect(f"127.0.0.1:{port}", data_converter=DATA_CONVERTER)
            await anext(client.list_workflows(), None)
            return client
        await asyncio.sleep(0.1)


async def report(port: int, folder: Path, repeat: int, sections: int) -> bool:
    """Print a line for each kind of run; whether all reached what was aimed for."""
    client = await connected(port)
    await measure(client, folder, "warm-up", "deep", 1, sections)
    reached = True
    alone, five = await bare_step(client, "alone", 1), await bare_step(client, "five", 5)
    print(f"a bare step: {alone * 1e3:.0f} ms alone, {five * 1e3:.0f} ms in five workflows at once")
    print(f"{datetime.now(UTC):%Y-%m-%d}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    stubs = f"{MODEL_SECONDS * 1e3:.0f} ms a model call, {SEARCH_SECONDS * 1e3:.0f} ms a search"
    print(f"{sections} sections; {stubs}")
    for mode, rounds in (("deep", 1), ("deep", 2), ("auto", 2)):
        runs = [
            await measure(client, folder, f"{mode}-{rounds}-{number}", mode, rounds, sections)
            for number in range(repeat)
        ]
        ratios = [run.wall / run.critical for run in runs]
        first = runs[0]
        print(
            f"{mode:4} {rounds} rounds: wall {statistics.median(r.wall for r in runs):.2f} s, "
            f"critical path {first.critical:.2f} s, ratio {statistics.median(ratios):.2f} "
            f"({min(ratios):.2f} to {max(ratios):.2f}), {first.in_sequence} model calls in sequence, "
            f"{first.calls} in all, {first.tokens:,} tokens, {first.drafted:.0%} of claims repeated as "
            f"drafted, {first.published:.0%} as published"
        )
        reached = reached and all(
            (
                statistics.median(ratios) <= WALL_RATIO,
                first.in_sequence <= SEQUENCE[rounds],
                first.calls <= CALLS,
                first.tokens <= TOKENS,
                first.published == 0.0,
            )
        )
    return reached


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--repeat", type=int, default=5, help="runs of each kind")
    parser.add_argument("--sections", type=int, default=5)
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    port = free_port()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [str(find_temporal()), "server", "start-dev", "--headless", "--ip", "127.0.0.1"]
        command += ["--port", str(port), "--db-filename", str(folder / "temporal.db")]
        command += ["--log-level", "never", *PACE]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            reached = event_loop.run(report(port, folder, given.repeat, given.sections))
        finally:
            server.kill()
            server.wait()
    print("reached" if reached else "not reached")


if __name__ == "__main__":
    main()
