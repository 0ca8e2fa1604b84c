"""Texts that mean the same in other words are nearer to each other than texts that do not."""

import numpy as np
import pytest

from activities.text import likeness as module
from activities.text.likeness import likeness, of_text, unit
from activities.text.tokens import terms


def like(question: str, *said: str, title: str = "") -> float:
    return likeness(unit([terms(question)]), of_text([terms(one) for one in said], terms(title)))


@pytest.mark.parametrize(
    ("asked", "answer", "other"),
    [
        ("Do lorries ruin the road?", "Heavy trucks damage the pavement.", "Rain delayed the harvest."),
        ("Did the doctor prescribe pills?", "The physician ordered tablets.", "The pupil sat the exam."),
        ("Is the baby's fever high?", "The infant had a temperature of 39 degrees.", "The boat has a sail."),
        ("Was the shop robbed?", "Burglars emptied the store.", "The choir rehearsed on Monday."),
    ],
)
def test_a_question_is_nearer_to_its_answer_in_other_words(asked: str, answer: str, other: str) -> None:
    assert not set(terms(asked)) & set(terms(answer)), "no word is shared"
    assert like(asked, answer) > like(asked, other) + 0.1


def test_the_nearest_sentence_counts() -> None:
    near, far = "Burglars emptied the store.", "The choir rehearsed on Monday."
    assert like("Was the shop robbed?", far, near) == like("Was the shop robbed?", near)


def test_a_sentence_is_read_with_its_title() -> None:
    said = "Prices fell by a third."
    assert like("Are lorries cheaper?", said, title="The market for trucks") > like(
        "Are lorries cheaper?", said
    )


def test_what_has_no_vector_is_like_nothing() -> None:
    assert like("Qwxzkj?", "Burglars emptied the store.") == 0
    assert like("Was the shop robbed?", "Qwxzkj vlpqtr.") == 0
    assert like("Was the shop robbed?") == 0
    assert like("Ärzte " + "x" * 400, "Burglars emptied the store.") == 0


def test_each_word_is_found_in_its_own_row() -> None:
    table = module._table()
    known = [word.decode() for word in table.terms]
    assert known == sorted(set(known))
    for number in range(0, len(known), 499):
        expected = table.vectors[number].astype(np.float32)
        found = unit([[known[number]]])[0]
        assert found @ expected == pytest.approx(np.linalg.norm(expected), rel=1e-4)
    assert not unit([["zzzz-not-a-word"]]).any()
