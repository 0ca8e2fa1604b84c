"""Several modes side by side, as a person meets them: real server, real worker, documents of one's own."""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from client.cli.compare import Compared
from client.runs.request import defaults_of, open_limits
from tests.client.harness import determinator
from tests.papers import QUESTION
from workflows.modes import AUTO, TABLE

pytestmark = pytest.mark.timeout(180)


def test_two_modes_run_on_one_question_and_are_printed_side_by_side(
    home: Path, library: str, tmp_path: Path
) -> None:
    asked = ("ask", QUESTION, "--library", str(library), "--mode", "simple", "--mode", "magentic")
    ran = determinator(*asked, "--json", "--output", str(tmp_path / "answer.json"))
    assert ran.code == 0, ran
    rows = ran.json()
    assert [row["mode"] for row in rows] == ["simple", "team"]
    assert len({row["run_id"] for row in rows}) == 2
    for row in rows:
        assert set(row) == {field.name for field in fields(Compared)}
        report = json.loads((tmp_path / f"answer-{row['mode']}.json").read_text())
        assert report["mode"] == row["mode"]
        assert row["verified_claims"] == report["verification"]["verified"] > 0
        assert row["references"] == len(report["references"])
    # asking again joins nothing that has ended, and prints a table with a column for each mode
    table = determinator(*asked)
    heading = next(line for line in table.out.splitlines() if "simple" in line and "team" in line)
    assert re.fullmatch(r"\s+simple\s+team\s*", heading)


def test_modes_are_listed_as_data() -> None:
    rows = determinator("modes", "--json").json()
    assert [row["name"] for row in rows] == [AUTO, *(info.name for info in TABLE)]
    assert next(row for row in rows if row["name"] == "team")["aliases"] == ["advanced", "magentic"]


def test_a_mode_has_its_own_defaults_and_auto_leaves_them_to_the_mode_it_chooses() -> None:
    assert defaults_of("team") == {"max_iterations": 10}
    assert defaults_of(AUTO) == {}
    assert "max_iterations" in open_limits(AUTO, {})
    assert "max_iterations" not in open_limits(AUTO, {"max_iterations": 3})
    assert open_limits("team", {}) == ()
