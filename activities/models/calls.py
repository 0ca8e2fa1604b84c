"""Calls under way: a question that is asked again while its answer is awaited is not sent again.

An attempt at a step times out where its worker stood still (a machine that slept, or was too busy to send a
heartbeat). Its call goes on when the worker does, and the attempt that follows waits for the same answer.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Calls(Generic[T]):
    """Calls by their key. `has_timed_out` tells of the attempt under way that the server has given it up."""

    def __init__(self, has_timed_out: Callable[[], bool]) -> None:
        self._has_timed_out = has_timed_out
        self._under_way: dict[str, asyncio.Task[T]] = {}

    async def once(self, key: str, ask: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Ask a question, or wait for the answer to the same one, by its key.

        Who is cancelled ends the call, but for an attempt that timed out: the next one waits for its answer.
        """
        call = self._under_way.get(key)
        if call is None:
            call = self._under_way[key] = asyncio.create_task(ask())
            call.add_done_callback(lambda done: self._end(key, done))
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            if (own := asyncio.current_task()) and not own.cancelling():
                return await self.once(key, ask)  # who ended the call was another one
            if not self._has_timed_out():
                call.cancel()
                await asyncio.wait([call])
            raise

    def _end(self, key: str, call: asyncio.Task[T]) -> None:
        del self._under_way[key]
        if not call.cancelled():
            call.exception()  # of one that nobody waits for any more, too
