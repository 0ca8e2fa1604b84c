"""Claims in the words of their quotes with one word changed."""

import pytest

from activities.text.normal_form import normalise
from activities.verification.claim_check import is_directed, missing_number, numbers, reversal


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        (
            "Older adults were more likely to be advised to walk than younger ones.",
            "Older adults were less likely to be advised to walk than younger ones.",
        ),
        (
            "The drug increased the burden of migraine by reducing the hours of sleep.",
            "The drug decreased the burden of migraine by reducing the hours of sleep.",
        ),
        (
            "Morbidity was lowest in group IV (21% versus 0%, 10%, and 10%, respectively).",
            "Morbidity was highest in group IV (21% versus 0%, 10%, and 10%, respectively).",
        ),
        (
            "The trial did show a benefit, and harm could not be excluded in either group.",
            "The trial did not show a benefit, and harm could not be excluded in either group.",
        ),
    ],
)
def test_one_word_turned_round_in_the_words_of_a_quote_is_noticed(claim: str, quote: str) -> None:
    assert reversal(claim, quote)
    assert not reversal(quote, quote)


def test_a_contraction_denies_as_its_long_form_does() -> None:
    assert not reversal("The pumps aren't noisier than bottles.", "The pumps are not noisier than bottles.")


def test_a_number_written_as_two_words_is_one_number() -> None:
    assert not missing_number("The study had 46 patients.", ["Forty-six consecutive patients."], (), 1)
    assert missing_number("The study had 6 patients.", ["Forty-six consecutive patients."], (), 1)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("One hundred and ninety patients were seen.", [190]),
        ("Seventy six patients were seen.", [76]),
        ("Between twenty and thirty patients were seen.", [20, 30]),
        ("Between two hundred and three hundred were seen.", [200, 300]),
        ("Two thousand and one patients were seen.", [2001]),
        ("2.3 million people live there.", [2_300_000]),
        ("One of the groups was seen.", []),
    ],
)
def test_numbers_in_words_are_read_as_texts_write_them(words: str, value: list[int]) -> None:
    assert [number.value for number in numbers(words)] == value


def test_the_noun_sensitivity_is_no_direction() -> None:
    quote = "The new test had a sensitivity of 94% and the old one, in resistant strains, of 18%."
    assert not reversal("Sensitivity was 94% with the new test.", quote)
    assert reversal("The strain was sensitive to the drug.", "The strain was resistant to the drug.")


def test_the_abbreviation_of_number_denies_nothing() -> None:
    quote = "Three types were found: bruises (no. 25), subchondral (no. 33) and other (no. 35) injuries."
    assert not reversal("Three types were found: bruises, subchondral and other injuries.", quote)


def test_a_denial_about_something_else_denies_nothing_of_the_quote() -> None:
    quote = "Laparoscopic surgery lowered the risk of bleeding."
    assert not reversal("It depends: nothing here was randomised, but bleeding had a lower risk.", quote)
    assert reversal("It depends: the risk of bleeding was not lower, but nothing was randomised.", quote)


def test_a_threshold_is_compared_with_its_number() -> None:
    quote = "Percent free PSA below a PSA threshold of 4 ng/mL could spare biopsies."
    assert not missing_number("Percent free PSA below 4 ng/mL could spare biopsies.", [quote], (), 1)
    assert missing_number("Percent free PSA above 4 ng/mL could spare biopsies.", [quote], (), 1)


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Births from 34 weeks on were studied.", "Cases carrying \u226534 weeks were allocated."),
        ("Women of 34 weeks or more were studied.", "Cases carrying >=34 weeks were allocated."),
        ("At least 34 weeks had passed.", "Cases from 34 weeks onwards were allocated."),
        ("Up to 12 episodes were counted.", "Episodes were counted (maximum of 12)."),
        ("The rate was 9.90% and 19.19%.", "The rate was less in cesarean delivery-9.90% vs 19.19%."),
        ("Type 2 diabetes was studied.", "T2DM was studied."),
        ("It took place on April 9.", "It takes place on April 9th."),
        ("The year is 2018-19.", "The academic year 2018-2019."),
        ("The rate was 121.92 mL/min.", "The rate was 121.92 +/- 34.73 mL/min/1.73 m(2)."),
        ("It was shown before [4].", "It was shown."),
    ],
)
def test_numbers_are_read_as_people_write_them(claim: str, quote: str) -> None:
    assert missing_number(normalise(claim), [normalise(quote)], (), 1) == ""


def test_a_bound_is_not_turned_round() -> None:
    assert missing_number("At most 34 weeks had passed.", ["Cases from 34 weeks on were allocated."], (), 1)
    assert missing_number("34 weeks or less had passed.", ["At least 34 weeks had passed."], (), 1)


def test_rounded_numbers_and_small_counts_are_left_to_a_second_reader() -> None:
    for claim, quote in (
        ("It fell below 24 degrees.", "It was 23.8 degrees."),
        ("3 groups.", "Groups I and II."),
        ("A registry of 5,400 operations.", "Data from 5.400 operations were considered."),
        ("A deposit of 5,000 euros was paid.", "2024-06-30,insulation deposit,-5000,56200"),
    ):
        assert missing_number(claim, [quote], (), 1)
        assert missing_number(claim, [quote], (), 1, counts=True) == ""
    assert missing_number("It was 21%.", ["It was 20%."], (), 1, counts=True)
    assert missing_number("It was 30 degrees.", ["It was 23.8 degrees."], (), 1, counts=True)


def test_a_noun_phrase_has_no_direction_and_a_statistic_denies_nothing() -> None:
    quote = "Coffee was not associated with mortality (HR 1.02, 95% CI 0.90-1.15)."
    for cell in ("1.02", "HR", "mortality", "coffee"):
        assert not is_directed(cell)
        assert not reversal(cell, quote)
    assert reversal("coffee was associated with mortality", quote)
    assert not is_directed("pregnancy-induced hypertension")
