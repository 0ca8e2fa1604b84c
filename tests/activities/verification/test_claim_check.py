"""Claims in the words of their quotes with one word changed."""

import pytest

from activities.text.normal_form import normalise
from activities.verification.claim_check import is_directed, missing_number, numbers, reversal

MIGRAINE = "The drug {} the burden of migraine by reducing the hours of sleep."
GROUPS = "Morbidity was {} in group IV (21% versus 0%, 10%, and 10%, respectively)."
HARM = "The trial did {}show a benefit, and harm could not be excluded in either group."
BLEEDING = "Laparoscopic surgery lowered the risk of bleeding."
TYPES = "Three types were found: bruises (no. 25), subchondral (no. 33) and other (no. 35) injuries."
TEST = "The new test had a sensitivity of 94% and the old one, in resistant strains, of 18%."
COFFEE = "Coffee was not associated with mortality (HR 1.02, 95% CI 0.90-1.15)."


@pytest.mark.parametrize(
    ("claim", "quote", "turned"),
    [
        ("Older adults were more likely to walk.", "Older adults were less likely to walk.", True),
        (MIGRAINE.format("increased"), MIGRAINE.format("decreased"), True),
        (GROUPS.format("lowest"), GROUPS.format("highest"), True),
        ("The longest stay was in the control arm.", "The shortest stay was in the control arm.", True),
        (HARM.format(""), HARM.format("not "), True),
        *((quote, quote, False) for quote in (MIGRAINE.format("decreased"), GROUPS.format("highest"), HARM)),
        ("The strain was sensitive to the drug.", "The strain was resistant to the drug.", True),
        ("coffee was associated with mortality", COFFEE, True),
        ("It depends: the risk of bleeding was not lower, but nothing was randomised.", BLEEDING, True),
        ("It depends: nothing here was randomised, but bleeding had a lower risk.", BLEEDING, False),
        ("The pumps aren't noisier than bottles.", "The pumps are not noisier than bottles.", False),
        ("Sensitivity was 94% with the new test.", TEST, False),
        ("Three types were found: bruises, subchondral and other injuries.", TYPES, False),
        *((cell, COFFEE, False) for cell in ("1.02", "HR", "mortality", "coffee")),
    ],
)  # fmt: skip
def test_one_word_turned_round_in_the_words_of_a_quote_is_noticed(
    claim: str, quote: str, turned: bool
) -> None:
    assert bool(reversal(claim, quote)) is turned


@pytest.mark.parametrize("phrase", ["1.02", "HR", "mortality", "coffee", "pregnancy-induced hypertension"])
def test_a_noun_phrase_has_no_direction(phrase: str) -> None:
    assert not is_directed(phrase)


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


@pytest.mark.parametrize(
    ("claim", "quote", "found"),
    [
        ("The study had 46 patients.", "Forty-six consecutive patients.", "held"),
        ("Births from 34 weeks on were studied.", "Cases carrying \u226534 weeks were allocated.", "held"),
        ("Women of 34 weeks or more were studied.", "Cases carrying >=34 weeks were allocated.", "held"),
        ("At least 34 weeks had passed.", "Cases from 34 weeks onwards were allocated.", "held"),
        ("At most 34 weeks had passed.", "Cases from 34 weeks on were allocated.", "missing"),
        ("34 weeks or less had passed.", "At least 34 weeks had passed.", "missing"),
        ("Up to 12 episodes were counted.", "Episodes were counted (maximum of 12).", "held"),
        ("The rate was 9.90% and 19.19%.", "It was less in cesarean delivery-9.90% vs 19.19%.", "held"),
        ("24 against 6 per cent.", "It was 6 versus 24 per cent.", "held"),
        ("Type 2 diabetes was studied.", "T2DM was studied.", "held"),
        ("It took place on April 9.", "It takes place on April 9th.", "held"),
        ("The year is 2018-19.", "The academic year 2018-2019.", "held"),
        ("The rate was 121.92 mL/min.", "It was 121.92 +/- 34.73 mL/min/1.73 m(2).", "held"),
        ("It was shown before [4].", "It was shown.", "held"),
        ("The study had 6 patients.", "Forty-six consecutive patients.", "asked"),
        ("3 groups.", "Groups I and II.", "asked"),
        ("It fell below 24 degrees.", "It was 23.8 degrees.", "asked"),
        ("A registry of 5,400 operations.", "Data from 5.400 operations were considered.", "asked"),
        ("A deposit of 5,000 euros was paid.", "2024-06-30,insulation deposit,-5000,56200", "asked"),
        ("The tenant paid 640 pounds.", "2024-10-05,Roof repair paid by tenant,-640.00", "asked"),
        ("The score changed by 0.14 points.", "The mean difference was -0.14 points.", "missing"),
        ("It was 21%.", "It was 20%.", "missing"),
        ("It was 30 degrees.", "It was 23.8 degrees.", "missing"),
    ],
)
def test_a_number_that_a_quote_does_not_have_is_found_however_it_is_written(
    claim: str, quote: str, found: str
) -> None:
    """Rounded numbers and small counts are left to a second reader."""
    plain, quotes = normalise(claim), [normalise(quote)]
    strict, lenient = (missing_number(plain, quotes, (), 1, counts=counts) for counts in (False, True))
    assert ("missing" if lenient else "asked" if strict else "held") == found
