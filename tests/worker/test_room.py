"""A step that a full disk stopped."""

import asyncio
import errno
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from activities import disk
from activities.contracts.errors import DiskFull, StoreError, Unavailable
from worker import room
from worker.room import RoomInterceptor


class Step(ActivityInboundInterceptor):
    """Fails with each of these in turn, then answers."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.attempts = 0

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002
        self.attempts += 1
        if self.errors:
            raise self.errors.pop(0)
        return "answered"


def caused_by(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def full_database() -> sqlite3.Error:
    database = sqlite3.connect(":memory:")
    try:
        database.executescript("PRAGMA max_page_count = 1; CREATE TABLE a (b); CREATE TABLE c (d);")
    except sqlite3.Error as error:
        return error
    finally:
        database.close()
    raise AssertionError("there was room")


async def execute(step: Step, folder: Path, seconds: float = 60.0) -> object:
    """Execute a step that has so long."""
    now = datetime.now(UTC)
    environment = ActivityEnvironment()
    environment.info = replace(
        environment.info,
        started_time=now,
        scheduled_time=now,
        start_to_close_timeout=timedelta(seconds=seconds),
        schedule_to_close_timeout=None,
    )
    inbound = RoomInterceptor(folder).intercept_activity(step)

    async def execute_once() -> object:
        input_ = ExecuteActivityInput(fn=execute_once, args=(), executor=None, headers={})
        return await inbound.execute_activity(input_)

    return await environment.run(execute_once)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "PAUSES", (0.01,))
    monkeypatch.setattr(room, "LOOK_SECONDS", 0.01)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "make_error",
    [
        lambda: OSError(errno.ENOSPC, "No space left on device"),
        lambda: OSError(errno.EDQUOT, "Disk quota exceeded"),
        lambda: DiskFull("there is no space left"),
        lambda: caused_by(Unavailable("notes cannot be reached"), OSError(errno.ENOSPC, "No space left")),
        full_database,
    ],
)
async def test_a_step_that_a_full_disk_stops_is_repeated_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_error: Callable[[], Exception]
) -> None:
    """Four attempts in seven seconds ended its search as "source unavailable"."""
    step = Step(make_error(), make_error())
    monkeypatch.setattr(disk, "MIN_FREE_BYTES", 1 << 62)
    running = asyncio.create_task(execute(step, tmp_path))
    await asyncio.sleep(0.2)
    assert step.attempts == 1, "it is not repeated while there is no room"
    monkeypatch.setattr(disk, "MIN_FREE_BYTES", 1)
    assert await running == "answered"
    assert step.attempts == 3


@pytest.mark.usefixtures("quick")
async def test_other_failures_are_raised_at_once(tmp_path: Path) -> None:
    step = Step(StoreError("the bucket is gone"))
    with pytest.raises(StoreError):
        await execute(step, tmp_path)
    assert step.attempts == 1


async def test_a_step_whose_time_is_used_up_ends_with_the_error_of_the_disk(tmp_path: Path) -> None:
    step = Step(DiskFull("there is no space left"))
    with pytest.raises(DiskFull):
        await execute(step, tmp_path, seconds=room.PAUSES[0])
    assert step.attempts == 1
