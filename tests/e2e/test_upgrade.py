"""A run begun on a release ends on a version of its line, and another line refuses it by name.

The release is the commit that gave `CHANGELOG.md` its newest dated version. Its own code starts the runs, in
a home of their own; today's code takes the home over.
"""

import asyncio
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from temporalio.service import RPCError

from client.connection import open_client
from tests.client.harness import Ran, determinator, inside, server_of, wait_until

pytestmark = [pytest.mark.xdist_group("e2e-upgrade"), pytest.mark.chaos]

ROOT = Path(__file__).parents[2]
DATED = re.compile(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$", re.MULTILINE)
QUESTION = "Is laparoscopic surgery as safe as open surgery?"


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=True).stdout


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of the newest release."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("the release is in git's history, which is not here")
    dated = DATED.search((ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert dated, "CHANGELOG.md names no release"
    commits = git("log", "--format=%H", f"-S{dated[0]}", "--", "CHANGELOG.md").decode().split()
    folder = tmp_path_factory.mktemp("release")
    with tarfile.open(fileobj=io.BytesIO(git("archive", commits[-1] if commits else "HEAD"))) as archive:
        # Python 3.11.3 and older know no filter
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        archive.extractall(folder)
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


def test_a_run_of_an_older_line_is_refused_by_the_version_that_finishes_it_and_loses_nothing(
    home: Path, release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DETERMINATOR_OFFLINE", "true")
    started = of_release(release, "ask", QUESTION, "--mode", "iterative", "--approve", "plan", "--detach")
    assert started.code == 0, started
    run = started.run_id
    wait_until(lambda: asyncio.run(waits_for(run, home)) == "plan", every=0.5)
    assert of_release(release, "down").code == 0
    for verb in ("watch", "approve"):
        refuses(verb, run)
    assert determinator("down").code == 0

    # named, since the worker that knows which gate waits is only being started
    assert of_release(release, "approve", run, "--gate", "plan").code == 0
    finished = of_release(release, "watch", run)
    assert finished.code == 0, finished
    assert of_release(release, "down").code == 0
    assert inside("report", run).code == 0, "what is stored is read"
    refuses("evidence", run)


def refuses(verb: str, run: str) -> None:
    """Today's command names the line of the run."""
    refused = determinator(verb, run)
    assert refused.code == 2, refused
    assert f"{run} began on Determinator 0.1" in refused.err


async def waits_for(run: str, home: Path) -> str:
    """The gate at which a run waits, asked without a command of the release, which takes seconds."""
    server = server_of(home)
    assert server is not None
    client = await open_client({"target_host": f"127.0.0.1:{server.port}"})
    try:
        progress = await client.get_workflow_handle(run).query("progress", result_type=dict[str, Any])
    except RPCError:
        return ""  # its first step is not done
    return str(progress["waiting_for"] or "")
