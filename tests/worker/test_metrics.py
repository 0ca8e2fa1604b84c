"""What a fleet is watched by: metrics of a run in Prometheus' format, and the file
that an exec probe looks at."""

import asyncio
import re
import socket
import uuid
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import cast

import httpx
import pytest
from temporalio.client import Client

from activities.evidence_store import EvidenceStore
from activities.hooks import HookInterceptor
from client.connection import open_client
from client.embedded.binary import free_port
from client.runs.start import start
from tests.workflows.conftest import a_request, a_worker, until
from tests.workflows.fakes import Fakes
from worker import daemon as readiness
from worker.metrics import CannotListen, MetricsHook, MetricsInterceptor, worker_runtime


class Samples:
    """What `/metrics` shows, by name and labels."""

    def __init__(self, text: str) -> None:
        self.text = text

    def of(self, name: str, **labels: str) -> float:
        """The sum of a metric over the label sets that contain `labels`."""
        return sum(
            value
            for found, value in self._rows(name)
            if all(found.get(key) == wanted for key, wanted in labels.items())
        )

    def labels(self, name: str) -> set[str]:
        return {key for found, _ in self._rows(name) for key in found}

    def _rows(self, name: str) -> Iterator[tuple[dict[str, str], float]]:
        for line in self.text.splitlines():
            match = re.fullmatch(rf"{name}\{{(.*)\}} (\S+)", line)
            if match:
                yield dict(re.findall(r'(\w+)="([^"]*)"', match[1])), float(match[2])


async def test_a_run_is_counted_with_its_steps_searches_and_tokens(
    dev_server: str, temporal_client: Client, tmp_path: Path
) -> None:
    port, queue = free_port(), f"metrics-{uuid.uuid4().hex[:8]}"
    runtime = worker_runtime(f"127.0.0.1:{port}")
    client = await open_client({"target_host": dev_server}, runtime=runtime)
    fakes = Fakes(EvidenceStore.at(str(tmp_path)))
    async with a_worker(
        client, fakes, queue, interceptors=[HookInterceptor([MetricsHook()]), MetricsInterceptor()]
    ):
        started = await start(client, a_request(), queue)
        await client.get_workflow_handle(started.run_id).result()
        async with httpx.AsyncClient() as http:

            async def shown() -> Samples:
                return Samples((await http.get(f"http://127.0.0.1:{port}/metrics")).text)

            # the worker counts the run once the server has it
            samples = await until(shown, lambda found: found.of("temporal_workflow_completed_total") == 1)
    assert samples.of("determinator_runs_total", mode="iterative") == 1
    assert samples.of("determinator_steps_total", outcome="done") > 4
    assert samples.of("determinator_steps_total", step="publish_report", outcome="done") == 1
    assert samples.of("determinator_searches_total", status="ok") >= 1
    assert samples.of("determinator_tokens_total", kind="input") > 0
    assert samples.of("temporal_activity_schedule_to_start_latency_seconds_count") > 4
    for name in ("determinator_runs_total", "determinator_steps_total", "determinator_tokens_total"):
        assert not samples.labels(name) & {"run_id", "workflow_id", "question"}


async def test_a_worker_that_cannot_work_does_not_touch_its_ready_file(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for interval in ("TOUCH_SECONDS", "UNREADY_SECONDS"):
        monkeypatch.setattr(readiness, interval, 0.05)
    polls, path = False, tmp_path / "ready"
    touching = asyncio.create_task(readiness.touch_while_ready(path, temporal_client, lambda: polls))
    await asyncio.sleep(0.3)
    assert not path.exists()
    polls = True
    await until(_exists(path), bool)
    polls = False
    await asyncio.sleep(0.3)
    last = path.stat().st_mtime_ns
    await asyncio.sleep(0.3)
    assert path.stat().st_mtime_ns == last
    touching.cancel()


async def test_a_worker_is_ready_as_soon_as_it_polls(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "TOUCH_SECONDS", 3600.0)
    monkeypatch.setattr(readiness, "UNREADY_SECONDS", 0.05)
    polls, path = False, tmp_path / "ready"
    touching = asyncio.create_task(readiness.touch_while_ready(path, temporal_client, lambda: polls))
    await asyncio.sleep(0.2)
    polls = True
    await until(_exists(path), bool)
    touching.cancel()


def _exists(path: Path) -> Callable[[], Awaitable[bool]]:
    return lambda: asyncio.to_thread(path.exists)


async def test_a_server_that_is_gone_makes_a_worker_not_ready() -> None:
    class Gone:
        async def check_health(self) -> bool:
            raise RuntimeError("Connection refused")

    class Cut:
        service_client = Gone()

    assert not await readiness.can_work(cast(Client, Cut()), lambda: True)


def test_an_address_for_metrics_that_is_in_use_is_an_error_that_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotListen, match=str(port)):
            worker_runtime(f"127.0.0.1:{port}")
