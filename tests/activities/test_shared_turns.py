"""Turns that the processes of a home share hold for all of them together."""

import multiprocessing
import os
import signal
import time
from pathlib import Path

from activities.sources.http.rate_limiter import RateLimiter, turns_of
from tests.client.harness import wait_until
from tests.worker.fleet import busiest_second

FORK = multiprocessing.get_context("fork")


def send(home: Path, rate: float, requests: int, seconds: float, sent: Path, leased: bool = False) -> None:
    """A process that sends requests, each answered after so many seconds; `leased`: it holds a gate."""
    import asyncio

    async def run() -> None:
        limiter = RateLimiter(rate, turns_of(home), "api")
        if leased:
            limiter.require_lease()
            limiter.extend_lease(float("inf"))

        async def one() -> None:
            async with limiter.passage():
                with sent.open("a") as file:
                    file.write(f"{time.monotonic()}\n")
                await asyncio.sleep(seconds)

        await asyncio.gather(*(one() for _ in range(requests)))

    asyncio.run(run())


def moments(sent: Path) -> list[float]:
    return [float(line) for line in sent.read_text().split()] if sent.exists() else []


def test_a_rate_holds_over_all_processes_of_a_home_one_of_which_holds_its_gate(tmp_path: Path) -> None:
    rate, sent = 5.0, tmp_path / "sent"
    processes = [FORK.Process(target=send, args=(tmp_path, rate, 8, 0.1, sent, n == 0)) for n in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    found = moments(sent)
    assert len(found) == 24
    assert busiest_second(found) <= rate
    assert max(found) - min(found) < 24 / rate * 2.5


def test_a_process_that_dies_gives_its_turn_back(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    dying = FORK.Process(target=send, args=(tmp_path, 1.0, 1, 600.0, first))
    dying.start()
    wait_until(lambda: moments(first))
    other = FORK.Process(target=send, args=(tmp_path, 1.0, 1, 0.0, second))
    other.start()
    time.sleep(1.5)
    assert moments(second) == []
    os.kill(dying.pid or 0, signal.SIGKILL)
    dying.join()
    other.join(30)
    assert len(moments(second)) == 1
