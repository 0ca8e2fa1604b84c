"""A small fleet under many runs: `python -m benchmarks.scale`.

A Temporal development server with the options of the embedded one, two `determinator worker` processes with
one evidence store, and a language model over HTTP that takes a fixed time for each call. First many short
runs (mode simple) at once, then one deep run, then many deep runs at once: the last row's wall time against
the one before it says how far the machine is from its limit; then one deep run whose judge is never content,
until its limits end it after a thousand calls. One row of a Markdown table for each: wall time,
runs a minute, model calls, steps (activities), processor milliseconds a step of the workers and of the
server, history events and KiB a run, and the peak memory of a worker and of the server.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from temporalio.client import Client

from activities.contracts.evidence import Mode
from benchmarks.end_to_end import Call, Model, cpu_of, papers, peak_of, row
from client.embedded.binary import find_temporal
from client.embedded.server import PACE
from client.runs.start import start
from tests.client.harness import COMMAND
from tests.conftest import client_of, dev_server_of
from tests.fake_openai import PATH, FakeOpenAI, labels_by_work, says
from tests.replay import Asked, Reply
from workflows.amounts import Limits
from workflows.types import ResearchRequest

WORKERS = 2
SHORT_SECONDS = 0.5
DEEP_SECONDS = 2.0
"""Seconds that a model call takes."""
SECTIONS = 3
LONG_SECTIONS, LONG_ITERATIONS = 10, 25
LONG_MB = 10.0
"""All the histories of a run of a thousand model calls, its sections' too, at most."""
PAPERS = 400
QUEUE = "scale"
TOPIC = "Does metformin lower the risk of colorectal cancer after {years} years of treatment?"
TITLES = (
    *(
        "runs",
        "wall s",
        "runs a minute",
        "calls a run",
        "steps a run",
        "worker ms a step",
        "server ms a step",
    ),
    *("events a run", "KiB a run", "worker MB", "server MB"),
)


class Row(NamedTuple):
    """What a measurement found."""

    wall: float
    calls: int
    size: int
    """Bytes of the histories."""


class Insatiable(Model):
    """Its gaps are new each time, and no judgement suffices."""

    def _reply(self, call: Call, asked: Asked) -> Reply:
        if call.role == "gap_evaluator":
            gap = f"metformin cohort {len(self.calls) % PAPERS}"
            return says({"research_complete": False, "outstanding_gaps": [gap]})(asked)
        if call.role == "judge":  # names no search, so that every role of an iteration is asked
            related = [
                {"work": work, "answers": 1, "sentences": [], "reason": "Related."}
                for work in labels_by_work(asked)
            ]
            return says(
                {"works": related, "scores": [], "recommendation": "continue", "gaps": [], "searches": []}
            )(asked)
        return super()._reply(call, asked)


