"""Figures of abstracts as they are written become effects; what no sentence has does not."""

import pytest

from activities.analysis.figures import read_effect
from activities.contracts.effects import Arms, Effect


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
    made = read_effect(
        {"total": "60", "control_total": "58", "p": "0.03"}, [quote], "a", "pain", clustered=False
    )
    assert (made.effect, made.people, made.p) == (None, 118, "0.03")


def test_means_without_the_size_of_a_group_give_no_difference() -> None:
    stay = "The hospital stay of 108 patients was 12 +/- 2 days after it and 16 +/- 3 days without."
    figures = {"mean": "12", "sd": "2", "control_mean": "16", "control_sd": "3", "n": "108"}
    assert read_effect(figures, [stay], "x", "stay", clustered=False).effect is None
    sized = f"{stay} Of the 108, 50 had it."
    effect = read_effect(
        {**figures, "total": "50"}, [sized], "x", "stay", clustered=False, natural=True
    ).effect
    assert effect is not None
    assert (effect.measure, effect.estimate) == ("MD", -4)


def test_percentages_give_events_and_one_total_gives_halves() -> None:
    quote = "We randomised 120 adults. Mortality was 12.5% with placebo and 5% with the drug."
    figures = {"percent": "5", "control_percent": "12.5", "n": "120"}
    made = read_effect(figures, [quote], "a", "death", clustered=False)
    assert made.effect is not None
    assert made.effect.arms == Arms(events=3, total=60, control_events=8, control_total=60)
    assert (made.halves, made.from_shares) == (True, True)
    assert read_effect({**figures, "n": "130"}, [quote], "a", "death", clustered=False).effect is None


def test_numbers_that_contradict_each_other_are_no_effect() -> None:
    quote = "40 of 400 against 80 of 400 died (risk ratio 1.90, 95% CI 1.40 to 2.58)."
    figures = {"events": "40", "total": "400", "control_events": "80", "control_total": "400"}
    figures |= {"measure": "RR", "estimate": "1.90", "low": "1.40", "high": "2.58"}
    assert effect(quote, figures) is not None, "the estimate may be that of the comparator"
    quote = quote.replace("1.90", "0.90").replace("1.40", "0.80").replace("2.58", "1.01")
    figures |= {"estimate": "0.90", "low": "0.80", "high": "1.01"}
    assert effect(quote, figures) is None
