"""The supervisor of a worker: restarts what a signal has ended, and ends with it otherwise.

Each test runs a small program in which the worker is a line of Python.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.client.harness import children_of, determinator, living, processes_of, wait_until
from worker import supervisor

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers have a supervisor on Linux only")

PROGRAM = """
import os, signal, sys, time
from worker import supervisor
supervisor.Supervisor().run()
print("worker", os.getpid(), flush=True)
{worker}
"""
WAITS = "while True: time.sleep(60)"


@contextmanager
def supervised(worker: str) -> "Iterator[subprocess.Popen[str]]":
    """A supervisor whose worker does this."""
    command = [sys.executable, "-c", PROGRAM.format(worker=worker)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def next_worker(process: "subprocess.Popen[str]") -> int:
    """The pid of the next worker that was forked."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("worker "):
            return int(line.split()[1])
    raise AssertionError("no worker was forked")


def is_gone(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_worker_that_a_signal_has_ended_is_restarted(number: signal.Signals) -> None:
    with supervised(WAITS) as process:
        first = next_worker(process)
        os.kill(first, number)
        second = next_worker(process)
        assert second != first
        assert children_of(process.pid) == [second]


def test_a_worker_dies_with_its_supervisor() -> None:
    with supervised(WAITS) as process:
        worker = next_worker(process)
        process.kill()
        wait_until(lambda: is_gone(worker))


def test_a_worker_that_ends_by_itself_ends_its_supervisor_with_its_exit_code() -> None:
    with supervised("os._exit(3)") as process:
        next_worker(process)
        assert process.wait(60) == 3


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_stop_reaches_the_worker_which_ends_in_its_own_time(number: signal.Signals) -> None:
    worker = f"signal.signal({int(number)}, lambda *_: os._exit(5)); print('worker 0', flush=True)\n{WAITS}"
    with supervised(worker) as process:
        next_worker(process)
        assert next_worker(process) == 0  # it has its handler
        process.send_signal(number)
        assert process.wait(60) == 5


def test_a_worker_that_is_stopped_before_it_listens_is_not_restarted() -> None:
    with supervised(WAITS) as process:
        next_worker(process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM


def test_a_worker_that_dies_again_and_again_is_left_to_the_next_command() -> None:
    with supervised("os.kill(os.getpid(), signal.SIGKILL)") as process:
        output, _ = process.communicate(timeout=60)
        assert output.count("\nworker ") + output.startswith("worker ") == supervisor.MOST_DEATHS + 1
        assert process.returncode == 128 + signal.SIGKILL


def test_other_code_on_disk_is_not_mixed_with_what_was_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "changed.py"
    module.write_text("value = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    __import__("changed")
    monkeypatch.setattr(supervisor, "PACKAGES", {"changed"})
    process = supervisor.Supervisor()
    assert process.is_current()
    os.utime(module, ns=(1, 1))
    assert not process.is_current()
    module.unlink()
    assert not process.is_current()


def test_what_a_worker_imports_starts_no_thread() -> None:
    code = (
        "from worker import supervisor\n"
        "supervisor.import_until_polling()\n"
        "supervisor.import_model_client()\n"
        "print(supervisor.has_one_thread(), 'OPENBLAS_NUM_THREADS' in __import__('os').environ)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("True False\n", "")


def test_the_worker_of_a_home_comes_back_without_a_command(home: Path) -> None:
    assert determinator("up").code == 0
    (parent,) = living(home)["worker"]
    wait_until(lambda: children_of(parent))
    (first,) = children_of(parent)
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: children_of(parent) not in ([], [first]))
    log = home / "logs" / "worker.log"
    wait_until(lambda: "worker_started" in log.read_text().partition("worker_killed")[2])
    records = [json.loads(line) for line in log.read_text().splitlines() if "worker_killed" in line]
    assert [(r["pid"], r["signal"], r["restarted"]) for r in records] == [(first, "SIGKILL", True)]
    assert processes_of(home)["worker"] == [parent]
    assert determinator("down").code == 0
    assert processes_of(home)["worker"] == []
