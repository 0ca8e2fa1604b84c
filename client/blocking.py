"""The client's methods for programs without an event loop: each blocks until it is done."""

import asyncio
import functools
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

T = TypeVar("T")
Target = TypeVar("Target")
P = ParamSpec("P")


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="determinator", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def call(self, body: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(body, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        with suppress(RuntimeError):
            self.call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._loop.shutdown_asyncgens()


class Blocking(Generic[Target]):
    """An object whose methods block: `target` is the one whose methods are awaited in `loop`."""

    def __init__(self, target: Target, loop: Loop) -> None:
        self.target = target
        self.loop = loop

    def __repr__(self) -> str:
        return repr(self.target)


class Blocks(Generic[Target, P, T]):
    """A method of `Blocking`: the one that it is made of, with the same arguments and result."""

    def __init__(self, method: Callable[Concatenate[Target, P], Coroutine[Any, Any, T]]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...
    @overload
    def __get__(self, owner: Blocking[Target], kind: type) -> Callable[P, T]: ...
    def __get__(self, owner: Blocking[Target] | None, kind: type) -> Self | Callable[P, T]:
        if owner is None:
            return self
        target, loop = owner.target, owner.loop

        @functools.wraps(self._method)
        def blocking(*args: P.args, **kwargs: P.kwargs) -> T:
            return loop.call(self._method(target, *args, **kwargs))

        return blocking
