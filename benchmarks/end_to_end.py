"""The product as shipped, measured from outside: `python -m benchmarks.end_to_end`.

The command line asks, the embedded server and the background worker answer, and a language model over HTTP
takes a fixed time for each call. A deep run cold and warm, then several at once, of two paths: `library`
reads a folder, `web` searches an engine and reads the pages that it names (`benchmarks.pages`). One row of a
Markdown table is printed for each: wall time, what its model calls need in sequence, model calls and the
longest chain of them, tokens, seconds before the first and after the last call, pages requested, steps
(activities) and workflow tasks, processor milliseconds a step of worker and server, processor seconds a run
of the command and both, history events and bytes a run, events of a section's history by its iterations, and
the peak memory of both. The worker is all its processes: those that read documents too.

More runs than `STARTERS` are started by one process through the library, as a program of one's own would.
"""

import argparse
import asyncio
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from temporalio.client import Client

from activities.evidence_store import EvidenceStore
from activities.payloads import DATA_CONVERTER
from activities.report.schema import Report
from activities.settings import Settings
from benchmarks.pages import Web
from client.api import Determinator
from client.embedded.home import Places, ServerNote, read_note
from client.listing import RESEARCH
from client.runs.options import AskOptions
from client.runs.request import build_request
from client.runs.start import signing_key, start
from tests.client.harness import COMMAND, processes_of
from tests.fake_openai import (
    PATH,
    FakeOpenAI,
    cited,
    labels_by_work,
    question_of,
    role_of,
    says,
    sensible,
    sentences_of,
)
from tests.replay import Asked, Reply
from workflows.types import Outcome

TOPIC = "Does metformin lower the risk of colorectal cancer after {years} years of treatment?"
YEARS = re.compile(r"after (\d+) years")
SAID = re.compile(r"metformin was associated with a lower risk of colorectal cancer")
AREA = re.compile(r"area (\d+)\?")
TICKS = os.sysconf("SC_CLK_TCK")
STARTERS = 8
"""Commands that are started at the same time; a person's machine starts no hundred processes at once."""
TITLES = (
    *("run", "wall s", "calls in sequence s", "calls", "in sequence", "tokens", "first call after s"),
    *("end after last call s", "searches", "pages", "steps", "workflow tasks", "worker ms a step"),
    *("server ms a step", "command s", "worker s", "server s", "events", "events an iteration", "KiB"),
    *("worker MB", "server MB"),
)


@dataclass
class Call:
    role: str
    question: str
    began: float
    ended: float = float("inf")

    @property
    def run(self) -> str:
        """What distinguishes the runs of one measurement."""
        found = YEARS.search(self.question)
        return found.group(1) if found else ""

    @property
    def area(self) -> str:
        """The section it belongs to; empty for what is done for all of them."""
        found = AREA.search(self.question)
        return found.group(1) if found else ""


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
        return replace(reply, keep_open=bool(reply.chunks))

    def _reply(self, call: Call, asked: Asked) -> Reply:
        if call.role == "planner":
            sections = [
                {
                    "title": f"Area {n}",
                    "key_question": f"What is known of area {n}? {call.question}",
                    "queries": [f"metformin cohort {3 * n + k}, {call.run} years" for k in range(2)],
                }
                for n in range(1, self.sections + 1)
            ]
            return says({"report_title": "A report", "sections": sections})(asked)
        works = labels_by_work(asked)
        judged = {c.began for c in self.calls if c.role == "judge" and c.question == call.question}
        if call.role == "judge" and len(judged) < self.rounds:
            related = [{"work": work, "answers": 1, "sentences": [], "reason": "Related."} for work in works]
            search = f"metformin cohort {20 + len(judged)}, {call.run} years"
            advice = {"recommendation": "continue", "gaps": ["Older cohorts"], "searches": [search]}
            return says({"works": related, "scores": [], **advice})(asked)
        if call.role == "writer" and b'"AgainAnswer"' in asked.body:
            return says({"sentences": []})(asked)
        if call.role == "writer":
            # one sentence of its own on two works: the verifier is asked
            shown = [(work, labels[0]) for work, labels in works.items() if labels]
            own = cited(
                "Metformin was associated with a lower risk of colorectal cancer", *(w for w, _ in shown[:2])
            )
            quoted = [cited(sentences_of(asked)[label], work) for work, label in shown[2:6]]
            return says({"report": f"{' '.join(quoted[:1])}\n\n## Findings\n\n{' '.join([own, *quoted])}"})(
                asked
            )
        return sensible(asked)

    def in_sequence(self) -> int:
        """The longest chain of calls of one run, each of which began after the one before it had ended. Calls
        of different sections do not wait for each other."""
        longest = 0
        for run in {call.run for call in self.calls}:
            chains: list[tuple[Call, int]] = []
            for call in sorted((c for c in self.calls if c.run == run), key=lambda c: c.began):
                before = [
                    length
                    for other, length in chains
                    if other.ended <= call.began + 1e-3 and (not call.area or other.area in ("", call.area))
                ]
                chains.append((call, max(before, default=0) + 1))
            longest = max(longest, *(length for _, length in chains))
        return longest


