"""A scripted session in a pseudo-terminal, at 80 columns and more: what a person sees and types."""

import json
import re
from pathlib import Path

import pytest

from tests.client.harness import determinator, inside, wait_until
from tests.client.terminal import Terminal, editor
from tests.e2e.stage import own_id
from tests.papers import QUESTION

pytestmark = pytest.mark.xdist_group("plain")

FIRST = "No language model has read this."
PROMPT = "[a]pprove [r]eject [d]etach:"


def test_ask_ends_with_the_answer_on_the_screen(file_home: Path, library: str) -> None:
    terminal = Terminal("ask", QUESTION, "--library", library, *own_id(), columns=80)
    assert terminal.end() == 0, terminal.text()
    shown = terminal.text()
    report = inside("report", "last", "--format", "json").json()
    answer = shown[shown.index(FIRST) :]
    unbroken = shown.replace("\n", "")
    for part in (f"{report['run_id'][-8:]}.md", "Next: "):
        assert part in unbroken, part
    assert re.search(
        rf"Temporal's view: http://[\d.]+:\d+/namespaces/default/workflows/{report['run_id']}", unbroken
    )
    claims = [claim["text"] for section in report["sections"] for claim in section["claims"]]
    assert any(claim[:40] in " ".join(answer.split()) for claim in claims)
    assert "Only the bundled sample library" not in answer
    # the report is rendered on a terminal and raw in a pipe
    raw = inside("report", report["run_id"]).out
    assert raw.startswith("# ")
    assert "## Nearest passages" in raw
    again = Terminal("report", report["run_id"], columns=140)
    assert again.end() == 0
    assert "Nearest passages" in again.text()
    assert "## Nearest" not in again.text()


CHANGES = (
    ("approve",),
    ("reject",),
    ("pause",),
    ("resume",),
    ("finish",),
    ("cancel",),
    ("extend", "--tokens", "1"),
    ("candidates", "--keep", "x"),
    ("plan", "edit"),
    ("rewind", "--to-iteration", "1"),
    ("refresh",),
)


def test_what_changes_a_run_never_takes_the_newest_unasked(file_home: Path, library: str) -> None:
    flags = ("--mode", "deep", "--approve", "plan", "--detach", "--json", *own_id())
    name = determinator("ask", QUESTION, "--library", library, *flags).json()["run_id"]
    for words in CHANGES:
        refused = inside(*words)
        assert (refused.code, refused.out) == (2, ""), words
        assert f"name the run to {words[0]}" in refused.err, words
        assert name in refused.err, words
        assert QUESTION in refused.err, words
    for typed, code in (("n", 2), ("y", 0)):
        assert inside("status", name, "--json").json()["status"] == "running"
        terminal = Terminal("cancel", columns=200)
        terminal.expect(f'cancel {name}: "{QUESTION}"? [y/N]')
        terminal.type(typed)
        assert terminal.end() == code, terminal.text()
    wait_until(lambda: inside("status", name, "--json").json()["status"] != "running", every=0.5)


def test_json_holds_the_answer_and_the_claims(file_home: Path, library: str) -> None:
    ran = determinator("ask", QUESTION, "--library", library, "--json", *own_id())
    data = ran.json()
    report = inside("report", data["run_id"], "--format", "json").json()
    ids = {claim["id"] for section in report["sections"] for claim in section["claims"]}
    assert {claim["id"] for claim in data["claims"]} == ids
    numbers = {reference["number"] for reference in report["references"]}
    assert {n for claim in data["claims"] for n in claim["references"]} == numbers
    assert data["answer"]["confidence"] == report["confidence"]
    assert data["answer"]["bottom_line"]
    assert (data["answer"]["searched"][:8], data["answer"]["not_reached"]) == ("library ", "")


def test_a_plan_is_shown_at_the_gate_and_as_it_was_edited_is_the_plan_that_runs(
    file_home: Path, library: str, tmp_path: Path
) -> None:
    title = "One section of my own"
    written = {"report_title": "Mine", "report_outline": [{"title": title, "key_question": QUESTION}]}
    arguments = ("ask", QUESTION, "--mode", "deep", "--library", library, "--approve", "plan", *own_id())
    terminal = Terminal(*arguments, columns=80, LOGNAME="ada")
    terminal.expect(PROMPT)
    asked = terminal.text()
    plan = inside("plan", "show", "last", "--json").json()["plan"]
    for section in plan["report_outline"]:
        assert section["title"][:30] in asked
    assert "determinator plan edit" in asked.replace("\n", " ")
    terminal.type("what?")
    terminal.expect(PROMPT)
    terminal.type("d")
    assert terminal.end() == 0, terminal.text()
    run_id = inside("list", "--json").json()[0]["run_id"]
    editing = Terminal(
        "plan", "edit", run_id, columns=80, LOGNAME="ada", **editor(tmp_path, json.dumps(written))
    )
    assert editing.end() == 0, editing.text()
    terminal = Terminal("watch", run_id, columns=80, LOGNAME="ada")
    terminal.expect(PROMPT)
    assert title in terminal.text()
    terminal.type("a")
    assert terminal.end() in (0, 4), terminal.text()
    assert FIRST in terminal.text()
    report = inside("report", "last", "--format", "json").json()
    assert [section["title"] for section in report["sections"]] == [title]
    approvals = [(a["gate"], a["action"], a["by"]) for a in report["methodology"]["approvals"]]
    assert approvals == [("plan", "edited", "ada"), ("plan", "approved", "ada")]


def test_detaching_at_a_gate_leaves_it_waiting_and_watch_asks_again(file_home: Path, library: str) -> None:
    arguments = ("ask", QUESTION, "--mode", "iterative", "--library", library, "--approve", "report")
    terminal = Terminal(*arguments, *own_id(), columns=100)
    terminal.expect(PROMPT)
    terminal.type("d")
    assert terminal.end() == 0, terminal.text()
    assert "determinator watch" in terminal.text()
    assert inside("status", "last", "--json").json()["progress"]["waiting_for"] == "report"
    again = Terminal("watch", "last", columns=100)
    again.expect(PROMPT)
    again.type("r")
    again.expect("reason")
    again.type("too thin")
    assert again.end() in (0, 4), again.text()
    report = inside("report", "last", "--format", "json").json()
    assert report["stop_reason"] == "rejected_by_reviewer"
    assert [a["note"] for a in report["methodology"]["approvals"]] == ["too thin"]


def test_a_gate_answered_elsewhere_ends_the_question(file_home: Path, library: str) -> None:
    arguments = ("ask", QUESTION, "--mode", "iterative", "--library", library, "--approve", "report")
    terminal = Terminal(*arguments, *own_id(), columns=100)
    terminal.expect(PROMPT)
    assert determinator("approve", "last").code == 0
    terminal.expect("was decided elsewhere")
    assert terminal.end() == 0, terminal.text()
