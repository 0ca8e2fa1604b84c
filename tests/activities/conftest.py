"""What the tests of activities share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from activities.evidence_store import EvidenceStore
from tests.replay import ReplayServer


@pytest.fixture
def server() -> Iterator[ReplayServer]:
    """A local server that answers as an API does."""
    with ReplayServer() as made:
        yield made


@pytest.fixture
def store(tmp_path: Path) -> EvidenceStore:
    return EvidenceStore.at(str(tmp_path / "store"))
