"""The keeper starts the processes of a home again."""

import asyncio
import time
from pathlib import Path
from typing import cast

import pytest
from temporalio.client import Client

from activities.lanes import Lane
from activities.settings import Settings
from client.connection import Connection
from client.embedded import keeper
from client.embedded.home import Places


class Taking:
    """A command that follows a run, while one with other settings has the worker."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
        self.taken = list[float]()
        self.said = list[str]()
        self.in_need = set[str]()
        """Queues of runs with steps to execute."""
        self.mine, self.others = (Lane(keys=keys, settings={}) for keys in (("OPENAI_API_KEY",), ()))
        for lane in (self.mine, self.others):
            lane.keep_in(Places(home).lanes)
        monkeypatch.setattr(keeper, "needs_worker", self._needs_worker)
        monkeypatch.setattr(keeper, "serve", self._serve)
        monkeypatch.setattr(keeper, "TURN_SECONDS", 0.2)
        queue = self.mine.queue("q")
        self.connection = Connection(cast(Client, None), embedded=True, address="", task_queue=queue)
        self._keeper = keeper.Keeper(Settings(home=home), self.connection, self.said.append)

    async def _needs_worker(self, _: object, queue: str) -> bool:
        return queue in self.in_need

    async def _serve(
        self, _settings: Settings, connection: Connection, *_: object, **__: object
    ) -> Connection:
        self.taken.append(time.monotonic())
        return connection

    async def look(self, seconds: float) -> None:
        """Look again and again for some time, or until it has the worker."""
        until = time.monotonic() + seconds
        while not self.taken and time.monotonic() < until:
            await self._keeper._take_turn(self.connection, self.others)
            await asyncio.sleep(0.01)


async def test_a_command_that_has_just_taken_the_worker_may_start_its_run_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It has the worker replaced before its run is there to be found open."""
    taking, seen_at = Taking(monkeypatch, tmp_path), time.monotonic()
    taking.in_need = {taking.mine.queue("q")}
    await taking.look(60)
    assert taking.taken[0] - seen_at >= 0.2
    (said,) = taking.said
    assert "this run waits for OPENAI_API_KEY" in said


async def test_a_run_that_waits_for_a_person_leaves_the_worker_to_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It takes its turn once it has a step to execute and the others have none."""
    taking = Taking(monkeypatch, tmp_path)
    await taking.look(0.7)
    assert (taking.taken, taking.said) == ([], [])
    taking.in_need = {taking.mine.queue("q"), taking.others.queue("q")}
    await taking.look(0.7)
    assert not taking.taken
    taking.in_need = {taking.mine.queue("q")}
    await taking.look(60)
    assert taking.taken
