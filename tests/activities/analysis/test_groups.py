"""A number belongs to the group that its sentence gives it to, by the places of the groups' names."""

from decimal import Decimal

import pytest

from activities.analysis.groups import are_exchanged

SENTENCES = [
    ("Fistula occurred in 13 patients with PG and in 14 with PJ.", ("PG", "PJ"), (13, 14)),
    ("Infections were fewer (placebo 13% versus cefonicid 6%).", ("placebo", "cefonicid"), (13, 6)),
    ("It was higher following PJ than for PG (20 of 58 versus 10 of 65).", ("PJ", "PG"), (20, 10)),
    ("PG was as good as PJ: 9 of the PJ group and 10 of the PG group had one.", ("PJ", "PG"), (9, 10)),
    ("Rates were 4% after PPPD-GP and 18% after PPPD-PJ, the usual PPPD.", ("PPPD-GP", "PPPD-PJ"), (4, 18)),
    (
        "Death: 0\u00b784 and 1\u00b72 in the drug and the placebo group.",
        ("drug", "placebo"),
        ("0.84", "1.2"),
    ),
]


@pytest.mark.parametrize(("sentence", "names", "numbers"), SENTENCES)
def test_numbers_given_to_the_other_group_are_noticed(
    sentence: str, names: tuple[str, str], numbers: tuple[object, object]
) -> None:
    one, other = (Decimal(str(number)) for number in numbers)
    assert not are_exchanged(sentence, names, (one, other))
    assert are_exchanged(sentence, names, (other, one))
    assert are_exchanged(sentence, (names[1], names[0]), (one, other))


@pytest.mark.parametrize(
    "sentence",
    [
        "The drug reduced the incidence (107 of 212 to 81 of 208).",
        "Rates were 107 and 81.",
        "Of the drug 107 and of placebo 81, and 107 with placebo, 81 with the drug.",
    ],
)
def test_a_sentence_that_does_not_say_whose_a_number_is_refuses_none(sentence: str) -> None:
    assert not are_exchanged(sentence, ("drug", "placebo"), (Decimal(81), Decimal(107)))
    assert not are_exchanged(sentence, ("drug", "placebo"), (Decimal(107), Decimal(81)))
