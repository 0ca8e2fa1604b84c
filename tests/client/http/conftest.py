"""An interface over HTTP, and the folder that all its questions search."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.http.served import Served, serving
from tests.papers import papers


@pytest.fixture
def library(file_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configured library of the home."""
    folder = papers(file_home.parent)
    monkeypatch.setenv("DETERMINATOR_OFFLINE", "true")
    monkeypatch.setenv("DETERMINATOR_LIBRARY", str(folder))
    return folder


@pytest.fixture
def served(library: Path) -> Iterator[Served]:
    """An interface that may read the library."""
    with serving("--allow", str(library.parent)) as server:
        yield server
