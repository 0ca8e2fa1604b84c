"""A cache of HTTP answers on disk, shared by every worker process of a machine.

Only valid answers are stored (`Http.read` decides). What is stored is the body and its content type under a
digest of the request; secrets are neither part of the digest nor stored. A cache that fails costs a request,
never a search. How old an answer may be is said by the block it is asked for in (`no_older_than`).
"""

import asyncio
import hashlib
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import httpx

from activities.contracts.errors import Malformed, RateLimited
from activities.disk import is_disk_full
from activities.logs import log

CACHE_SECONDS = 6 * 3600.0
"""Seconds for which an answer may be used. Literature grows daily; six hours cover a run and its
repetition."""
STANDING_SECONDS = 900.0
"""Seconds for which an answer about a work's standing may be used: a retraction must not be missed."""
MAX_CACHE_BYTES = 512 * 1024 * 1024
MAX_ENTRY_BYTES = 8 * 1024 * 1024
TIDY_SHARE = 1 / 16
"""The share of `MAX_CACHE_BYTES` after which it is looked whether anything is too old or too much."""

SECRET_PARAMS = frozenset({"api_key", "apikey", "key", "token", "access_token"})
_IRRELEVANT_PARAMS = SECRET_PARAMS | {"tool", "email", "mailto"}
_SCHEMA = """
PRAGMA synchronous = OFF;
CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, stored REAL, status INTEGER, kind TEXT, body BLOB);
CREATE INDEX IF NOT EXISTS answers_by_age ON answers (stored);
"""
_REMOVE_OLD = "DELETE FROM answers WHERE stored < ?"
_REMOVE_OLDER_HALF = """
DELETE FROM answers WHERE key IN (
    SELECT key FROM answers ORDER BY stored LIMIT (SELECT count(*) / 2 FROM answers)
) AND (SELECT (page_count - freelist_count) * page_size
       FROM pragma_page_count, pragma_freelist_count, pragma_page_size) > ?
"""
_MAX_AGE: ContextVar[float] = ContextVar("max_age", default=float("inf"))
_SERVED: ContextVar[list[tuple["HttpCache", httpx.Request]] | None] = ContextVar("served", default=None)


@contextmanager
def no_older_than(seconds: float | None) -> Iterator[None]:
    """Let the cache answer the block only with entries no older than so many seconds.

    Nor than a block around it says; None: as old as the cache keeps them, 0: ask again.
    """
    token = _MAX_AGE.set(min(_MAX_AGE.get(), float("inf") if seconds is None else seconds))
    try:
        yield
    finally:
        _MAX_AGE.reset(token)


@asynccontextmanager
async def forget_when_malformed() -> AsyncIterator[None]:
    """Forget the requests made within the body where it ends in Malformed or RateLimited.

    An answer that looked sound may say so: the next attempt asks the API again in place of reading the
    same answer for hours.
    """
    requests: list[tuple[HttpCache, httpx.Request]] = []
    token = _SERVED.set(requests)
    try:
        yield
    except (Malformed, RateLimited):
        for cache, request in requests:
            await cache.forget(request)
        raise
    finally:
        _SERVED.reset(token)


class HttpCache:
    """Answers to requests, by method, address, `Accept` and what was sent."""

    def __init__(self, folder: Path, seconds: float = CACHE_SECONDS) -> None:
        self._folder = folder
        self._seconds = seconds
        self._database: sqlite3.Connection | None = None
        self._lock = threading.Lock()
        self._broken = False
        self._untidied = float("inf")
        """Bytes that were stored since old answers were removed."""
        self._under_way: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def turn(self, request: httpx.Request | str) -> asyncio.Lock:
        """Return a lock for the time in which a request is looked up and sent.

        Of several that ask the same at the same time one sends, and the others read its answer.
        """
        if isinstance(request, httpx.Request) and (requests := _SERVED.get()) is not None:
            requests.append((self, request))
        return self._under_way.setdefault(key_of(request), asyncio.Lock())

    async def get(self, request: httpx.Request | str) -> httpx.Response | None:
        """Return a stored answer that is young enough (`no_older_than`), else None.

        In place of a request there may be the key of something else that is kept.
        """
        oldest = time.time() - min(self._seconds, _MAX_AGE.get())
        statement = "SELECT status, kind, body FROM answers WHERE key = ? AND stored >= ?"
        for status, kind, body in await self._run((statement, (key_of(request), oldest))):
            http_request = request if isinstance(request, httpx.Request) else None
            headers = {"content-type": kind}
            return httpx.Response(
                status, headers=headers, content=body, request=http_request, extensions={"from_cache": True}
            )
        return None

    async def put(self, request: httpx.Request | str, response: httpx.Response) -> None:
        """Store an answer in place of an older one, and now and then remove what is too old or too much."""
        if len(response.content) > MAX_ENTRY_BYTES:
            return
        now, kind = time.time(), response.headers.get("content-type", "")
        row = (key_of(request), now, response.status_code, kind, response.content)
        statements: list[tuple[str, Sequence[object]]] = [
            ("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", row)
        ]
        self._untidied += len(response.content)
        if self._untidied > MAX_CACHE_BYTES * TIDY_SHARE:
            self._untidied = 0
            statements += [
                (_REMOVE_OLD, (now - self._seconds,)),
                (_REMOVE_OLDER_HALF, (MAX_CACHE_BYTES,)),
            ]
        await self._run(*statements)

    async def forget(self, request: httpx.Request) -> None:
        await self._run(("DELETE FROM answers WHERE key = ?", (key_of(request),)))

    async def aclose(self) -> None:
        with self._lock:
            database, self._database, self._broken = self._database, None, True
        if database is not None:
            database.close()

    async def _run(self, *statements: tuple[str, Sequence[object]]) -> list[tuple[Any, ...]]:
        """Return the rows of the last statement; none from a cache that fails."""
        return await asyncio.to_thread(self._execute, statements)

    def _execute(self, statements: Sequence[tuple[str, Sequence[object]]]) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        with self._lock:
            if self._broken:
                return []
            try:
                database = self._open()
                for statement, values in statements:
                    rows = database.execute(statement, values).fetchall()
            except (OSError, sqlite3.Error) as error:
                log.warning("http_cache_unusable", folder=str(self._folder), error=str(error))
                self._broken = not is_disk_full(error)
                return []
        return rows

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(
                self._folder / "answers.sqlite", timeout=30, isolation_level=None, check_same_thread=False
            )
            try:
                database.executescript(_SCHEMA)
            except sqlite3.Error:
                database.close()
                raise
            self._database = database
        return self._database


def key_of(request: httpx.Request | str) -> str:
    """Return what makes two requests the same: address, `Accept` and body, without secrets."""
    if isinstance(request, str):
        return request
    params = request.url.params.multi_items()
    relevant = sorted((name, value) for name, value in params if name.lower() not in _IRRELEVANT_PARAMS)
    url = request.url.copy_with(params=relevant, userinfo=b"", fragment=None)
    identity = f"{request.method} {url}"
    if request.content:
        identity += f" {hashlib.sha256(request.content).hexdigest()}"
    return hashlib.sha256(f"{identity} {request.headers.get('accept', '')}".encode()).hexdigest()
