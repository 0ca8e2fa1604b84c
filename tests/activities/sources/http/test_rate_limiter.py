"""The rate limiter in virtual time: no test here waits for the clock."""

import asyncio
import errno
import multiprocessing
import os
import selectors
import signal
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.sources.http.rate_limiter import RateLimiter, SharedTurns, turns_of
from tests.client.harness import wait_until
from tests.worker.fleet import busiest_second

pytestmark = pytest.mark.invariant

T = TypeVar("T")


class _Leap(selectors.DefaultSelector):
    """Instead of waiting for nothing, move the clock."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout:
            self.now += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._leap = _Leap()
        super().__init__(self._leap)

    def time(self) -> float:
        return self._leap.now


def virtually(story: Coroutine[Any, Any, T]) -> T:
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(story)
    finally:
        loop.close()


Request = tuple[float, float, float]
"""When it is wanted, how long it travels to the API, how long the answer travels back; seconds."""


async def arrivals(limiter: RateLimiter, requests: list[Request]) -> list[float]:
    loop = asyncio.get_running_loop()
    seen: list[float] = []

    async def ask(wanted: float, there: float, back: float) -> None:
        await asyncio.sleep(wanted)
        async with limiter.passage():
            await asyncio.sleep(there)
            seen.append(loop.time())
            await asyncio.sleep(back)

    await asyncio.gather(*(ask(*request) for request in requests))
    return seen


durations = st.floats(min_value=0, max_value=3)


@given(
    st.sampled_from([1.0, 3.0, 10.0, 1 / 3]),
    st.lists(st.tuples(durations, durations, durations), min_size=1, max_size=40),
)
def test_whatever_the_network_does_no_window_sees_more_than_is_allowed(
    rate: float, requests: list[Request]
) -> None:
    seen = virtually(arrivals(RateLimiter(rate), requests))
    assert len(seen) == len(requests)
    assert busiest_second(seen, window=max(1.0, 1 / rate)) <= max(int(rate), 1)


def test_requests_in_time_are_not_slowed_and_a_limiter_on_hold_sends_nothing() -> None:
    seen = virtually(arrivals(RateLimiter(3), [(0, 0, 0)] * 31))
    assert max(seen) - min(seen) < 11

    async def story() -> float:
        limiter = RateLimiter(3)
        limiter.hold(42)
        async with limiter.passage():
            return asyncio.get_running_loop().time()

    assert virtually(story()) == pytest.approx(42)


def test_a_request_that_fails_or_is_cancelled_does_not_block_the_others() -> None:
    async def story() -> float:
        limiter = RateLimiter(1)
        with pytest.raises(ValueError, match="broken"):
            async with limiter.passage():
                raise ValueError("broken")
        waiting = asyncio.create_task(limiter.passage().__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        async with limiter.passage():
            return asyncio.get_running_loop().time()

    assert virtually(story()) == pytest.approx(1.02)


def test_without_a_lease_nothing_passes_and_with_one_it_does() -> None:
    async def story() -> tuple[float, float]:
        loop = asyncio.get_running_loop()
        limiter = RateLimiter(3)
        limiter.require_lease()
        passed: list[float] = []

        async def ask() -> None:
            async with limiter.passage():
                passed.append(loop.time())

        first = asyncio.create_task(ask())
        await asyncio.sleep(100)
        assert passed == []
        limiter.extend_lease(loop.time() + 5)
        await first
        await asyncio.sleep(50)  # the lease ran out meanwhile
        second = asyncio.create_task(ask())
        await asyncio.sleep(10)
        assert len(passed) == 1
        limiter.extend_lease(loop.time() + 5)
        await second
        return passed[0], passed[1]

    assert virtually(story()) == pytest.approx((100, 160))


def test_a_gate_that_was_lost_long_ago_does_not_free_what_waits_under_another() -> None:
    """A process that was suspended gets, when it resumes, also the gate that it was offered meanwhile."""

    async def story() -> list[float]:
        loop = asyncio.get_running_loop()
        limiter = RateLimiter(3)
        passed: list[float] = []

        async def ask() -> None:
            async with limiter.passage():
                passed.append(loop.time())

        with limiter.under_lease():
            waiting = asyncio.create_task(ask())
            await asyncio.sleep(10)
            with limiter.under_lease():
                limiter.extend_lease(loop.time())
            await asyncio.sleep(10)
            assert passed == []
        await waiting
        return passed

    assert virtually(story()) == pytest.approx([20])


def test_a_rate_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="above zero"):
        RateLimiter(0)


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
    times = moments(sent)
    assert len(times) == 24
    assert busiest_second(times) <= rate
    assert max(times) - min(times) < 24 / rate * 2.5


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


async def test_a_turn_is_not_free_in_the_moment_in_which_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = SharedTurns(tmp_path, "stub", 1, window=60.0)
    with monkeypatch.context() as patch:
        patch.setattr("time.monotonic", lambda: 100.00006)
        async with turns.turn():
            pass
        assert turns._take() is None


@pytest.mark.skipif(turns_of(Path()) is None, reason="the system has no such locks")
async def test_a_turn_that_a_full_disk_refuses_is_free_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stayed locked by its own process, and every later request waited for it for ever."""

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    turns = SharedTurns(tmp_path, "stub", 1)
    with monkeypatch.context() as patch:
        patch.setattr("os.pwrite", full)
        with pytest.raises(OSError, match="No space"):
            await turns.turn().__aenter__()
    async with asyncio.timeout(5), turns.turn():
        monkeypatch.setattr("os.pwrite", full)  # the answer of the body is not lost by it
