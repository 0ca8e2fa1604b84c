"""Effects from cells, files and figures of abstracts: each number stands in its sentence."""

from pathlib import Path

import pytest

from activities.analysis.cells import effects_of
from activities.analysis.effects_file import parse_effects, read_effects
from activities.analysis.figures import read_effect
from activities.contracts.effects import Arms, Effect
from activities.contracts.errors import Refused
from activities.contracts.evidence import Support
from activities.contracts.judge import Cell, Table, TableRow

SENTENCE = (
    "All-cause death occurred in 49 of 1,615 patients given the drug and 67 of 1,624 given placebo "
    "(odds ratio 0\u00b772, 95% CI 0\u00b749\u20131\u00b706)."
)
TEXT = f"Background. {SENTENCE} Fever occurred in 12 patients of the drug group in this trial."
NAMES = {"pmid:1": "Smith 2020"}


def table(**cells: str | tuple[str, ...]) -> Table:
    """A row of a table; a cell is its text, or its text, its sentence and maybe the work of that."""
    made = {}
    for column, given in cells.items():
        text, quote, *work = given if isinstance(given, tuple) else (given, SENTENCE)
        made[column] = Cell(
            text=text, support=Support(evidence_id=work[0] if work else "pmid:1", quote=quote)
        )
    return Table(columns=tuple(cells), rows=(TableRow(evidence_id="pmid:1", cells=made),))


@pytest.mark.parametrize(
    ("estimate", "reason"),
    [
        ("0.27", "number_not_in_sentence"),
        ("-0.72", "number_not_in_sentence"),
        ("72", "number_not_in_sentence"),
        ("12", "number_not_in_sentence"),
        (("0.72", SENTENCE.replace("drug", "medicine")), "not_in_work"),
        (("12", "Fever occurred in 12 patients of the drug group in another trial."), "not_in_work"),
        ("lower", "not_a_number"),
        ("0.49 to 1.06", "not_a_number"),
        (("0.72", SENTENCE, "pmid:2"), "no_sentence"),
    ],
)
def test_a_cell_whose_number_is_not_in_its_sentence_is_left_out(
    estimate: str | tuple[str, ...], reason: str
) -> None:
    cells = table(outcome="all-cause death", measure="OR", estimate=estimate)
    effects, unread = effects_of(cells, {"pmid:1": TEXT}, NAMES)
    assert effects == ()
    assert [(one.column, one.reason) for one in unread] == [("estimate", reason)]


@pytest.mark.parametrize(
    ("sentence", "cell", "measure"),
    [
        ("The hazard ratio for death was 0.72.", "hazard ratio", "HR"),
        ("The hazard ratio for death was 0.72.", "HR", "HR"),
        ("The hazards ratio for death was 0.72.", "adjusted hazard ratio", "HR"),
        ("Death was rarer (aOR 0.72).", "aOR", "OR"),
        ("The relative risk of death was 0.72.", "Relative risk", "RR"),
        ("The standardised mean difference was 0.72.", "standardized mean difference", "SMD"),
        ("Death was rarer by a factor of 0.72.", "RR", "RR"),
        ("The odds ratio for death was 0.72.", "risk ratio", None),
        ("The odds ratio for death was 0.72.", "odds ratio or hazard ratio", None),
    ],
)
def test_a_measure_is_what_its_sentence_calls_it(sentence: str, cell: str, measure: str | None) -> None:
    fields = {"outcome": "death", "measure": cell, "estimate": "0.72"}
    cells = table(**{column: (text, sentence) for column, text in fields.items()})
    effects, _ = effects_of(cells, {"pmid:1": sentence}, NAMES)
    assert [effect.measure for effect in effects] == ([measure] if measure else [])


