"""What the tests of activities share."""

from collections.abc import Iterator

import pytest

from tests.replay import ReplayServer


@pytest.fixture
def server() -> Iterator[ReplayServer]:
    """A local server that answers as an API does."""
    with ReplayServer() as made:
        yield made
