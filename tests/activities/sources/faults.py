"""What can go wrong with any JSON API, and what each is called."""

import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from activities.contracts.errors import Malformed, RateLimited, Refused, Unavailable
from activities.settings import Settings
from activities.sources.base import Source
from activities.sources.http.cache import HttpCache
from activities.sources.http.client import Http
from activities.sources.http.rate_limiter import RateLimiter
from activities.sources.names import SOURCES
from tests.replay import ReplayServer, Reply

HTML = "<!DOCTYPE html><html><head><title>Service</title></head><body>We'll be right back</body></html>"
JSON = {"content-type": "application/json"}
PAGE = {"content-type": "text/html"}

FAULTS = [
    pytest.param(Reply(400, '{"error": "bad request"}', JSON), Refused, id="400"),
    pytest.param(Reply(401, '{"error": "who are you"}', JSON), Refused, id="401"),
    pytest.param(Reply(403, '{"message": "Forbidden"}', JSON), Refused, id="403"),
    pytest.param(Reply(404, HTML, PAGE), Refused, id="404 that is a page"),
    pytest.param(Reply(414, HTML, PAGE), Refused, id="414"),
    pytest.param(Reply(429, '{"message": "slow down"}', {**JSON, "retry-after": "7"}), RateLimited, id="429"),
    pytest.param(Reply(500, HTML, PAGE), Unavailable, id="500"),
    pytest.param(Reply(503, "", {"retry-after": "7"}), Unavailable, id="503"),
    pytest.param(Reply(200, HTML, PAGE), Malformed, id="a page in place of JSON"),
    pytest.param(Reply(200, HTML, JSON), Malformed, id="a page that calls itself JSON"),
    pytest.param(Reply(200, '{"message": {"items": [{"DOI": "10.1', JSON), Malformed, id="cut JSON"),
    pytest.param(Reply(200, "[]", JSON), Malformed, id="JSON of another shape"),
    pytest.param(Reply(200, '{"message": "error"}', JSON), Malformed, id="200 that means failure"),
    pytest.param(Reply(hang_up=True), Unavailable, id="no answer"),
]


class Unpaced(Http):
    """HTTP that waits for no rate: rates have tests of their own."""

    def rate_limiter(self, source: str) -> RateLimiter | None:
        return None


@asynccontextmanager
async def client(cache: Path | None = None, *, paced: bool = True) -> AsyncIterator[Http]:
    """HTTP, without a cache unless a folder is named."""
    async with (Http if paced else Unpaced)(httpx.AsyncClient(), HttpCache(cache) if cache else None) as http:
        yield http


def build(name: str, settings: Settings, http: Http) -> Source:
    """A built-in source as the registry makes it."""
    module, _, attribute = dict(SOURCES)[name].partition(":")
    source: Source = getattr(importlib.import_module(module), attribute)(settings, http)
    return source


def settings(**values: object) -> Settings:
    """Settings with these values, such as `crossref_url` or `email`."""
    return Settings.model_validate(values)


def pointed_at(server: ReplayServer, name: str, **values: object) -> Settings:
    """Settings in which a source's address is the local server's."""
    return settings(**{f"{name}_url": server.url}, **values)
