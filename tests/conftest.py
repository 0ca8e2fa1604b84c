"""Fixtures every test may use: a real Temporal dev server, clients to it, and a home of one's own."""

import asyncio
import gc
import os
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import httpcore2
import pytest
from hypothesis import settings
from platformdirs import user_cache_path
from temporalio.client import Client

from activities import processes
from activities.processes import one_blas_thread
from client.connection import open_client
from client.embedded.binary import find_temporal, free_port
from client.failures import NoConnection
from tests.client import forks
from tests.papers import papers

gc.disable()  # what is collected stays: to look through it again and again takes a seventh of that time
with one_blas_thread():
    import numpy  # noqa: F401 - as in a worker

processes.start = forks.start_process
SERVER_SECONDS = 40.0

# on a shared machine an example may be slow; a build must not depend on which examples were drawn: it draws
# the same each time, and those who develop draw others
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")

ROOT = Path(__file__).parent
KEEP = ("PATH", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH", "SYSTEMROOT")
"""What of the caller's environment a test may see."""
CACHE = os.environ.get("DETERMINATOR_CACHE") or str(user_cache_path("determinator"))
"""Shared with the caller: the index of names takes seconds to build and is named by what it is made of, so
the fresh home of a test need not build it."""


WAITING = ("e2e", "security", "worker", "test_compose.py", "test_examples.py")
"""Files and folders whose tests wait for servers, workers and commands of their own."""
WAITED_FOR = {"home", "shared_home", "dev_server", "finished"}
"""Fixtures of tests that wait for a real server."""
COMPILED = Path(os.environ["COMPILED"]) if "COMPILED" in os.environ else None
"""The file that the first of several processes makes when it has compiled what the tests import."""
IS_FIRST = os.environ.get("PYTEST_XDIST_WORKER") == "gw0"
USUAL_SECONDS = 300
"""A test that may take longer has a limit of its own."""


def waits(item: pytest.Item) -> bool:
    """Return true for a test that waits most of its time."""
    return not set(WAITING).isdisjoint(item.path.parts) or not WAITED_FOR.isdisjoint(fixtures(item))


def fixtures(item: pytest.Item) -> list[str]:
    """Return the names of all fixtures of a test."""
    names: list[str] = getattr(item, "fixturenames", [])
    return names


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread the tests that wait among those that compute, so that the processors are busy all the time: the
    long ones first, and small files that compute at the end, where nothing is waited for."""
    units: dict[str, list[pytest.Item]] = {}
    for item in items:
        units.setdefault(marked_group(item) or item.nodeid, []).append(item)
    waiting: list[str] = []
    computing: list[str] = []
    for name, unit in units.items():
        (waiting if any(map(waits, unit)) else computing).append(name)

    def limit(name: str) -> float:
        marks = [item.get_closest_marker("timeout") for item in units[name]]
        return max([mark.args[0] for mark in marks if mark and mark.args[0] > USUAL_SECONDS], default=0.0)

    waiting.sort(key=lambda name: (limit(name), len(units[name])), reverse=True)
    computing.sort(key=lambda name: len(units[name]), reverse=True)
    place = {name: 2 / 3 * number / len(waiting) for number, name in enumerate(waiting)}
    place |= {name: number / len(computing) for number, name in enumerate(computing)}
    items[:] = [item for name in sorted(units, key=lambda name: place[name]) for item in units[name]]


def pytest_collection() -> None:
    """Wait until the first process has compiled what the tests import, where `scripts/test` asks for it: each
    would compile it for itself, which takes longer than to collect."""
    deadline = time.monotonic() + USUAL_SECONDS
    while COMPILED and not IS_FIRST and not COMPILED.exists() and time.monotonic() < deadline:
        time.sleep(0.2)


def pytest_collection_finish() -> None:
    """Leave what was imported and collected out of every later search for garbage."""
    gc.freeze()
    gc.enable()
    if COMPILED and IS_FIRST:
        COMPILED.touch()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Keep the tests of a file in one process: they share a home, or what was imported and read first."""
    if (group := group_of(item)) and not marked_group(item):
        item.add_marker(pytest.mark.xdist_group(group))


def marked_group(node: pytest.Item) -> str:
    """Return the group that a test is marked with; empty where it has none."""
    marker = node.get_closest_marker("xdist_group")
    return marker.args[0] if marker else ""


def group_of(item: pytest.Item) -> str:
    """Return what a test shares a process with; nothing where it starts servers of its own, or kills them."""
    place = str(item.path.relative_to(ROOT))
    if "shared_home" in fixtures(item):
        return item.path.stem
    return "" if "home" in fixtures(item) or not set(WAITING).isdisjoint(item.path.parts) else place


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a case by the beginning of its text: names travel between processes with every report, and some
    texts have 400,000 characters."""
    return ascii(val[:40]) if isinstance(val, str | bytes) and len(val) > 80 else None


@pytest.fixture(scope="session", autouse=True)
def certificates_read_once() -> Iterator[None]:
    """Share the default TLS contexts: to read the certificates takes each of thousands of clients 25 ms."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        patch.setattr(httpcore2, "default_ssl_context", cache(httpcore2.default_ssl_context))
        yield


@pytest.fixture(scope="session")
def temporal_binary() -> Path:
    """The real `temporal` executable."""
    return find_temporal()


@pytest.fixture(scope="session")
def dev_server(temporal_binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a real dev server on SQLite, one for each test process."""
    with dev_server_of(temporal_binary, tmp_path_factory.mktemp("temporal")) as address:
        yield address


@contextmanager
def dev_server_of(binary: Path, folder: Path, *settings: str, options: Sequence[str] = ()) -> Iterator[str]:
    """Address of a dev server of a test's own, with these settings of its dynamic configuration and these
    options of its command, at the pace of an embedded one."""
    from client.embedded.server import PACE

    port = free_port()
    command = [str(binary), "server", "start-dev", "--headless", "--ip", "127.0.0.1"]
    command += ["--port", str(port), "--db-filename", str(folder / "temporal.db"), "--log-level", "error"]
    command += [*PACE, *options]
    for setting in ("frontend.WorkflowTimeSkippingEnabled=true", *settings):
        command += ["--dynamic-config-value", setting]
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            wait_for_port(port)
            yield f"127.0.0.1:{port}"
        finally:
            server.kill()
            server.wait()


def wait_for_port(port: int) -> None:
    """Wait until a server listens. Raises OSError after `SERVER_SECONDS`."""
    deadline = time.monotonic() + SERVER_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return


@pytest.fixture
async def temporal_client(dev_server: str) -> Client:
    """A client with this project's data converter, once the server answers."""
    return await client_of(dev_server)


async def client_of(dev_server: str) -> Client:
    """A client of a server that may just be starting. Raises NoConnection."""
    deadline = time.monotonic() + SERVER_SECONDS
    while True:
        try:
            client = await open_client({"target_host": dev_server}, timeout=5)
            await anext(client.list_workflows(), None)
        except Exception as error:
            ready = False
            if time.monotonic() > deadline:
                raise NoConnection(f"the test server did not come up: {error}") from error
        else:
            ready = True
        if ready:
            return client
        await asyncio.sleep(0.1)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A fresh `DETERMINATOR_HOME` with no key, no model and no `TEMPORAL_*` variables; what was started in it
    is stopped at the end."""
    from client.embedded.server import stop_embedded

    forks.server()  # what waits for a server of the home need not wait for it
    folder = tmp_path / "home"
    move_in(folder, tmp_path, monkeypatch)
    yield folder
    stop_embedded(folder)


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Supervisors and workers are programs of their own, and no forks (`tests.client.forks`)."""
    monkeypatch.setenv(forks.EXECUTED, "1")


def move_in(home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change into an empty folder with nothing in the environment but the home."""
    for name in list(os.environ):
        if name not in KEEP and not name.startswith(("PYTEST_", "COV_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("DETERMINATOR_HOME", str(home))
    monkeypatch.setenv("DETERMINATOR_CACHE", CACHE)
    monkeypatch.setenv("DETERMINATOR_WORKERS", "1")  # many homes share this machine
    monkeypatch.chdir(folder)


@pytest.fixture(scope="session")
def homes() -> Iterator[dict[str, Path]]:
    """The home of the group of tests that runs, by the name of the group."""
    from client.embedded.server import stop_embedded

    made: dict[str, Path] = {}
    yield made
    for folder in made.values():
        stop_embedded(folder)


@pytest.fixture(scope="module")
def shared_home(
    request: pytest.FixtureRequest, homes: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A home that the tests of a group share, or those of a file that names none, so that each of them need
    not start a server and a worker of its own: a group is of tests with the same settings."""

    group = marked_group(request.node) or request.node.path.stem
    forks.server()
    if group not in homes:
        homes[group] = tmp_path_factory.mktemp("shared") / "home"
    return homes[group]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Stop the home of a group after its last test: a server and a worker without work take a fiftieth of a
    processor."""
    from client.embedded.server import stop_embedded

    group = marked_group(item)
    homes: dict[str, Path] = getattr(item, "funcargs", {}).get("homes", {})
    if group in homes and not (nextitem and marked_group(nextitem) == group):
        stop_embedded(homes.pop(group))


@pytest.fixture
def file_home(shared_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shared home as the only setting in the environment."""
    move_in(shared_home, tmp_path, monkeypatch)
    return shared_home


@pytest.fixture(scope="session")
def sandbox() -> None:
    """Skips what runs generated programs where bubblewrap is missing or may make no sandbox."""
    from activities.analysis.sandbox import bwrap
    from activities.contracts.errors import NotInstalled

    try:
        bwrap()
    except NotInstalled as error:
        pytest.skip(str(error))


@pytest.fixture
def library(tmp_path: Path) -> str:
    """A folder of documents that answer a question (`tests.papers`)."""
    return str(papers(tmp_path))
