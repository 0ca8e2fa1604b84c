"""A split fleet: each process executes only its part, and between them they finish every run."""

import asyncio
import json
import signal
import subprocess
import uuid
from pathlib import Path

import httpx
from temporalio.client import Client

from activities.configuration.values import Part
from activities.evidence_store import EvidenceStore
from client.embedded.binary import find_temporal, free_port
from client.runs.start import start
from tests.client.harness import begin, wait_until
from tests.workflows.conftest import WORKFLOWS, a_request
from tests.workflows.fakes import Fakes
from worker.build import split_workers
from worker.queues import WorkerGroup, part_of


async def test_a_split_fleet_executes_each_step_on_the_queue_of_its_part(
    temporal_client: Client, tmp_path: Path
) -> None:
    queue = f"split-{uuid.uuid4().hex[:8]}"
    fakes = Fakes(EvidenceStore.at(str(tmp_path)))

    def process(*parts: Part) -> WorkerGroup:
        return split_workers(temporal_client, queue, parts, activities=fakes.activities, workflows=WORKFLOWS)

    groups = [process("workflows"), process("searches", "models")]
    running = [asyncio.create_task(group.run()) for group in groups]
    try:
        started = await start(temporal_client, a_request("deep"), queue)
        handle = temporal_client.get_workflow_handle(started.run_id)
        await asyncio.wait_for(handle.result(), 60)
        used: dict[str, set[str]] = {}
        async for found in temporal_client.list_workflows(f"TaskQueue = '{queue}'"):
            history = await temporal_client.get_workflow_handle(found.id).fetch_history()
            for event in history.events:
                if event.HasField("activity_task_scheduled_event_attributes"):
                    scheduled = event.activity_task_scheduled_event_attributes
                    used.setdefault(scheduled.activity_type.name, set()).add(scheduled.task_queue.name)
    finally:
        await asyncio.gather(*(group.shutdown() for group in groups))
        await asyncio.gather(*running)
    assert {part_of(step) for step in used} == {"workflows", "searches", "models"}
    for step, queues in used.items():
        part = part_of(step)
        assert queues == {queue if part == "workflows" else f"{queue}-{part}"}, step


def test_every_activity_of_a_worker_has_a_part_and_gates_are_held_where_searches_are() -> None:
    assert part_of("search_library") == "searches"
    assert part_of("hold_gate") == "searches"
    assert part_of("judge_evidence") == "models"
    assert part_of("publish_report") == "workflows"


def test_a_worker_of_the_command_line_serves_its_parts_and_metrics(
    home: Path, dev_server: str, temporal_client: Client, tmp_path: Path
) -> None:
    metrics, ready = free_port(), tmp_path / "ready"
    options = ("--queues", "searches,models", "--metrics", f"127.0.0.1:{metrics}")
    queue = {"DETERMINATOR_TASK_QUEUE": f"split-{uuid.uuid4().hex[:8]}"}
    worker = begin("worker", "--address", dev_server, *options, "--ready-file", str(ready), env=queue)
    try:
        wait_until(ready.exists, what="the worker to be ready")
        assert answers(f"http://127.0.0.1:{metrics}/metrics")
        pollers = [
            describe(dev_server, f"{queue['DETERMINATOR_TASK_QUEUE']}{part}")
            for part in ("", "-searches", "-models")
        ]
        assert pollers == [False, True, True]
    finally:
        worker.send_signal(signal.SIGTERM)
        worker.communicate(timeout=60)
    assert worker.returncode == 0


def answers(url: str) -> bool:
    try:
        return httpx.get(url).status_code == 200
    except httpx.HTTPError:
        return False


def describe(address: str, queue: str) -> bool:
    """Whether anyone polls the activities of a queue."""
    command = [str(find_temporal()), "task-queue", "describe", "--address", address, "-t", queue]
    shown = subprocess.run(
        [*command, "--task-queue-type", "activity", "-o", "json"], capture_output=True, text=True, timeout=60
    )
    return bool(json.loads(shown.stdout).get("pollers"))
