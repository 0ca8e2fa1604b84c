"""The client's methods for programs without an event loop: each blocks until it is done."""

import asyncio
import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from typing import Any, Concatenate, Generic, NoReturn, ParamSpec, Self, TypeVar, overload

T = TypeVar("T")
Held = TypeVar("Held")
P = ParamSpec("P")


class NotAwaited(Coroutine[Any, Any, T]):
    """A call of an asynchronous method.

    Used as if it were the result, it says what to write in a program without an event loop.
    """

    def __init__(self, coroutine: Coroutine[Any, Any, T], name: str, remedy: str) -> None:
        self._coroutine = coroutine
        self._hint = (
            f"{name}() is a coroutine: await it, or write `{remedy}` in a program without an event loop"
        )
        self._begun = False

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        self.close()
        raise AttributeError(self._hint)

    def __repr__(self) -> str:
        return f"<{self._hint}>"

    def __await__(self) -> Generator[Any, Any, T]:
        self._begun = True
        return self._coroutine.__await__()

    def send(self, value: Any) -> Any:  # noqa: ANN401 - as in Coroutine
        self._begun = True
        return self._coroutine.send(value)

    def throw(self, *error: Any) -> Any:  # noqa: ANN401 - as in Coroutine
        self._begun = True
        return self._coroutine.throw(*error)

    def close(self) -> None:
        self._begun = True
        self._coroutine.close()

    def __del__(self) -> None:
        if not self._begun:
            self._coroutine.close()
            warnings.warn(self._hint, RuntimeWarning, stacklevel=2)


Kind = TypeVar("Kind", bound=type)


def hinting(remedy: str) -> Callable[[Kind], Kind]:
    """Have the public coroutines of a class be `NotAwaited` until they are."""

    def hinted(method: Callable[..., Coroutine[Any, Any, Any]], name: str) -> Callable[..., NotAwaited[Any]]:
        @functools.wraps(method)
        def call(*args: Any, **kwargs: Any) -> NotAwaited[Any]:  # noqa: ANN401 - those of the method
            return NotAwaited(method(*args, **kwargs), name, remedy)

        return call

    def of(kind: Kind) -> Kind:
        for name, method in list(vars(kind).items()):
            if inspect.iscoroutinefunction(method) and not name.startswith("_"):
                setattr(kind, name, hinted(method, f"{kind.__name__}.{name}"))
        return kind

    return of


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


class Blocking(Generic[Held]):
    """An object whose methods block: `held` is the one whose methods are awaited in `loop`."""

    def __init__(self, held: Held, loop: Loop) -> None:
        self.held = held
        self.loop = loop

    def __repr__(self) -> str:
        return repr(self.held)


class Blocks(Generic[Held, P, T]):
    """A method of `Blocking`: the one that it is made of, with the same arguments and result."""

    def __init__(self, method: Callable[Concatenate[Held, P], Coroutine[Any, Any, T]]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...
    @overload
    def __get__(self, owner: Blocking[Held], kind: type) -> Callable[P, T]: ...
    def __get__(self, owner: Blocking[Held] | None, kind: type) -> Self | Callable[P, T]:
        if owner is None:
            return self
        held, loop = owner.held, owner.loop

        @functools.wraps(self._method)
        def blocking(*args: P.args, **kwargs: P.kwargs) -> T:
            return loop.call(self._method(held, *args, **kwargs))

        return blocking
