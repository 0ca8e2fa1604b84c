"""How fast are 10,000 records screened, and what do kills cost?

    python -m benchmarks.reviewing FOLDER [--records 10000] [--kills 20] [--seconds 0.1]

FOLDER holds screened records as for `benchmarks.screening`. A review of `--records` of them (repeated under
other titles) with two scripted models is started from a home of its own on the embedded server; a person
labels and decides meanwhile, one decision a message, and is right. Server and worker are killed at random
moments. Printed: records a minute; calls that a model was asked twice; bytes and events of each history, the
memory of the worker, processor time, the decisions of the person and how long each took.

A call that comes again was in one of four states: its answer was in the store, or its worker was not killed
(there must be none of both: exit code 1); the model had sent the answer and the worker had not read it, or
the model was still at it. Nothing can spare the last two: they are at most as many as calls at once a kill.
"""

import argparse
import asyncio
import contextlib
import csv
import gzip
import hashlib
import json
import math
import os
import random
import re
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Literal, get_args

from client.api import Determinator
from client.configuration import load_settings
from client.embedded.server import stop_embedded
from client.failures import Failure
from client.reviews.review import Review
from tests.client.harness import living, processes_of
from tests.fake_openai import FakeOpenAI, labels_by_work, says
from tests.replay import Asked, Reply

_TITLE = re.compile(r"^\[(E\d+)\] Record (\d+)", re.MULTILINE)
PROTOCOL = """title = "Scale"
records = ["records.csv"]
[question]
population = "people and animals"
intervention = "what was tried"
[[criteria]]
id = "I1"
text = "it was tried"
[[screeners]]
name = "first"
kind = "model"
model = "first"
[[screeners]]
name = "second"
kind = "model"
model = "second"
[calibration]
records = 100
"""


State = Literal["stored", "not killed", "sent", "under way"]


