"""Who was studied, what was compared, measured and found: words of the text with their sentence."""

import time

import pytest

from activities.text.study_facts import (
    analysed,
    comparison,
    design,
    effects,
    outcome,
    participants,
    population,
    read_facts,
)
from activities.types import Evidence, EvidenceType


def work(text: str, kind: EvidenceType = "article") -> Evidence:
    return Evidence(evidence_id="pmid:1", source="library", title="A work", text=text, evidence_type=kind)


TRIAL = work(
    "BACKGROUND: Patients with heart failure are many. METHODS: Between 2009 and 2014, 751 patients with "
    "hip fractures were randomly assigned to early surgery or usual care for two weeks. The primary outcome "
    "was death within 90 days. RESULTS: Mortality was lower with early surgery (hazard ratio 0.68; 95% CI "
    "0.48-0.97). Patients with dementia died more often. CONCLUSIONS: Early surgery lowered mortality."
)


def test_the_people_are_those_that_the_methods_count() -> None:
    found = population(TRIAL)
    assert found is not None
    assert found.text == "751 patients with hip fractures"
    assert found.text in found.place


def test_arms_outcome_and_effects_are_read_with_their_place() -> None:
    arms, measured, (effect,) = comparison(TRIAL), outcome(TRIAL), effects(TRIAL)
    assert arms is not None
    assert measured is not None
    assert arms.text == "early surgery or usual care"
    assert measured.text == "death within 90 days"
    assert effect.text == "hazard ratio 0.68; 95% CI 0.48-0.97"
    for fact in (arms, measured, effect):
        assert fact.text in fact.place
        assert fact.place in " ".join(TRIAL.text.split())


@pytest.mark.parametrize(
    ("text", "compared"),
    [
        ("AIM: We investigated the role of MRI versus arthroscopy in the knee.", "MRI versus arthroscopy"),
        ("AIM: To compare open with laparoscopic surgery.", "open with laparoscopic surgery"),
        ("METHODS: We compared 22 patients with a leak.", None),
        (
            "METHODS: Scores were compared between obese (BMI above 30) and non-obese mothers.",
            "obese (BMI above 30) and non-obese mothers",
        ),
        (
            "METHODS: Populations with and without access to a hospital were studied.",
            "Populations with and without access",
        ),
        ("RESULTS: Median survival was 34.7 months versus 11.6 months.", None),
    ],
)
def test_what_was_compared_is_left_out_where_it_is_not_certain(text: str, compared: str | None) -> None:
    found = comparison(work(text))
    assert (found.text if found else None) == compared


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (
            "RESULTS: The risk of a fracture rose with age (OR 3.53, 95% CI 1.59-7.86).",
            ("OR 3.53, 95% CI 1.59-7.86",),
        ),
        (
            "RESULTS: Survival after five years of treatment was 70% (95% CI 53-83%).",
            ("70% (95% CI 53-83%)",),
        ),
        ("RESULTS: The mean was 2.70 (SD 0.3), with p < 0.05.", ("p < 0.05",)),
        ("RESULTS: The mean was 2.70 (SD 0.3) in all of the groups.", ()),
        (
            "RESULTS: The stay was longer in group A (7.6 vs. 6.2 days, p: 0.04).",
            ("7.6 vs. 6.2 days, p: 0.04",),
        ),
        ("RESULTS: Scores correlated with age (r = 0.55, p<0.001).", ("r = 0.55, p<0.001",)),
        ("RESULTS: Deaths were fewer (rate ratio 1.86; 1.6 to 2.2).", ("rate ratio 1.86; 1.6 to 2.2",)),
        (
            "RESULTS: Scores rose by 15.6 points (difference, 9.3 points; 95% CI, 6.3 to 12.2).",
            ("difference, 9.3 points; 95% CI, 6.3 to 12.2",),
        ),
        ("RESULTS: Part 3 scores worsened more than with placebo at 1 month (P<0.01).", ("(P<0.01)",)),
        (
            "RESULTS: The time was 56 months in those under 30 years of age compared to 82 months.",
            (),
        ),
        (
            "RESULTS: It rose by 1.52 points compared with placebo (95% CI -0.77 to 3.80; futility P=.006).",
            ("1.52 points compared with placebo (95% CI -0.77 to 3.80; futility P=.006)",),
        ),
        ("BACKGROUND: Earlier work found OR 3.53, 95% CI 1.59-7.86.", ()),
        (
            "RESULTS: It was 2.16 (95% confidence interval 1.11-4.22) in men.",
            ("2.16 (95% confidence interval 1.11-4.22)",),
        ),
    ],
)
def test_effects_are_those_with_an_interval_in_the_results(text: str, numbers: tuple[str, ...]) -> None:
    assert tuple(fact.text for fact in effects(work(text))) == numbers


