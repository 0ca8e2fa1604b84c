"""What a report must state is stated once."""

import re
from pathlib import Path

from activities.report.formats.statements import WORDING, sentence
from activities.report.limitations import folded
from activities.roles.prompt import left_out
from activities.types import Statement
from tests.activities.cases import FULL
from tests.activities.report.building import built

ROOT = Path(__file__).parents[3]
EMITTED = re.compile(r"(?:Statement\(\s*code=|add_limitation\(\s*|_refusal\()\"([a-z_]+)\"")


def unshown(step: str, missing: int, of: int) -> Statement:
    """The note of a step, as the step gives it."""
    (note,) = left_out(of - missing, of)
    return note.model_copy(update={"values": {**note.values, "step": step}})


def test_steps_that_could_not_hold_every_item_are_one_statement() -> None:
    notes = (
        Statement(code="candidates_rejected"),
        unshown("judge", 3, 20),
        unshown("knowledge gap", 12, 40),
        Statement(code="report_rejected"),
        unshown("writer", 1, 9),
    )
    report = built(FULL.model_copy(update={"limitations": notes}))
    (about,) = [s for s in report.statements if s.code == "items_not_shown"]
    assert (about.number("missing"), about.number("of")) == (12, 40)
    assert [s.code for s in folded(notes)] == ["candidates_rejected", "items_not_shown", "report_rejected"]
    assert sentence(about) in report.limitations


def test_one_such_step_keeps_its_own_words() -> None:
    notes = [Statement(code="candidates_rejected"), unshown("judge", 3, 20)]
    assert folded(notes) == notes
    assert "judge" in sentence(notes[1])
    assert folded([]) == []


def test_a_statement_that_this_version_does_not_know_is_printed_with_its_values() -> None:
    said = sentence(Statement(code="moon_in_the_way", values={"moon": "Io", "works": 3}))
    assert "Io" in said
    assert "3" in said


def test_every_code_that_is_emitted_has_a_wording() -> None:
    emitted = {
        code: path
        for folder in ("activities", "workflows")
        for path in (ROOT / folder).rglob("*.py")
        for code in EMITTED.findall(path.read_text(encoding="utf-8"))
    }
    assert len(emitted) > 40
    assert {code: str(path) for code, path in emitted.items() if code not in WORDING} == {}


def test_every_wording_survives_a_statement_without_values() -> None:
    for code in WORDING:
        assert sentence(Statement(code=code)) or code == "text", code