@dataclass(frozen=True)
class Load:
    """What the two processes have used so far."""

    cpu: Mapping[str, float]
    memory: Mapping[str, float]
    """MB at the peak."""


def load(home: Path) -> Load:
    """CPU seconds and peak resident memory of the server and of all others, from the kernel: those that the
    supervisor has started and what these have started, also where it has ended."""
    servers = processes_of(home)["server"]
    if not servers:
        return Load({}, {})
    supervisor = int(stat_of(servers[0])[1])
    others = [pid for pid in descendants(supervisor) if pid not in servers]
    ended = sum(map(int, stat_of(supervisor)[13:15])) / TICKS
    worker = ended + sum(cpu_of(pid, ended=True) for pid in others)
    memory = {"server": sum(map(peak_of, servers)), "worker": sum(map(peak_of, others))}
    return Load({"server": sum(map(cpu_of, servers)), "worker": worker}, memory)


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and theirs."""
    children = [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    return [*children, *(found for child in children for found in descendants(child))]


def stat_of(pid: int) -> list[str]:
    """The fields of `/proc/PID/stat` behind the name of the program."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def cpu_of(pid: int, *, ended: bool = False) -> float:
    """CPU seconds of a process; with `ended` also of those of its children that have ended."""
    return sum(map(int, stat_of(pid)[11 : 15 if ended else 13])) / TICKS


def cpu_of_commands() -> float:
    """CPU seconds of all commands that have ended, child processes of this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peak_of(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


@dataclass(frozen=True)
class Searched:
    """What the runs of a path search."""

    name: str
    home: Path
    flags: tuple[str, ...]
    options: AskOptions
    web: Web | None = None

    @property
    def counts(self) -> tuple[int, int]:
        """Searches and pages that were requested so far."""
        return (self.web.searches_made, self.web.pages_read) if self.web else (0, 0)


def ask(path: Searched, question: str) -> tuple[float, float]:
    """Run one command to its end; when it was started and when it ended. Raises SystemExit when it fails."""
    began = time.monotonic()
    command = [*COMMAND, "ask", question, "--mode", "deep", *path.flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    if done.returncode not in (0, 4):
        raise SystemExit(f"ask ended with {done.returncode}: {done.stderr[-2000:]}")
    return began, time.monotonic()


async def ask_all(path: Searched, questions: Sequence[str]) -> tuple[float, float]:
    """Start runs from one process and wait for them; when that began and when the last one had ended."""
    settings = Settings()
    began = time.monotonic()
    connection = await Determinator(settings).connect()
    limit = asyncio.Semaphore(STARTERS)

    async def begin(question: str) -> None:
        options = AskOptions(mode="deep", **path.options)
        async with limit:
            await start(
                connection.client,
                build_request(settings, question, options),
                connection.task_queue,
                indexed=True,
                key=signing_key(settings, embedded=False),
            )

    await asyncio.gather(*map(begin, questions))
    print(f"{len(questions)} runs were started in {time.monotonic() - began:.2f} s", file=sys.stderr)
    running = f"{RESEARCH} AND ExecutionStatus = 'Running'"
    while (await connection.client.count_workflows(running)).count:  # noqa: ASYNC110 - the server knows
        await asyncio.sleep(0.5)
    return began, time.monotonic()


@dataclass
class Seen:
    """All that was there before a measurement, so that only its own part is reported."""

    events: int = 0
    size: int = 0
    steps: int = 0
    tasks: int = 0
    """Workflow tasks."""
    tokens: int = 0
    iterations: int = 0
    """Iterations of all sections."""
    in_sections: int = 0
    """Events of the sections' histories."""
    cpu: Mapping[str, float] = field(default_factory=dict)


