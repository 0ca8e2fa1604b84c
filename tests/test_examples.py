"""The examples run as they are, with the code of today."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client.harness import determinator
from tests.e2e.stage import report_of

EXAMPLES = Path(__file__).parent.parent / "examples"
QUESTION = "Does compound 17 lower blood pressure?"
FORBIDDEN = "Does compound 99 lower blood pressure?"
NOTE = """# Compound 17 and blood pressure

In a randomized trial of 240 adults with hypertension, compound 17 lowered systolic blood pressure by 12 mmHg.
Compound 17 lowered blood pressure in men and in women.
"""


@pytest.fixture
def lab(file_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples installed as a package, notes, and a log of searches: the same for each test
    of this file, because they share a worker."""
    folder = file_home.parent
    site = folder / "site"
    (site / "lab-1.0.dist-info").mkdir(parents=True, exist_ok=True)
    for name in ("notes.py", "search_log.py"):
        shutil.copy(EXAMPLES / name, site)
    (site / "lab-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: lab\nVersion: 1.0\n")
    (site / "lab-1.0.dist-info/entry_points.txt").write_text(
        "[determinator.sources]\nnotes = notes:search_notes\n"
    )
    (folder / "notes").mkdir(exist_ok=True)
    (folder / "notes/compound-17.md").write_text(NOTE)
    (folder / "notes/other.md").write_text("# Order of pipettes\n\nNothing about any compound.\n")
    path = (str(site), str(EXAMPLES.parent), os.environ.get("PYTHONPATH", ""))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, path)))
    monkeypatch.setenv("LAB_NOTES", str(folder / "notes"))
    monkeypatch.setenv("SEARCH_LOG", str(folder / "searches.jsonl"))
    monkeypatch.setenv("SEARCH_LOG_FORBIDDEN", "compound 99")
    monkeypatch.setenv("DETERMINATOR_HOOKS", json.dumps(["search_log:SearchLog"]))
    monkeypatch.setenv("DETERMINATOR_OFFLINE", "true")
    return folder


def test_the_source_is_found_by_its_entry_point_and_searched(lab: Path) -> None:
    ran = determinator("search", "notes", "compound 17", "--json")
    assert ran.code == 0, ran
    assert "Compound 17 and blood pressure" in ran.out
    assert "pipettes" not in ran.out


def test_a_run_uses_source_profile_and_hook(lab: Path) -> None:
    profile = ("--profile", str(EXAMPLES / "toxicology.toml"))
    ran = determinator("ask", QUESTION, "--mode", "iterative", "--source", "notes", *profile)
    assert ran.code == 0, ran
    report = report_of(ran.run_id)
    assert report["profile"] == "toxicology"
    assert [reference["source"] for reference in report["references"]] == ["notes"]
    lines = [json.loads(line) for line in (lab / "searches.jsonl").read_text().splitlines()]
    mine = [line for line in lines if line["run"] == ran.run_id]
    assert {line["source"] for line in mine} == {"notes"}
    assert "ok" in {line["status"] for line in mine}
    assert len(mine) == sum(search["attempts"] for search in report["methodology"]["searches"])


def test_the_hook_stops_a_search_for_a_forbidden_word(lab: Path) -> None:
    ran = determinator("ask", FORBIDDEN, "--mode", "iterative", "--source", "notes")
    searches = report_of(ran.run_id)["methodology"]["searches"]
    statuses = {
        (search["status"], search["attempts"])
        for search in searches
        if "compound 99" in search["query"].casefold()
    }
    assert statuses == {("refused", 1)}


def test_the_script_starts_a_run_through_the_client_and_prints_claims_with_quotes(lab: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "ask_from_python.py"), QUESTION, str(lab / "notes")],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "compound 17 lowered systolic blood pressure by 12 mmHg" in done.stdout
    run_id = done.stderr.split(":")[0]
    assert determinator("status", run_id, "--json").json()["run_id"] == run_id