@dataclass
class Scale:
    """The fleet that is measured."""

    client: Client
    model: FakeOpenAI
    workers: Sequence[int]
    """Process ids."""
    server: Sequence[int]
    asked: int = 0

    async def measure(self, mode: Mode, runs: int, seconds: float) -> float:
        """So many runs at once; the wall time in seconds. Prints one row. Raises SystemExit for a run that
        did not complete."""
        requests = [self._request(mode) for _ in range(runs)]
        return (await self._measure(Model(seconds, SECTIONS, 1), requests, "sufficient_evidence")).wall

    async def measure_long(self) -> Row:
        """One run until its limits end it. Prints one row."""
        limits = Limits(
            max_tokens=None,
            max_seconds=None,
            max_iterations=LONG_ITERATIONS,
            max_sections=LONG_SECTIONS,
            max_parallel_sections=LONG_SECTIONS,
            results_per_search=2,
        )
        request = self._request("deep").replace(limits=limits)
        return await self._measure(Insatiable(0.0, LONG_SECTIONS, LONG_ITERATIONS), [request], "")

    async def _measure(self, model: Model, requests: Sequence[ResearchRequest], stop: str) -> Row:
        """Prints one row. `stop` is how each must end; empty for any."""
        mode, runs = requests[0].mode, len(requests)
        self.model.on(PATH, model)
        before = self._used()
        began = time.monotonic()
        started = await asyncio.gather(*(start(self.client, one, QUEUE) for one in requests))
        handles = [self.client.get_workflow_handle(one.run_id) for one in started]
        outcomes = await asyncio.gather(*(handle.result() for handle in handles))
        wall = time.monotonic() - began
        if stop and (bad := [one["stop_reason"] for one in outcomes if one["stop_reason"] != stop]):
            raise SystemExit(f"{len(bad)} of {runs} runs ended with {bad[0]}")
        after = self._used()
        steps, events, size = await self._histories([one.run_id for one in started])
        row(
            f"{runs} {mode}",
            f"{wall:.1f}",
            f"{60 * runs / wall:.0f}",
            f"{len(model.calls) / runs:.0f}",
            f"{steps / runs:.0f}",
            *(f"{1e3 * (late - early) / steps:.0f}" for early, late in zip(before, after, strict=True)),
            f"{events / runs:.0f}",
            f"{size / runs / 1024:.0f}",
            f"{max(map(peak_of, self.workers)):.0f}",
            f"{max(map(peak_of, self.server)):.0f}",
        )
        return Row(wall, len(model.calls), size)

    def _request(self, mode: Mode) -> ResearchRequest:
        self.asked += 1
        return ResearchRequest(
            question=TOPIC.format(years=self.asked),
            mode=mode,
            profile="drug_repurposing",
            sources=("library",),
            limits=Limits(max_iterations=2, max_sections=SECTIONS),
        )

    def _used(self) -> tuple[float, float]:
        """Processor seconds of the workers and of the server so far."""
        return sum(map(cpu_of, self.workers)), sum(map(cpu_of, self.server))

    async def _histories(self, runs: Sequence[str]) -> tuple[int, int, int]:
        """Completed steps, events and bytes of runs and their sections."""
        steps = events = size = 0
        wanted = set(runs)
        async for found in self.client.list_workflows("WorkflowType != 'RateGate'"):
            if found.id.partition("/")[0] not in wanted:
                continue
            handle = self.client.get_workflow_handle(found.id, run_id=found.run_id)
            async for event in handle.fetch_history_events():
                events += 1
                size += event.ByteSize()
                steps += event.HasField("activity_task_completed_event_attributes")
        return steps, events, size


@contextmanager
def fleet(folder: Path, address: str, model: FakeOpenAI) -> Iterator[list[int]]:
    """The worker processes."""
    given = {
        "TEMPORAL_ADDRESS": address,
        "DETERMINATOR_TASK_QUEUE": QUEUE,
        "DETERMINATOR_STORE_URL": str(folder / "evidence"),
        "DETERMINATOR_LIBRARY": str(papers(folder / "papers", PAPERS)),
        "DETERMINATOR_MODEL": "scripted",
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": model.base_url,
        # as for a provider's: a model server on this machine is else asked one thing at a time
        "DETERMINATOR_MODEL_CONCURRENCY": "0",
    }
    processes = []
    try:
        for number in range(WORKERS):
            home = {"DETERMINATOR_HOME": str(folder / f"home-{number}")}
            with (folder / f"worker-{number}.log").open("wb") as log:
                processes.append(
                    subprocess.Popen(
                        [*COMMAND, "worker"], env=os.environ | given | home, stdout=log, stderr=log
                    )
                )
        yield [process.pid for process in processes]
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(30)


async def measure(folder: Path, short: int, deep: int) -> None:
    """Print the table and the ratio."""
    (folder / "temporal").mkdir()
    with FakeOpenAI() as model, dev_server_of(find_temporal(), folder / "temporal", options=PACE) as address:
        client = await client_of(address)
        server = [pid for pid in _pids() if str(folder) in _command(pid) and "start-dev" in _command(pid)]
        with fleet(folder, address, model) as workers:
            scale = Scale(client, model, workers, server)
            row(*TITLES)
            row(*("---" for _ in TITLES))
            await scale.measure("simple", 2, 0.0)  # imports and compiled code
            await scale.measure("simple", short, SHORT_SECONDS)
            one = await scale.measure("deep", 1, DEEP_SECONDS)
            many = await scale.measure("deep", deep, DEEP_SECONDS)
            long = await scale.measure_long()
    print(f"\n{deep} deep runs at once take {many / one:.1f} times one, {DEEP_SECONDS:g} s a call")
    print(f"histories of a run of {long.calls} model calls: {long.size / 1e6:.1f} MB (at most {LONG_MB:g})")


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100, help="short runs at once")
    parser.add_argument("--deep", type=int, default=30, help="deep runs at once")
    parser.add_argument("--max-minutes", type=float, default=10.0, help="end without the rows that are left")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="scale-") as folder:
        try:
            limit = asyncio.wait_for(measure(Path(folder), given.runs, given.deep), 60 * given.max_minutes)
            asyncio.run(limit)
        except TimeoutError:
            print(f"not done after {given.max_minutes:g} minutes", file=sys.stderr)
            raise SystemExit(1) from None


if __name__ == "__main__":
    main()