def test_effects_of_a_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "effects.csv"
    path.write_text(
        "study,outcome,measure,estimate,low,high,events,total,control_events,control_total\n"
        "A,death,rr,0.8,0.6,1.07,,,,\n"
        "\n"
        "B,death,RR,,,,5,50,9,50\n"
    )
    first, second = read_effects(path)
    assert (first.study, first.measure, first.estimate, first.arms) == ("A", "RR", 0.8, None)
    assert second.arms == Arms(events=5, total=50, control_events=9, control_total=50)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("study,measure\nA,RR\n", "no column outcome"),
        ("study,outcome,measure,p\nA,d,RR,1\n", "unknown column 'p'"),
        (
            "study,outcome,measure,estimate\nA,d,RR,0.5\nB,d,RR,half\n",
            "line 3: estimate: 'half' is not",
        ),
        ("study,outcome,measure,estimate\nA,d,RR,nan\n", "line 2: estimate"),
        ("study,outcome,measure\nA,d,beta\n", "line 2: measure: 'BETA' is not known. There are: HR"),
        ("study,outcome,measure,events\nA,d,RR,5\n", "line 2: events, total"),
        ("study,outcome,measure\n,d,RR\n", "line 2: study"),
        ("study,outcome,measure,estimate,low\nA,d,RR,0,8,0,7\n", "line 2: it has more values than columns"),
        ("study,outcome,measure,,\nA,d,RR,,,,\n,,,,,,\nB,d,,,,\n", "line 4: measure"),
        ("study;outcome;measure\nA;d;RR\n", "part them by commas"),
        ("study,outcome,measure\n", "no effects"),
        ("", "no column study"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(Refused, match=said):
        parse_effects(text, "effects.csv")


def test_an_effect_that_its_work_states_and_nobody_read_is_named() -> None:
    made = Table(columns=(), rows=(TableRow(evidence_id="pmid:1"), TableRow(evidence_id="pmid:2")))
    effects, unread = effects_of(made, {"pmid:1": TEXT, "pmid:2": "No number is stated."}, NAMES)
    assert effects == ()
    assert [(one.study, one.reason, one.quote) for one in unread] == [("Smith 2020", "not_read", SENTENCE)]


TWO = (
    "The drug was not associated with death (HR 0.98, 95% CI 0.90-1.07), and stroke was rarer "
    "(HR 0.72, 95% CI 0.60 to 0.86)."
)


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [(("0.98", "0.90", "1.07"), None), (("0.72", "0.60", "1.07"), "interval_elsewhere")],
)
def test_an_estimate_stands_beside_its_interval(numbers: tuple[str, str, str], reason: str | None) -> None:
    names = ("outcome", "measure", "estimate", "low", "high")
    cells = {name: (text, TWO) for name, text in zip(names, ("death", "HR", *numbers), strict=True)}
    made = table(**cells)
    effects, unread = effects_of(made, {"pmid:1": TWO}, NAMES)
    assert [one.reason for one in unread] == ([reason] if reason else [])
    assert len(effects) == (reason is None)


def effect(quote: str, figures: dict[str, str], *, clustered: bool = False) -> Effect | None:
    return read_effect(figures, [quote], "a", "death", clustered=clustered).effect


@pytest.mark.parametrize(
    ("quote", "figures", "arms"),
    [
        (
            "Death occurred in 1 234 of 12\u00a0500 with the drug and 1\u2009301 of 12 480 with placebo.",
            ("1 234", "12500", "1301", "12 480"),
            (1234, 12500, 1301, 12480),
        ),
        (
            "There was one case among 50 in group A and no case among 48 in B.",
            ("1", "50", "0", "48"),
            (1, 50, 0, 48),
        ),
        (
            "12 of 50 at low dose, 9 of 52 at high dose and 30 of 51 with placebo.",
            ("12 + 9", "50 + 52", "30", "51"),
            (21, 102, 30, 51),
        ),
    ],
)
def test_counts_as_abstracts_write_them(
    quote: str, figures: tuple[str, ...], arms: tuple[int, int, int, int]
) -> None:
    names = ("events", "total", "control_events", "control_total")
    made = effect(quote, dict(zip(names, figures, strict=True)))
    assert made is not None
    assert made.arms == Arms(**dict(zip(names, arms, strict=True)))


