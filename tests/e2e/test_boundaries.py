"""Every boundary of a run: server, worker, both, or the supervisor of both are killed after each event of its
log, in turn.

Where `test_kill` kills at random moments, this driver lets one request of the run pass at a time, reads the
logs of the run and of its sections, and kills whenever one holds a new event. Events that one step emits
together are one boundary.
Sources and the model also answer every fifth new request with a failure at first. The run has to end with
the report of an undisturbed one, and nothing that was answered may be bought again. The recovery times are
printed: `pytest tests/e2e/test_boundaries.py -m chaos -s`. `CHAOS_KILLS` sets the kills of a run at most.
"""

import asyncio
import itertools
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import pytest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from activities.payloads import DATA_CONVERTER
from client.embedded.home import Places, ServerNote, read_note
from client.embedded.processes import holder
from tests.client.harness import living, wait_until
from tests.e2e.stage import Thorough, Turnstile, key_of
from tests.e2e.test_kill import GOES_ON, JUST_ANSWERED, SECTIONS, Play, timeless
from tests.replay import Asked, Reply
from workflows.event_types import AgentEvent
from workflows.types import ItemsAfter, Progress

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.invariant,
    pytest.mark.xdist_group("e2e-boundaries"),
    pytest.mark.timeout(2400),
]

TARGETS = (("worker",), ("server",), ("worker", "server"), ("supervisor",))
"""What is killed in turn. Server and worker end with their supervisor."""
WITHOUT_WORKER = ("server",)
MOST_KILLS = int(os.environ.get("CHAOS_KILLS", "60"))
"""Read here: tests run in an environment of their own."""
LEAST_BOUNDARIES = 8
"""Of a run, however many events came together."""
STEP = 3.0
"""Seconds within which a run asks for something else, or has nothing to ask for before other answers come."""
AFTERWARDS = 0.3
"""Seconds in which what follows from an answer reaches the log."""


@dataclass
class Faulty:
    """Answers every fifth new request with 503 the first time it is made."""

    every: int = 5
    refused: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)

    def __call__(self, answer: Callable[[Asked], Reply]) -> Callable[[Asked], Reply]:
        def sometimes(asked: Asked) -> Reply:
            key = key_of(asked)
            new = key not in self.seen
            self.seen.add(key)
            if new and len(self.seen) % self.every == 0:
                self.refused.add(key)
                return Reply(503, "busy")
            return answer(asked)

        return sometimes


@dataclass
class Kill:
    """What was killed after which event, and how long the run then stood still, in seconds."""

    after: str
    killed: tuple[str, ...]
    moment: float
    restarted: float = 0.0
    """After so many seconds `up` had ended: how busy the machine was."""
    recovered: float = 0.0


