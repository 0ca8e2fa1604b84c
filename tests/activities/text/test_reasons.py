"""A why is answered by the sentence with the reason."""

import pytest

from activities.text.giving_sentence import Said, giving
from activities.text.reasons import asks_why, gives_reason


@pytest.mark.parametrize(
    "text",
    [
        "The fair was put off because the field was flooded.",
        "The fair was put off, as the field was flooded.",
        "As the field was flooded, the fair was put off.",
        "The fair was put off since the field was flooded.",
        "The fair was put off due to the flood.",
        "The fair was put off so that the field can dry.",
        "We put the fair off in order to let the field dry.",
        "The field was flooded, so the fair was put off.",
        "The reason is the flood.",
    ],
)
def test_a_conjunction_of_cause_or_purpose_gives_a_reason(text: str) -> None:
    assert gives_reason(text)


@pytest.mark.parametrize(
    "text",
    [
        "The fair has been held since 1987.",
        "The fair has been held since last May.",
        "It has grown ever since.",
        "The fair is as big as the one in York.",
        "There are stalls, as well as rides.",
        "The fair was put off.",
    ],
)
def test_time_and_likeness_are_no_reasons(text: str) -> None:
    assert not gives_reason(text)


FAIR = (
    "The spring fair on the common was put off.",
    "The field was under water, so tents could not stand there.",
    "It is now on 9 June.",
    "Nadia Petrov rents out the generators because hers are new.",
    "The insurance costs 320 dollars.",
)


def first(question: str, texts: tuple[str, ...] = FAIR) -> str | None:
    place = giving(question, [Said("a", place, text) for place, text in enumerate(texts)])
    return None if place is None else texts[place]


def test_the_sentence_behind_the_one_on_the_subject_gives_its_reason_and_its_date() -> None:
    assert asks_why("Why was the spring fair put off?")
    assert first("Why was the spring fair put off?") == FAIR[1]
    assert first("When is the spring fair?") == FAIR[2]


def test_a_reason_for_something_else_is_not_given() -> None:
    assert first("Why was the spring fair put off?", (FAIR[0], FAIR[4], FAIR[4], FAIR[3])) is None


def test_nothing_is_put_first_where_the_best_sentence_gives_it_or_no_such_thing_is_asked() -> None:
    assert first("How much does the insurance cost?") is None
    assert first("Was the spring fair put off?") is None


def test_a_sentence_of_another_work_does_not_go_on() -> None:
    said = [Said("a", 0, FAIR[0]), Said("b", 1, FAIR[1])]
    assert giving("Why was the spring fair put off?", said) is None
