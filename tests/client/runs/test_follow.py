"""Following a run costs little: a run in which nothing has happened is not queried at every look."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from activities.settings import Settings
from client.connection import Connection
from client.failures import NoConnection
from client.run import Run
from client.runs import follow
from client.runs.display import PlainLines
from tests.client.seen import progress
from workflows.event_types import AgentEvent
from workflows.types import Outcome, Progress

LOOKS = 6


@dataclass
class Described:
    """What the server says of a run."""

    run_id: str
    history_length: int


@dataclass
class Server:
    """A run that ends after some looks at it; its history grows by `growth` events between two looks."""

    growth: int
    looks: int = 0
    queries: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def get_workflow_handle(self, _run_id: str, **_: object) -> "Server":
        return self

    async def result(self) -> Outcome:
        await self.ended.wait()
        return Outcome(
            run_id="r", stop_reason="sufficient_evidence", answered=True, report_blob="", markdown_blob=""
        )

    async def describe(self) -> Described:
        return Described("execution", 10 + self.growth * self.looks)

    async def description(self, _client: Client, _run_id: str) -> Described:
        self.looks += 1
        if self.looks == LOOKS:
            self.ended.set()
        return await self.describe()

    async def progress(self, _client: Client, _run_id: str) -> Progress:
        self.queries += 1
        return progress()


async def no_events(*_: object) -> list[AgentEvent]:
    return []


@pytest.mark.parametrize(("growth", "queries"), [(0, 1), (3, LOOKS)])
async def test_a_run_is_queried_when_something_has_happened(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, growth: int, queries: int
) -> None:
    server = Server(growth)
    monkeypatch.setattr(follow, "REFRESH_SECONDS", 3600.0)
    ended = await follower_of(server, monkeypatch, tmp_path).follow()
    assert ended.outcome is not None
    assert (server.looks, server.queries) == (LOOKS, queries)


class Broken(Server):
    """Whose connection breaks off within the first calls that wait for the end."""

    breaks = 1

    async def result(self) -> Outcome:
        if self.breaks:
            self.breaks -= 1
            raise RPCError("transport error", RPCStatusCode.UNKNOWN, b"")
        return await super().result()


def follower_of(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> follow.Follower:
    monkeypatch.setattr(follow, "description", server.description)
    monkeypatch.setattr(follow, "progress", server.progress)
    monkeypatch.setattr(follow, "read_events", no_events)
    monkeypatch.setattr(follow, "POLL_SECONDS", 0.0)
    connection = Connection(cast(Client, server), embedded=False, address="192.0.2.1:7233")
    return follow.Follower(Run(Settings(home=tmp_path), connection, "r"), PlainLines())


async def test_a_server_that_breaks_off_is_waited_for_and_then_left_with_the_way_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ended = await follower_of(Broken(0), monkeypatch, tmp_path).follow()
    assert ended.outcome is not None
    server = Broken(0)
    server.breaks = 99
    monkeypatch.setattr(follow, "PATIENCE_SECONDS", 0.0)
    with pytest.raises(NoConnection, match=r"is gone: transport error; .* determinator watch r$"):
        await follower_of(server, monkeypatch, tmp_path).follow()
