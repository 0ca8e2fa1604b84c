"""Figures that follow from quoted ones by the computation that their writer shows."""

from collections.abc import Sequence
from datetime import date, timedelta

import pytest

from activities.verification.computed import Computations, Computed


def test_an_expression_has_what_others_give_by_their_labels() -> None:
    shown = (
        "F3: 30 * (1 - F2)",
        "F4: F3 / 2 + F9",
        "F2: risk_ratio(30, 50, 26, 50)",
        "F1: 2025-02-24 + 14",
        "F5: F1 + 14",
    )
    works = ("30 of 50 and 26 of 50 within 14 days of 2025-02-24.",)
    computations = Computations(shown, works, works)
    assert computations.fill("{F3}, {F4}, {F5}", "en") == "-4.5, {F4}, 24 March 2025"
    rows = computations.of("It was 4.5 fewer.", works).rows
    assert rows == ("risk_ratio(30, 50, 26, 50) = 1.15 (0.81 to 1.64)", "30 * (1 - 1.15) = -4.5")


def computed_from(
    text: str, shown: Sequence[str], sources: Sequence[str], works: Sequence[str], results: Sequence[str] = ()
) -> Computed:
    return Computations([*shown, *results], sources, works).of(text, works)


QUOTES = (
    "The bill has 11,210 for the roof and 1,890 for heating; the rent is 2400 a month.",
    "In 209 and 218 patients of two groups 43 (36%) of 120 had an event, HR 0.44 (95% CI 0.21 to 0.92).",
    "Its cost was 18,400 euros, the credit is 6,200 euros and the further loss 41,000 euros.",
    "Doses of 12.5 mg and 7.7 mg were given on 2024-04-03 at 14:30, in 2019 (p. 22).",
)


@pytest.mark.parametrize(
    ("text", "shown", "computed"),
    [
        ("Together 13,100 were paid.", ["11,210 + 1,890"], ["11,210 + 1,890 = 13,100"]),
        ("Together 13,100 were paid.", ["11.210 + 1.890 = 13.100"], ["11.210 + 1.890 = 13,100"]),
        ("Together these sums come to 65,600 euros.", ["18,400 + 6,200 euros + 41,000"],
         ["18,400 + 6,200 euros + 41,000 = 65,600"]),
        ("The risk fell by 56%.", ["(1 - 0.44) * 100"], ["(1 - 0.44) * 100 = 56%"]),
        ("For eight days 640 are due.", ["2400 / 30 \u00d7 8"], []),  # eight is no figure of a quote
        ("A week costs 560.", ["2400 / 30 * 7"], ["2400 / 30 * 7 = 560"]),
        ("There were 427 patients.", ["209 + 218"], ["209 + 218 = 427"]),
        ("It was 35.8%.", ["43/120*100"], ["43/120*100 = 35.8%"]),
        ("It was 36.8%.", ["43/120*100"], []),
        # a share that is all of it has a constant for its result
        ("All 120 (100%) were read.", ["120 / 120 * 100"], ["120 / 120 * 100 = 100%"]),
        ("The others were 64%.", ["100 - 36", "36 + 64"], ["100 - 36 = 64%"]),
        # thousands may be rounded, and are shown as they are
        ("Some 23,000 remained.", ["41,000 - 18,400"], ["41,000 - 18,400 = 22600"]),
        ("Some twenty-three thousand remained.", ["41,000 - 18,400"], ["41,000 - 18,400 = 22600"]),
        ("Some 25,000 remained.", ["41,000 - 18,400"], []),
        ("There were 427, or 214 in each group.", ["209 + 218", "427 / 2"],
         ["209 + 218 = 427", "427 / 2 = 214"]),
        ("The others were 64%.", ["100 - 36%"], ["100 - 36% = 64%"]),
        # what another expression gives
        ("They differ by 10,700.", ["11,210 + 1,890", "13,100 - 2400"],
         ["11,210 + 1,890 = 13,100", "13,100 - 2400 = 10,700"]),
        ("They differ by 10,701.", ["11,210 + 1,890", "13,100 - 2400"], []),
        ("It was 537,507.7.", ["43 * 12.5", "537.500 + 7.7"], []),  # read as it is given
        ("It was 36.1%.", ["36.1: 43 / 119 * 100", "a: 43 / 120 * 100"], []),
        ("It was 35.8%.", ["35.8: 43 / 120 * 100"], ["43 / 120 * 100 = 35.8%"]),
        # people of whom something computed is said
        ("Of 1,000 patients 427 had an event.", ["209 + 218"], []),
        ("Of 1,000 patients 358 had an event.", ["43 / 120 * 1,000"], ["43 / 120 * 1,000 = 358"]),
        ("Of 1,000 patients 358 had an event.", ["43 / 120 * 1000"], ["43 / 120 * 1000 = 358"]),
        ("Von 1.000 hatten es 358.", ["43 / 120 * 1000"], ["43 / 120 * 1000 = 358"]),
        ("Of 100 patients 64 had none.", ["100 - 36"], ["100 - 36 = 64"]),
        ("That is 28 more per 100 patients.", ["36 - 7.7"], ["36 - 7.7 = 28"]),  # 36 is a percentage
        ("Of 100 patients 35 had none.", ["209 + 1"], []),
        # signs of German
        ("Das sind 35,8 %.", ["43 \u00f7 120 \u00b7 100"], ["43 / 120 * 100 = 35,8 %"]),
        ("Das sind 35,8 %.", ["43 / 120 x 100"], ["43 / 120 * 100 = 35,8 %"]),
        ("Das sind 35,8 %.", ["43 : 120 * 100"], ["43 / 120 * 100 = 35,8 %"]),
        # a label has a blank behind its colon
        ("It was 8%.", ["218: 209 * 100"], []),
        # no search, no chance
        ("There were 427 patients.", [], []),
        ("There were fifteen patients in the trial.", ["7.7 + 95%"], []),
        ("The distance was 14 mm.", ["43 - 29"], []),
        # no level, date, time or year
        ("It was 95.92.", ["95 + 0.92"], []),
        ("It was 2027.", ["2024 + 3"], []),
        ("It was 44.", ["14 + 30"], []),
        ("It was 2062.", ["2019 + 43"], []),
        ("It was 65.", ["22 + 43"], []),
        # an expression and nothing else
        ("It was 79.", ["43 + 36%%"], []),
        ("It was 5160.", ["43 ** 120"], []),
        ("It was 43000.", ["43 (120)"], []),
        ("It was 252.", ["(209 + 43"], []),
        ("It was 999.", ["__import__('os')"], []),
        ("It was 999.", ["43 / (120 - 120)"], []),
        ("It was 5.5.", ["11,210" + " * 11,210" * 9], []),
        ("It was 999.", ["1 + 100"], []),
        ("It was 209.5.", ["209.5"], []),
    ],
)  # fmt: skip
def test_a_number_follows_only_from_the_computation_that_is_shown(
    text: str, shown: list[str], computed: list[str]
) -> None:
    made = computed_from(text, shown, QUOTES, QUOTES)
    assert ([] if made.missing else list(made.rows)) == computed
    assert bool(made.missing) is not bool(computed)


