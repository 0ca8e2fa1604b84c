"""A finished report after its run: refreshed and followed up."""

import json
from pathlib import Path

import pytest

from tests.client.harness import inside
from tests.e2e.stage import evidence_of, faults, report_of
from tests.papers import QUESTION

pytestmark = pytest.mark.xdist_group("plain")

LATER = (
    "Metformin and colorectal cancer in a national registry\n\n"
    "In a registry of 8,046 patients metformin was not associated with the risk of colorectal cancer.\n"
)


def test_a_report_is_refreshed_and_built_on(file_home: Path, library: str) -> None:
    ran = inside("ask", QUESTION, "--mode", "iterative", "--library", library)
    assert ran.code == 0, ran
    run_id = ran.run_id
    first = report_of(run_id)

    Path(library, "registry.txt").write_text(LATER)
    refreshed = inside("refresh", run_id, "--search", "--json")
    assert refreshed.code == 0, refreshed
    parsed = refreshed.json()
    assert [work["title"] for work in parsed["new"]] == [LATER.splitlines()[0]]
    assert {row["status"] for row in parsed["searches"]} == {"ok"}
    assert (parsed["version"], parsed["claims_lost"]) == (2, [])
    assert LATER.splitlines()[0] in inside("report", run_id).out
    assert report_of(run_id)["sections"] == first["sections"]
    again = inside("refresh", run_id, "--search").out
    assert "nothing changed" in again

    follow = inside("ask", "What do trials say of metformin?", "--follow-up", run_id, "--mode", "simple")
    assert follow.code == 0, follow
    assert "Nothing leaves this machine" in follow.err
    report = report_of(follow.run_id)
    assert {search["source"] for search in report["methodology"]["searches"]} == {"library"}
    assert report["references"]
    assert {reference["from_run"] for reference in report["references"]} <= {"", run_id}
    assert run_id in json.dumps(report["references"])
    assert not faults(report, evidence_of(follow.run_id))
