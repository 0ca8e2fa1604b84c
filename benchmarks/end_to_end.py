"""The product as shipped, measured from outside: `python -m benchmarks.end_to_end`.

The command line asks, the embedded server and the background worker answer, and a language model over HTTP
takes a fixed time for each call. One deep run cold and warm, then several at once. Printed for each: wall
time, the time the model calls need in sequence, seconds before the first and after the last call, calls,
history events and bytes, CPU milliseconds a step of worker and server, and the worker's memory.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from temporalio.client import Client

from activities.payloads import DATA_CONVERTER
from client.embedded.home import Places, ServerNote, read_note
from tests.client.harness import COMMAND, processes_of
from tests.fake_openai import PATH, FakeOpenAI, criteria_of, question_of, role_of, says, sensible
from tests.replay import Asked, Reply

TOPIC = "Does metformin lower the risk of colorectal cancer after {years} years of treatment?"
TICKS = os.sysconf("SC_CLK_TCK")
STARTERS = 8
"""Commands that are started at the same time; a person's machine starts no hundred processes at once."""


@dataclass
class Call:
    role: str
    question: str
    began: float
    ended: float = float("inf")


@dataclass
class Model:
    """A model that answers every role after a fixed time and records when."""

    seconds: float
    sections: int
    rounds: int
    calls: list[Call] = field(default_factory=list)

    def __call__(self, asked: Asked) -> Reply:
        call = Call(role_of(asked), question_of(asked), time.monotonic())
        self.calls.append(call)
        time.sleep(self.seconds)
        reply = self._reply(call, asked)
        call.ended = time.monotonic()
        return reply

    def _reply(self, call: Call, asked: Asked) -> Reply:
        if call.role == "planner":
            sections = [
                {"title": f"Area {n}", "key_question": f"What is known of area {n}? {call.question}"}
                for n in range(1, self.sections + 1)
            ]
            return says({"report_title": "A report", "background_context": "", "sections": sections})(asked)
        judged = [c for c in self.calls if c.role == "judge" and c.question == call.question]
        if call.role == "tool_selector":
            wanted = [f"metformin cohort {3 * len(judged) + n} colorectal cancer" for n in range(3)]
            searches = [{"gap": 1, "source": "library", "query": query} for query in wanted]
            return says({"searches": searches})(asked)
        if call.role == "judge" and len(judged) < self.rounds:
            scores = [{"criterion": name, "score": n % 3} for n, name in enumerate(criteria_of(asked))]
            return says({"scores": scores, "confidence": 0.2, "relevant": [], "reasoning": "Too few."})(asked)
        return sensible(asked)

    def in_sequence(self) -> int:
        """The longest chain of calls each of which began after the one before it had ended."""
        chains: list[tuple[Call, int]] = []
        for call in sorted(self.calls, key=lambda c: c.began):
            before = [length for other, length in chains if other.ended <= call.began + 1e-3]
            chains.append((call, max(before, default=0) + 1))
        return max((length for _, length in chains), default=0)


@dataclass(frozen=True)
class Load:
    """What the two processes have used so far."""

    cpu: Mapping[str, float]
    memory: float
    """MB of the worker at its peak."""


