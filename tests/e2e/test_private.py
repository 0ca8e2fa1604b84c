"""Private means private: which sockets a run opens, watched in every process of it.

`sitecustomize` puts an audit hook into each Python process (command and worker alike) that records every
connection and every look-up of a name, as the interpreter itself reports them. The workers' event loop,
uvloop, makes them without the interpreter: what it is asked for is recorded as well.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.client.harness import Ran, determinator, inside, processes_of
from tests.papers import QUESTION

pytestmark = pytest.mark.xdist_group("e2e-private")

WATCHER = """
import os, sys

def write(host):
    with open(WATCHED, "a") as file:
        file.write((host.decode() if isinstance(host, bytes) else str(host)) + "\\n")

def record(event, arguments):
    if event == "socket.connect":
        address = arguments[1]
    elif event == "socket.getaddrinfo":
        address = arguments[:2]
    else:
        return
    if isinstance(address, tuple):
        write(address[0])

def watched(name, place):
    method = getattr(uvloop.Loop, name)

    def recording(self, *arguments, **named):
        host = named.get("host", arguments[place] if len(arguments) > place else None)
        if isinstance(host, tuple):
            host = host[0]
        if host:
            write(host)
        return method(self, *arguments, **named)

    setattr(uvloop.Loop, name, recording)

sys.addaudithook(record)
try:
    import uvloop
except ImportError:
    pass
else:
    for name, place in {"getaddrinfo": 0, "create_connection": 1, "sock_connect": 1}.items():
        watched(name, place)
"""
HERE = {"127.0.0.1", "::1", "localhost"}


@pytest.fixture
def hosts(file_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], set[str]]:
    """The hosts beyond this machine that any process has contacted or looked up so far."""
    watched = tmp_path / "sockets.txt"
    (tmp_path / "watcher").mkdir()
    # no variable of ours reaches the server's process
    (tmp_path / "watcher" / "sitecustomize.py").write_text(f"WATCHED = {str(watched)!r}\n{WATCHER}")
    inherited = os.environ.get("PYTHONPATH")
    path = [str(tmp_path / "watcher"), *([inherited] if inherited else [])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))

    def read() -> set[str]:
        seen = set(watched.read_text().split()) if watched.exists() else set()
        return seen - HERE

    return read


def sources_of(run: Ran) -> set[str]:
    """The sources a run searched."""
    report = inside("report", run.run_id, "--format", "json").json()
    return {search["source"] for search in report["methodology"]["searches"]}


def test_a_library_alone_and_an_offline_run_contact_nobody_and_a_source_that_is_named_is_said_first(
    library: str, hosts: Callable[[], set[str]]
) -> None:
    """What is named comes last: it shows that the watcher sees a source that is asked."""
    env = {"DETERMINATOR_LIBRARY": library, "DETERMINATOR_CROSSREF_URL": "http://crossref.invalid"}
    offline = ("Is laparoscopic surgery as safe as open surgery?", "--offline")
    for arguments, more in ((offline, {}), ((QUESTION,), env)):
        ran = determinator("ask", *arguments, env=more)
        assert ran.code == 0, ran
        assert "Nothing leaves this machine." in ran.err.splitlines()
        assert sources_of(ran) == {"library"}
        assert hosts() == set()

    flags = ("--library", library, "--source", "crossref", "--max-time", "40s")
    named = determinator("ask", QUESTION, *flags, env=env)
    assert "Leaves this machine: search queries to crossref." in named.err.splitlines()
    assert named.err.index("Leaves this machine") < named.err.index("search ")
    assert sources_of(named) == {"library", "crossref"}
    assert hosts() == {"crossref.invalid"}


def test_what_leaves_the_machine_is_stated_with_its_address(file_home: Path, library: str) -> None:
    env = {"OPENAI_API_KEY": "hush-hush", "OPENAI_BASE_URL": "https://models.example/v1"}
    flags = ("--library", library, "--model", "m1", "--also-web", "--detach")
    ran = determinator("ask", QUESTION, *flags, env=env)
    assert "question and found text to m1 at models.example" in ran.err
    assert "hush-hush" not in ran.err + ran.out
    line = next(line for line in ran.err.splitlines() if line.startswith("Leaves this machine: "))
    enabled = {row["info"]["name"] for row in determinator("sources", "--json").json() if row["enabled"]}
    named = set(line.partition("search queries to ")[2].partition("; ")[0].split(", "))
    assert named <= enabled
    assert {"pubmed", "europepmc"} <= named
    assert "library" not in named


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--source", "pubmed"], "offline mode is on"),
        (["--model", "m1"], "the model m1 is not on this machine"),
        (["--address", "127.0.0.1:1"], "--offline holds for the embedded worker only"),
    ],
)
def test_offline_refuses_what_needs_the_network(home: Path, flags: list[str], message: str) -> None:
    ran = determinator("ask", QUESTION, "--offline", *flags, env={"OPENAI_API_KEY": "hush-hush"})
    assert ran.code == 2
    assert message in ran.err
    assert processes_of(home) == {"server": [], "worker": []}
