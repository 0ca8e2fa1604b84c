"""Runs begun on a release end on the version after it.

The release is the commit that gave `CHANGELOG.md` its newest dated version. Its own code starts the runs, in
a home of their own; today's code takes the home over.
"""

import io
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.client.harness import Ran, determinator, wait_until
from tests.e2e.stage import evidence_of, faults, report_of

pytestmark = pytest.mark.xdist_group("e2e-upgrade")

ROOT = Path(__file__).parents[2]
DATED = re.compile(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$", re.MULTILINE)
QUESTION = "Is laparoscopic surgery as safe as open surgery?"
GATES = {"deep": "plan", "iterative": "report"}
"""Mode of a run and the gate at which it waits for the next version."""


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=True).stdout


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of the newest release."""
    dated = DATED.search((ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert dated, "CHANGELOG.md names no release"
    found = git("log", "--format=%H", f"-S{dated[0]}", "--", "CHANGELOG.md").decode().split()
    folder = tmp_path_factory.mktemp("release")
    with tarfile.open(fileobj=io.BytesIO(git("archive", found[-1] if found else "HEAD"))) as archive:
        archive.extractall(folder, filter="data")
    return folder


def of_release(release: Path, *arguments: str) -> Ran:
    """A command of the release."""
    done = subprocess.run(
        [sys.executable, "-m", "client.cli.main", *arguments],
        cwd=release,
        env={**os.environ, "PYTHONPATH": str(release)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def test_runs_begun_on_the_release_end_on_this_version(
    home: Path, release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DETERMINATOR_OFFLINE", "true")
    runs = {}
    for mode, gate in GATES.items():
        started = of_release(release, "ask", QUESTION, "--mode", mode, "--approve", gate, "--detach")
        assert started.code == 0, started
        runs[mode] = started.run_id
    for mode, run in runs.items():
        wait_until(lambda run=run, mode=mode: waits_for(run, release) == GATES[mode], 90)  # type: ignore[misc]  # bound
    assert str(release) in commands_of(home), "the release's own code must have been at work"
    assert of_release(release, "down").code == 0

    for run in runs.values():
        assert determinator("approve", run).code == 0
        ended = determinator("watch", run)
        assert ended.code == 0, ended
        assert not faults(report_of(run), evidence_of(run))
    assert str(release) not in commands_of(home)


def waits_for(run: str, release: Path) -> str:
    """The gate at which a run waits."""
    progress = of_release(release, "status", run, "--json").json()["progress"]
    return str(progress["waiting_for"]) if progress else ""


def commands_of(home: Path) -> str:
    """The environments of this home's workers: which sources they run."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            environment = (process / "environ").read_bytes().decode(errors="replace")
            command = (process / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if "worker.daemon" in command and f"DETERMINATOR_HOME={home}\0" in environment:
            found.append(environment)
    return "\n".join(found)