class Models:
    """Two screeners of sensitivity 0.95 and specificity 0.97 who answer after some time, and a count of what
    they were asked."""

    def __init__(self, truth: list[bool], seconds: float, home: Path) -> None:
        self.truth, self.seconds, self.home = truth, seconds, home
        self.questions: dict[str, tuple[str, float, float]] = {}
        """Question -> mark of its answer, when it was asked, and when the answer was sent."""
        self.repeats: Counter[State] = Counter()
        """State at the kill -> calls that came again."""
        self.kills: list[float] = []
        self.calls = 0

    def state_of(self, mark: str, asked_at: float, sent_at: float) -> State:
        """Tell how far the earlier call was when its worker was killed."""
        if any(mark.encode() in path.read_bytes() for path in self.home.rglob("answers/*.json")):
            return "stored"
        kill = next((kill for kill in self.kills if kill >= asked_at), None)
        return "not killed" if kill is None else "sent" if sent_at <= kill else "under way"

    def __call__(self, request: Asked) -> Reply:
        start = time.monotonic()
        key = hashlib.sha256(request.body).hexdigest()
        if key in self.questions:
            self.repeats[self.state_of(*self.questions[key])] += 1
        self.calls += 1
        mark = f"answer {self.calls}."
        self.questions[key] = mark, start, math.inf
        body = json.loads(request.body)
        text = "\n".join(message["content"] for message in body["messages"])
        numbers = {label: int(number) for label, number in _TITLE.findall(text)}
        rows = []
        for work, labels in labels_by_work(request).items():
            is_relevant = self.truth[numbers[work]]
            chance = random.Random(f"{body['model']}/{numbers[work]}").random()
            is_included = chance < (0.95 if is_relevant else 0.03)
            verdict = "include" if is_included else "exclude"
            rows.append({"work": work, "verdict": verdict, "criterion": "I1", "sentences": labels[:1]})
        time.sleep(max(0.0, self.seconds - (time.monotonic() - start)))
        answer = {"decisions": rows, "mark": mark}
        reply = says(answer, usage=(len(text) // 4, 40 * len(rows)))(request)
        self.questions[key] = mark, start, time.monotonic()
        return reply


def write_records(folder: Path, path: Path, count: int) -> list[bool]:
    """Write so many records; return which are relevant."""
    rows = []
    for name in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(name, "rt", encoding="utf-8") as lines:
            rows += [json.loads(line) for line in lines]
    truth = []
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["title", "abstract", "year"])
        for number in range(count):
            row = rows[number % len(rows)]
            writer.writerow(
                [f"Record {number}: {row['title']}", row["abstract"] or row["title"], row["year"]]
            )
            truth.append(bool(row["included"]))
    return truth


class Watch:
    """Measurements made while the review runs."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.memory = 0
        self.processors: dict[str, dict[int, float]] = {"server": {}, "worker": {}}
        """Kind of process -> its ids -> seconds of processor time."""

    def look_at(self, kind: str, pid: int) -> None:
        with contextlib.suppress(OSError, IndexError):
            status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            ticks = int(fields[11]) + int(fields[12])
            self.processors[kind][pid] = ticks / os.sysconf("SC_CLK_TCK")
            if kind == "worker":  # the most memory that it has had, in kilobytes
                self.memory = max(self.memory, int(status.split("VmHWM:")[1].split()[0]))


async def person(review: Review, models: Models, watch: Watch) -> None:
    """Decide what waits, one decision a message, until the report waits."""
    while True:
        try:
            progress = await review.progress()
            if progress.gate == "report":
                return
            if progress.gate in ("protocol", "full_texts"):
                await review.approve(by="Ada")
            tasks = [task for task in await review.tasks("Ada", 50) if task.kind in ("label", "conflict")]
            for task in tasks:
                start = time.monotonic()
                await review.decide(
                    task.record,
                    "include" if models.truth[task.record] else "exclude",
                    by="Ada",
                    criterion="I1",
                    label=task.kind == "label",
                )
                watch.waits.append(time.monotonic() - start)
            if not tasks:
                await asyncio.sleep(0.5)
        except Failure:  # killed at that moment, or decided already
            await asyncio.sleep(1.0)


async def killer(home: Path, kills: int, models: Models, expected: int) -> None:
    """Kill server and worker at moments that are spread over the calls."""
    chance = random.Random("kills")
    for number in range(kills):
        next_call = expected * (number + chance.random()) / (kills + 1)
        while models.calls < next_call:  # noqa: ASYNC110 - counted by the threads of a server
            await asyncio.sleep(0.05)
        processes = await asyncio.to_thread(living, home)
        pids = [pid for several in processes.values() for pid in several]
        chance.shuffle(pids)
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        models.kills.append(time.monotonic())


async def look(home: Path, watch: Watch) -> None:
    while True:
        processes = await asyncio.to_thread(processes_of, home)
        for kind in watch.processors:
            for pid in processes[kind]:
                watch.look_at(kind, pid)
        await asyncio.sleep(1.0)


async def histories(review: Review) -> list[tuple[int, int]]:
    """Return bytes and events of each run of the workflow."""
    client = review.connection.client
    rows = []
    async for run in client.list_workflows(f"WorkflowId = '{review.id}'"):
        description = await client.get_workflow_handle(review.id, run_id=run.run_id).describe()
        info = description.raw_description.workflow_execution_info
        rows.append((info.history_size_bytes, info.history_length))
    return rows


async def main_async(options: argparse.Namespace, home: Path) -> None:
    truth = write_records(options.folder, home / "records.csv", options.records)
    (home / "protocol.toml").write_text(PROTOCOL, encoding="utf-8")
    models, watch = Models(truth, options.seconds, home), Watch()
    with FakeOpenAI() as server:
        server.script(models)
        os.environ |= {
            "DETERMINATOR_HOME": str(home),
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "none",
            "DETERMINATOR_MODEL": "first",
            "DETERMINATOR_OFFLINE": "true",
        }
        async with Determinator(load_settings(), say=print) as client:
            start = time.monotonic()
            review = await client.start_review(home / "protocol.toml")
            print(f"started in {time.monotonic() - start:.1f} s: {review.id}", flush=True)
            start = time.monotonic()
            tasks = [
                asyncio.ensure_future(killer(home, options.kills, models, options.expected)),
                asyncio.ensure_future(look(home, watch)),
            ]
            while True:
                watcher = asyncio.ensure_future(person(review, models, watch))
                ended, _ = await asyncio.wait([watcher], timeout=60)
                if ended and watcher.exception() is None:
                    break
                watcher.cancel()
                await asyncio.wait([watcher])
                with contextlib.suppress(Exception, asyncio.CancelledError):
                    progress = await review.progress()
                    print(
                        f"{time.monotonic() - start:5.0f} s: {progress.phase}, {progress.settled} settled",
                        flush=True,
                    )
                review = await client.review(review.id)
            seconds = time.monotonic() - start
            for task in tasks:
                task.cancel()
            progress = await review.progress()
            published = await review.published()
            flow = published.report.flow
            minutes = seconds / 60
            print(f"{flow.screened:,} records in {seconds:.0f} s: {flow.screened / minutes:.0f} a minute")
            print(f"{flow.unread:,} unread, recall at least {progress.recall}, faults {flow.faults()}")
            states = published.state.titles.states()
            hits = sum(truth[n] for n, state in enumerate(states) if state == "included")
            print(f"recall reached {hits / sum(truth):.3f} of {sum(truth)}")
            repeats = (f"{models.repeats[state]} {state}" for state in get_args(State))
            print(f"{models.calls:,} calls, {len(models.kills)} kills; asked again: {', '.join(repeats)}")
            for size, events in await histories(review):
                print(f"history: {size / 2**20:.2f} MB, {events:,} events")
            print(f"memory of the worker at most {watch.memory / 1024:.0f} MB")
            for kind, seconds_of in watch.processors.items():
                spent = sum(seconds_of.values())
                print(f"processor time of {len(seconds_of)} processes ({kind}): {spent:.0f} s")
            if waits := sorted(watch.waits):
                median = waits[len(waits) // 2] * 1000
                print(f"{len(waits)} decisions of a person, {median:.0f} ms each, longest {waits[-1]:.1f} s")
            if models.repeats["stored"] or models.repeats["not killed"]:
                raise SystemExit(1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.1)
    options = parser.parse_args()
    options.expected = options.records // 10 * 2 // 3
    with tempfile.TemporaryDirectory(prefix="reviewing-") as name:
        home = Path(name)
        try:
            asyncio.run(main_async(options, home))
        finally:
            stop_embedded(home)


if __name__ == "__main__":
    main()