DATED = (
    "The amount of 1,980.00 pounds was due 14 days after 2 May 2025; overdue amounts bear 8 % a year.",
    "La facture du 18 avril 2025 fut payée le 30 juin 2025 à Lyon par la société.",
    "该合同于2024年3月14日签订。",
    "The letter arrived on 9 June.",
    "It was returned on 14.03.2024, and the loan of 2023-11-01 ended.",
)


@pytest.mark.parametrize(
    ("text", "shown", "computed"),
    [
        ("These are 134 days.", ["days(2023-11-01, 2024-03-14)"], ["days(2023-11-01, 2024-03-14) = 134"]),
        ("These are 134 days.", ["days(1 November 2023, 14.03.2024)"],
         ["days(1 November 2023, 14.03.2024) = 134"]),
        ("It was overdue for 59 days.", ["days(2025-05-02, 2025-06-30)"],
         ["days(2025-05-02, 2025-06-30) = 59"]),
        ("Interest is 19.53 pounds.", ["1,980.00 * 8 / 100 * (days(2025-05-02, 2025-06-30) - 14) / 365"],
         ["1,980.00 * 8 / 100 * (days(2025-05-02, 2025-06-30) - 14) / 365 = 19.53"]),
        ("With 45 days of interest 1,999.53 are due.",
         ["days(2025-05-02, 2025-06-30) - 14", "1,980.00 + 1,980.00 * 8 / 100 * 45 / 365"],
         ["days(2025-05-02, 2025-06-30) - 14 = 45",
          "1,980.00 + 1,980.00 * 8 / 100 * 45 / 365 = 1,999.53"]),
        # days added to a date are a date
        ("It was due on 16 May 2025.", ["2025-05-02 + 14"], ["2025-05-02 + 14 = 2025-05-16"]),
        ("It was due on 17 May 2025.", ["2025-05-02 + 14"], []),
        ("It was due on 16 June 2025.", ["2025-05-02 + 14"], []),
        ("It was due on 16 June.", ["2025-05-02 + 14"], []),
        ("Sie war am 16. Mai 2025 f\u00e4llig.", ["2. Mai 2025 + 14"],
         ["2. Mai 2025 + 14 = 2025-05-16"]),
        ("It was due in 16 rooms.", ["2025-05-02 + 14"], []),
        ("Sie war bis zum 16.10.25 zu zahlen.", ["2025-05-02 + 14"], []),
        ("Sie war bis zum 16.05.25 zu zahlen.", ["2025-05-02 + 14"], ["2025-05-02 + 14 = 2025-05-16"]),
        ("Sie war bis zum 05.06.2025 zu zahlen.", ["2025-05-02 + 4"], []),
        ("By 16 May there were 16 rooms.", ["2025-05-02 + 14"], []),
        ("Elle \u00e9tait due le 16 mai 2025.", ["2 mai 2025 + 14"], ["2 mai 2025 + 14 = 2025-05-16"]),
        ("From 16 May on there were 45 days.", ["2025-05-02 + 14", "days(2025-05-16, 2025-06-30)"],
         ["2025-05-02 + 14 = 2025-05-16", "days(2025-05-16, 2025-06-30) = 45"]),
        ("It bears 19.53 of interest.",
         ["2025-05-02 + 14", "1,980.00 * 8 / 100 * days(2025-05-16, 2025-06-30) / 365"],
         ["2025-05-02 + 14 = 2025-05-16",
          "1,980.00 * 8 / 100 * days(2025-05-16, 2025-06-30) / 365 = 19.53"]),
        # without a year it is that day of each year that the works have
        ("It was kept for 21 days.", ["days(2025-06-09, 30 June 2025)"],
         ["days(2025-06-09, 30 June 2025) = 21"]),
        ("It was kept for 21 days.", ["days(2022-06-09, 2022-06-30)"], []),
        # a date that no work has, a wrong count, and what is no date
        ("These are 135 days.", ["days(2023-11-01, 2024-03-15)"], []),
        ("These are 133 days.", ["days(2023-11-01, 2024-03-14)"], []),
        ("These are 66 days.", ["days(14, 80)"], []),
        ("These are 24.", ["2025-05-02 + 14", "8 + 16"], []),  # the day of a date is no number
        ("These are 134 days.", ["2024-03-14 - 2023-11-01"], []),
        ("It was 268.", ["days(2023-11-01, 2024-03-14) * 2023-11-01"], []),
    ],
)  # fmt: skip
def test_days_are_counted_between_dates_that_the_works_have(
    text: str, shown: list[str], computed: list[str]
) -> None:
    made = computed_from(text, shown, DATED, DATED)
    assert ([] if made.missing else list(made.rows)) == computed
    assert bool(made.missing) is not bool(computed)


