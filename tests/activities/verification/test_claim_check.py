"""Claims in the words of their quotes with one word changed."""

import pytest

from activities.verification.claim_check import missing_number, reversal


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


def test_a_threshold_is_compared_with_its_number() -> None:
    quote = "Percent free PSA below a PSA threshold of 4 ng/mL could spare biopsies."
    assert not missing_number("Percent free PSA below 4 ng/mL could spare biopsies.", [quote], (), 1)
    assert missing_number("Percent free PSA above 4 ng/mL could spare biopsies.", [quote], (), 1)
