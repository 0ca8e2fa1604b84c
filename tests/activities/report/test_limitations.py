"""What a reader must be told is told once."""

from activities.report.limitations import folded
from activities.roles.prompt import Shown, left_out
from tests.activities.cases import FULL, REGISTRY, RETRACTED, TRIAL
from tests.activities.report.test_assemble import built


def unshown(role: str, missing: int, of: int) -> str:
    """The note of a step, in the words of the step."""
    items = (TRIAL, REGISTRY, RETRACTED) * of
    (note,) = left_out(Shown(items=items[: of - missing]), items[:of])
    return f"{role}: {note}"


def test_steps_that_had_no_room_for_every_item_are_one_sentence() -> None:
    notes = (
        "First.",
        unshown("judge", 3, 20),
        unshown("knowledge gap", 12, 40),
        "Last.",
        unshown("writer", 1, 9),
    )
    report = built(FULL.model_copy(update={"limitations": notes}))
    (about,) = [text for text in report.limitations if "shown" in text]
    assert about.endswith("at most 12 of 40 items were left out of a step.")
    assert folded(notes) == ["First.", about, "Last."]


def test_one_such_step_keeps_its_own_words() -> None:
    notes = ["First.", unshown("judge", 3, 20)]
    assert folded(notes) == notes
    assert folded([]) == []