BALANCES = "The balances were 7,754.40 for 49 days and 19,754.40 for 5 days, at 7.5 %."
ROWS = ("7,754.40 * 7.5 / 100 * 49 / 365 = 78.08", "19,754.40 * 7.5 / 100 * 5 / 365 = 20.30")


@pytest.mark.parametrize(
    ("text", "shown", "computed"),
    [
        ("Interest is 98.38.", ["20.30 + 78.08"], ["20.30 + 78.08 = 98.38"]),
        ("Interest is 98.39.", ["20.30 + 78.08"], []),
        ("Of it 78.08 are from February.", [], ["7,754.40 * 7.5 / 100 * 49 / 365 = 78.08"]),
        ("Interest is 98.37.", ["20.30 + 78.07"], []),
        ("With 98.38 of interest 2,078.38 are due.", ["20.30 + 78.08", "1,980.00 + 98.38"],
         ["20.30 + 78.08 = 98.38", "1,980.00 + 98.38 = 2,078.38"]),
        # rounded as another expression of the same sentence prints it
        ("Half a year and a quarter bear 119.33.",
         ["1,980.00 * 8 / 100 * 183 / 365", "1,980.00 * 8 / 100 * 92 / 365", "79.41 + 39.92"], []),
        ("Two thirds of 1,980.00 pounds and 14 days of it are 660.27.",
         ["1,980.00 * 8 / 100 / 14", "11.31 * 8"], []),
        ("The share is 11.31, and 22.62 twice.", ["1,980.00 * 8 / 100 / 14", "11.31 + 11.31"],
         ["1,980.00 * 8 / 100 / 14 = 11.31", "11.31 + 11.31 = 22.62"]),
    ],
)  # fmt: skip
def test_a_total_is_the_sum_of_its_rows_as_they_are_printed(
    text: str, shown: list[str], computed: list[str]
) -> None:
    """Also of those that other sentences of the text compute, whose computation is then shown."""
    made = computed_from(text, shown, (*DATED, BALANCES), DATED, ROWS)
    rows = [row for row in made.rows if row not in ROWS or row in computed]
    assert ([] if made.missing else rows) == computed
    assert bool(made.missing) is not bool(computed)
    assert set(ROWS) <= set(made.rows) or not (computed and shown and "20.30" in shown[0])


FRACTION = ("Two thirds of 1,000 members voted; 80 rooms were let.",)