async def histories(home: Path) -> Seen:
    """History events and bytes of all workflows of a home, the activities that completed, and the tokens of
    the runs. Raises SystemExit for a run that did not complete."""
    note = read_note(Places(home).server_note, ServerNote)
    if note is None:
        raise SystemExit("the embedded server left no note")
    client = await Client.connect(note.address, data_converter=DATA_CONVERTER)
    store, seen = EvidenceStore.at(str(home / "evidence")), Seen()
    async for found in client.list_workflows("WorkflowType != 'RateGate'"):
        handle = client.get_workflow_handle(found.id, run_id=found.run_id, result_type=Outcome)
        section = "/" in found.id
        async for event in handle.fetch_history_events():
            seen.events += 1
            seen.in_sections += section
            seen.size += event.ByteSize()
            seen.steps += event.HasField("activity_task_completed_event_attributes")
            seen.tasks += event.HasField("workflow_task_completed_event_attributes")
        outcome = await handle.result()
        if section:
            seen.iterations += outcome.findings.iterations if outcome.findings else 0
        else:
            if outcome.stop_reason != "sufficient_evidence":
                raise SystemExit(f"{found.id} ended with {outcome.stop_reason}")
            report = Report.model_validate_json(await store.get_bytes(outcome.report_blob))
            seen.tokens += report.methodology.tokens
    return seen


class Bench:
    """Measures the runs of one path."""

    def __init__(self, server: FakeOpenAI, path: Searched, sections: int, rounds: int) -> None:
        self.server, self.path = server, path
        self.sections, self.rounds = sections, rounds
        self.seen = Seen()
        self.counts = path.counts
        self.asked = 0
        self.commands = cpu_of_commands()
        """CPU seconds of the commands that have ended."""

    def measure(self, name: str, seconds: float, at_once: int) -> float:
        """Some runs at the same time; the wall time in seconds. Prints one row."""
        model = Model(seconds, self.sections, self.rounds)
        self.server.on(PATH, model)
        questions = [TOPIC.format(years=self.asked + number) for number in range(1, at_once + 1)]
        self.asked += at_once
        if at_once > STARTERS:
            spans = [asyncio.run(ask_all(self.path, questions))]
        else:
            with ThreadPoolExecutor(at_once) as pool:
                spans = list(pool.map(lambda q: ask(self.path, q), questions))
        self._print(f"{self.path.name}, {name}", model, spans, at_once, load(self.path.home))
        return max(ended for _, ended in spans) - min(began for began, _ in spans)

    def _print(
        self, name: str, model: Model, spans: Sequence[tuple[float, float]], at_once: int, now: Load
    ) -> None:
        before, self.seen = self.seen, asyncio.run(histories(self.path.home))
        self.seen.cpu = dict(now.cpu)
        commands = cpu_of_commands() - self.commands
        self.commands += commands
        steps = max(self.seen.steps - before.steps, 1)
        iterations = self.seen.iterations - before.iterations
        cpu = {kind: used - before.cpu.get(kind, 0.0) for kind, used in now.cpu.items()}
        cpu = {kind: used if used >= 0 else now.cpu[kind] for kind, used in cpu.items()}
        began, ended = min(began for began, _ in spans), max(ended for _, ended in spans)
        (searches_before, pages_before), self.counts = self.counts, self.path.counts
        searches, pages = self.counts
        chain = model.in_sequence()
        row(
            name,
            f"{ended - began:.2f}",
            f"{chain * model.seconds:.2f}",
            f"{len(model.calls) / at_once:.0f}",
            str(chain),
            f"{(self.seen.tokens - before.tokens) / at_once:,.0f}",
            f"{min(call.began for call in model.calls) - began:.2f}",
            f"{ended - max(call.ended for call in model.calls):.2f}",
            f"{(searches - searches_before) / at_once:.0f}",
            f"{(pages - pages_before) / at_once:.0f}",
            f"{steps / at_once:.0f}",
            f"{(self.seen.tasks - before.tasks) / at_once:.0f}",
            f"{cpu.get('worker', 0) / steps * 1e3:.0f}",
            f"{cpu.get('server', 0) / steps * 1e3:.0f}",
            f"{commands / at_once:.2f}",
            f"{cpu.get('worker', 0) / at_once:.2f}",
            f"{cpu.get('server', 0) / at_once:.2f}",
            f"{(self.seen.events - before.events) / at_once:.0f}",
            f"{(self.seen.in_sections - before.in_sections) / max(iterations, 1):.0f}",
            f"{(self.seen.size - before.size) / at_once / 1024:.0f}",
            f"{now.memory.get('worker', 0.0):.0f}",
            f"{now.memory.get('server', 0.0):.0f}",
        )


