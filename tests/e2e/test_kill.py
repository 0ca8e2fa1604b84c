"""`kill -9` at any moment: nothing is lost and nothing that was paid for is bought again."""

import json
import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from client.local import take_down
from tests.client.cli import determinator, processes_of, wait_until
from tests.e2e.stage import Clock, Thorough, faults, pubmed
from tests.fake_openai import PATH, FakeOpenAI
from tests.replay import ReplayServer

pytestmark = [pytest.mark.xdist_group("e2e-kill"), pytest.mark.timeout(400)]

QUESTION = "Does trametinib prolong survival in melanoma?"
DELAY = 0.3
"""Seconds a server takes to answer, so that kills hit calls under way."""
JUST_ANSWERED = 1.0
"""An answer that came this many seconds before a kill may not have been written down yet."""
PER_ATTEMPT = ("run_id", "generated_at")


class Play:
    """One run with servers and a home of its own."""

    def __init__(self, home: Path, rounds: int, stack: ExitStack) -> None:
        self.home = home
        self.clock = Clock(DELAY)
        model = stack.enter_context(FakeOpenAI())
        model.on(PATH, self.clock.timed(Thorough(rounds)))
        sources = stack.enter_context(ReplayServer())
        pubmed(sources, self.clock)
        self.env = {
            "DETERMINATOR_HOME": str(home),
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "sk-of-the-test",
            "DETERMINATOR_MODEL": "fake",
            "DETERMINATOR_PUBMED_URL": sources.url,
            "DETERMINATOR_CROSSREF_URL": f"{sources.url}/crossref",
            "DETERMINATOR_EUROPEPMC_URL": f"{sources.url}/europepmc",
        }
        stack.callback(take_down, home)

    def say(self, *arguments: str) -> str:
        ran = determinator(*arguments, env=self.env)
        assert ran.code == 0, ran
        return ran.out

    def begin(self, rounds: int) -> None:
        flags = ["--mode", "iterative", "--profile", "biomedical", "--source", "pubmed", "--detach"]
        self.say("ask", QUESTION, *flags, "--max-iterations", str(rounds + 1))

    def finish(self) -> dict[str, Any]:
        self.say("watch", "last")
        report: dict[str, Any] = json.loads(self.say("report", "last", "--format", "json"))
        lines = self.say("evidence", "last", "--format", "jsonl").splitlines()
        assert not faults(report, [json.loads(line) for line in lines])
        return report

    def kill_both(self, chance: random.Random) -> tuple[float, float]:
        """Kill server and worker in any order, up to 0.2 s apart; returns both moments."""
        living = processes_of(self.home)
        pids = [*living["server"], *living["worker"]]
        assert len(pids) == 2, living
        chance.shuffle(pids)
        os.kill(pids[0], signal.SIGKILL)
        first = time.monotonic()
        time.sleep(chance.uniform(0, 0.2))
        os.kill(pids[1], signal.SIGKILL)
        last = time.monotonic()
        wait_until(lambda: not any(processes_of(self.home).values()))
        return first, last

    def more(self, requests: int) -> Callable[[], bool]:
        """Whether so many requests more than now have come in."""
        wanted = len(self.clock.exchanges) + requests
        return lambda: len(self.clock.exchanges) >= wanted


def timeless(report: dict[str, Any]) -> dict[str, Any]:
    """A report without what differs from one run to the next: times and attempts."""
    found = {name: value for name, value in report.items() if name not in PER_ATTEMPT}
    method = dict(found["methodology"])
    method["searches"] = [
        {name: value for name, value in search.items() if name not in ("seconds", "attempts")}
        for search in method["searches"]
    ]
    return {**found, "methodology": method}


def killed_and_undisturbed(home: Path, calm_home: Path, kills: int, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    with ExitStack() as stack:
        calm, wild = Play(calm_home, rounds, stack), Play(home, rounds, stack)
        calm.begin(rounds)
        wild.begin(rounds)
        moments = []
        for number in range(kills):
            wait_until(wild.more(chance.randint(1, 3)), 90)
            # in turn: during a call or just after it, and well after it
            time.sleep(chance.uniform(1.4, 2.0) if number % 2 else chance.uniform(0, 2 * DELAY))
            moments.append(wild.kill_both(chance))
            wild.say("up")
        report, expected = wild.finish(), calm.finish()
    assert timeless(report) == timeless(expected)
    assert report["verification"]["verified"] >= rounds
    assert report["methodology"]["iterations"] == rounds
    assert not list(calm.clock.repeats())
    assert moments[-1][1] < wild.clock.exchanges[-1].asked, "the last kill came after the work"
    bought_twice = [
        repeat.key
        for before, repeat in wild.clock.repeats()
        if not any(
            before.asked <= last and before.answered >= first - JUST_ANSWERED and last <= repeat.asked
            for first, last in moments
        )
    ]
    assert not bought_twice


def test_three_kills_change_nothing_in_the_report_and_buy_nothing_twice(home: Path, tmp_path: Path) -> None:
    killed_and_undisturbed(home, tmp_path / "calm", kills=3, rounds=4, seed=20)


@pytest.mark.chaos
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [1, 2])
def test_ten_kills_change_nothing_in_the_report_and_buy_nothing_twice(
    home: Path, tmp_path: Path, seed: int
) -> None:
    killed_and_undisturbed(home, tmp_path / "calm", kills=10, rounds=7, seed=seed)