@pytest.mark.parametrize(
    ("text", "shown", "follows"),
    [
        ("Some of 667 members voted.", "2/3 * 1,000", True),
        ("Some of 667 members voted.", "1,000 * 2 / 3", True),
        ("Some of 667 members voted.", "\u2154 * 1,000", True),
        ("Some of 700 members voted.", "\u2154 * 1,000", False),
        ("Some of 160 members voted.", "\u00bd * 80 * 4", False),
        ("Some of 120 members voted.", "1\u00bd * 80", False),
        ("Some of 333 members stayed away.", "1,000 - 2/3 * 1,000", True),
        ("Some of 250 members stayed away.", "1,000 / 4", False),
        ("There are 83 of them.", "80 + 3", False),
        ("There are 240 of them.", "80 * 3", False),
    ],
)
def test_a_fraction_in_words_is_a_figure_and_what_it_parts_by_alone_is_none(
    text: str, shown: str, follows: bool
) -> None:
    assert computed_from(text, [shown], FRACTION, FRACTION).missing == (() if follows else (text.split()[2],))


def test_a_fraction_in_german_words_is_a_figure_too() -> None:
    works = ("Zwei Drittel der 1.200 Mitglieder haben gestimmt, und das war im Verein noch nie so.",)
    made = computed_from("Es waren 800 Mitglieder.", ["1.200 * 2 / 3"], works, works)
    assert made.rows == ("1.200 * 2 / 3 = 800",)
    assert computed_from("Es waren 1.203 Mitglieder.", ["1.200 + 3"], works, works).missing == ("1.203",)


@pytest.mark.parametrize(
    ("letter", "text", "rows"),
    [
        ("Served on 1 September 2026; storage 15 to 27 August.", "Tuesday 15 September: last day to dispute.",
         ("2026-09-01 + 14 = 2026-09-15",)),
        ("Served on 1 September 2026; storage 15 to 27 August.", "By 15 August nothing was due.", ()),
        ("Served on 1 September 2026, disputed on 15 September.", "Tuesday 15 September ends it.", ()),
    ],
)  # fmt: skip
def test_a_computed_day_is_shown_though_a_work_has_its_number_in_another_month(
    letter: str, text: str, rows: tuple[str, ...]
) -> None:
    works = (letter, "A bill may be disputed within 14 days.")
    assert computed_from(text, ["2026-09-01 + 14"], works, works) == Computed(rows)


def test_a_count_of_days_is_no_percentage() -> None:
    works = ("Served on 27 August 2026 and received on 1 September 2026.",)
    shown = ["days(2026-08-27, 2026-09-01)"]
    assert computed_from("It took 5 days.", shown, works, works).missing == ()
    assert computed_from("Interest is 5%.", shown, works, works).missing == ("5%",)


def test_a_number_of_something_else_is_no_span_of_days() -> None:
    letter = "The bill of 2 May 2025 for 14 rooms is due within 10 business days; others within 30 days."
    for shown, due, missing in (
        ("2025-05-02 + 14", "16 May 2025", ("16 May 2025",)),
        ("2025-05-02 + 2 * 7", "16 May 2025", ()),
        ("2025-05-02 + 30", "1 June 2025", ()),
    ):
        assert computed_from(f"It is due on {due}.", [shown], [letter], [letter]).missing == missing


@pytest.mark.parametrize(
    ("letter", "shown", "day"),
    [
        ("The notice of 31 January 2026 ends in one month.", "months(2026-01-31, 1)", "28 February 2026"),
        ("The notice of 31 January 2024 ends a month later.", "months(2024-01-31,1)", "29 February 2024"),
        ("Notice of 30 November 2025: 3 months.", "months(2025-11-30, 3)", "28 February 2026"),
        ("Notice of 15 November 2025: 14 months.", "months(2025-11-15, 14)", "15 January 2027"),
        ("From 29 February 2024 on for 2 years.", "months(2024-02-29, 2 * 12)", "28 February 2026"),
        ("Notice of 15 November 2025: 3 months.", "months(2025-11-15, 3) - 1", "14 February 2026"),
        (
            "Die Frist ab dem 31. August 2026 dauert einen Monat.",
            "months(2026-08-31, 1)",
            "30.09.2026",
        ),
        ("Le bail du 31 mars 2026 finit dans 3 mois.", "months(2026-03-31, 3)", "30 juin 2026"),
        ("合同自2026年1月31日起为期1个月。", "months(2026-01-31, 1)", "2026年2月28日"),
    ],
)
def test_months_after_a_day_end_on_the_same_day_or_the_last_of_a_shorter_month(
    letter: str, shown: str, day: str
) -> None:
    computed = computed_from(f"{day}.", [shown], [letter], [letter])
    assert (computed.missing, len(computed.rows)) == ((), 1)


@pytest.mark.parametrize(
    ("letter", "shown", "day"),
    [
        (
            "A bill of 2 May 2025 for 14 rooms that were let is due in a month.",
            "months(2025-05-02, 14)",
            "2 July 2026",
        ),
        ("The bill of 2 May 2025 ends in 3 months.", "months(2025-05-02, 3)", "3 August 2025"),
        ("The bill of 2 May 2025 ends in 3 months.", "months(2025-05-03, 3)", "3 August 2025"),
    ],
)
def test_no_other_day_follows_from_months(letter: str, shown: str, day: str) -> None:
    assert computed_from(f"{day}.", [shown], [letter], [letter]).rows == ()


