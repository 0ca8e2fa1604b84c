"""The keeper starts the processes of a home again."""

import asyncio
import time
from pathlib import Path
from typing import cast

import pytest
from temporalio.client import Client

from activities.lanes import Lane
from activities.settings import Settings
from client.connection import Connection, quiet
from client.embedded import keeper
from client.embedded.home import Places


async def test_a_command_that_has_just_taken_the_worker_may_start_its_run_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It has the worker replaced before its run is there to be found open."""
    places, taken = Places(tmp_path), list[float]()
    mine, others = Lane(keys=("OPENAI_API_KEY",), settings={}), Lane(keys=(), settings={})
    for lane in (mine, others):
        lane.keep_in(places.lanes)

    async def no_runs(*_: object) -> list[str]:
        return []

    async def served(_settings: Settings, connection: Connection, *_: object, **__: object) -> Connection:
        taken.append(time.monotonic())
        return connection

    monkeypatch.setattr(keeper, "open_runs", no_runs)
    monkeypatch.setattr(keeper, "serve", served)
    monkeypatch.setattr(keeper, "TURN_SECONDS", 0.2)
    connection = Connection(cast(Client, None), embedded=True, address="", task_queue=mine.queue("q"))
    keeping = keeper.Keeper(Settings(home=tmp_path), connection, quiet)
    seen_at = time.monotonic()
    while not taken:
        await keeping._take_turn(connection, others)
        await asyncio.sleep(0.01)
    assert taken[0] - seen_at >= 0.2
