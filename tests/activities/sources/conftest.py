"""A source of the registry in front of a local server."""

from collections.abc import AsyncIterator, Callable

import pytest

from activities.sources.base import Source
from activities.sources.http.client import Http
from tests.activities.sources.faults import build, client, pointed_at
from tests.replay import ReplayServer

Sourced = Callable[..., Source]


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    """HTTP without a cache and without a rate."""
    async with client(paced=False) as made:
        yield made


@pytest.fixture
def source(server: ReplayServer, http: Http) -> Sourced:
    """`source(name, **settings)`: a source whose API is the local server."""
    return lambda name, **values: build(name, pointed_at(server, name, **values), http)