@pytest.mark.parametrize(
    ("letter", "shown", "day"),
    [
        (
            "Dispute the bill of 21 April 2026 within ten Business Days.",
            "2026-04-21, 10, GB-ENG",
            "6 May 2026",
        ),
        ("Dispute the bill of 21 April 2026 within ten Business Days.", "2026-04-21,10,GB-ENG", "6 May 2026"),
        ("Die Frist ab dem 29. Mai 2026: 5 Werktage.", "2026-05-29, 5, DE-BY", "8. Juni 2026"),
        ("通知于2026年4月29日送达, 10个工作日内答复。", "2026-04-29, 10, CN", "2026年5月15日"),
        ("Notice of 7 May 2026: 3 working days before.", "2026-05-07, -3, GB-ENG", "1 May 2026"),
        ("Notified on 2 July 2026, 3 days.", "2026-07-02 + 1, 3, US", "8 July 2026"),
    ],
)
def test_working_days_leave_out_weekends_and_the_public_holidays_of_a_place(
    letter: str, shown: str, day: str
) -> None:
    computed = computed_from(f"{day}.", [f"workdays({shown})"], [letter], [letter])
    assert (computed.missing, len(computed.rows)) == ((), 1)


@pytest.mark.parametrize(
    "shown",
    ["2026-04-21, 10", "2026-04-21, 10, ZZ", "2026-04-21, 10, GB-XYZ", "2026-04-21, 10, GB-SCT", "10, 3, GB",
     "2026-04-21, 9, GB-ENG", "2026-04-21, 10 * 365 * 1000 * 1000, GB-ENG"],
)  # fmt: skip
def test_no_working_day_follows_without_a_place_or_from_other_numbers(shown: str) -> None:
    letter = "Dispute the bill of 21 April 2026 within ten Business Days, that is 9 at most."
    assert computed_from("7 May 2026.", [f"workdays({shown})"], [letter], [letter]).rows == ()


def test_a_result_of_another_computation_is_not_taken_for_a_constant() -> None:
    works = ("Of 200 people in two equal groups 36% had an event.",)
    made = computed_from("The others were 64%.", ["200 / 2", "100 - 36"], works, works)
    assert made.rows == ("100 - 36 = 64%",)


def test_a_sentence_without_a_number_of_its_own_needs_no_computation() -> None:
    assert computed_from("In 209 patients 36% had an event.", ["209 + 1"], QUOTES, QUOTES) == Computed()


def test_what_holds_is_told_apart_from_what_does_not() -> None:
    made = computed_from("Of 427 people 999 came in 17 rooms.", ["209 + 218"], QUOTES, QUOTES)
    assert (made.rows, made.missing) == (("209 + 218 = 427",), ("999", "17"))


@pytest.mark.parametrize(
    ("shown", "failure"),
    [
        (["11,210 + 1,890 - 43"], "11,210 + 1,890 - 43 = 13057"),
        (["11,210 + 1,890", "209 + 218"], "11,210 + 1,890 = 13100"),
        # the computation of another number, and one that is for none of this size
        (["11,210 + 1,895", "43 * 120"], ""),
        (["risk_ratio(43, 120, 29, 120)"], ""),
        ([], ""),
    ],
)
def test_a_number_that_does_not_follow_is_told_with_what_its_computation_gives(
    shown: list[str], failure: str
) -> None:
    made = computed_from("Together 13,107 were paid.", shown, QUOTES, QUOTES)
    assert (made.missing, made.failure) == (("13,107",), failure)


GROUPS = (
    "Complications were similar, 0% (30) versus 52% (26), P = 0.42; major ones in 1 (2%) versus 4 (8%).",
    "There were 50 patients in each arm; 0 of 20 versus 4 of 20 were readmitted, and 0 of 20 died in both.",
    "Pain fell by -5.3 (SD 2.1) points in 21 patients and by -1.1 (SD 1.9) in 22.",
    "The trial began on 24 February 2025; visits were 14 days apart.",
)
RATIO = "risk_ratio(30, 50, 26, 50) = 1.15 (0.81 to 1.64)"