def test_a_sum_with_a_part_that_no_sentence_has_does_not_stand() -> None:
    quote = "12 of 50 at low dose, 9 of 52 at high dose and 30 of 51 with placebo."
    figures = {"events": "12 + 8", "total": "102", "control_events": "30", "control_total": "51"}
    made = read_effect(figures, [quote], "a", "death", clustered=False)
    assert made.effect is None
    assert set(made.missing) == {"events", "total"}


def test_a_percent_reduction_with_its_interval_is_a_ratio_below_one() -> None:
    quote = "Vaccine efficacy was 95.0% (95% CI, 90.3% to 97.6%) against the disease."
    made = effect(quote, {"measure": "reduction", "estimate": "95.0", "low": "90.3", "high": "97.6"})
    assert made is not None
    assert made.measure == "RR"
    assert [made.estimate, made.low, made.high] == pytest.approx([0.05, 0.024, 0.097])


def test_the_interval_of_a_clustered_trial_counts_before_its_events() -> None:
    quote = "40 of 400 against 80 of 400 died (adjusted odds ratio 0.55, 95% CI 0.28 to 1.08)."
    figures = {"events": "40", "total": "400", "control_events": "80", "control_total": "400"}
    figures |= {"measure": "OR", "estimate": "0.55", "low": "0.28", "high": "1.08"}
    made = effect(quote, figures, clustered=True)
    assert made is not None
    assert (made.measure, made.arms, made.high) == ("OR", None, 1.08)
    alone = {name: text for name, text in figures.items() if name not in ("estimate", "low", "high")}
    assert effect(quote, alone, clustered=True) is None, "its events are not independent"


def test_totals_without_events_and_a_p_value_are_read() -> None:
    quote = "Pain fell more in the 60 treated than in the 58 controls (P = 0.03)."
    figures = {"total": "60", "control_total": "58", "p": "0.03"}
    made = read_effect(figures, [quote], "a", "pain", clustered=False)
    assert (made.effect, made.people, made.p) == (None, 118, "0.03")


def test_means_without_the_size_of_a_group_give_no_difference() -> None:
    stay = "The hospital stay of 108 patients was 12 +/- 2 days after it and 16 +/- 3 days without."
    figures = {"mean": "12", "sd": "2", "control_mean": "16", "control_sd": "3", "n": "108"}
    assert effect(stay, figures) is None
    sized = [f"{stay} Of the 108, 50 had it."]
    made = read_effect({**figures, "total": "50"}, sized, "x", "stay", clustered=False, natural=True).effect
    assert made is not None
    assert (made.measure, made.estimate) == ("MD", -4)


def test_percentages_give_events_and_one_total_gives_halves() -> None:
    quote = "We randomised 120 adults. Mortality was 12.5% with placebo and 5% with the drug."
    figures = {"percent": "5", "control_percent": "12.5", "n": "120"}
    made = read_effect(figures, [quote], "a", "death", clustered=False)
    assert made.effect is not None
    assert made.effect.arms == Arms(events=3, total=60, control_events=8, control_total=60)
    assert read_effect({**figures, "n": "130"}, [quote], "a", "death", clustered=False).effect is None


def test_numbers_that_contradict_each_other_are_no_effect() -> None:
    quote = "40 of 400 against 80 of 400 died (risk ratio 1.90, 95% CI 1.40 to 2.58)."
    figures = {"events": "40", "total": "400", "control_events": "80", "control_total": "400"}
    figures |= {"measure": "RR", "estimate": "1.90", "low": "1.40", "high": "2.58"}
    assert effect(quote, figures) is not None, "the estimate may be that of the comparator"
    quote = quote.replace("1.90", "0.90").replace("1.40", "0.80").replace("2.58", "1.01")
    figures |= {"estimate": "0.90", "low": "0.80", "high": "1.01"}
    assert effect(quote, figures) is None
