"""`kill -9` at any moment: nothing is lost and nothing that was paid for is bought again.

Four kinds of kills, because each tests another promise. Server and worker killed at a random moment: the
general case. The server killed during a call that the worker then completes, while the supervisor is stopped:
only the worker has the answer, and it is killed next, so that only what it stored can prevent a second call.
The server alone: the worker still has it, and the supervisor starts the next server. The supervisor: all end
with it, and the next command starts them. After each every run must go on well before a step's own time-out,
which it does only when the dead worker's missing heartbeat is noticed.
"""

import json
import os
import random
import re
import signal
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest

from client.embedded.home import Places
from client.embedded.processes import DEATHS_SECONDS, MAX_DEATHS, holder
from client.embedded.server import stop_embedded
from tests.client.harness import determinator, inside, living, processes_of, wait_until
from tests.e2e.stage import Clock, Exchange, Thorough, faults, pubmed, recorded_sources
from tests.fake_openai import PATH, FakeOpenAI
from tests.replay import Asked, ReplayServer, Reply

pytestmark = [pytest.mark.invariant, pytest.mark.timeout(400), pytest.mark.usefixtures("executed")]

QUESTIONS = {
    "iterative": "Does trametinib prolong survival in melanoma?",
    "deep": "What is known of Marfan syndrome, of cryopreservation and of MEK inhibition?",
    "simple": "How many people survive melanoma?",
    "team": "Is elective caesarean section safer for the small baby?",
    "hierarchical": "Which mutations occur in Marfan syndrome, and is cryopreservation homogeneous?",
    "graph": "Do antidepressants have cardiac side effects in the elderly?",
}
TOPICS = (
    "Which FBN1 mutations were detected in Marfan syndrome?",
    "Is cryopreservation a homogeneous process for motility?",
)
"""What the sub-teams of `hierarchical` research: a recorded work is on each, as on the other questions."""
SECTIONS = (*TOPICS, "Does MEK inhibition improve survival in BRAF-mutated melanoma?")
"""What the sections of `deep` research, and the sub-teams where they are killed often. Each finds its work in
its first round: what sections are offered later depends on which of them is faster, and so would the
report."""
PARTS = {"hierarchical": SECTIONS, "deep": SECTIONS}
DELAY = 0.4
"""Seconds until a server answers, so that kills hit calls under way."""
IN_FLIGHT = 0.3
"""Seconds by which a request may be recorded after the death of the worker that sent it: it is recorded when
its server comes to it. No successor is up so soon."""
JUST_ANSWERED, PAGE_STORED = 0.5, 2.0
"""An answer of a model that came this many seconds before the worker was killed may not have been read yet:
it is stored with its last byte, 20 ms after its server began to send it on an idle machine. A source's answer
is free, and stored once its page is read."""
SETTLED = 3.0
"""Seconds after which a worker has stored an answer; longer than `PAGE_STORED`."""
QUIET = 25.0
"""Seconds without a call, longer than a missed heartbeat, after which a run has none left to make."""
GOES_ON = 60.0
"""Seconds after a restart within which the next call is made. A heartbeat is missed after 15, while a search
without a heartbeat times out after 90 and a step of a role after 300."""
PER_ATTEMPT = ("run_id", "generated_at", "made_from")
IN_METHOD = ("tokens", "by_role", "seconds", "spent_by")
PER_SEARCH = ("seconds", "attempts")
IN_ANY_ORDER = ("limitations", "statements")

Target = Literal["both", "model call", "search call", "server", "supervisor"]


@dataclass(frozen=True)
class Killed:
    """When a worker was killed, in seconds of the monotonic clock."""

    worker: float

    def excuses(self, before: Exchange, repeat: Exchange) -> bool:
        """Whether the worker died with the call under way, or just after its answer had come."""
        begun = before.asked - IN_FLIGHT
        late = JUST_ANSWERED if before.key.startswith(PATH) else PAGE_STORED
        return begun <= self.worker <= min(before.answered + late, repeat.asked)


class NothingLeft(Exception):
    """The runs have come so far that the call to kill is not made any more."""


