"""Every command that a person can give a run, and its effect."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from activities.report.archive import Archive, Version
from activities.report.schema import Report
from activities.settings import Settings
from tests.client.harness import Ran, inside, wait_for_gate, wait_until
from tests.client.shelf import JSON, RUN, STEERING, VERBS_OF_A_RUN, shelve
from tests.client.terminal import Terminal, editor
from tests.e2e.stage import faults, own_id, report_of
from tests.papers import DOCUMENTS
from tests.papers import papers as written
from tests.replay import Asked, ReplayServer, Reply

pytestmark = pytest.mark.xdist_group("e2e-people")

QUESTION = "Which drugs could prevent colorectal cancer?"
PATIENCE = 150.0
"""Seconds a loaded machine may need for what is done in one or two on a quiet one."""
SLOW_WORKER = "what follows is what the server knows\n"
"""The end of a remark that is no fault of the command on a machine that has no time for its worker."""
PAPERS = {
    **{name: DOCUMENTS[name] for name in ("cohort.txt", "mechanism.txt")},
    "aspirin.txt": "Aspirin and colorectal cancer: a randomised trial\n\n"
    "Aspirin reduced the incidence of colorectal cancer after ten years compared with placebo. "
    "Aspirin inhibited COX-2 and the growth of colorectal cancer cells in culture.",
}
PLAN = """
report_title = "Old drugs, new use"

[[report_outline]]
id = "s1"
title = "Mechanism"
key_question = "How does metformin inhibit the growth of colorectal cancer cells?"

