"""A deep run: its plan is what a person approved, also when everything dies while it waits."""

import os
import signal
from pathlib import Path

import pytest

from tests.client.harness import determinator, processes_of, wait_until
from tests.e2e.stage import evidence_of, faults, own_id, report_of

pytestmark = pytest.mark.xdist_group("e2e-gates")

QUESTION = "What are the benefits and the risks of laparoscopic surgery compared with open surgery?"
EDITED = """
report_title = "Keyhole or open?"

[[report_outline]]
title = "Recovery"
key_question = "Does laparoscopic surgery shorten the hospital stay?"

[[report_outline]]
title = "Harm"
key_question = "Does laparoscopic surgery cause more complications than open surgery?"
"""


def test_the_plan_that_runs_is_the_plan_that_was_edited_and_approved(
    file_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DETERMINATOR_OFFLINE", "true")
    monkeypatch.setenv("LOGNAME", "ada")
    run_id = determinator(
        "ask", QUESTION, "--mode", "deep", "--approve", "plan", "--detach", *own_id()
    ).run_id
    wait_until(lambda: waits(run_id), 90)
    first = determinator("plan", "show", run_id, "--json").json()
    assert len(first["plan"]["report_outline"]) >= 2

    edited = tmp_path / "plan.toml"
    edited.write_text(EDITED)
    assert determinator("plan", "edit", run_id, "--file", str(edited)).code == 0
    second = determinator("plan", "show", run_id, "--json").json()
    assert second["plan_hash"] != first["plan_hash"]
    assert not second["approved"]

    for pids in processes_of(file_home).values():
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
    assert determinator("up").code == 0
    wait_until(lambda: waits(run_id), 90)  # once the next worker answers
    assert determinator("plan", "show", run_id, "--json").json()["plan_hash"] == second["plan_hash"]
    assert determinator("approve", run_id, "--by", "Grace", "--note", "go").code == 0
    ran = determinator("watch", run_id)
    assert ran.code == 0, ran

    report = report_of(run_id)
    assert not faults(report, evidence_of(run_id))
    assert report["title"] == "Keyhole or open?"
    assert [section["title"] for section in report["sections"]] == ["Recovery", "Harm"]
    assert [section["key_question"] for section in report["sections"]] == [
        "Does laparoscopic surgery shorten the hospital stay?",
        "Does laparoscopic surgery cause more complications than open surgery?",
    ]
    assert any(section["claims"] for section in report["sections"])
    assert report["methodology"]["plan_hash"] == second["plan_hash"]
    said = [(a["gate"], a["action"], a["by"]) for a in report["methodology"]["approvals"]]
    assert ("plan", "edited", "ada") in said
    assert said[-1] == ("plan", "approved", "Grace")


def waits(run_id: str) -> bool:
    seen = determinator("status", run_id, "--json").json()
    return bool(seen["progress"] and seen["progress"]["waiting_for"] == "plan")