class Play:
    """Runs with servers and a home of their own."""

    def __init__(self, home: Path, script: Callable[[Asked], Reply], stack: ExitStack) -> None:
        self.home = home
        self.clock = Clock(DELAY)
        self.runs: dict[str, str] = {}
        self.killed_at: deque[float] = deque(maxlen=MAX_DEATHS)
        model = stack.enter_context(FakeOpenAI())
        model.on(PATH, self.clock.timed(script))
        sources = stack.enter_context(ReplayServer())
        pubmed(sources, self.clock)
        self.env = model.settings(DETERMINATOR_HOME=str(home), **recorded_sources(sources))
        stack.callback(stop_embedded, home)

    def say(self, *arguments: str) -> str:
        ran = determinator(*arguments, env=self.env)
        assert ran.code == 0, ran
        return ran.out

    def begin(self, modes: tuple[str, ...], rounds: int) -> None:
        for mode in modes:
            flags = ["--mode", mode, "--profile", "biomedical", "--source", "pubmed", "--detach"]
            answer = self.say("ask", QUESTIONS[mode], *flags, "--max-iterations", str(2 * rounds + 2))
            match = re.search(r"\bask-[a-z0-9-]+", answer)
            assert match, answer
            self.runs[mode] = match.group()

    def finish(self) -> dict[str, dict[str, Any]]:
        """The report of each run."""
        reports = {}
        for mode, run in self.runs.items():
            self.say("watch", run)
            report: dict[str, Any] = inside("report", run, "--format", "json", **self.env).json()
            lines = inside("evidence", run, "--format", "jsonl", **self.env).out.splitlines()
            assert not faults(report, [json.loads(line) for line in lines])
            reports[mode] = report
        return reports

    def more(self, requests: int) -> Callable[[], bool]:
        """Whether so many requests more than now have come in."""
        wanted = len(self.clock.exchanges) + requests
        return lambda: len(self.clock.exchanges) >= wanted

    # kills

    def kill_and_restart(self, target: Target, chance: random.Random) -> Killed | None:
        """Kill, restart, and check that every run continues."""
        if len(self.killed_at) == MAX_DEATHS:  # a server that dies more often is given up
            with self.clock.stopped():
                time.sleep(max(0.0, self.killed_at[0] + DEATHS_SECONDS - time.monotonic()))
        self.killed_at.append(time.monotonic())
        match target:
            case "both":
                killed: Killed | None = self.kill_both(chance)
            case "server":
                killed = None
                os.kill(living(self.home)["server"][0], signal.SIGKILL)
            case "supervisor":
                killed = self.kill_supervisor()
            case "model call":
                killed = self.kill_during_call(lambda call: call.key.startswith(PATH))
            case "search call":
                killed = self.kill_during_call(lambda call: not call.key.startswith(PATH))
        asked = {mode: self.asked(mode) for mode in self.runs}
        with self.clock.stopped():
            self.say("up")
            for mode, before in asked.items():
                to_go_on = f"the {mode} run to go on after {target}"
                wait_until(partial(self.goes_on, mode, before), GOES_ON, every=0.5, what=to_go_on)
        return killed

    def goes_on(self, mode: str, before: int) -> bool:
        return self.asked(mode) > before or self.over(mode)

    def asked(self, mode: str) -> int:
        """How often a run has asked the model."""
        marks = (QUESTIONS[mode], *PARTS.get(mode, ()))
        return sum(any(mark in call.question for mark in marks) for call in self.clock.exchanges)

    def over(self, mode: str) -> bool:
        """Whether a worker has saved the report, which it does at the end."""
        return (self.home / "reports" / f"{self.runs[mode]}.md").exists()

    def kill_both(self, chance: random.Random) -> Killed:
        """Server and worker, with the processes that help a busy one, in any order, up to 0.2 s apart."""
        pids = [(kind, pid) for kind, running in living(self.home).items() for pid in running]
        assert {kind for kind, _ in pids} == {"server", "worker"}, pids
        chance.shuffle(pids)
        moments = {}
        for kind, pid in pids:
            os.kill(pid, signal.SIGKILL)
            moments[kind] = time.monotonic()
            time.sleep(chance.uniform(0, 0.2))
        return Killed(moments["worker"])

    def supervisor(self) -> int:
        pid = holder(Places(self.home).lock)
        assert pid is not None
        return pid

    def kill_supervisor(self) -> Killed:
        """The supervisor; server and worker end with it."""
        living(self.home)
        os.kill(self.supervisor(), signal.SIGKILL)
        moment = time.monotonic()
        wait_until(lambda: not any(processes_of(self.home).values()))
        return Killed(moment)

    def kill_during_call(self, wanted: Callable[[Exchange], bool]) -> Killed:
        """The server while a call is under way; the worker once it has stored the result.

        Raises NothingLeft when no such call is made any more.
        """
        pids = living(self.home)

        def under_way() -> bool:
            return any(wanted(call) and call.answered == float("inf") for call in self.clock.exchanges[-9:])

        wait_until(lambda: under_way() or self.quiet_for(QUIET), GOES_ON, every=0.01)
        if not under_way():
            raise NothingLeft
        supervisor = self.supervisor()
        os.kill(supervisor, signal.SIGSTOP)
        try:
            os.kill(pids["server"][0], signal.SIGKILL)
            wait_until(lambda: self.quiet_for(SETTLED))
            for pid in processes_of(self.home)["worker"]:
                os.kill(pid, signal.SIGKILL)
            return Killed(time.monotonic())
        finally:
            os.kill(supervisor, signal.SIGCONT)

    def quiet_for(self, seconds: float) -> bool:
        """Whether no call has waited for an answer for so long, after a request."""
        last = max((call.answered for call in self.clock.exchanges), default=float("inf"))
        return last < time.monotonic() - seconds