def row(*cells: str) -> None:
    """Print a row of the table."""
    print(f"| {' | '.join(cells)} |", flush=True)


def papers(folder: Path, count: int = 24) -> Path:
    """A library with something to quote."""
    folder.mkdir()
    for number in range(count):
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
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 8, 30])
    parser.add_argument("--repeat", type=int, default=3, help="single runs of each kind")
    parser.add_argument("--paths", nargs="+", default=["library", "web"], choices=["library", "web"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, FakeOpenAI() as server, Web() as web:
        library = papers(Path(name) / "papers")
        paths = {
            "library": Searched(
                "library", Path(name) / "home", ("--library", str(library)), {"library": str(library)}
            ),
            "web": Searched(
                "web", Path(name) / "web", ("--source", "searxng"), {"sources": ("searxng",)}, web
            ),
        }
        os.environ.update(
            DETERMINATOR_MODEL="stub",
            # as at a provider: a local server that does not say how many calls it serves gets one at once
            DETERMINATOR_MODEL_CONCURRENCY="0",
            DETERMINATOR_PRIVATE_PAGES='["127.0.0.0/8"]',
            OPENAI_API_KEY="none",
            OPENAI_BASE_URL=server.base_url,
            SEARXNG_URL=web.engine,
        )
        busy = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors at the beginning"
        print(f"{datetime.now(UTC):%Y-%m-%d}, {given.sections} sections, {busy}\n")
        row(*TITLES)
        row(*("---" for _ in TITLES))
        for path in given.paths:
            os.environ.update(
                DETERMINATOR_HOME=str(paths[path].home),
                DETERMINATOR_OFFLINE="true" if path == "library" else "false",
            )
            measure_all(Bench(server, paths[path], given.sections, given.rounds), given)


def measure_all(bench: Bench, given: argparse.Namespace) -> None:
    """Every row of one path; its server and worker are ended then."""
    try:
        bench.measure("cold", given.seconds[0], 1)
        for seconds in given.seconds:
            one = 0.0
            for at_once in given.at_once:
                times = given.repeat if at_once == 1 else 1
                name = f"{seconds * 1e3:.0f} ms, {at_once} at once"
                middle = statistics.median(bench.measure(name, seconds, at_once) for _ in range(times))
                one = one or middle
                said = f"{bench.path.name}, {name}: {middle:.2f} s, {middle / one:.2f} x the first"
                print(said, file=sys.stderr)
    finally:
        subprocess.run([*COMMAND, "down"], capture_output=True, check=False)


if __name__ == "__main__":
    main()
