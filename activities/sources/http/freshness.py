"""How old an answer from the cache may be, and which answers the cache must forget."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

import httpx

from activities.contracts.errors import Malformed, RateLimited
from activities.sources.http.cache import HttpCache

_MAX_AGE: ContextVar[float | None] = ContextVar("max_age", default=None)


def youngest(max_age: float | None) -> float | None:
    """The smaller of an age in seconds and the one that `no_older_than` has set."""
    ages = [age for age in (max_age, _MAX_AGE.get()) if age is not None]
    return min(ages, default=None)


@asynccontextmanager
async def no_older_than(seconds: float | None) -> AsyncIterator[None]:
    """Let the cache answer the block only with entries no older than so many seconds; None: as old as the
    cache keeps them."""
    token = _MAX_AGE.set(seconds)
    try:
        yield
    finally:
        _MAX_AGE.reset(token)


_SERVED: ContextVar[list[tuple[HttpCache, httpx.Request]] | None] = ContextVar("served", default=None)


def note_served(cache: HttpCache, request: httpx.Request) -> None:
    """Name a request that the cache may answer, for the block of `forgotten_when_malformed` it is made in."""
    if (served := _SERVED.get()) is not None:
        served.append((cache, request))


@asynccontextmanager
async def forgotten_when_malformed() -> AsyncIterator[None]:
    """When the body ends in Malformed or RateLimited, which an answer that looked sound may say, the cache
    forgets the requests made within it: the next attempt asks the API again in place of reading the same
    answer for hours."""
    served: list[tuple[HttpCache, httpx.Request]] = []
    token = _SERVED.set(served)
    try:
        yield
    except (Malformed, RateLimited):
        for cache, request in served:
            await cache.forget(request)
        raise
    finally:
        _SERVED.reset(token)
