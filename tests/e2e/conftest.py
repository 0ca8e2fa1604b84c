"""A home that the tests of one file share, so that each of them need not start a server of its own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from client.local import take_down
from tests.conftest import KEEP


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("shared") / "home"
    yield folder
    take_down(folder)


@pytest.fixture
def house(shared_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shared home as the only thing the environment tells."""
    for name in list(os.environ):
        if name not in KEEP and not name.startswith(("PYTEST_", "COV_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DETERMINATOR_HOME", str(shared_home))
    monkeypatch.chdir(tmp_path)
    return shared_home
