"""Claims in the words of their quotes with one word changed."""

import pytest

from activities.verification.claim_check import missing_number, numbers, reversal


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