@pytest.mark.parametrize(
    ("line", "text", "language", "filled"),
    [
        ("F1: 30 * 50", "It is {F1}.", "en", "It is 1,500."),
        ("F1 = 30 * 50", "Es sind {F1}.", "de", "Es sind 1.500."),
        ("F1: 30 / 26", "It is {F1} or {F1:2}.", "en", "It is 1.2 or 1.15."),
        ("F1: risk_ratio(30, 50, 26, 50)", "It is {F1}.", "en", "It is 1.15 (95% CI 0.81 to 1.64)."),
        (
            "F1: risk_difference(26, 50, 4, 20)",
            "It is {F1} percentage points.",
            "en",
            "It is 32.0 (95% CI 9.7 to 54.3) percentage points.",
        ),
        (
            "F1: risk_difference(30, 50, 26, 50)",
            "It is {F1}.",
            "en",
            "It is 8.0 (95% CI -11.4 to 27.4).",
        ),
        ("F1: risk_ratio(30, 50, 26, 50)", "Es ist {F1}.", "de", "Es ist 1,15 (95-%-KI 0,81 bis 1,64)."),
        ("F1: risk_ratio(30, 50, 26, 50)", "Es {F1}.", "es", "Es 1,15 (IC del 95 %: de 0,81 a 1,64)."),
        (
            "F1: risk_ratio(30, 50, 26, 50)",
            "Soit {F1}.",
            "fr",
            "Soit 1,15 (IC \u00e0 95 % : de 0,81 \u00e0 1,64).",
        ),
        (
            "F1: risk_ratio(30, 50, 26, 50)",
            "\u662f{F1}\u3002",
            "zh",
            "\u662f1.15 (95% CI 0.81\u81f31.64)\u3002",
        ),
        ("F1: 2025-02-24 + 14", "It is {F1}.", "en", "It is 10 March 2025."),
        ("F1: 2025-02-24 + 14", "Bis zum {F1}.", "de", "Bis zum 10. M\u00e4rz 2025."),
        (
            "F1: 2025-02-24 + 14",
            "\u5728{F1}\u4e4b\u524d\u3002",
            "zh",
            "\u57282025\u5e743\u670810\u65e5\u4e4b\u524d\u3002",
        ),
        ("F1: 2025-02-24 + 14", "\u0939\u0948 {F1}", "hi", "\u0939\u0948 2025-03-10"),
        ("F1: risk_ratio(31, 50, 26, 50)", "It is {F1}.", "en", "It is {F1}."),
        ("F1: 30 * 50", "It is {F2}.", "en", "It is {F2}."),
        ("F1: 50" + " * 50" * 40, "It is {F1}.", "en", "It is {F1}."),
    ],
)
def test_code_fills_in_a_figure_that_a_text_leaves_to_it(
    line: str, text: str, language: str, filled: str
) -> None:
    computations = Computations([line], GROUPS, GROUPS)
    made = computations.fill(text, language)
    assert made == filled
    if "{" not in made:
        assert not computations.of(made, GROUPS).missing


def test_a_number_follows_from_the_figures_beside_it_before_others_of_the_same_work() -> None:
    works = ("Control was 60.2% and 56.5%; 5% and 32% had a stent.",)
    shown = ["100 / (32 - 5)", "60.2 - 56.5"]
    for text, row in (
        ("The gap falls to 3.7 points (60.2 v 56.5).", "60.2 - 56.5 = 3.7"),
        ("One stent was spared for 3.7 (32 v 5).", "100 / (32 - 5) = 3.7"),
    ):
        assert computed_from(text, shown, works, works).rows == (row,)


def test_a_percentage_follows_from_a_share_before_a_quotient_that_gives_it_by_chance() -> None:
    works = ("40 people were randomised; 4 of 20 dropped out.",)
    made = computed_from("It was 20%.", ["40 / 2", "4 * 100 / 20"], works, works)
    assert made.rows == ("4 * 100 / 20 = 20%",)


@pytest.mark.parametrize(("text", "follows"), [("thirteen were old", False), ("It was 13.", True)])
def test_a_number_word_and_an_ordinal_are_no_rounded_result(text: str, follows: bool) -> None:
    works = ("The rent is 2,050.00 at 8 percent for 28 days.",)
    made = computed_from(text, ["2,050.00 * 8 / 100 * 28 / 365"], works, works)
    assert bool(made.rows) is follows
    exact = computed_from("twenty-six were old", ["52 / 2"], ("There were 52.",), ("There were 52.",))
    assert exact.rows == ("52 / 2 = twenty-six",)
    stage = ("Of 49 patients 67.3% had stage III.",)
    shared = computed_from("Thirty-three had stage III.", ["49 * 67.3 / 100"], stage, stage)
    assert shared.rows == ("49 * 67.3 / 100 = Thirty-three",)


def test_a_stated_percentage_may_be_said_of_a_hundred_people() -> None:
    works = ("More than 60% of the population died within 12 months.",)
    assert not computed_from("More than 60 of 100 people died.", (), works, works).missing
    assert not computed_from("About 9 in 100 died.", (), ("9.3% died.",), ("9.3% died.",)).missing
    assert computed_from("About 8 in 100 died.", (), ("9.3% died.",), ("9.3% died.",)).missing == ("100",)
    for text in ("More than 12 of 100 people died.", "It fell by 60% or 100."):
        assert computed_from(text, (), works, works).missing == ("100",)


def test_of_several_computations_the_one_of_the_cited_work_without_rounding_is_shown() -> None:
    work, other = "20 and 6 points in 3 groups, 43 in all.", "In the other trial 40 and 26 points."
    shown = ["40 - 26", "43 / 3", "20 - 6"]
    made = Computations(shown, [work, other], [work, other]).of("It fell by 14 points.", [work])
    assert made.rows == ("20 - 6 = 14",)


