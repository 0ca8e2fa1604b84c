"""A cache of HTTP answers on disk, shared by every worker process of a machine.

Only valid answers are stored (`Http.send` decides). What is stored is the body and its content type under a
digest of the request; secrets are neither part of the digest nor stored. A cache that fails costs a request,
never a search.
"""

import hashlib
import sqlite3
import time
from collections.abc import AsyncIterator, Collection
from pathlib import Path

import httpx
import structlog
from hishel import AsyncSqliteStorage, Headers, Request, Response

log = structlog.get_logger()

CACHE_SECONDS = 6 * 3600.0
"""Seconds for which an answer may be used. Literature grows daily; six hours cover a run and its
repetition."""
STANDING_SECONDS = 900.0
"""Seconds for which an answer about a work's standing may be used: a retraction must not be missed."""
MAX_CACHE_BYTES = 512 * 1024 * 1024
MAX_ENTRY_BYTES = 8 * 1024 * 1024

SECRET_PARAMS = frozenset({"api_key", "apikey", "key", "token", "access_token"})
_IRRELEVANT_PARAMS = SECRET_PARAMS | {"tool", "email", "mailto"}
_STORED_AT = "x-stored-at"


class HttpCache:
    """Answers to GET requests, by address and `Accept`."""

    def __init__(self, folder: Path, seconds: float = CACHE_SECONDS) -> None:
        self._folder = folder
        self._seconds = seconds
        self._storage: AsyncSqliteStorage | None = None
        self._broken = False

    async def get(self, request: httpx.Request, max_age: float | None = None) -> httpx.Response | None:
        """A stored answer no older than `max_age` seconds, else None."""
        storage = self._open()
        if storage is None:
            return None
        oldest = time.time() - min(self._seconds, self._seconds if max_age is None else max_age)
        try:
            for entry in await storage.get_entries(key_of(request)):
                stored_at = float(entry.response.headers.get(_STORED_AT) or 0)
                stream = entry.response.stream
                if stored_at >= oldest and isinstance(stream, AsyncIterator):
                    content = b"".join([chunk async for chunk in stream])
                    kind = entry.response.headers.get("content-type") or ""
                    return httpx.Response(
                        entry.response.status_code,
                        headers={"content-type": kind},
                        content=content,
                        request=request,
                        extensions={"from_cache": True},
                    )
        except (RuntimeError, OSError, sqlite3.Error, ValueError) as error:
            self._give_up(error)
        return None

    async def put(self, request: httpx.Request, response: httpx.Response) -> None:
        """Store an answer in place of an older one."""
        storage = self._open()
        if storage is None or len(response.content) > MAX_ENTRY_BYTES:
            return

        async def body() -> AsyncIterator[bytes]:
            yield response.content

        key = key_of(request)
        headers = {
            "content-type": response.headers.get("content-type", ""),
            _STORED_AT: f"{time.time():.3f}",
        }
        try:
            for old in await storage.get_entries(key):
                await storage.remove_entry(old.id)
            entry = await storage.create_entry(
                Request(request.method, _public_url(request.url, SECRET_PARAMS)),
                Response(response.status_code, Headers(headers), body()),
                key,
            )
            if isinstance(entry.response.stream, AsyncIterator):
                async for _ in entry.response.stream:
                    pass  # the entry is written as its body is read
        except (RuntimeError, OSError, sqlite3.Error) as error:
            self._give_up(error)

    async def forget(self, request: httpx.Request) -> None:
        """Remove what is stored for a request."""
        storage = self._open()
        if storage is None:
            return
        try:
            for old in await storage.get_entries(key_of(request)):
                await storage.remove_entry(old.id)
        except (RuntimeError, OSError, sqlite3.Error) as error:
            self._give_up(error)

    async def aclose(self) -> None:
        storage, self._storage, self._broken = self._storage, None, True
        if storage is not None:
            await storage.close()

    def _open(self) -> AsyncSqliteStorage | None:
        if self._storage is None and not self._broken:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                self._give_up(error)
                return None
            self._storage = AsyncSqliteStorage(
                database_path=self._folder / "http.sqlite",
                default_ttl=self._seconds,
                max_size=MAX_CACHE_BYTES,
            )
        return self._storage

    def _give_up(self, error: Exception) -> None:
        if not self._broken:
            log.warning("http_cache_unusable", folder=str(self._folder), error=str(error))
        self._broken, self._storage = True, None


def key_of(request: httpx.Request) -> str:
    """What makes two requests the same one to the cache: address and `Accept`, without secrets."""
    identity = f"{request.method} {_public_url(request.url, _IRRELEVANT_PARAMS)}"
    return hashlib.sha256(f"{identity} {request.headers.get('accept', '')}".encode()).hexdigest()


def _public_url(url: httpx.URL, without: Collection[str]) -> str:
    """The address without the named parameters, user information and fragment."""
    params = [(name, value) for name, value in url.params.multi_items() if name.lower() not in without]
    return str(url.copy_with(params=sorted(params), userinfo=b"", fragment=None))
