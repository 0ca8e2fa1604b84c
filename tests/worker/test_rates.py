import asyncio
import os
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from temporalio.client import Client

from tests.replay import ReplayServer
from tests.worker.fleet import GENERAL, Flood, busiest_second, end_gate, fleet, holder, slow_ncbi

HEARTBEAT = 3.0
SEARCHES = 12


@given(st.lists(st.floats(min_value=0, max_value=20), max_size=30))
def test_the_busiest_second_is_what_a_slow_count_finds(moments: list[float]) -> None:
    slow = max((sum(start <= m and m - start < 1 for m in moments) for start in moments), default=0)
    assert busiest_second(moments) == slow


async def test_a_fleet_keeps_the_rate_and_survives_the_death_of_the_holder(
    temporal_client: Client, dev_server: str, tmp_path: Path
) -> None:
    with ReplayServer() as server:
        slow_ncbi(server, 0.3)
        with fleet(3, dev_server, server.url, tmp_path, HEARTBEAT) as processes:
            flood = await temporal_client.start_workflow(
                Flood.run, SEARCHES, id="flood-kill", task_queue=GENERAL
            )
            while server.count("/esearch.fcgi") < 4:  # noqa: ASYNC110 - the server is a thread
                await asyncio.sleep(0.05)
            killed = await holder(temporal_client, processes)
            os.kill(killed, signal.SIGKILL)
            others = [process for process in processes if process != killed]
            assert await holder(temporal_client, others) in others
            assert await flood.result() == SEARCHES
        await end_gate(temporal_client)
    assert SEARCHES <= len(server.asked) <= SEARCHES + 8  # what the dead process had under way is asked again
    assert busiest_second([asked.at for asked in server.asked]) <= 3


async def test_a_stopped_holder_that_wakes_up_after_its_successor_sends_nothing_of_its_own(
    temporal_client: Client, dev_server: str, tmp_path: Path
) -> None:
    with ReplayServer() as server:
        slow_ncbi(server, 0.3)
        with fleet(2, dev_server, server.url, tmp_path, HEARTBEAT) as processes:
            flood = await temporal_client.start_workflow(
                Flood.run, SEARCHES, id="flood-stop", task_queue=GENERAL
            )
            while server.count("/esearch.fcgi") < 3:  # noqa: ASYNC110 - the server is a thread
                await asyncio.sleep(0.05)
            stopped = await holder(temporal_client, processes)
            os.kill(stopped, signal.SIGSTOP)
            await holder(temporal_client, [process for process in processes if process != stopped])
            os.kill(stopped, signal.SIGCONT)
            assert await flood.result() == SEARCHES
        await end_gate(temporal_client)
    assert busiest_second([asked.at for asked in server.asked]) <= 3


@pytest.mark.chaos  # a lost poll costs its heartbeat of a minute
async def test_a_holder_that_is_asked_to_leave_hands_over_and_ends_by_itself(
    temporal_client: Client, dev_server: str, tmp_path: Path
) -> None:
    with ReplayServer() as server:
        slow_ncbi(server, 0.1)
        with fleet(2, dev_server, server.url, tmp_path, 60) as processes:
            flood = await temporal_client.start_workflow(
                Flood.run, SEARCHES, id="flood-leave", task_queue=GENERAL
            )
            while server.count("/esearch.fcgi") < 2:  # noqa: ASYNC110 - the server is a thread
                await asyncio.sleep(0.05)
            leaving = await holder(temporal_client, processes)
            os.kill(leaving, signal.SIGTERM)
            # A heartbeat of a minute: only a gate that was given back is held again in time.
            others = [process for process in processes if process != leaving]
            assert await holder(temporal_client, others, seconds=40) in others
            assert await flood.result() == SEARCHES
        await end_gate(temporal_client)
    assert len(server.asked) == SEARCHES  # what was under way was finished, not asked again
    assert busiest_second([asked.at for asked in server.asked]) <= 3


async def test_starting_the_gate_twice_leaves_one_gate(temporal_client: Client) -> None:
    from worker.gate import start_gate
    from workflows.rate_gate import GateTerms, gate_id

    terms = GateTerms(queue="determinator-twice")
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


def test_sources_on_a_limited_queue_without_a_gate_are_refused(tmp_path: Path) -> None:
    from types import SimpleNamespace

    import httpx

    from activities.evidence import EvidenceStore
    from activities.search import SearchActivities
    from activities.settings import Settings
    from activities.sources.http import Http
    from activities.sources.pubmed import build
    from worker.gate import gate_activities

    settings = Settings(home=tmp_path)
    sources = {"pubmed": build(settings, Http(httpx.AsyncClient()))}
    search = SearchActivities(sources, EvidenceStore.at(str(tmp_path)))
    with pytest.raises(ValueError, match="pace no gate"):
        gate_activities(SimpleNamespace(), Http(httpx.AsyncClient()), sources, search)  # type: ignore[arg-type]
