"""The event loop of a worker: uvloop's where it is installed, with the signals and time-outs of asyncio's."""

import asyncio
import importlib.util
import os
import signal
import subprocess
import sys

import pytest

from worker.daemon import new_event_loop, run, stop_on_signals


async def kind() -> str:
    return type(asyncio.get_running_loop()).__module__.partition(".")[0]


def test_a_worker_uses_uvloop_where_it_is_installed() -> None:
    assert run(kind()) == ("uvloop" if importlib.util.find_spec("uvloop") else "asyncio")


def test_a_worker_uses_asyncios_own_loop_where_uvloop_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert run(kind()) == "asyncio"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_what_runs_and_is_no_interrupt(number: signal.Signals) -> None:
    async def until_stopped() -> str:
        stop = stop_on_signals()
        os.kill(os.getpid(), number)
        async with asyncio.timeout(60):
            await stop.wait()
        return "stopped"

    assert run(until_stopped()) == "stopped"


def test_a_process_started_by_a_thread_is_waited_for() -> None:
    def in_a_process() -> int:
        return subprocess.run([sys.executable, "-c", "raise SystemExit(7)"], check=False).returncode

    async def in_a_thread() -> int:
        return await asyncio.to_thread(in_a_process)

    assert run(in_a_thread()) == 7


def test_each_loop_is_new() -> None:
    one, other = new_event_loop(), new_event_loop()
    try:
        assert one is not other
    finally:
        one.close()
        other.close()
