"""The end of a run is shown at once."""

import asyncio
from typing import Self, cast

import pytest
from temporalio.client import Client

import client.run
from activities.settings import Settings
from client.connection import Connection
from client.failures import NoAnswer
from client.runs import follow
from client.runs.display import PlainLines
from client.runs.follow import Follower
from tests.client.seen import progress
from workflows.types import Outcome, Progress

OUTCOME = Outcome(
    run_id="ask-1", stop_reason="sufficient_evidence", answered=True, report_blob="", markdown_blob=""
)
AT_A_GATE = progress(run_id="ask-1", mode="deep", phase="waiting_for_approval", waiting_for="plan")


class Run:
    """A run as the server has it, which ends when `ended` is set."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    def get_workflow_handle(self, *_: object, **__: object) -> Self:
        return self

    async def result(self) -> Outcome:
        await self.ended.wait()
        return OUTCOME

    async def describe(self) -> None:
        raise NoAnswer("no worker answers")

    def follower(self, at_gate: follow.AtGate | None = None) -> Follower:
        connection = Connection(cast("Client", self), embedded=False, address="127.0.0.1:1")
        return Follower(client.run.Run(Settings(), connection, "ask-1"), PlainLines(), at_gate=at_gate)


async def always(_: Follower) -> bool:
    return True


async def test_the_end_of_a_run_does_not_wait_for_a_worker_that_is_asked(
    home: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, asked = Run(), asyncio.Event()

    async def never(*_: object) -> Progress:
        asked.set()
        return await asyncio.Future()

    monkeypatch.setattr(follow, "progress", never)
    monkeypatch.setattr(Follower, "_has_moved", always)
    following = asyncio.create_task(run.follower().follow())
    await asyncio.wait_for(asked.wait(), 30)
    run.ended.set()
    assert (await asyncio.wait_for(following, 30)).outcome == OUTCOME


async def test_a_person_who_is_asked_is_not_interrupted_by_the_end_of_the_run(
    home: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, asked, answered = Run(), asyncio.Event(), asyncio.Event()

    async def seen(*_: object) -> Progress:
        return AT_A_GATE

    async def ask(*_: object) -> None:
        asked.set()
        await answered.wait()

    monkeypatch.setattr(follow, "progress", seen)
    monkeypatch.setattr(Follower, "_has_moved", always)
    following = asyncio.create_task(run.follower(ask).follow())
    await asyncio.wait_for(asked.wait(), 30)
    run.ended.set()
    done, _ = await asyncio.wait([following], timeout=0.2)
    assert not done
    answered.set()
    assert (await asyncio.wait_for(following, 30)).outcome == OUTCOME
