"""Waiting for room: a step that a full disk stopped is repeated once there is some.

A source or a model that did not fail must not be recorded as one that did.
"""

import asyncio
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from activities.disk import has_room, is_disk_full
from activities.heartbeat import heartbeating, seconds_left
from activities.logs import log

LOOK_SECONDS = 2.0
"""Interval at which it is checked whether there is room again."""
PAUSES = (2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds before a repetition: there may be room in home and none where the evidence is stored."""


class RoomInterceptor(Interceptor):
    """Give it to every `Worker` as the innermost: hooks and metrics see one attempt."""

    def __init__(self, folder: Path) -> None:
        """`folder`: a folder on the disk that the steps write to."""
        self._folder = folder

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        return _Inbound(next, self._folder)


class _Inbound(ActivityInboundInterceptor):
    def __init__(self, next_inbound: ActivityInboundInterceptor, folder: Path) -> None:
        super().__init__(next_inbound)
        self._folder = folder

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401
        """Raise what the step raises, and the error of a full disk where the step's time is used up."""
        for pause in chain(PAUSES, repeat(PAUSES[-1])):
            try:
                return await super().execute_activity(input)
            except Exception as error:
                if not is_disk_full(error):
                    raise
                log.warning("disk_full", step=activity.info().activity_type, error=str(error))
                async with heartbeating():
                    if not await self._wait_for_room(pause):
                        raise
        return None

    async def _wait_for_room(self, seconds: float) -> bool:
        """Wait so long at least, and until there is room; False where the step's time is used up before."""
        while True:
            left = seconds_left(activity.info())
            if left is not None and left < seconds:
                return False
            await asyncio.sleep(seconds)
            if has_room(self._folder):
                return True
            seconds = LOOK_SECONDS