class Driver:
    """Kills the processes of one run of a play."""

    def __init__(self, play: Play, mode: str, turnstile: Turnstile) -> None:
        self.play = play
        self.mode = mode
        self.turnstile = turnstile
        self.kills: list[Kill] = []
        self.boundaries = 0
        """How often a log held something new when the run was looked at."""
        self.looked = 0.0
        """When it was last looked whether the run is over, which a command says."""
        self.seen: dict[str, int] = {}
        """Workflow -> the last event that was read of its log."""

    def kill_after_each(self, most: int) -> None:
        """Kill after each new event, until the run is over or `most` kills were made."""
        targets = itertools.cycle(TARGETS)
        while len(self.kills) < most and not self.ended():
            found = asyncio.run(self.news())
            if not found:
                self.let_pass()
                continue
            self.boundaries += 1
            target = next(targets)
            kill = self.kill(found[-1], target)
            if target != WITHOUT_WORKER:
                self.turnstile.let_pass(all_=True)  # nobody waits for these answers any more
            self.recover(kill)
        self.turnstile.open()

    def ended(self) -> bool:
        """Wait until the run asks for something or is over; whether it is over."""
        wait_until(lambda: self.turnstile.holds or self.play.over(self.mode), GOES_ON, every=0.2)
        return not self.turnstile.holds

    def let_pass(self) -> None:
        """Let a request pass, and wait until the run has gone on or nothing comes of it."""
        before = len(self.play.clock.exchanges)
        self.turnstile.let_pass()
        until = time.monotonic() + STEP
        while time.monotonic() < until and len(self.play.clock.exchanges) == before:
            time.sleep(0.02)
        time.sleep(AFTERWARDS)

    async def news(self) -> list[str]:
        """The types of the events since the last time, in the logs of the run and of its running sections."""
        note = read_note(Places(self.play.home).server_note, ServerNote)
        assert note is not None
        client = await Client.connect(note.address, data_converter=DATA_CONVERTER)
        run = self.play.runs[self.mode]
        progress: Progress = await client.get_workflow_handle(run).query("progress", result_type=Progress)
        sections = [s.workflow_id for s in progress.sections if s.status == "running" and s.workflow_id]
        found = list[str]()
        for name in (run, *sections):
            try:
                log: list[AgentEvent] = await client.get_workflow_handle(name).query(
                    "events", ItemsAfter(after=self.seen.get(name, 0)), result_type=list[AgentEvent]
                )
            except RPCError as error:  # a section that is just being started
                if error.status != RPCStatusCode.NOT_FOUND:
                    raise
                continue
            found += [event.type for event in log]
            self.seen[name] = log[-1].seq if log else self.seen.get(name, 0)
        return found

    def kill(self, after: str, targets: tuple[str, ...]) -> Kill:
        """Kill processes of the run."""
        pids = living(self.play.home)
        pids["supervisor"] = [holder(Places(self.play.home).lock) or 0]
        kill = Kill(after, targets, time.monotonic())
        for target in targets:
            for pid in pids[target]:
                os.kill(pid, signal.SIGKILL)
        return kill

    def recover(self, kill: Kill) -> None:
        """Start what was killed again, and wait until the run goes on."""
        self.play.say("up")
        kill.restarted = time.monotonic() - kill.moment
        wait_until(lambda: self.went_on(kill), GOES_ON, every=0.05, what=f"the run after {kill}")
        kill.recovered = time.monotonic() - kill.moment
        self.kills.append(kill)

    def went_on(self, kill: Kill) -> bool:
        """Whether a request was made after the kill, or there is none left to make. A worker that lives still
        waits for the answers that it asked for: they pass one after the other."""
        if any(call.asked > kill.moment for call in self.play.clock.exchanges):
            return True
        if time.monotonic() < self.looked + STEP:
            return False
        self.looked = time.monotonic()
        if kill.killed == WITHOUT_WORKER:
            self.turnstile.let_pass()
        return self.play.over(self.mode)

    def bought_twice(self, faulty: Faulty) -> Iterator[str]:
        """Requests that were answered validly, before a kill could lose the answer, and made again."""
        excused = set(faulty.refused)
        for before, repeat in self.play.clock.repeats():
            if before.key in excused:
                excused.discard(before.key)
                continue
            kills = (kill.moment for kill in self.kills if kill.killed != WITHOUT_WORKER)
            lost = any(
                before.asked <= kill <= min(before.answered + JUST_ANSWERED, repeat.asked) for kill in kills
            )
            if not lost:
                yield repeat.key


def killed_after_each_event(home: Path, tmp_path: Path, mode: str, script: Thorough, most: int) -> None:
    faulty, turnstile = Faulty(), Turnstile()
    with ExitStack() as stack:
        calm = Play(tmp_path / "calm", script, stack)
        wild = Play(home, script, stack, faulty, turnstile)
        calm.begin((mode,), 5)
        wild.begin((mode,), 5)
        driver = Driver(wild, mode, turnstile)
        driver.kill_after_each(most)
        reports, expected = wild.finish(), calm.finish()
    assert timeless(reports[mode]) == timeless(expected[mode])
    assert faulty.refused
    assert not list(driver.bought_twice(faulty))
    assert len(driver.kills) == min(most, driver.boundaries) >= min(most, LEAST_BOUNDARIES)
    sys.stdout.write("\n".join(recovery_times(mode, driver.kills)))


def recovery_times(mode: str, kills: Sequence[Kill]) -> Iterator[str]:
    """What is printed of a run: how long it stood still after each kill."""
    times = sorted(kill.recovered for kill in kills)
    yield f"\n{mode}: {len(times)} kills; still {median(times):.1f} s, median; {times[-1]:.1f} s, most"
    for kill in kills:
        yield (
            f"  after {kill.after:20} {' and '.join(kill.killed):18} {kill.recovered:5.1f} s"
            f", started again after {kill.restarted:.1f} s"
        )


def test_a_run_that_is_killed_after_its_first_events_ends_the_same(home: Path, tmp_path: Path) -> None:
    killed_after_each_event(home, tmp_path, "iterative", Thorough(2), most=3)


@pytest.mark.parametrize(
    ("mode", "script"),
    [("iterative", Thorough(3)), ("deep", Thorough(1, SECTIONS, first=9))],
    ids=["iterative", "deep"],
)
def test_a_run_that_is_killed_after_each_event_ends_the_same(
    home: Path, tmp_path: Path, mode: str, script: Thorough
) -> None:
    killed_after_each_event(home, tmp_path, mode, script, most=MOST_KILLS)