def timeless(report: dict[str, Any]) -> dict[str, Any]:
    """A report without what differs from one run to the next: times and attempts, and, where sections search
    and are written at once, whose turn came first and how much of their claims the next one was shown."""
    found = {name: value for name, value in report.items() if name not in PER_ATTEMPT}
    for name in IN_ANY_ORDER:
        found[name] = sorted(found[name], key=str)
    method = {name: value for name, value in found["methodology"].items() if name not in IN_METHOD}
    method["searches"] = sorted(
        (
            {name: value for name, value in search.items() if name not in PER_SEARCH}
            for search in method["searches"]
        ),
        key=lambda search: str(search["query"]),
    )
    return {**found, "methodology": method}


def killed_and_undisturbed(
    home: Path, calm_home: Path, modes: tuple[str, ...], script: Thorough, targets: list[Target], seed: int
) -> None:
    """Kill each target while there is work left: at least seven of ten."""
    chance = random.Random(seed)
    with ExitStack() as stack:
        calm, wild = Play(calm_home, script, stack), Play(home, script, stack)
        calm.begin(modes, ROUNDS)
        wild.begin(modes, ROUNDS)
        kills = []
        for target in targets:
            more = wild.more(chance.randint(1, 3))
            wait_until(lambda more=more: more() or wild.quiet_for(QUIET), 90)  # type: ignore[misc]  # bound
            time.sleep(chance.uniform(0, 2 * DELAY))
            with suppress(NothingLeft):
                kills.append(wild.kill_and_restart(target, chance))
        assert len(kills) >= 0.7 * len(targets), "the runs were over too soon to be killed"
        reports, expected = wild.finish(), calm.finish()
    for mode in modes:
        searches = reports[mode]["methodology"]["searches"]
        assert [search for search in searches if search["status"] != "ok"] == []
        assert timeless(reports[mode]) == timeless(expected[mode])
        assert reports[mode]["stop_reason"] == "sufficient_evidence"
        written = [section for section in reports[mode]["sections"] if section["claims"]]
        assert written
        assert {section["status"] for section in written} == {"complete"}
        assert reports[mode]["verification"]["verified"] >= 4
    assert not list(calm.clock.repeats())
    bought_twice = [
        (
            repeat.key,
            f"asked {before.asked:.2f}, answered {before.answered:.2f}, again {repeat.asked:.2f}",
            kills,
        )
        for before, repeat in wild.clock.repeats()
        if not any(killed is not None and killed.excuses(before, repeat) for killed in kills)
    ]
    assert not bought_twice


ROUNDS = 7
"""Two works a round: the 14 that are recorded. A mode that searches for its question first has one less,
since a judge reads of twelve works judged before."""
EVERY_TARGET: list[Target] = ["model call", "both", "search call", "server", "supervisor"]
THE_DEAREST: list[Target] = ["model call"]
"""The kill of the tests of every change: server and worker, with an answer that only the dead worker had.
`make test-chaos` kills each of them, in every mode."""


def test_kills_change_nothing_in_the_reports_and_buy_nothing_twice(home: Path, tmp_path: Path) -> None:
    """A run with sections, so that every kill meets several steps under way."""
    script = Thorough(2, SECTIONS, first=9)
    killed_and_undisturbed(home, tmp_path / "calm", ("deep",), script, THE_DEAREST, seed=20)


OTHER_MODES = ("simple", "team", "hierarchical", "graph")
BEGINS = {QUESTIONS["team"]: 5, QUESTIONS["graph"]: 13}
"""Aspects from which the modes search, so that what one of them searches for another does not: simple has 0
to 4, the sub-teams 9 to 12."""


@pytest.mark.chaos
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    ("mode", "script", "kills"),
    [
        ("iterative", Thorough(ROUNDS), 10),
        ("deep", Thorough(1, SECTIONS, first=9), 6),
        ("simple", Thorough(ROUNDS - 1, recommends_on=[QUESTIONS["simple"]]), 8),
        ("team", Thorough(ROUNDS, begins=BEGINS), 10),
        ("hierarchical", Thorough(1, SECTIONS, first=9), 6),
        ("graph", Thorough(ROUNDS, begins=BEGINS), 10),
    ],
    ids=["iterative", "deep", *OTHER_MODES],
)
def test_many_kills_change_nothing_in_the_report_and_pay_nothing_twice(
    home: Path, tmp_path: Path, mode: str, script: Thorough, kills: int, seed: int
) -> None:
    chance = random.Random(seed)
    targets = chance.choices(EVERY_TARGET, weights=[2, 3, 2, 2, 2], k=kills)
    killed_and_undisturbed(home, tmp_path / "calm", (mode,), script, targets, seed)
