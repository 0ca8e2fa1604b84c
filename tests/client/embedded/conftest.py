"""Homes with a command server."""

from pathlib import Path

import pytest

from client.embedded.command_server import command_server_pid
from client.embedded.home import Places
from client.embedded.locks import is_held
from tests.client.embedded.serving import ROOT, accepts, serve_probe
from tests.client.harness import wait_until
from tests.conftest import move_in


@pytest.fixture
def alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of one test, in which a command server may run; this repository is imported from any folder."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("DETERMINATOR_COMMAND_SERVER", "true")
    return home


@pytest.fixture
def anywhere(shared_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, shared by the tests of a file."""
    move_in(shared_home, tmp_path, monkeypatch)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("DETERMINATOR_COMMAND_SERVER", "true")
    return shared_home


@pytest.fixture
def served(anywhere: Path) -> int:
    """The pid of a command server that serves the probe."""
    places = Places(anywhere)
    if accepts(places.command_socket):
        return command_server_pid(anywhere) or 0
    wait_until(lambda: not is_held(places.command_lock), what="the end of the server of another test")
    return serve_probe(anywhere)
