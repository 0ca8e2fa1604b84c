"""The worker process: starts, logs without secrets, stops on a signal, reports why it cannot start."""

import asyncio
import importlib.util
import json
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path
from typing import NoReturn

import httpx
import pytest
import structlog

from activities.settings import Settings
from client.embedded.binary import free_port
from tests.client.harness import begin, wait_until
from tests.workflows.conftest import until
from worker import daemon
from worker.daemon import run

PATIENCE = 120
"""Seconds a process may need on a busy machine; a few are common."""


def test_a_worker_of_the_command_line_serves_metrics_and_a_signal_ends_it_cleanly(
    home: Path, dev_server: str, tmp_path: Path
) -> None:
    metrics, ready = free_port(), tmp_path / "ready"
    options = ("--metrics", f"127.0.0.1:{metrics}", "--ready-file", str(ready))
    queue = {"DETERMINATOR_TASK_QUEUE": f"daemon-{uuid.uuid4().hex[:8]}"}
    worker = begin("worker", "--address", dev_server, *options, env=queue)
    try:
        wait_until(ready.exists, what="the worker to be ready")
        assert httpx.get(f"http://127.0.0.1:{metrics}/metrics").status_code == 200
    finally:
        worker.send_signal(signal.SIGTERM)
        _, err = worker.communicate(timeout=PATIENCE)
    records = {
        row["event"]: row for line in err.splitlines() if line.startswith("{") for row in [json.loads(line)]
    }
    assert worker.returncode == 0
    assert records["worker_started"]["queue"] == queue["DETERMINATOR_TASK_QUEUE"]
    assert "worker_stopped" in records


async def test_a_worker_waits_for_a_server_that_is_late(home: Path) -> None:
    stop = asyncio.Event()
    with structlog.testing.capture_logs() as logged:
        connecting = asyncio.create_task(daemon.serve(Settings(), {"target_host": "127.0.0.1:1"}, stop))
        await until(lambda: asyncio.sleep(0, bool(logged)), bool)
        stop.set()
        assert not await connecting
    assert (logged[0]["event"], "127.0.0.1:1" in logged[0]["error"]) == ("waiting_for_server", True)


def left(code: int) -> NoReturn:
    raise SystemExit(code)


class NeverStops:
    """A worker whose last poll is not answered."""

    async def run(self) -> None:
        await asyncio.Event().wait()

    async def shutdown(self) -> None:
        await asyncio.Event().wait()


async def test_a_worker_that_does_not_stop_in_time_is_left(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def connected(*_: object) -> object:
        return object()

    stop = asyncio.Event()
    stop.set()
    monkeypatch.setattr(daemon, "STOP_SECONDS", 0.01)
    monkeypatch.setattr(daemon, "leave", left)
    monkeypatch.setattr(daemon, "_connect", connected)
    monkeypatch.setattr(daemon, "collect_less_often", lambda: None)
    monkeypatch.setattr("worker.build.research_worker", lambda *_: NeverStops())
    monkeypatch.setattr("worker.rate_gate_holder.keep_gates", lambda *_: asyncio.Event().wait())
    with pytest.raises(SystemExit, match="0"):
        await daemon.serve(Settings(), {}, stop)


def test_a_worker_without_an_address_reports_it(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(daemon, "leave", left)
    monkeypatch.setattr("gc.disable", lambda: None)
    with pytest.raises(SystemExit, match="2"):
        daemon.main([])
    assert capsys.readouterr().err == "Error: no Temporal address; give --address or TEMPORAL_ADDRESS\n"


async def test_a_store_that_cannot_be_opened_is_named(
    home: Path, dev_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(daemon, "stop_on_signals", asyncio.Event)
    monkeypatch.setattr("os.umask", lambda _: 0)
    settings = Settings(store_url=str(tmp_path / "file" / "store"))
    with structlog.testing.capture_logs() as logged:
        assert await daemon.work(settings, {"target_host": dev_server}) == 2
    assert logged[-1]["event"] == "cannot_start"
    assert "cannot open the evidence store" in logged[-1]["error"]


def test_no_secret_reaches_the_log(home: Path) -> None:
    program = (
        "import logging, structlog\n"
        "from activities.settings import Settings\n"
        "from worker.logs import configure_logging\n"
        "configure_logging(Settings())\n"
        "settings = Settings()\n"
        "structlog.get_logger().warning('asked', url='https://x.org/?api_key=hush-hush-1')\n"
        "structlog.get_logger().warning('asked', url=settings.openai_base_url, store=settings.store_url)\n"
        "logging.getLogger('library').error('sent Bearer hush-hush-2', exc_info=ValueError('hush-hush-1'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={
            **os.environ,
            "NCBI_API_KEY": "hush-hush-1",
            "OPENAI_API_KEY": "hush-hush-2",
            "OPENAI_BASE_URL": "http://me:hush-hush-3@127.0.0.1:9/v1?key=hush-hush-4",
            "DETERMINATOR_STORE_URL": "s3://me:hush-hush-5@bucket/evidence?X-Signature=hush%2Fhush-6",
        },
    )
    records = [json.loads(line) for line in done.stderr.splitlines()]
    assert [r["event"] for r in records] == ["asked", "asked", "sent Bearer ***"]
    assert "hush" not in done.stderr


def test_what_ranks_or_builds_reports_and_a_models_library_are_not_imported_before_they_are_needed(
    home: Path,
) -> None:
    code = (
        "import asyncio, sys, worker.daemon, worker.build, worker.resources, worker.rate_gate_holder\n"
        "import workflows.modes, workflows.refresh\n"
        "from activities.settings import Settings\n"
        "workflows.modes.workflow_classes()\n"
        "async def go():\n"
        "    async with worker.resources.open_resources(Settings()): pass\n"
        "asyncio.run(go())\n"
        "names = ('activities.report.assemble', 'bm25s', 'scipy', 'openai')\n"
        "print([name for name in (*names, 'activities.search_activity') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == ("['activities.search_activity']\n", "")


async def kind() -> str:
    return type(asyncio.get_running_loop()).__module__.partition(".")[0]


def test_a_worker_uses_uvloop_where_it_is_installed() -> None:
    assert run(kind()) == ("uvloop" if importlib.util.find_spec("uvloop") else "asyncio")


def test_a_worker_uses_asyncios_own_loop_where_uvloop_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert run(kind()) == "asyncio"
