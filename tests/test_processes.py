"""Processes are started in one place, run no code of the current folder, and see what they need."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from activities import processes
from activities.processes import VARIABLE, one_blas_thread
from tests.client.harness import determinator

ROOT = Path(__file__).parents[1]
PACKAGES = ("activities", "workflows", "worker", "client")
STARTS = {
    "subprocess": {"Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
    "os": {"system", "popen", "posix_spawn", "posix_spawnp", "startfile", "fork", "forkpty"},
    "multiprocessing": {"Process", "Pool", "get_context"},
    "pty": {"spawn", "fork"},
    "concurrent.futures": {"ProcessPoolExecutor"},
}
USES = re.compile(rf"\b({'|'.join(name.partition('.')[0] for name in STARTS)}|stdio_client)\b")
"""Names without which a module starts nothing, so that it need not be parsed."""
FAMILIES = ("exec", "spawn")
"""Beginnings of further names in `os`."""
ONE_PLACE = "activities/processes.py"
OTHERS = {
    "activities/sources/mcp_process.py": {"mcp.client.stdio.stdio_client"},
    "client/embedded/network.py": {"os.fork"},
}
"""Where a library starts a program, with the environment that it is given, and where a process parts to make
a network namespace and runs no other program."""


def starts_in(text: str) -> Iterator[str]:
    """What a module uses that starts a process, with its line."""
    tree = ast.parse(text)
    types = {node.value for node in ast.walk(tree) if isinstance(node, ast.Subscript)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node in types:
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module, name = node.value.id, node.attr
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if starts(node.module or "", alias.name):
                    yield f"{node.lineno}: {node.module}.{alias.name}"
            continue
        else:
            continue
        if starts(module, name) and not (module == "os" and name == "execute"):
            yield f"{node.lineno}: {module}.{name}"


def starts(module: str, name: str) -> bool:
    known = name in STARTS.get(module, ())
    return known or (module == "os" and name.startswith(FAMILIES)) or name == "stdio_client"


def test_nothing_else_starts_a_process() -> None:
    others = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            if place == ONE_PLACE or not USES.search(text := path.read_text("utf-8")):
                continue
            found = [*starts_in(text)]
            found = [start for start in found if start.partition(": ")[2] not in OTHERS.get(place, ())]
            if found:
                others[place] = found
    assert others == {}


@pytest.mark.parametrize(
    "line",
    [
        *("subprocess.run(['x'])", "from subprocess import Popen", "os.execv('x', [])", "os.system('x')"),
        *("from mcp.client.stdio import stdio_client", "asyncio.create_subprocess_exec('x')"),
    ],
)
def test_a_start_elsewhere_is_noticed(line: str) -> None:
    assert [*starts_in(line)]


def test_every_python_is_started_without_the_current_folder() -> None:
    assert processes.python("worker.daemon", "--lane")[1:] == ["-P", "-m", "worker.daemon", "--lane"]
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            text = path.read_text("utf-8")
            assert '"-m", "' not in text or '"-P", "-m"' in text, path


PLANTED = """import json, os
with open({file!r}, "w") as file:
    json.dump(dict(os.environ), file)
"""


def test_code_of_the_current_folder_does_not_run(home: Path, tmp_path: Path) -> None:
    """The folder has an `activities` of its own, and packages that ours import."""
    stolen = tmp_path / "stolen.json"
    for name in ("activities", "mcp", "pydantic", "json"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(PLANTED.format(file=str(stolen)))
    tool = 'command = ["true"]\ntool = "search"\n'
    config = home.parent / "own.toml"
    config.write_text(f'[mcp.notes]\n{tool}[mcp.notes.map]\ntext = ""\n')
    env = {"DETERMINATOR_CONFIG": str(config), "OPENAI_API_KEY": "sk-secret"}
    ran = determinator("search", "notes", "metformin", env=env)
    assert "notes: its MCP server does not answer" in ran.out + ran.err
    assert not stolen.exists(), json.loads(stolen.read_text())


def test_a_process_gets_no_key_and_no_folder_that_is_relative(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY", "DETERMINATOR_HOME", "TOKEN"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", ".", "lib", "/srv/lib"]))
    assert "secret" not in processes.variables().values()
    seen = processes.for_python("TOKEN", MORE="1")
    assert seen["PYTHONPATH"] == os.pathsep.join([processes.ROOT, "/srv/lib"])
    assert (seen["TOKEN"], seen["MORE"]) == ("secret", "1")
    assert processes.variables(*processes.NETWORK)["HTTPS_PROXY"] == "secret"


def printed(code: str, home: Path, *options: str) -> tuple[str, str]:
    """What a Python with nothing in its environment writes to its two streams."""
    done = subprocess.run(
        [sys.executable, *options, "-c", code],
        env={"DETERMINATOR_HOME": str(home), "PATH": "", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout, done.stderr


LIBRARY = """
import sys
from activities.settings import Settings
from activities.sources.library.source import LibrarySource
LibrarySource(Settings())._libraries
assert 'numpy' in sys.modules
"""
COUNT = "import os; print(len(os.listdir('/proc/self/task')), 'OPENBLAS_NUM_THREADS' in os.environ)"


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
@pytest.mark.parametrize(
    "code",
    ["from activities.processes import one_blas_thread\nwith one_blas_thread():\n    import numpy", LIBRARY],
    ids=["numpy", "a library"],
)
def test_numpy_starts_no_threads(code: str, tmp_path: Path) -> None:
    assert printed(f"{code}\n{COUNT}", tmp_path) == ("1 False\n", "")


READ = """
import asyncio
from activities.documents.readers import readers
plain = 'activities.documents.plain:read_page'
print(asyncio.run(readers().read(dict, plain, 'text/plain', '', body=b'Bins go out.', seconds=9))['text'])
"""


def test_reading_processes_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    assert printed(READ, tmp_path, "-W", "error") == ("Bins go out.\n", "")


def test_what_the_user_has_set_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "4")
    with one_blas_thread():
        assert os.environ[VARIABLE] == "1"
    assert os.environ[VARIABLE] == "4"