@pytest.mark.parametrize(
    ("text", "shown", "computed"),
    [
        ("The risk ratio was 1.15 (95% CI 0.81 to 1.64).", "risk_ratio(30, 50, 26, 50)", [RATIO]),
        ("The risk ratio was 1.15 (95% CI 0.81-1.64).", "risk_ratio(30,50,26,50)", [RATIO]),
        ("The risk ratio was 1.15.", "risk_ratio(30; 50; 26; 50)", [RATIO]),
        ("It was 1.15.", "risk_ratio(30, 26 * 100 / 52, 26, 26 * 100 / 52)", []),
        ("The odds ratio was 1.38 (0.63 to 3.06).", "odds_ratio(30, 50, 26, 50)",
         ["odds_ratio(30, 50, 26, 50) = 1.38 (0.63 to 3.06)"]),
        ("It was 8 percentage points (\u221211.4 to 27.4).", "risk_difference(30, 50, 26, 50)",
         ["risk_difference(30, 50, 26, 50) = 8.0 (-11.4 to 27.4)"]),
        ("It was 8.0 points (95% CI \u221211.4 to 27.4).", "risk_difference(30, 50, 26, 50)",
         ["risk_difference(30, 50, 26, 50) = 8.0 (-11.4 to 27.4)"]),
        ("It was -4.2 points (-5.4 to -3.0).", "mean_difference(-5.3, 2.1, 21, -1.1, 1.9, 22)",
         ["mean_difference(-5.3, 2.1, 21, -1.1, 1.9, 22) = -4.20 (-5.40 to -3.00)"]),
        # two studies are pooled, six numbers are none
        ("It was 0.88 (0.41 to 1.89).", "risk_ratio(30, 50, 26, 50, 4, 20, 8, 20)",
         ["risk_ratio(30, 50, 26, 50, 4, 20, 8, 20) = 0.88 (0.41 to 1.89)"]),
        ("It was 0.88.", "risk_ratio(30, 50, 26, 50, 4, 20)", []),
        # a group without events gets a half in each cell; without any in both there is nothing to compare
        ("It was 0.11 (0.01 to 1.94).", "risk_ratio(0, 20, 4, 20)",
         ["risk_ratio(0, 20, 4, 20) = 0.11 (0.01 to 1.94)"]),
        ("It was 1.02 (0.02 to 48.9).", "risk_ratio(0, 20, 0, 20)", []),
        # an interval in another order, without its sign, wider; other numbers than those of the quotes
        ("It was 1.15 (1.64 to 0.81).", "risk_ratio(30, 50, 26, 50)", []),
        ("It was 0.81 (1.15 to 1.64).", "risk_ratio(30, 50, 26, 50)", []),
        ("It was 8.0 points (11.4 to 27.4).", "risk_difference(30, 50, 26, 50)", []),
        ("It was 1.15 (0.71 to 1.64).", "risk_ratio(30, 50, 26, 50)", []),
        ("It was 1.17 (0.81 to 1.68).", "risk_ratio(29, 50, 26, 50)", []),
        ("It was 4.2.", "mean_difference(5.3, 2.1, 21, 1.1, 1.9, 22)", []),
        # more events than people, too few numbers, another name, part of a longer expression
        ("It was 1.92.", "risk_ratio(50, 26, 50, 50)", []),
        ("It was 1.15.", "risk_ratio(30, 50, 26)", []),
        ("It was 1.15.", "hazard_ratio(30, 50, 26, 50)", []),
        ("It was 2.31.", "risk_ratio(30, 50, 26, 50) * 2", []),
    ],
)  # fmt: skip
def test_a_statistic_of_two_groups_gives_its_estimate_and_its_interval(
    text: str, shown: str, computed: list[str]
) -> None:
    made = computed_from(text, [shown], GROUPS, GROUPS)
    assert ([] if made.missing else list(made.rows)) == computed
    assert bool(made.missing) is not bool(computed)


def test_the_figures_of_a_statistic_are_those_of_another_sentence_too() -> None:
    made = computed_from("It was 1.15 (95% CI 0.81 to 1.64).", [], GROUPS, GROUPS, [RATIO])
    assert (made.rows, made.missing) == ((RATIO,), ())


@pytest.mark.parametrize(
    ("work", "missing"),
    [
        ("RR 0.54, 0.26 to 1.14", ()),
        ("RR 0.54 (90% CI 0.26 to 1.14)", ("95%",)),
        ("RR 0.54 (95% CI 0.26 to 1.14)", ()),
    ],
)
def test_an_interval_has_the_usual_level_unless_a_work_names_another(
    work: str, missing: tuple[str, ...]
) -> None:
    text = "The pooled risk ratio was 0.54 (95% CI 0.26 to 1.14), 3.88 in all."
    made = computed_from(text, ["4.02 - 0.14"], [f"{work}, 4.02 and 0.14"], [f"{work}, 4.02 and 0.14"])
    assert made.missing == missing


