"""Commands work as the documents print them: Temporal's own, and those of the tutorial of a review."""

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.client.harness import determinator, inside, wait_until
from tests.e2e.stage import own_id

pytestmark = pytest.mark.xdist_group("e2e-alone")

ROOT = Path(__file__).parents[2]
QUESTION = "Are octogenarians at high risk for carotid endarterectomy?"


def test_the_commands_of_the_documents_work_as_printed(
    file_home: Path, temporal_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the address that `up`, `status` and `doctor` print."""
    monkeypatch.setenv("DETERMINATOR_OFFLINE", "true")
    monkeypatch.setenv("PATH", f"{temporal_binary.parent}:{os.environ['PATH']}")
    flags = ("--mode", "deep", "--max-sections", "1", "--approve", "plan", "--detach", *own_id())
    run_id = determinator("ask", QUESTION, *flags).run_id
    wait_until(lambda: inside("plan", "show", run_id, "--json").json()["plan"], every=0.5)
    address = inside("status", run_id, "--json").json()["address"]
    assert f"Server {address}" in inside("status", run_id).out.splitlines()
    assert f"Server  {address}" in determinator("up").out.splitlines()
    checks = {check["name"]: check["message"] for check in inside("doctor", "--json").json()}
    assert f" at {address}," in checks["server"]

    commands = [
        line
        for page in ("docs/temporal.md",)
        for line in (ROOT / page).read_text().splitlines()
        if line.startswith("temporal workflow")
    ]
    assert len(commands) >= 2
    for command in commands:
        typed = command.replace("HOST:PORT", address).replace("RUN", run_id)
        done = subprocess.run(typed, shell=True, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (typed, done.stderr)
    wait_until(lambda: inside("plan", "show", run_id, "--json").json()["approved"], every=0.5)
    assert determinator("watch", run_id).code in (0, 4)


def test_the_tutorial_of_a_review_goes_through_word_for_word(
    file_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its commands as they stand in docs/review.md, by three people who type the keys behind `#`."""
    block = (ROOT / "docs" / "review.md").read_text("utf-8").partition("## Try it")[2].split("```")[1]
    shutil.copytree(ROOT / "examples" / "review", tmp_path / "trial")
    monkeypatch.chdir(tmp_path / "trial")
    monkeypatch.setenv("DETERMINATOR_OFFLINE", "true")

    def waits() -> bool:
        done = inside("review", "status", "--json")
        return done.code == 0 and bool(done.json()["gate"])

    said: dict[str, str] = {}
    for row in (rows := block.strip().splitlines()):
        command, _, keys = row.partition("#")
        typed = "".join(f"{key}\n" for key in keys.replace(",", " ").split())
        done = determinator(*shlex.split(command)[1:], stdin=typed)
        assert done.code == 0, (row, done)
        said[command.split()[2]] = said.get(command.split()[2], "") + done.out + done.err
        if row is not rows[-1]:
            wait_until(waits, 120, every=0.5, what="the review to wait for somebody")
    assert "what a practice sees" in said["waiting"]
    assert "2 full texts provided" in said["provide"]
    assert "second: 2 g" in said["waiting"]
    flow = json.loads(Path("out/report.json").read_text())["flow"]
    assert (flow["identified"], flow["duplicates"]) == ({"records.csv": 6}, 1)
    assert (flow["screened"], flow["excluded"], flow["included"]) == (5, 3, 2)
    assert "1 g once a day" in Path("report.html").read_text()