def load(home: Path) -> Load:
    """CPU seconds by process, and the worker's peak resident memory, from the kernel."""
    pids = processes_of(home)
    cpu = {kind: sum(_cpu(pid) for pid in found) for kind, found in pids.items()}
    peaks = [
        int(line.split()[1]) / 1024
        for pid in pids["worker"]
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("VmHWM")
    ]
    return Load(cpu, max(peaks, default=0.0))


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def ask(library: Path, question: str, *flags: str) -> tuple[float, float]:
    """Run one command to its end; when it was started and when it ended. Raises SystemExit when it fails."""
    began = time.monotonic()
    command = [*COMMAND, "ask", question, "--mode", "deep", "--library", str(library), *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    if done.returncode not in (0, 4):
        raise SystemExit(f"ask ended with {done.returncode}: {done.stderr[-2000:]}")
    return began, time.monotonic()


async def histories(home: Path) -> tuple[int, int, int]:
    """Runs, history events and bytes of all workflows of a home, and the activities that completed."""
    note = read_note(Places(home).server_note, ServerNote)
    if note is None:
        raise SystemExit("the embedded server left no note")
    client = await Client.connect(note.address, data_converter=DATA_CONVERTER)
    events = size = steps = 0
    async for found in client.list_workflows("WorkflowType != 'RateGate'"):
        handle = client.get_workflow_handle(found.id, run_id=found.run_id)
        async for event in handle.fetch_history_events():
            events += 1
            size += event.ByteSize()
            steps += event.HasField("activity_task_completed_event_attributes")
    return events, size, steps


@dataclass
class Seen:
    """All that was there before a measurement, so that only its own part is reported."""

    events: int = 0
    size: int = 0
    steps: int = 0
    cpu: Mapping[str, float] = field(default_factory=dict)


class Bench:
    def __init__(self, server: FakeOpenAI, home: Path, library: Path, sections: int, rounds: int) -> None:
        self.server, self.home, self.library = server, home, library
        self.sections, self.rounds = sections, rounds
        self.seen = Seen()
        self.asked = 0

    def measure(self, name: str, seconds: float, at_once: int) -> float:
        """Some runs at the same time; the wall time in seconds. Prints one line."""
        model = Model(seconds, self.sections, self.rounds)
        self.server.on(PATH, model)
        questions = [TOPIC.format(years=self.asked + number) for number in range(1, at_once + 1)]
        self.asked += at_once
        flags = () if at_once <= STARTERS else ("--detach",)
        began = time.monotonic()
        with ThreadPoolExecutor(min(at_once, STARTERS)) as pool:
            spans = list(pool.map(lambda q: ask(self.library, q, *flags), questions))
        if at_once > STARTERS:
            self._wait(at_once)
        wall = time.monotonic() - began
        self._print(name, model, spans, wall, at_once, load(self.home))
        return wall

    def _wait(self, runs: int) -> None:
        """Until no run is open."""
        while True:
            done = subprocess.run(
                [*COMMAND, "list", "--limit", str(runs + 200), "--json"], capture_output=True, text=True
            )
            if '"running"' not in done.stdout.lower():
                return
            time.sleep(1)

    def _print(
        self,
        name: str,
        model: Model,
        spans: Sequence[tuple[float, float]],
        wall: float,
        at_once: int,
        now: Load,
    ) -> None:
        events, size, steps = asyncio.run(histories(self.home))
        before, self.seen = self.seen, Seen(events, size, steps, dict(now.cpu))
        made = max(steps - before.steps, 1)
        cpu = {kind: used - before.cpu.get(kind, 0.0) for kind, used in now.cpu.items()}
        cpu = {kind: used if used >= 0 else now.cpu[kind] for kind, used in cpu.items()}
        first = min(call.began for call in model.calls) - min(began for began, _ in spans)
        last = max(ended for _, ended in spans) - max(call.ended for call in model.calls)
        chain = model.in_sequence() if at_once == 1 else 0
        print(
            f"{name:16} wall {wall:6.2f} s"
            + (f", {chain} calls in sequence ({chain * model.seconds:.1f} s)" if chain else "")
            + f", first call after {first:.2f} s, end {last:.2f} s after the last"
            f", {len(model.calls)} calls, {(events - before.events) / at_once:.0f} events"
            f" and {(size - before.size) / at_once / 1024:.0f} KiB a run"
            f", {made / at_once:.0f} steps a run"
            f", CPU a step: worker {cpu.get('worker', 0) / made * 1e3:.0f} ms,"
            f" server {cpu.get('server', 0) / made * 1e3:.0f} ms, worker {now.memory:.0f} MB",
            flush=True,
        )


def papers(folder: Path) -> Path:
    """A small library with something to quote."""
    folder.mkdir()
    for number in range(24):
        (folder / f"paper{number}.txt").write_text(
            f"Metformin and colorectal cancer, cohort {number}\n\n"
            f"In cohort {number} metformin was associated with a lower risk of colorectal cancer in "
            f"{1000 + number} adults with type 2 diabetes. No serious adverse events of metformin were seen "
            f"in cohort {number}. The association was stronger after {number + 2} years of treatment."
        )
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sections", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=float, nargs="+", default=[0.2, 2.0], help="a model call takes")
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, FakeOpenAI() as server:
        home = Path(name) / "home"
        os.environ.update(
            DETERMINATOR_HOME=str(home),
            DETERMINATOR_MODEL="stub",
            DETERMINATOR_OFFLINE="true",
            # as at a provider: a local server that does not say how many calls it serves gets one at once
            DETERMINATOR_MODEL_CONCURRENCY="0",
            OPENAI_API_KEY="none",
            OPENAI_BASE_URL=server.base_url,
        )
        bench = Bench(server, home, papers(Path(name) / "papers"), given.sections, given.rounds)
        try:
            bench.measure("cold", given.seconds[0], 1)
            for seconds in given.seconds:
                one = 0.0
                for at_once in given.at_once:
                    walls = [
                        bench.measure(f"{seconds * 1e3:.0f} ms x{at_once} #{number}", seconds, at_once)
                        for number in range(given.repeat if at_once == 1 else 1)
                    ]
                    middle = statistics.median(walls)
                    one = one or middle
                    print(
                        f"{seconds * 1e3:.0f} ms, {at_once} at once: {middle:.2f} s, {middle / one:.2f} x one"
                    )
        finally:
            subprocess.run([*COMMAND, "down"], capture_output=True, check=False)


if __name__ == "__main__":
    sys.exit(main())
