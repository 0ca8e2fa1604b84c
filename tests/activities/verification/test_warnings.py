"""What code asks a second reader about: a table of one change each, and of sentences with none."""

import pytest

from activities.verification.computed import computed_from
from activities.verification.floor import below_floor
from activities.verification.warnings import WARNINGS, warning_text, warnings_of

DOSES = "Rates fell by 12% in 300 adults on the low dose and by 19% in 280 adults on the high dose."
CHANGES = (
    ("hedge_lost", "The drug lowers blood pressure.", "The drug may lower blood pressure."),
    ("cause", "Coffee causes insomnia in nurses.", "Coffee was associated with insomnia in nurses."),
    ("cause", "Walking prevents falls.", "Walking was associated with fewer falls."),
    ("denial", "Gloves change the rate of infection.", "Gloves do not change the rate of infection."),
    ("denial", "Gloves do not change the rate of infection.", "Gloves change the rate of infection."),
    ("opposite", "Damage by storms is included.", "Damage by storms is excluded."),
    ("opposite", "Flood damage is covered by the contract.", "Flood damage is excluded from the contract."),
    ("opposite", "Deaths were more frequent in urban wards.", "Deaths were more frequent in rural wards."),
    ("degree", "Bleeding is common after the operation.", "Bleeding is rare after the operation."),
    ("degree", "The operation always ends the pain.", "The operation ends the pain."),
    ("comparison", "Nurses slept longer than doctors.", "Doctors slept longer than nurses."),
    ("group_lost", "The drug lowers mortality.", "The drug lowers mortality in pregnant women with asthma."),
    ("group_other", "Sleep improved in diabetic children.", "Sleep improved in adults with asthma."),
    ("number_not_quoted", "Rates fell by 17% in adults.", DOSES),
    ("number_bound", "More than 300 adults took the low dose.", DOSES),
    ("computed_words", "Together 580 adults died.", DOSES),
)  # fmt: skip


def codes(text: str, *quotes: str, works: tuple[str, ...] = ()) -> set[str]:
    return {warning.code for warning in warnings_of(text, quotes, works)}


@pytest.mark.parametrize(("code", "text", "quote"), CHANGES)
def test_a_change_of_meaning_is_asked_about(code: str, text: str, quote: str) -> None:
    warnings = {one.code: one for one in warnings_of(text, [quote])}
    assert code in warnings
    assert "{" not in warning_text(warnings[code])


def test_every_warning_is_shown_by_a_sentence() -> None:
    elsewhere = {"name_not_in_works", "works_counted", "mixed", "states_fact", "disputed"}
    assert {code for code, *_ in CHANGES} | elsewhere == set(WARNINGS)


@pytest.mark.parametrize("quote", sorted({quote for _, _, quote in CHANGES}))
def test_a_quote_in_its_own_words_is_not_asked_about(quote: str) -> None:
    assert codes(quote, quote) == set()


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Rates fell by 12% in adults on the low dose, and by 19% on the high one.", DOSES),
        ("Together 580 adults took the dose.", DOSES.replace("on", "took")),
        ("It may be that the drug lowers blood pressure.", "The drug may lower blood pressure."),
        (
            "No fewer infections were seen with gloves.",
            "Infections were not significantly fewer with gloves.",
        ),
        ("Aspirin lowered strokes in 580 adults.", "From May 1993 on aspirin lowered strokes in 580 adults."),
        (
            "Advanced cervical dilatation delivered at 34.0 weeks, ruptured membranes at 37.2.",
            "Delivery was earlier in ACD (34.0 weeks) than in ruptured membranes (37.2 weeks).",
        ),
    ],
)
def test_another_wording_of_the_same_is_not_asked_about(text: str, quote: str) -> None:
    assert codes(text, quote) == set()


def test_works_that_are_joined_or_lack_a_name_are_asked_about() -> None:
    quotes = ("Metformin lowered weight in women.", "Births rose with one follicle.")
    works = tuple(f"A trial\n{quote} It was small." for quote in quotes)
    assert "mixed" in codes("Metformin raised births with one follicle.", *quotes, works=works)
    assert (
        codes("Metformin lowered weight in women, and births rose with one follicle.", *quotes, works=works)
        == set()
    )
    work = ("A survey in Denmark\nSleep improved.",)
    assert codes("Sleep improved in Poland.", "Sleep improved.", works=work) == {"name_not_in_works"}
    assert codes("Sleep improved in Denmark.", "Sleep improved.", works=work) == set()