def test_two_computations_of_equal_result_are_shown_for_two_texts_in_their_order() -> None:
    works = ["Falls: 50.5% against 38.9%. Fractures: 46.7% against 34.6%."]
    computations = Computations(["50.5 - 38.9", "46.7 - 34.6"], works, works)
    first = "Falls were about 12 points fewer."
    second = "Fractures were about 12 fewer."
    for text, shown in ((first, "50.5 - 38.9"), (second, "46.7 - 34.6"), (first, "50.5 - 38.9")):
        (row,) = computations.of(text, works).rows
        assert row.startswith(shown)


def test_each_step_of_totals_of_totals_is_followed_once() -> None:
    doubled = [f"{3 * 2**n} + {3 * 2**n}" for n in range(40)]
    work = ["There were 3 people."]
    rows = Computations(doubled, work, work).of(f"There were {3 * 2**40} in all.", work).rows
    assert rows[0] == "3 + 3 = 6"
    assert len(rows) == len(doubled)


def test_a_comma_within_a_number_of_a_statistic_parts_no_numbers() -> None:
    works = ("Events were seen in 300 of 1,000 people and in 260 of 1,000 others.",)
    row = "risk_ratio(300, 1,000, 260, 1,000)"
    made = computed_from("It was 1.15 (1.00 to 1.33).", [row], works, works)
    assert made.rows == ("risk_ratio(300, 1000, 260, 1000) = 1.15 (1.00 to 1.33)",)


def test_a_small_statistic_is_shown_with_the_decimals_of_its_sentence() -> None:
    works = ("1 of 5000 had it, and 250 of 5000 of the others.",)
    text = "The risk ratio was 0.004 (0.001 to 0.028)."
    made = computed_from(text, ["risk_ratio(1, 5000, 250, 5000)"], works, works)
    assert (made.rows, made.missing) == (("risk_ratio(1, 5000, 250, 5000) = 0.004 (0.001 to 0.028)",), ())


def test_a_step_is_the_computation_with_numbers_of_what_it_is_a_step_of() -> None:
    works = ("The repair cost 660 plus VAT at 20%; 198 was charged and 66 is due.",)
    made = computed_from("It is 792.", ["198 - 66", "660 * 20 / 100", "660 + 132"], works, works)
    assert made.rows == ("660 * 20 / 100 = 132", "660 + 132 = 792")


@pytest.mark.parametrize(
    "text", ["It is served on 17 August.", "It is served on August 17.", "Am 17. August gilt es."]
)
def test_a_day_follows_from_no_amount(text: str) -> None:
    works = ["It came on 14 August 2026, for 3 days, and cost 9.93, 0.33 and 7.10 pounds."]
    amount, day = "9.93 + 0.33 + 7.10", "2026-08-14 + 3"
    made = Computations([amount], works, works).of(text, works)
    assert (made.rows, len(made.missing)) == ((), 1)
    assert Computations([amount, day], works, works).of(text, works).rows == (f"{day} = 2026-08-17",)
    assert Computations([amount], works, works).of("It is 17 pounds.", works).rows == (f"{amount} = 17",)


@pytest.mark.parametrize(
    ("expression", "text", "stands"),
    [
        ("9.93 + 7.10 + 0.00", "17.03 pounds", True),
        ("0 - 7.10 + 9.93", "2.83 pounds", True),
        ("9.93 * 0 + 12.5", "12.5 pounds", False),
    ],
)
def test_a_line_of_nothing_may_stand_in_a_sum(expression: str, text: str, stands: bool) -> None:
    works = ["It cost 9.93 and 7.10 pounds."]
    made = Computations([expression], works, works).of(f"It is {text}.", works)
    assert bool(made.rows) is stands


@pytest.mark.parametrize(
    ("said", "added", "stands"),
    [
        ("It will be a week later.", "7", True),
        ("It will be three weeks later.", "21", True),
        ("Two weeks later it is ready.", "14", True),
        ("There are 14 rooms.", "14", False),
    ],
)
def test_weeks_of_a_work_may_be_added_to_a_day(said: str, added: str, stands: bool) -> None:
    works = [f"It is due on 22 May 2026. {said}"]
    day = date(2026, 5, 22) + timedelta(int(added))
    text = f"It is due on {day.day} {day:%B %Y}."
    assert bool(Computations([f"2026-05-22 + {added}"], works, works).of(text, works).rows) is stands


def test_the_first_day_of_a_span_follows_as_the_last_does() -> None:
    works = ["It came on 17 August 2026, with 7 days to pay, and ran to 31 August 2026."]
    made = Computations(["2026-08-17 + 7 + 1"], works, works)
    assert made.of("Storage ran from 25 to 31 August.", works).missing == ()