[[report_outline]]
id = "s2"
title = "Patients"
key_question = "Does metformin lower the risk of colorectal cancer in patients?"
"""


class SlowSource(ReplayServer):
    """A literature service that knows nothing and answers only when it is let go: while it keeps a run
    waiting, the run is where the test wants it."""

    def __init__(self) -> None:
        super().__init__()
        self.free = threading.Event()
        self.on("/search", self._answer)

    def _answer(self, asked: Asked) -> Reply:
        self.free.wait(PATIENCE)
        return Reply(200, json.dumps({"hitCount": 0, "resultList": {"result": []}}), JSON)


@pytest.fixture(scope="module")
def slow_source() -> Iterator[SlowSource]:
    with SlowSource() as server:
        yield server
        server.free.set()


@pytest.fixture
def slow(file_home: Path, slow_source: SlowSource, monkeypatch: pytest.MonkeyPatch) -> SlowSource:
    """The slow source as Europe PMC, holding its answers; the same for all tests, so that one worker does."""
    monkeypatch.setenv("DETERMINATOR_EUROPEPMC_URL", slow_source.url)
    monkeypatch.setenv("DETERMINATOR_LIBRARY", str(library(file_home)))
    monkeypatch.setenv("LOGNAME", "ada")
    slow_source.free.clear()
    slow_source.asked.clear()
    return slow_source


def library(file_home: Path) -> Path:
    return written(file_home.parent, PAPERS)


def ask(*flags: str, mode: str = "deep", question: str = QUESTION) -> str:
    sources = ("--source", "library", "--source", "europepmc", "--profile", "drug_repurposing")
    return good("ask", question, "--mode", mode, *sources, *own_id(), *flags, "--detach").run_id


def good(*arguments: str, **env: str) -> Ran:
    ran = inside(*arguments, **env)
    assert ran.code == 0, (arguments, ran)
    return ran


def refused(*arguments: str, **env: str) -> str:
    """The one line that says why."""
    ran = inside(*arguments, **env)
    assert (ran.code, ran.out) == (2, ""), (arguments, ran)
    lines = [line for line in ran.err.splitlines(keepends=True) if not line.endswith(SLOW_WORKER)]
    assert len(lines) == 1, ran
    return lines[0]


def named(commands: Iterable[tuple[str, ...]], run: str) -> list[list[str]]:
    """The commands about this run."""
    return [[run if word == "RUN" else word for word in command] for command in commands]


def progress(run_id: str) -> dict[str, Any]:
    seen: dict[str, Any] = good("status", run_id, "--json").json()["progress"] or {}
    return seen


def section(run_id: str, name: str) -> dict[str, Any]:
    return next((s for s in progress(run_id).get("sections", ()) if s["id"] == name), {})


def check_editing(run_id: str, folder: Path) -> None:
    """The plan as a person edits it: refused when it is wrong, never lost, accepted when it is right."""
    before = good("plan", "show", run_id, "--json").json()
    shown = good("plan", "show", run_id).out
    assert "not approved" in shown
    assert all(s["key_question"] in shown for s in before["plan"]["report_outline"])

    wrong = 'report_title = "x"\n[[report_outline]]\ntitle = "No question"\n'
    answer = refused("plan", "edit", run_id, **editor(folder, wrong))
    assert "report_outline.0.key_question" in answer
    kept = Path(answer.rpartition("--file ")[2].strip().rstrip("`"))
    assert kept.read_text() == wrong
    many = PLAN + "".join(f'[[report_outline]]\ntitle = "T{n}"\nkey_question = "Q{n}?"\n' for n in range(9))
    answer = refused("plan", "edit", run_id, **editor(folder, many))
    assert "the run refused: the plan of this run has 1 to 5 sections, this one has 11" in answer
    assert kept.read_text() == many
    assert "EDITOR" in refused("plan", "edit", run_id, EDITOR="/nowhere/editor", VISUAL="")
    assert good("plan", "show", run_id, "--json").json() == before
    assert "left as it is" in good("plan", "edit", run_id, **editor(folder, "")).err

    assert "2 sections" in good("plan", "edit", run_id, **editor(folder, PLAN)).out
    assert not kept.exists()
    after = good("plan", "show", run_id, "--json").json()
    assert after["plan"]["report_title"] == "Old drugs, new use"
    assert after["plan_hash"] != before["plan_hash"]
    assert [s["id"] for s in after["plan"]["report_outline"]] == ["s1", "s2"]


def check_leaving(run_id: str) -> None:
    """What an outsider gets of the finished run, and finds."""
    assert good("export", run_id, "--output", "bundle").err == ""
    done = subprocess.run(
        [sys.executable, "-I", "bundle/check.py"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout
    assert "everything holds" in good("verify", run_id).out
    events = [json.loads(line) for line in Path("bundle/events.jsonl").read_text().splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["type"] == "complete"
    later = good("events", run_id, "--after", "3", "--json").out.splitlines()
    assert [json.loads(line) for line in later] == events[3:]
    account = good("report", run_id, "--length", "full").out
    assert "Plan: approved by Grace" in account
    assert "How does metformin inhibit the growth" in account


def check_versions(run_id: str, report: dict[str, Any]) -> None:
    """Once a report was refreshed the latest version is what is read, and the first is still there."""
    first = Report.model_validate(report)
    later = first.model_copy(update={"title": "Revised", "generated_at": "2030-01-01T00:00:00+00:00"})
    version = Version(number=2, made_at=later.generated_at, of=first.generated_at)
    assert asyncio.run(Archive(Settings().evidence_url).add_version(first, later, version))
    assert report_of(run_id)["title"] == "Revised"
    answer = inside("report", run_id, "--output", "later.md").err
    assert "version 2 of 2, made 2030-01-01T00:00:00+00:00; the first: --version 1" in answer
    good("report", run_id, "--version", "1", "--output", "first.json")
    assert json.loads(Path("first.json").read_text()) == report
    assert "no version 3 of its report; there are 2" in refused("report", run_id, "--version", "3")


def test_a_deep_run_does_what_its_reviewers_say(slow: SlowSource, tmp_path: Path) -> None:
    run_id = ask("--approve", "plan,candidates,report")
    wait_for_gate(run_id, "plan")
    check_editing(run_id, tmp_path)

    good("pause", run_id)
    wait_until(lambda: progress(run_id).get("paused"), PATIENCE)
    good("approve", run_id, "--gate", "plan", "--by", "Grace")
    wait_until(lambda: progress(run_id).get("phase") == "paused", PATIENCE)
    assert not slow.asked
    good("resume", run_id)
    both = ("s1", "s2")
    wait_until(
        lambda: slow.asked and all(section(run_id, s).get("status") == "running" for s in both), PATIENCE
    )

    good("steer", run_id, "only", "adults")
    wait_until(lambda: progress(run_id).get("steering") == ["only adults"], PATIENCE)
    assert "of 255,000" in good("extend", run_id, "--tokens", "5000", "--iterations", "1").out
    assert "it has s1, s2" in refused("cancel", run_id, "--section", "s9")
    good("cancel", run_id, "--section", "s2")
    wait_until(lambda: section(run_id, "s2").get("status") == "cancelled", PATIENCE)
    wait_until(lambda: section(run_id, "s1").get("status") == "running", PATIENCE)
    assert "waits at no gate" in refused("approve", run_id)

    slow.free.set()
    wait_for_gate(run_id, "candidates")
    assert "waits for the candidates, not for the plan" in refused("approve", run_id, "--gate", "plan")
    names = [found["name"] for found in good("candidates", run_id, "--json").json()]
    assert sorted(names) == ["aspirin", "metformin"]
    assert f"there are {', '.join(names)}" in refused("candidates", run_id, "--keep", "Nonsense")
    assert good("candidates", run_id, "--keep", "Metformin").out == f"{run_id} keeps metformin\n"

    wait_for_gate(run_id, "report")
    assert "is still under way" in refused("export", run_id)
    good("approve", run_id, "--by", "Ada", "--note", "well done")
    good("watch", run_id)

    report = report_of(run_id)
    assert [(s["id"], s["title"]) for s in report["sections"]] == [("s1", "Mechanism"), ("s2", "Patients")]
    assert report["sections"][1]["status"] == "cancelled"
    assert report["sections"][0]["claims"]
    assert [candidate["name"] for candidate in report["candidates"]] == ["metformin"]
    assert [(a["gate"], a["action"], a["by"]) for a in report["methodology"]["approvals"]] == [
        ("plan", "edited", "ada"),
        ("plan", "approved", "Grace"),
        ("candidates", "chosen", "ada"),
        ("report", "approved", "Ada"),
    ]
    lines = good("evidence", run_id, "--format", "jsonl").out.splitlines()
    assert not faults(report, [json.loads(line) for line in lines])
    check_leaving(run_id)
    for late in named(STEERING, run_id):
        assert f"{run_id} is over (completed)" in refused(*late)


def test_a_rejected_plan_ends_in_a_report_that_says_who_and_why(slow: SlowSource) -> None:
    run_id = ask("--approve", "plan", "--max-sections", "2")
    wait_for_gate(run_id, "plan")
    good("reject", run_id, "--by", "Grace", "--note", "not our question")
    assert inside("watch", run_id).code == 4
    report = report_of(run_id)
    assert report["stop_reason"] == "rejected_by_reviewer"
    made = report["methodology"]["approvals"]
    assert [(a["action"], a["by"], a["note"]) for a in made] == [("rejected", "Grace", "not our question")]
    assert not slow.asked


def test_candidates_are_shown_and_approved_in_a_terminal(slow: SlowSource) -> None:
    slow.free.set()
    run_id = ask("--approve", "candidates", mode="iterative")
    wait_for_gate(run_id, "candidates")
    listed = good("candidates", run_id).out
    assert {line.split()[0] for line in listed.splitlines()} == {"metformin", "aspirin"}
    terminal = Terminal("watch", run_id[-8:], columns=80)
    terminal.expect("[a]pprove [r]eject [d]etach:")
    shown = terminal.text()
    for line in listed.splitlines():
        assert f"{line.split()[0]} [" in shown
    terminal.type("a")
    assert terminal.end() == 0, terminal.text()
    assert {candidate["name"] for candidate in report_of(run_id)["candidates"]} == {"metformin", "aspirin"}


def test_finishing_writes_what_there_is(slow: SlowSource) -> None:
    # words of its own: what was asked before is answered from the cache and makes no test wait
    run_id = ask(mode="iterative", question="Does aspirin prevent colorectal cancer?")
    wait_until(lambda: bool(slow.asked), PATIENCE)
    good("finish", run_id)
    slow.free.set()
    good("watch", run_id)
    report = report_of(run_id)
    assert report["stop_reason"] == "finished_by_reviewer"
    assert report["sections"][0]["claims"]
    check_versions(run_id, report)


def test_a_run_that_the_server_has_forgotten_is_still_exported_and_verified(
    slow: SlowSource, file_home: Path
) -> None:
    shelve(file_home)
    assert "the Temporal server no longer knows the run" in good("export", RUN, "--output", "old").err
    assert "everything holds" in good("verify", "ask-metformin").out


def test_every_verb_says_in_one_line_which_run_it_does_not_find(slow: SlowSource) -> None:
    for command in named(VERBS_OF_A_RUN, "ask-nobody"):
        assert "no run is called ask-nobody; list the runs to see their names" in refused(*command)
    first, second = (ask("--approve", "plan", "--max-sections", n, question="Does it?") for n in ("1", "2"))
    for command in named(VERBS_OF_A_RUN, "ask-does-it"):
        answer = refused(*command)
        assert "matches several runs" in answer
        assert first in answer
        assert second in answer