def test_a_review_and_a_label_have_no_people_of_their_own() -> None:
    for kind in ("review", "drug_label", "database_record"):
        item = TRIAL.model_copy(update={"evidence_type": kind})
        assert (population(item), comparison(item), outcome(item)) == (None, None, None)
    assert effects(TRIAL.model_copy(update={"evidence_type": "drug_label"})) == ()


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("METHODS: Three hundred fifty-three consecutive patients had a scan in our unit.", "353"),
        ("PARTICIPANTS: Patients (N=44) with idiopathic disease.", "44"),
        ("METHODS: We followed 4793 men and 4313 women for ten years.", "9106"),
        ("METHODS: People undergoing 1 of 8 major operations were studied.", None),
        ("METHODS: In 1994 patients were asked about their diet.", None),
        ("METHODS: A course of 12 weeks was given to everyone.", None),
    ],
)
def test_participants_are_counted_in_digits_or_words(text: str, n: str | None) -> None:
    found = participants(work(text))
    assert (found.text if found else None) == n


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("METHODS: A retrospective cohort study of 40 patients was done.", "retrospective cohort study"),
        ("METHODS: Patients were randomly assigned to one of two diets.", "randomly assigned"),
        ("METHODS: A randomly selected sample was asked.", None),
        ("CONCLUSIONS: A large randomized trial is needed to confirm it.", None),
    ],
)
def test_a_design_is_the_works_own_word_for_it(text: str, named: str | None) -> None:
    found = design(work(text))
    assert (found.text if found else None) == named


@pytest.mark.parametrize(
    ("title", "measured"),
    [
        ("Does bone anchor fixation improve urinary continence in women?", "urinary continence"),
        ("Effect of exercise on blood pressure in adults", "blood pressure"),
    ],
)
def test_a_title_says_what_was_measured(title: str, measured: str) -> None:
    found = outcome(work("METHODS: A questionnaire was sent.").model_copy(update={"title": title}))
    assert found is not None
    assert (found.text, found.place) == (measured, title)


@pytest.mark.parametrize("part", ["METHODS: ", "RESULTS: "])
@pytest.mark.parametrize(
    "unit",
    ["a ", "1 ", "7.6 days ", "1 a vs ", "12 patients with ", "compare a b ", "one hundred and ", "a (b) "],
)
def test_no_text_takes_long_to_read(part: str, unit: str) -> None:
    item = work(part + unit * (12_000 // len(unit)))
    started = time.process_time()
    read_facts(item)
    assert time.process_time() - started < 10.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Answers were compared between obese (BMI 30) and non-obese mothers.",
            "obese (BMI 30) and non-obese mothers",
        ),
        ("Outcome was analysed by the presence or absence of a stoma.", "presence or absence of a stoma"),
        (
            "The training group had 18 athletes, whereas the control group had 21.",
            "training group had 18 athletes, whereas the control group",
        ),
    ],
)
def test_a_comparison_is_known_by_its_form(text: str, expected: str) -> None:
    item = Evidence(
        evidence_id="pmid:1",
        source="pubmed",
        title="Feeding",
        text=f"METHODS: {text}",
        evidence_type="article",
    )
    found = comparison(item)
    assert found is not None
    assert found.text == expected


def test_people_are_counted_before_procedures_and_years_are_no_people() -> None:
    text = "METHODS: 43 procedures were performed on 37 women. 2004 were analysed."
    item = Evidence(
        evidence_id="pmid:1", source="pubmed", title="Surgery", text=text, evidence_type="article"
    )
    said = participants(item)
    assert said is not None
    assert said.text == "37"
    assert analysed(item) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We studied disability among people aged sixty-five and older.", "people aged sixty-five and older"),
        ("Lesions of 40 patients with tumours larger than 7 cm were seen.", "40 patients with tumours"),
        ("156 patients with gout diagnosed less than 3 years earlier were seen.", "156 patients with gout"),
        ("We took 2,790 patients with gout and 11,160 controls.", "2,790 patients with gout"),
        ("One thousand two patients with gout were seen.", "One thousand two patients with gout"),
    ],
)
def test_a_population_begins_and_ends_with_its_own_words(text: str, expected: str) -> None:
    found = population(work(f"METHODS: {text}"))
    assert found is not None
    assert found.text == expected


@pytest.mark.parametrize(
    ("said", "who"),
    [
        ("We studied 126 men with rectal cancer threatening.", "126 men with rectal cancer"),
        ("We studied 40 children with stuttering.", "40 children with stuttering"),
    ],
)
def test_a_verb_whose_object_is_cut_off_is_no_part_of_a_population(said: str, who: str) -> None:
    found = population(work(f"METHODS: {said} RESULTS: Pain was lower after surgery (p<0.01)."))
    assert found is not None
    assert found.text == who


def test_how_something_changed_is_no_part_of_the_outcome() -> None:
    found = outcome(
        work("OBJECTIVE: To determine whether etoricoxib reduces heterotopic ossification effectively.")
    )
    assert found is None or not found.text.endswith("effectively")


def test_a_verb_ends_what_was_measured_and_what_points_back_is_no_outcome() -> None:
    pads = work("OBJECTIVE: Interventions to prevent hip fracture have documented poor compliance.")
    found = outcome(pads)
    assert found is not None
    assert found.text == "hip fracture"
    followed = "METHODS: Twelve people were followed. Of these, five were assessed by radiographs."
    assert outcome(work(followed)) is None
