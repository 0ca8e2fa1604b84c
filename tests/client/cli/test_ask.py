"""`ask` from question to report, as a person meets it: real server, real worker, documents of one's own."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.client.harness import (
    COMMAND,
    Ran,
    begin,
    determinator,
    inside,
    processes_of,
    wait_for_gate,
    wait_until,
)
from tests.e2e.stage import evidence_of, faults, own_id, report_of, supports
from tests.papers import QUESTION

pytestmark = pytest.mark.xdist_group("plain")


def ask(library: str, *flags: str, question: str = QUESTION, env: dict[str, str] | None = None) -> Ran:
    arguments = ["--mode", "iterative", "--source", "library", "--library", library, *flags]
    return determinator("ask", question, *arguments, env=env)


def test_a_question_becomes_a_report_whose_quotes_stand_in_the_documents(
    file_home: Path, library: str
) -> None:
    ran = ask(library)
    assert ran.code == 0, ran
    saved = file_home / "reports" / f"{ran.run_id}.md"
    assert f"Report {saved}" in ran.out
    assert re.search(
        rf"Temporal's view: http://127\.\d+\.\d+\.\d+:\d+/namespaces/default/workflows/{ran.run_id}", ran.out
    )
    assert "search complete [1]: library: ok" in ran.err
    assert saved.read_text().startswith("# ")
    assert inside("report", ran.run_id).out == saved.read_text()

    report, evidence = report_of(), evidence_of()
    listed = [line for line in ran.out.splitlines() if re.match(r"\[\d+\] ", line)]
    works = {f"[{reference['number']}] {reference['title']} (" for reference in report["references"]}
    assert listed
    assert all(any(line.startswith(work) for work in works) for line in listed)
    assert supports(report)
    assert not faults(report, evidence)
    assert report["stop_reason"]

    folder = file_home / "runs" / ran.run_id
    assert not folder.exists()
    assert determinator("open", "last").out == f"{folder}\n"
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {"report.md", "report.html", "searches.csv", "works.csv", "iterations/01.md"} <= names
    assert len([name for name in names if name.startswith("texts/")]) == len(evidence)
    assert "texts/cited 001" in " ".join(names)
    (folder / "report.html").unlink()
    (folder / "searches.csv").write_text("mine")
    assert determinator("open", "last").out == f"{folder}\n"
    assert (folder / "report.html").exists()
    assert (folder / "searches.csv").read_text() == "mine"


def test_asking_again_joins_a_running_run_and_otherwise_starts_one_with_its_own_id(
    file_home: Path, library: str
) -> None:
    first = ask(library, "--approve", "report", "--detach")
    assert first.code == 0
    assert f"determinator watch {first.run_id[-8:]}`" in first.out
    second = ask(library, "--approve", "report", "--detach", "--json")
    assert second.json()["attached"]
    assert second.json()["run_id"] == first.run_id
    assert f"joining the run {first.run_id}" in second.err

    wait_for_gate(first.run_id, "report")
    assert determinator("approve", first.run_id, "--by", "Ada", "--note", "good").code == 0
    assert determinator("watch", "last").code == 0
    approvals = inside("report", "last", "--format", "json").json()["methodology"]["approvals"]
    assert [(a["gate"], a["action"], a["by"], a["note"]) for a in approvals] == [
        ("report", "approved", "Ada", "good")
    ]

    saved = file_home / "reports" / f"{first.run_id}.md"
    before = saved.read_bytes()
    third = ask(library, "--approve", "report", "--json", "--detach")
    assert third.json()["run_id"] != first.run_id
    assert (third.json()["attached"], third.json()["earlier"]) == (False, first.run_id)
    assert saved.read_bytes() == before
    fourth = ask(library, "--approve", "report", "--detach")
    assert fourth.run_id == third.json()["run_id"]
    other = ask(library, "--approve", "report", "--max-iterations", "2", "--detach")
    assert other.run_id != first.run_id


def test_a_detached_run_leaves_its_file_and_no_file_is_overwritten(file_home: Path, library: str) -> None:
    first = ask(library, *own_id(), "--detach")
    saved = file_home / "reports" / f"{first.run_id}.md"
    wait_until(saved.exists, what="the report of the detached run")
    assert determinator("watch", first.run_id).code == 0  # the file is there before the run has ended
    assert saved.read_text() == inside("report", first.run_id).out
    saved.write_text("with a remark of my own")
    assert determinator("watch", first.run_id).code == 0
    assert saved.read_text() == "with a remark of my own"


def stock(binary: Path, address: str, *arguments: str) -> str:
    """What Temporal's own command prints."""
    command = [str(binary), "workflow", *arguments, "--address", address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_ctrl_c_detaches_and_the_run_goes_on(file_home: Path, library: str) -> None:
    command = begin(
        *("ask", QUESTION, "--mode", "iterative", "--source", "library", "--library", library),
        *("--approve", "report"),
    )
    assert command.stderr is not None
    text = ""
    for line in command.stderr:
        text += line
        if "determinator approve" in line:
            break
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=30)
    assert command.returncode == 130, (out, err)
    run_id = re.search(r"ask-[a-z0-9-]+", out)
    assert run_id
    assert f"determinator watch {run_id.group()[-8:]}`" in err
    assert "search complete [1]: library: ok" in text
    assert inside("status", "last", "--json").json()["status"] == "running"


