"""A finished report after its run: refreshed, put on a schedule, followed up."""

import json
from pathlib import Path

import pytest

from tests.client.harness import inside
from tests.e2e.stage import evidence_of, faults, report_of
from tests.papers import papers as written

pytestmark = pytest.mark.xdist_group("plain")

QUESTION = "Does metformin lower the risk of colorectal cancer?"
PAPERS = {
    "cohort.txt": "Metformin use and colorectal cancer risk in a cohort\n\n"
    "Metformin use was associated with a lower risk of colorectal cancer in adults with type 2 diabetes.",
    "trial.txt": "A randomised trial of metformin after polypectomy\n\n"
    "Metformin reduced the number of recurrent colorectal adenomas at one year compared with placebo.",
}
LATER = (
    "Metformin and colorectal cancer in a national registry\n\n"
    "In a registry of 8,046 patients metformin was not associated with the risk of colorectal cancer.\n"
)


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    return written(tmp_path, PAPERS)


def test_a_report_is_refreshed_scheduled_and_built_on(file_home: Path, papers: Path) -> None:
    ran = inside("ask", QUESTION, "--mode", "iterative", "--library", str(papers))
    assert ran.code == 0, ran
    run_id = ran.run_id
    first = report_of(run_id)

    (papers / "registry.txt").write_text(LATER)
    refreshed = inside("refresh", run_id, "--search", "--json")
    assert refreshed.code == 0, refreshed
    found = refreshed.json()
    assert [work["title"] for work in found["new"]] == [LATER.splitlines()[0]]
    assert {row["status"] for row in found["searches"]} == {"ok"}
    assert (found["version"], found["claims_lost"]) == (2, [])
    assert LATER.splitlines()[0] in Path(found["report"]).read_text()
    assert report_of(run_id)["sections"] == first["sections"]
    again = inside("refresh", run_id, "--search").out
    assert "nothing changed" in again

    made = inside("refresh", run_id, "--search", "--every", "7d", "--json")
    assert made.code == 0, made
    assert "up" in made.err
    listed = inside("schedules", "list", "--json").json()
    assert [(one["run_id"], one["every_seconds"]) for one in listed] == [(run_id, 604_800)]
    assert listed[0]["next"] == made.json()["next"]
    assert inside("schedules", "delete", run_id).code == 0
    assert inside("schedules", "delete", run_id).code == 2

    follow = inside("ask", "What do trials say of metformin?", "--follow-up", run_id, "--mode", "simple")
    assert follow.code == 0, follow
    assert f"searching library in {papers}" in follow.err, "what it searches is said before it begins"
    assert "Nothing leaves this machine" in follow.err
    report = report_of(follow.run_id)
    assert {search["source"] for search in report["methodology"]["searches"]} == {"library"}
    assert report["references"]
    assert {reference["from_run"] for reference in report["references"]} <= {"", run_id}
    assert run_id in json.dumps(report["references"])
    assert not faults(report, evidence_of(follow.run_id))
