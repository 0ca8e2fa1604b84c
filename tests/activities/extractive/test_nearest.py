"""What a report without an answer names instead."""

from activities.extractive.nearest import names_not_mentioned, nearest
from activities.types import Evidence

QUESTION = "Does telmisartan prevent liver scarring?"


def work(number: int, title: str, text: str) -> Evidence:
    return Evidence(evidence_id=f"x:{number}", source="library", title=title, text=text)


NEIGHBOUR = work(
    1,
    "Does telmisartan prevent hepatic fibrosis in rats?",
    "Telmisartan prevented fibrosis of the liver in rats with alloxan-induced diabetes in this experiment.",
)
STRANGER = work(2, "Lectures on video", "Attendance of lectures did not change after they were put on video.")


def test_a_work_that_comes_near_is_named_with_what_it_does_not_mention() -> None:
    (near,) = nearest(QUESTION, [STRANGER, NEIGHBOUR])
    assert (near.evidence_id, near.missing) == (NEIGHBOUR.evidence_id, ("scarring",))


def test_neighbouring_words_that_nothing_mentions_are_one_name() -> None:
    question = "Does vitamin E relieve pulmonary hypertension?"
    note = work(6, "Sailing", "The harbour was closed in the storm of that winter.")
    assert names_not_mentioned(question, [note]) == ("vitamin E", "pulmonary hypertension")


def test_a_retracted_work_is_not_named_as_near() -> None:
    assert nearest(QUESTION, [NEIGHBOUR.model_copy(update={"standing": "retracted"}), STRANGER]) == ()


def test_a_sentence_too_long_to_be_read_at_a_glance_is_not_shown() -> None:
    question = "Which schooner ran onto the rocks below the pier?"
    short = work(4, "Diary of a keeper", "Fog hid the rocks and the pier at noon. Supplies came by boat.")
    long = work(5, "Diary of a keeper", f"Fog hid the rocks {'and the pier ' * 40}at noon.")
    assert [near.said for near in nearest(question, [short, STRANGER])] == [short.text.split(" S")[0]]
    assert [near.said for near in nearest(question, [long, STRANGER])] == [""]
