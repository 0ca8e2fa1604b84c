"""Who is asked for by a role is the person beside whom the role stands."""

import pytest

from activities.text.answer_reader import Passage
from activities.text.answers import answers
from activities.text.stated_roles import asked_role, persons_in_role


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who is the secretary of the club?", "Present: Mara Holt (secretary), Olaf Brun, Ines Vidal."),
        (
            "Who is the secretary of the club?",
            "Mara Holt, our secretary, spoke with Olaf Brun and Ines Vidal.",
        ),
        ("Who is the secretary?", "Secretary: Mara Holt, with Olaf Brun and Ines Vidal as guests."),
        ("Who is the secretary?", "The secretary, Mara Holt, thanked Olaf Brun and Ines Vidal."),
        ("Who edited the booklet?", "The booklet was edited by Mara Holt and printed by Olaf Brun."),
        ("Who edits the booklet?", "The booklet has pictures by Olaf Brun; editor: Mara Holt."),
        ("Who coaches the team?", "Olaf Brun and Ines Vidal drive, and Mara Holt coaches the team."),
    ],
)
def test_the_person_beside_the_role_is_named_and_no_other(question: str, text: str) -> None:
    assert [name for name, _ in persons_in_role(question, text)] == ["Mara Holt"]
    assert [found.name for found in answers(question, [Passage("a", text)])] == ["Mara Holt"]


def test_persons_beside_other_roles_are_not_named() -> None:
    text = "Present at the club: Mara Holt (secretary), Olaf Brun (coach)."
    assert answers("Who is the president of the club?", [Passage("a", text)]) == ()


def test_a_role_is_a_noun_for_a_person() -> None:
    assert asked_role("Who was the captain of the ship?") == "captain"
    assert asked_role("Who is Mara Holt?") == ""
    assert asked_role("Who broke the window?") == ""
