"""An interface over HTTP, and the folder that all its questions search: one home for all of these tests, so
that its server, its worker and the interface are started once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from client.embedded.server import stop_embedded
from tests.client.http.served import Served, serving
from tests.conftest import move_in
from tests.papers import papers


@pytest.fixture(scope="package")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("http") / "home"
    yield folder
    stop_embedded(folder)


def configured(home: Path, patch: pytest.MonkeyPatch) -> Path:
    """The configured library of a home."""
    folder = papers(home.parent)
    patch.setenv("DETERMINATOR_OFFLINE", "true")
    patch.setenv("DETERMINATOR_LIBRARY", str(folder))
    return folder


@pytest.fixture
def library(file_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return configured(file_home, monkeypatch)


@pytest.fixture(scope="package")
def _served(shared_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with pytest.MonkeyPatch.context() as patch:
        move_in(shared_home, tmp_path_factory.mktemp("served"), patch)
        started = serving("--allow", str(configured(shared_home, patch).parent))
        server = started.__enter__()
    yield server
    started.__exit__(None, None, None)


@pytest.fixture
def served(_served: Served, library: Path) -> Served:
    """An interface that may read the library."""
    return _served