def test_cold_asks_at_once_share_one_server_and_its_workers(
    home: Path, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DETERMINATOR_WORKERS", "2")
    commands = [
        begin("ask", f"{QUESTION} {word}?", "--mode", "simple", "--source", "library", "--library", library)
        for word in ("women", "men")
    ]
    said = [command.communicate(timeout=150) for command in commands]
    assert [command.returncode for command in commands] == [0, 0], said
    wait_until(lambda: len(processes_of(home)["worker"]) == 2, what="the second process")
    time.sleep(1)
    assert [len(found) for found in processes_of(home).values()] == [1, 2]
    assert len({line for out, _ in said for line in out.splitlines() if line.startswith("Run")}) == 2
    listed = inside("list", "--json").json()
    assert len(listed) == 2
    assert {row["status"] for row in listed} == {"completed"}


def test_a_run_is_found_by_any_unambiguous_part_of_its_id(file_home: Path, library: str) -> None:
    question = "Does aspirin lower the risk of colorectal cancer?"
    one = ask(library, "--approve", "report", "--detach", question=question)
    two = ask(library, "--approve", "report", "--max-iterations", "3", "--detach", question=question)
    unique = inside("status", one.run_id[:-2], "--json")
    assert unique.json()["run_id"] == one.run_id
    digest = one.run_id.rpartition("-")[2]
    assert inside("status", digest, "--json").json()["run_id"] == one.run_id
    assert inside("status", digest[1:6], "--json").json()["run_id"] == one.run_id
    assert inside("status", "last", "--json").json()["run_id"] == two.run_id
    middle = inside("status", "aspirin")
    assert middle.code == 2
    assert two.run_id in middle.err


def test_a_run_that_was_terminated_is_exit_code_1(
    file_home: Path, library: str, temporal_binary: Path
) -> None:
    ran = ask(library, "--approve", "report", "--detach", "--json")
    command = begin("watch", ran.json()["run_id"])
    stock(temporal_binary, ran.json()["address"], "terminate", "--workflow-id", ran.json()["run_id"])
    _, err = command.communicate(timeout=40)
    assert command.returncode == 1
    assert "it was terminated" in err
    refused = inside("report", ran.json()["run_id"])
    assert refused.code == 2
    assert "left no report" in refused.err


def test_a_run_of_an_older_line_is_refused_by_name(
    file_home: Path, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`tests/e2e/test_upgrade.py` does so with the code of the release, before each new one."""
    with monkeypatch.context() as patch:
        patch.setattr("client.runs.start.release_line", lambda: "0.1")
        flags = ("--mode", "simple", "--library", library, "--approve", "report", "--detach")
        run = inside("ask", QUESTION, *flags).run_id
    for verb in ("watch", "approve", "evidence"):
        refused = inside(verb, run)
        assert refused.code == 2, refused
        assert f"{run} began on Determinator 0.1" in refused.err


def test_no_command_ends_by_the_interpreters_own_clean_up(file_home: Path) -> None:
    """That clean-up is what crashes, in 3 to 27 of 100 runs: a process that skips it cannot crash there."""
    program = (
        "import atexit, os, sys; atexit.register(os._exit, 99); "
        "sys.argv = ['determinator', 'list']; from client.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done


@pytest.mark.chaos
@pytest.mark.timeout(1200)
def test_no_command_of_a_hundred_crashes_at_exit(file_home: Path) -> None:
    determinator("ask", QUESTION, "--offline", "--mode", "simple")  # without a run, `list` asks no server
    ran = [subprocess.run([*COMMAND, "list"], stdout=subprocess.DEVNULL) for _ in range(100)]
    assert ({one.returncode for one in ran}, "completed" in inside("list").out) == ({0}, True)
