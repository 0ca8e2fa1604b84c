"""A run is read, and its gates are answered, with nothing but Temporal's own command line."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from client.embedded.home import look
from tests.client.harness import determinator, wait_until
from tests.e2e.stage import own_id, report_of, supports

pytestmark = pytest.mark.xdist_group("e2e-gates")

ROOT = Path(__file__).parents[2]
QUESTION = "Are octogenarians at high risk for carotid endarterectomy?"


class Stock:
    """`temporal workflow ...` at the embedded server's address."""

    def __init__(self, binary: Path, home: Path) -> None:
        server = look(home).server
        assert server
        self._binary, self._address = binary, server.address

    def __call__(self, verb: str, run_id: str, *arguments: str) -> str:
        command = [str(self._binary), "workflow", verb, "--workflow-id", run_id, *arguments]
        done = subprocess.run(
            [*command, "--address", self._address], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ask(self, run_id: str, name: str, argument: object = None) -> Any:
        given = [] if argument is None else ["--input", json.dumps(argument)]
        said = json.loads(self("query", run_id, "--type", name, *given, "--output", "json"))
        return said["queryResult"][0] if isinstance(said["queryResult"], list) else said["queryResult"]


def test_a_run_is_read_steered_and_approved_with_the_stock_command(
    file_home: Path, temporal_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DETERMINATOR_OFFLINE", "true")
    flags = ("--mode", "iterative", "--approve", "report", "--detach", *own_id())
    run_id = determinator("ask", QUESTION, *flags).run_id
    stock = Stock(temporal_binary, file_home)
    wait_until(lambda: stock.ask(run_id, "progress")["waiting_for"] == "report", 90)

    progress = stock.ask(run_id, "progress")
    assert progress["question"] == QUESTION
    assert progress["phase"] == "waiting_for_approval"
    assert stock.ask(run_id, "budget")["iterations"] == progress["iteration"]
    assert stock.ask(run_id, "plan")["plan"]["report_outline"]
    assert stock.ask(run_id, "evidence_index")["total"] == progress["evidence"] > 0
    events = stock.ask(run_id, "events", {"after": 2})
    assert [event["seq"] for event in events] == list(range(3, progress["last_seq"] + 1))
    draft = stock.ask(run_id, "report")
    assert draft["draft"]
    # Temporal's own command writes an empty list as null
    drafted = supports(without_null(draft["report"]))
    assert drafted

    # what does not fit is no approval: the run still waits
    for wrong in ('{"gate": "plan", "by": "Eve"}', '{"gate": "nonsense", "by": "Eve"}'):
        stock("signal", run_id, "--name", "approve", "--input", wrong)
    assert stock.ask(run_id, "progress")["waiting_for"] == "report"
    stock("signal", run_id, "--name", "pause")
    wait_until(lambda: stock.ask(run_id, "progress")["paused"])
    stock("signal", run_id, "--name", "resume")
    wait_until(lambda: not stock.ask(run_id, "progress")["paused"])
    approval = {"gate": "report", "by": "Ada", "note": "well done"}
    stock("signal", run_id, "--name", "approve", "--input", json.dumps(approval))
    result = json.loads(stock("result", run_id, "--output", "json"))
    assert result["status"] == "COMPLETED"

    report = report_of(run_id)
    given = [a for a in report["methodology"]["approvals"] if a["action"] == "approved"]
    assert [(a["gate"], a["by"], a["note"]) for a in given] == [("report", "Ada", "well done")]
    assert report["title"] == draft["report"]["title"]
    assert supports(report) == drafted


def test_the_commands_of_the_documents_work_as_printed(
    file_home: Path, temporal_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the address that `up`, `status` and `doctor` print."""
    monkeypatch.setenv("DETERMINATOR_OFFLINE", "true")
    monkeypatch.setenv("PATH", f"{temporal_binary.parent}:{os.environ['PATH']}")
    flags = ("--mode", "deep", "--approve", "plan", "--detach", *own_id())
    run_id = determinator("ask", QUESTION, *flags).run_id
    wait_until(lambda: determinator("plan", "show", run_id, "--json").json()["plan"], 90)
    address = determinator("status", run_id, "--json").json()["address"]
    assert f"Server {address}" in determinator("status", run_id).out.splitlines()
    assert f"Server  {address}" in determinator("up").out.splitlines()
    checks = {check["name"]: check["message"] for check in determinator("doctor", "--json").json()}
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
    wait_until(lambda: determinator("plan", "show", run_id, "--json").json()["approved"], 90)
    assert determinator("watch", run_id).code in (0, 4)


def without_null(value: Any) -> Any:
    """A JSON value with an empty list in each place of a null."""
    if isinstance(value, dict):
        return {name: without_null(one) for name, one in value.items()}
    if isinstance(value, list):
        return [without_null(one) for one in value]
    return [] if value is None else value
