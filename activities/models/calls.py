"""Calls under way: a question that is asked again while its answer is awaited is not sent again.

An attempt at a step times out where its worker stood still (a machine that slept, or was too busy to send a
heartbeat). Its call goes on when the worker does, and the attempt that follows waits for the same answer.
Where the run has ended meanwhile none follows; the server tells an attempt the same.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")

JOIN_SECONDS = 8.0
"""Time in which an attempt that follows asks: those that a step has left begin after 1, 2 and 4 seconds."""


@dataclass(eq=False, slots=True)
class _Call(Generic[T]):
    task: asyncio.Task[T]
    waiting: int = 0
    """Attempts that wait for its answer."""


class Calls(Generic[T]):
    """Calls by their key. `has_timed_out` tells of the attempt under way that the server has given it up."""

    def __init__(self, has_timed_out: Callable[[], bool]) -> None:
        self._has_timed_out = has_timed_out
        self._under_way: dict[str, _Call[T]] = {}

    async def once(self, key: str, ask: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Ask a question, or wait for the answer to the same one, by its key.

        Who is cancelled ends the call. That of an attempt that timed out ends when no other one asks for it.
        """
        call = self._under_way.get(key)
        if call is None:
            call = self._under_way[key] = _Call(asyncio.create_task(ask()))
            call.task.add_done_callback(lambda task: self._end(key, task))
        call.waiting += 1
        try:
            return await asyncio.shield(call.task)
        except asyncio.CancelledError:
            if (current := asyncio.current_task()) and not current.cancelling():
                return await self.once(key, ask)  # who ended the call was another one
            if self._has_timed_out():
                asyncio.get_running_loop().call_later(JOIN_SECONDS, _end_unless_joined, call)
            else:
                call.task.cancel()
                await asyncio.wait([call.task])
            raise
        finally:
            call.waiting -= 1

    def _end(self, key: str, call: asyncio.Task[T]) -> None:
        del self._under_way[key]
        if not call.cancelled():
            call.exception()  # of one that nobody waits for any more, too


def _end_unless_joined(call: _Call[Any]) -> None:
    if not call.waiting:
        call.task.cancel()
