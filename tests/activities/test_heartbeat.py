"""Heartbeats: a step that is over soon sends none, one that lasts sends what is known of it."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from temporalio.testing import ActivityEnvironment

from activities import heartbeat


def environment(beats: list[object], beaten: asyncio.Event, timeout: timedelta | None) -> ActivityEnvironment:
    """An activity with a heartbeat time-out; `beats` gets what its heartbeats say."""
    made = ActivityEnvironment()
    made.info = replace(made.info, heartbeat_timeout=timeout)

    def on_heartbeat(*details: object) -> None:
        beats.extend(details)
        beaten.set()

    made.on_heartbeat = on_heartbeat
    return made


@pytest.mark.parametrize(
    ("first", "limit"),
    [(0.0, timedelta(hours=1)), (3600.0, timedelta(milliseconds=3))],
    ids=["after its first seconds", "never later than a third of the time-out"],
)
async def test_a_step_that_lasts_sends_what_is_known(
    monkeypatch: pytest.MonkeyPatch, first: float, limit: timedelta
) -> None:
    monkeypatch.setattr(heartbeat, "FIRST_SECONDS", first)
    beats, beaten = list[object](), asyncio.Event()

    async def step() -> None:
        async with heartbeat.heartbeating(lambda: "half of it"):
            await beaten.wait()

    await environment(beats, beaten, limit).run(step)
    assert beats[0] == "half of it"
