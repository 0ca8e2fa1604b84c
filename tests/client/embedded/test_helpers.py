"""A worker that is busy gets further processes, and keeps one when it is not."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from client.embedded import processes
from client.embedded.processes import BUSY_SECONDS, QUIET_SECONDS, Child, WorkerSlot, processor_seconds
from tests.client.harness import wait_until

SPIN = "while True: pass"
WAIT = "import time; time.sleep(600)"


@pytest.fixture
def slot(tmp_path: Path) -> Iterator[WorkerSlot]:
    found = WorkerSlot({"file": "worker.json"}, Child(tmp_path / "log"), {"queue": "q", "fingerprint": "f"})
    yield found
    for each in (found.child, *found.helpers):
        if each.process is not None:
            each.process.kill()
            each.process.wait()


def running(folder: Path, program: str) -> Child:
    return Child(folder / "log", subprocess.Popen([sys.executable, "-c", program]))


def test_a_busy_worker_gets_one_more_at_a_time_and_a_quiet_one_keeps_one(
    slot: WorkerSlot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = 0.0
    monkeypatch.setattr(processes, "processor_seconds", lambda _: used)
    slot.child = running(tmp_path, WAIT)
    wanted = []
    for second in range(4):
        used += 0.9
        wanted.append(slot.helpers_wanted(100.0 + second * BUSY_SECONDS / 2, 2))
    assert wanted == [0, 0, 1, 0], "busy for long enough once; then it counts anew"
    slot.helpers = [running(tmp_path, WAIT)]
    now, slot.used_seconds = 200.0, 2 * used - 0.9
    assert slot.helpers_wanted(now, 2) == 1, "one of two processes is busy"
    assert slot.busy_since is None
    assert slot.helpers_wanted(now + 1, 2) == 1
    assert slot.helpers_wanted(now + 1 + QUIET_SECONDS / 2, 2) == 1
    assert slot.helpers_wanted(now + 1 + QUIET_SECONDS, 2) == 0


def test_where_several_commands_wait_a_busy_worker_gets_a_helper_sooner(
    slot: WorkerSlot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = 0.0
    monkeypatch.setattr(processes, "processor_seconds", lambda _: used)
    slot.child = running(tmp_path, WAIT)
    wanted = []
    for second in range(3):
        used += 0.9
        wanted.append(slot.helpers_wanted(100.0 + second, 2, callers=1 if second == 0 else 3))
    assert wanted == [0, 1, 0]


def test_the_processor_time_of_a_process_is_the_kernels(tmp_path: Path) -> None:
    busy = running(tmp_path, SPIN)
    try:
        wait_until(lambda: processor_seconds(busy.pid) > 0.2)
    finally:
        assert busy.process is not None
        busy.process.kill()
        busy.process.wait()
    assert processor_seconds(2**30) == 0.0
