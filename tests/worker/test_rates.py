import asyncio
import os
import signal
import uuid
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle
from temporalio.service import RPCError
from temporalio.worker import Worker

from activities.contracts.evidence import SourceInfo
from activities.evidence_store import EvidenceStore
from activities.search_activity import SearchActivities
from activities.settings import Settings
from activities.sources.http.client import Http
from activities.sources.http.rate_limiter import RateLimiter
from activities.sources.pubmed import PubMed
from tests.replay import ReplayServer
from tests.worker.fleet import busiest_second, fleet, slow_ncbi
from worker.rate_gate_holder import gate_activities, keep_gates, run_to_end, start_gate
from workflows.rate_gate import HOLD_GATE, GateTerms, RateGate, gate_id

pytestmark = [pytest.mark.invariant, pytest.mark.timeout(600)]

HEARTBEAT = 3.0
NEVER = 300.0
"""A heartbeat that fails later than any of these tests ends."""
SEARCHES = 12


@given(st.lists(st.floats(min_value=0, max_value=20), max_size=30))
def test_the_busiest_second_is_what_a_slow_count_finds(moments: list[float]) -> None:
    slow = max((sum(start <= m and m - start < 1 for m in moments) for start in moments), default=0)
    assert busiest_second(moments) == slow


async def test_a_fleet_keeps_the_rate_and_survives_the_death_of_the_holder(
    temporal_client: Client, dev_server: str, tmp_path: Path
) -> None:
    """Its successor is suspended, and sends nothing when it resumes after the third."""
    with ReplayServer() as server:
        slow_ncbi(server, 0.3)
        async with fleet(temporal_client, 3, dev_server, server.url, tmp_path, HEARTBEAT) as found:
            flood = await found.search(SEARCHES)
            await asked(server, 3)
            killed = await found.holder()
            os.kill(killed, signal.SIGKILL)
            others = [process for process in found.processes if process != killed]
            suspended = await found.holder(others)
            await asked(server, 5)
            os.kill(suspended, signal.SIGSTOP)
            (last,) = (process for process in others if process != suspended)
            assert await found.holder([last]) == last
            os.kill(suspended, signal.SIGCONT)
            assert await flood.result() == SEARCHES
    # what the dead process and the suspended one had under way is asked again
    assert SEARCHES <= len(server.asked) <= SEARCHES + 16
    assert busiest_second([asked.at for asked in server.asked]) <= 3


async def test_a_holder_that_is_cancelled_while_it_ends_ends_all_the_same() -> None:
    limiter, ended = RateLimiter(3), asyncio.Event()

    async def hold() -> None:
        with limiter.under_lease():
            await run_to_end(ended.wait())  # type: ignore[arg-type]  # what it returns does not matter here

    holding = asyncio.create_task(hold())
    for _ in range(2):
        await asyncio.sleep(0)
        holding.cancel()
        await asyncio.sleep(0)
        assert not limiter.has_lease()
    ended.set()
    with pytest.raises(asyncio.CancelledError):
        await holding
    assert limiter.has_lease()


async def test_a_holder_that_is_asked_to_stop_gives_the_gate_back_and_ends(
    temporal_client: Client, dev_server: str, tmp_path: Path
) -> None:
    """What is under way is finished in its grace, and not asked again: of a rate of three a second three are
    left, a second's work. More would be cut off, and a step of which one of two searches was answered asks it
    again where its next process has another home."""
    with ReplayServer() as server:
        slow_ncbi(server, 0.1)
        async with fleet(temporal_client, 2, dev_server, server.url, tmp_path, NEVER) as found:
            flood = await found.search(6)
            await asked(server, 3)
            leaving = await found.holder()
            os.kill(leaving, signal.SIGTERM)
            # A missing heartbeat has no effect here: only a gate that was given back is held again.
            others = [process for process in found.processes if process != leaving]
            assert await found.holder(others) in others
            assert await flood.result() == len(server.asked) == 6
            again = await found.search(4)
            assert await again.result() == 4
    assert len(server.asked) <= 6 + 4
    assert busiest_second([asked.at for asked in server.asked]) <= 3


async def asked(server: ReplayServer, times: int) -> None:
    """Wait until the server was asked so often."""
    while server.count("/esearch.fcgi") < times:  # noqa: ASYNC110 - the server is a thread
        await asyncio.sleep(0.05)


async def test_starting_the_gate_twice_leaves_one_gate(temporal_client: Client) -> None:
    terms = GateTerms(queue=f"determinator-{uuid.uuid4()}", heartbeat_seconds=0.5)
    await start_gate(temporal_client, "nobody-here", terms)
    handle = temporal_client.get_workflow_handle(gate_id(terms.queue))
    first = (await handle.describe()).run_id
    await start_gate(temporal_client, "nobody-here", terms)
    assert (await handle.describe()).run_id == first
    await start_gate(temporal_client, "somewhere-else", terms)
    moved = await handle.describe()
    assert moved.run_id != first
    assert moved.task_queue == "somewhere-else"
    await handle.terminate("end of the test")


async def test_a_gate_moves_when_no_process_holds_it_any_more_and_not_before(temporal_client: Client) -> None:
    @activity.defn(name=HOLD_GATE)
    async def hold(terms: GateTerms) -> None:
        while True:
            activity.heartbeat()
            await asyncio.sleep(0.1)

    mine = str(uuid.uuid4())
    terms = GateTerms(queue=f"determinator-{mine}", heartbeat_seconds=2)
    handle = temporal_client.get_workflow_handle(gate_id(terms.queue))
    async with Worker(
        temporal_client,
        task_queue=mine,
        workflows=[RateGate],
        activities=[hold],
        max_heartbeat_throttle_interval=timedelta(seconds=0.4),
    ):
        await start_gate(temporal_client, mine, terms)
        await start_gate(temporal_client, "somewhere-else", terms)
        assert (await handle.describe()).task_queue == mine
    # The server lists the pollers of that queue for minutes yet.
    await start_gate(temporal_client, "somewhere-else", terms)
    assert (await handle.describe()).task_queue == "somewhere-else"
    await handle.terminate("end of the test")


async def test_a_gate_that_was_ended_by_hand_is_started_again(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.rate_gate_holder.CHECK_SECONDS", 0.2)
    settings = Settings(home=tmp_path, task_queue=str(uuid.uuid4()))
    queue = f"determinator-{uuid.uuid4()}"
    info = SourceInfo(name="strict", title="Strict", covers="", queue=queue)
    handle = temporal_client.get_workflow_handle(gate_id(queue))
    keeping = asyncio.create_task(
        keep_gates(temporal_client, settings, {"strict": SimpleNamespace(info=info)})
    )
    for _ in range(2):
        while not await running(handle):
            assert not keeping.done()
        await handle.terminate("by hand")
    keeping.cancel()


async def running(gate: WorkflowHandle[Any, Any]) -> bool:
    await asyncio.sleep(0.05)
    try:
        return (await gate.describe()).status == WorkflowExecutionStatus.RUNNING
    except RPCError:
        return False


def test_sources_on_a_limited_queue_without_a_gate_are_refused(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    sources = {"pubmed": PubMed(settings, Http(httpx.AsyncClient()))}
    search = SearchActivities(sources, EvidenceStore.at(str(tmp_path)))
    with pytest.raises(ValueError, match="no rate limiter"):
        gate_activities(SimpleNamespace(), Http(httpx.AsyncClient()), sources, search)  # type: ignore[arg-type]
