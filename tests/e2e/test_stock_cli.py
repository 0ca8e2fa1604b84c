"""A run is read, and its gates are answered, with nothing but Temporal's own command line."""

import os
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
