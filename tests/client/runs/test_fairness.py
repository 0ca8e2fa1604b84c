"""A user who floods a fleet does not keep the others waiting."""

import asyncio
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from temporalio.client import Client

from activities.evidence_store import EvidenceStore
from client.runs.start import MAX_KEY_BYTES, fairness, start
from tests.conftest import dev_server_of
from tests.workflows.conftest import a_request, a_worker
from tests.workflows.fakes import Fakes

FLOOD = 8
"""Runs of the user who floods."""


async def order_of_ends(client: Client, store: Path, other: str) -> list[str]:
    """Who the runs were for, in the order in which they ended: many of the user `flood`, then two of
    another, all waiting for one worker that executes one step at a time."""
    queue = f"fair-{uuid.uuid4().hex[:8]}"
    users = ["flood"] * FLOOD + [other] * 2
    runs = []
    for number, user in enumerate(users):
        request = a_request("simple", {"max_iterations": 1}).model_copy(
            update={"question": f"Does metformin lower mortality, for {queue} {number}?"}
        )
        runs.append((await start(client, request, queue, user=user)).run_id)
    ended: list[str] = []

    async def follow(run_id: str, user: str) -> None:
        await client.get_workflow_handle(run_id).result()
        ended.append(user)

    fakes = Fakes(EvidenceStore.at(str(store)))
    limits = {"max_concurrent_activities": 1, "max_concurrent_workflow_tasks": 2, "max_cached_workflows": 0}
    polls = {"max_concurrent_workflow_task_polls": 2, "max_concurrent_activity_task_polls": 1}
    async with a_worker(client, fakes, queue, **limits, **polls):
        await asyncio.gather(*map(follow, runs, users))
    return ended


pytestmark = pytest.mark.xdist_group("fair")


@pytest.fixture(scope="module")
def dev_server(temporal_binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that is fair, as the one of `docker-compose.yml` is."""
    settings = ("matching.enableFairness=true", "matching.useNewMatcher=true")
    partitions = [f"matching.numTaskqueue{way}Partitions=1" for way in ("Read", "Write")]
    folder = tmp_path_factory.mktemp("fair")
    with dev_server_of(temporal_binary, folder, *settings, *partitions) as address:
        yield address


async def test_a_flood_of_runs_of_one_user_delays_those_of_another_little(
    temporal_client: Client, tmp_path: Path
) -> None:
    ended = await order_of_ends(temporal_client, tmp_path, "other")
    last = max(place for place, user in enumerate(ended) if user == "other")
    assert last < FLOOD / 2, ended


async def test_sections_of_a_run_share_the_fairness_of_its_user(
    temporal_client: Client, tmp_path: Path
) -> None:
    queue = f"fair-{uuid.uuid4().hex[:8]}"
    async with a_worker(temporal_client, Fakes(EvidenceStore.at(str(tmp_path))), queue):
        started = await start(temporal_client, a_request("deep"), queue, user="ada")
        handle = temporal_client.get_workflow_handle(started.run_id)
        await handle.result()
        keys = set()
        async for workflow in temporal_client.list_workflows(f"TaskQueue = '{queue}'"):
            described = await temporal_client.get_workflow_handle(workflow.id).describe()
            keys.add((workflow.id == started.run_id, described.raw_info.priority.fairness_key))
    assert keys == {(True, "ada"), (False, "ada")}


def test_a_long_name_still_makes_a_key_of_its_own() -> None:
    first, second = fairness("a" * 200), fairness("a" * 201)
    assert first != second
    assert len((first.fairness_key or "").encode()) <= MAX_KEY_BYTES