def test_a_count_of_the_works_is_asked_about_as_one() -> None:
    quotes = ("Metformin lowered weight.", "Weight fell with metformin.", "Weight did not change.")
    works = tuple(f"A trial\n{quote}" for quote in quotes)
    assert "works_counted" in codes("Metformin lowered weight in two trials.", *quotes, works=works)
    assert "number_not_quoted" not in codes("Metformin lowered weight in two trials.", *quotes, works=works)
    assert "number_not_quoted" in codes("Metformin lowered weight in four trials.", *quotes, works=works)


@pytest.mark.parametrize(
    ("text", "quotes", "computed"),
    [
        ("Together 55 were seen.", ["43 were seen here.", "12 were seen there."], ("43 + 12 = 55",)),
        ("The costs come to 65,600.", ["18,400 and 6,200", "41,000"], ("18,400 + 6,200 + 41,000 = 65,600",)),
        ("31 more were seen.", ["43 were seen here, 12 there."], ("43 - 12 = 31",)),
        ("That is 25% of them.", ["50 of 200 patients"], ("50 / 200 = 25%",)),
        ("It was 3 times as high.", ["36 against 12"], ("36 / 12 = 3",)),
        ("So 149.40 are deducted.", ["3 % are deducted.", "Total 4,980.00"], ("3 % of 4,980.00 = 149.40",)),
        ("That leaves 4,830.60.", ["3 % are deducted.", "Total 4,980.00"], ("4,980.00 - 3 % = 4,830.60",)),
        (
            "Together 4,220, which is 230 more.",
            ["3,280 and 940", "3,990"],
            ("3,280 + 940 = 4,220", "4,220 - 3,990 = 230"),
        ),
        (
            "That is 34.5%.",
            ["20 of 58, 10 of 65, P = 0.014; 2, 5, 33 and 11", "7 8 9 14 16 17"],
            ("20 / 58 = 34.5%",),
        ),
        ("56 were seen.", ["43 were seen here, 12 there."], ()),
        ("55% were seen.", ["43 were seen here, 12 there."], ()),
        ("55 mg were given.", ["43 days and 12 mg"], ()),
        ("43 were seen.", ["43 were seen here."], ()),
    ],
)
def test_a_figure_that_follows_from_quoted_numbers_is_computed(
    text: str, quotes: list[str], computed: tuple[str, ...]
) -> None:
    assert computed_from(text, quotes) == computed


CLINIC = "Aspirin lowered the rate of strokes in 400 adults of one clinic."
OFFERS = "Pos. 1 SP-9 3,280 euro. Fitting 940 euro. Delivered: 3,990 euro"


@pytest.mark.parametrize(
    ("text", "quote", "code"),
    [
        ("Aspirin lowered the rate of strokes.", CLINIC, ""),
        ("Strokes were rarer.", CLINIC, ""),
        ("The whole economy gains from public transport.", CLINIC, "not_of_quotes"),
        ("Clinicians should therefore adopt aspirin against strokes.", CLINIC, "recommends"),
        ("Aspirin lowered the rate of strokes and should be prescribed.", CLINIC, "recommends"),
        ("Aspirin lowered the rate of strokes in all patients worldwide.", CLINIC, "widens"),
        ("Aspirin lowers the rate of strokes in every adult.", CLINIC, "widens"),
        ("Aspirin should be given.", "We recommend that aspirin is given.", ""),
        ("In all patients aspirin helped.", "Aspirin helped in all patients.", ""),
        # a figure that follows from quoted numbers may be in other words
        ("The first offer, together 4,220, was 230 dearer than the other one.", OFFERS, ""),
        ("The first offer was 170 dearer than the other one.", OFFERS, "not_of_quotes"),
    ],
)
def test_below_the_floor_no_reader_is_asked(text: str, quote: str, code: str) -> None:
    problem = below_floor(text, [quote])
    assert (problem.code if problem else "") == code
