"""Candidates from a question to their pages: looked up where the run may ask, and nowhere else."""

from pathlib import Path
from typing import Any, cast

import pytest

from tests.activities.candidates.registers import BUILDS, answering
from tests.client.harness import determinator
from tests.e2e.stage import markdown_of, report_of
from tests.replay import ReplayServer

pytestmark = pytest.mark.xdist_group("e2e-private")

QUESTION = "Which approved drugs might treat pulmonary arterial hypertension?"
TEXT = (
    "Sildenafil in pulmonary arterial hypertension: a randomized trial\n\n"
    "BACKGROUND: Sildenafil is approved for pulmonary arterial hypertension in adults. "
    "METHODS: 278 patients with pulmonary arterial hypertension received sildenafil or placebo for 12 weeks. "
    "RESULTS: Sildenafil inhibits phosphodiesterase type 5 and the cGMP signalling pathway. "
    "CONCLUSIONS: Sildenafil improves exercise capacity in patients with pulmonary arterial hypertension."
)


def fields_of(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {field["name"]: field for field in sildenafil(report)["fields"]}


def sildenafil(report: dict[str, Any]) -> dict[str, Any]:
    (found,) = (
        candidate for candidate in report["candidates"] if candidate["name"].casefold() == "sildenafil"
    )
    return cast(dict[str, Any], found)


def test_candidates_are_looked_up_where_the_run_may_ask_and_nowhere_else(
    file_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "papers"
    library.mkdir()
    (library / "trial.txt").write_text(TEXT)
    flags = ["--profile", "drug_repurposing", "--mode", "simple", "--library", str(library)]
    with ReplayServer() as server:
        answering(server)
        for name in BUILDS:
            monkeypatch.setenv(f"DETERMINATOR_{name.upper()}_URL", server.url)
        private = determinator("ask", QUESTION, *flags)
        assert private.code == 0, private
        assert server.asked == []
        fields = fields_of(report_of(private.run_id))
        assert fields["trials"]["status"] == "not_looked_up"
        assert fields["regulatory"]["entries"] == []

        named = [word for name in BUILDS for word in ("--source", name)]
        asked = determinator("ask", QUESTION, *flags, *named)
        assert asked.code == 0, asked
    report = report_of(asked.run_id)
    fields = fields_of(report)
    assert {name for name, field in fields.items() if field["status"] != "found"} == {"literature_against"}
    assert fields["regulatory"]["entries"][0]["code"] == "approved"
    stopped = fields["trials"]["entries"][0]
    assert (stopped["code"], stopped["values"]["why_stopped"]) == (
        "TERMINATED",
        "Slow enrollment; no safety concern.",
    )
    text = markdown_of(file_home, asked.run_id)
    assert "Slow enrollment; no safety concern." in text
    assert "https://reactome.org/content/detail/R-HSA-418457" in text
