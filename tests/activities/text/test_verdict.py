"""Which way a work answers a question: shown only where its wording leaves no doubt."""

import pytest

from activities.text.verdict import Verdict, verdict, weigh

QUESTION = "Does metformin slow cognitive decline in diabetes?"


def way(question: str, *findings: str) -> str | None:
    found = verdict(question, findings)
    return found.way if found else None


def test_a_plain_finding_is_shown_with_the_sentence_it_rests_on() -> None:
    said = "Metformin significantly reduced cognitive decline in adults with diabetes."
    found = verdict(QUESTION, ["Diabetes is common in old age.", said])
    assert found is not None
    assert (found.way, found.sentence) == ("yes", said)


@pytest.mark.parametrize(
    "finding",
    [
        "Metformin did not slow cognitive decline in diabetes.",
        "Metformin had no effect on cognitive decline in diabetes.",
        "We failed to find an association between metformin and cognitive decline in diabetes.",
    ],
)
def test_a_denial_is_a_no(finding: str) -> None:
    assert way(QUESTION, finding) == "no"


@pytest.mark.parametrize(
    "finding",
    [
        "There is little evidence that metformin reduces cognitive decline in diabetes.",
        "Metformin reduced cognitive decline in diabetes only in a small subset.",
        "Many physicians believe that metformin reduces cognitive decline in diabetes.",
        "The aim was to show that metformin reduces cognitive decline in diabetes.",
        "Although metformin reduced cognitive decline in diabetes, dementia was as frequent.",
        "Metformin reduced cognitive decline in diabetes; however, the trial was stopped.",
        "It remains unclear whether metformin reduces cognitive decline in diabetes.",
    ],
)
def test_weak_evidence_beliefs_aims_and_concessions_affirm_nothing(finding: str) -> None:
    assert way(QUESTION, finding) is None


def test_no_difference_is_read_by_what_the_question_asks() -> None:
    said = "No significant difference in survival was found between surgery and radiotherapy."
    assert way("Is radiotherapy as effective as surgery for survival?", said) == "yes"
    assert way("Does survival differ between surgery and radiotherapy?", said) == "no"


def test_a_harm_that_was_not_seen_denies_nothing_else() -> None:
    said = "Early surgery was safe and effective without complications in elderly patients."
    assert way("Is early surgery safe in elderly patients?", said) == "yes"


def test_a_sentence_on_something_else_decides_nothing() -> None:
    assert way(QUESTION, "Insulin improved the sight of adults with glaucoma.") is None


@pytest.mark.parametrize("question", ["What slows cognitive decline?", "Does metformin not slow decline?"])
def test_a_question_without_a_plain_yes_or_no_has_no_direction(question: str) -> None:
    assert way(question, "Metformin significantly reduced cognitive decline in diabetes.") is None


@pytest.mark.parametrize(
    ("question", "finding"),
    [
        (
            "Is a short course of rifampicin sufficient in bone tuberculosis?",
            "Bone tuberculosis can be managed by a short course of rifampicin without recurrence.",
        ),
        (
            "Are imprinting changes heritable?",
            "Imprinting changes are heritable alterations that occur in the absence of mutation.",
        ),
    ],
)
def test_a_denial_of_something_else_is_no_answer(question: str, finding: str) -> None:
    assert way(question, finding) != "no"


def test_a_verb_of_change_is_answered_by_any_word_for_the_change() -> None:
    said = "Early mobilisation significantly reduced the duration of delirium."
    assert way("Does early mobilisation shorten the duration of delirium?", said) == "yes"


def test_necessity_is_affirmed_by_necessity_only() -> None:
    question = "Do enhancers have to be close to promoters?"
    assert (
        way(question, "Enhancers are active near promoters and increase transcription close to them.") is None
    )


def test_a_conclusion_need_not_repeat_what_its_work_is_about() -> None:
    question = "Does nuchal thickness in the first trimester predict diabetes during pregnancy?"
    work = "Nuchal thickness of 200 women was measured in the first trimester of pregnancy for diabetes."
    said = "Nuchal thickness does not predict its onset."
    assert way(question, said) is None
    found = verdict(question, [said], f"{work} {said}")
    assert found is not None
    assert found.way == "no"


def test_findings_that_disagree_have_no_direction() -> None:
    yes = "Metformin significantly reduced cognitive decline in diabetes."
    no = "Metformin did not slow cognitive decline in adults with diabetes."
    assert weigh(QUESTION, [yes]) == Verdict("yes", yes)
    assert way(QUESTION, yes, no) != "yes"


@pytest.mark.parametrize(
    ("question", "finding", "expected"),
    [
        ("Are the criteria for sepsis adequate?", "The criteria for sepsis are inadequate.", "no"),
        ("Are the criteria for sepsis adequate?", "The criteria for sepsis are not inadequate.", None),
        ("Can dogs prime children for therapy?", "Dogs can prime children for therapy.", "yes"),
        ("Can dogs prime children for therapy?", "Dogs might prime children for therapy.", None),
        ("Is rucaparib a PARP inhibitor?", "Rucaparib is an oral PARP inhibitor.", "yes"),
        ("Is surgery better than rest?", "Surgery was not better than rest.", "no"),
        ("Are nasal prongs noisier than masks?", "Nasal prongs are not noisier than masks.", "no"),
    ],
)
def test_the_very_thing_that_is_asked_is_affirmed_or_denied_by_its_own_words(
    question: str, finding: str, expected: str
) -> None:
    assert way(question, finding) == expected


def test_a_denial_beside_the_finding_denies_nothing() -> None:
    said = (
        "Iron content did not differ between mice, suggesting that loss of oligodendrocytes is caused by "
        "impaired handling of iron in maturation."
    )
    assert way("Does iron regulate oligodendrocyte maturation?", said) != "no"


def test_less_of_a_harm_is_an_affirmation() -> None:
    said = "Surgery of the clavicle was associated with a lower rate of complications."
    assert way("Is surgery of the clavicle effective?", said) == "yes"


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("What slows cognitive decline?", "no yes-or-no question"),
        ("Does metformin not slow decline?", "the question denies"),
        ("Does insulin lower blood pressure?", "no sentence on the question"),
    ],
)
def test_why_there_is_no_direction_is_said(question: str, reason: str) -> None:
    assert weigh(question, ["Metformin slowed cognitive decline in diabetes."]) == reason


@pytest.mark.parametrize(
    ("finding", "way"),
    [
        ("We failed to find an association between obesity and asthma control in people with asthma.", None),
        ("We failed to find an association between obesity and asthma in school children.", "no"),
        ("Obesity was associated with asthma risk in school children.", "yes"),
    ],
)
def test_a_finding_on_a_part_of_what_is_asked_has_no_direction(finding: str, way: str | None) -> None:
    found = verdict("Is obesity linked to asthma?", [finding])
    assert (found.way if found else None) == way


@pytest.mark.parametrize(
    ("question", "finding"),
    [
        (
            "Is laparoscopy better than open surgery for appendicitis?",
            "Open surgery was cheaper and faster than laparoscopy for appendicitis.",
        ),
        (
            "Do probiotics prevent antibiotic-associated diarrhoea?",
            "The incidence of antibiotic-associated diarrhoea was the same with probiotics and placebo.",
        ),
        (
            "Should asymptomatic gallstones be removed?",
            "Expectant management of asymptomatic gallstones is recommended.",
        ),
        (
            "Is telephone follow-up as good as a clinic visit?",
            "Patients were less satisfied with telephone follow-up than with a clinic visit.",
        ),
        ("Can chest X-ray exclude pneumonia?", "A normal chest X-ray does not exclude pneumonia."),
        ("Is CT superior to ultrasound in appendicitis?", "Ultrasound was superior to CT in appendicitis."),
        (
            "Does education reduce readmission in heart failure?",
            "Education increased knowledge of heart failure.",
        ),
    ],
)
def test_what_speaks_for_the_other_side_is_no_yes(question: str, finding: str) -> None:
    assert way(question, finding) != "yes"


def test_a_numbered_name_at_the_end_of_a_question_is_not_what_it_asks() -> None:
    question = "Is retinopathy screening beneficial for people with diabetes type 2?"
    assert way(question, "Retinopathy screening was not beneficial in diabetes type 2.") == "no"


@pytest.mark.parametrize(
    ("question", "finding", "expected"),
    [
        (
            "Is age a barrier to cochlear implantation?",
            "In cochlear implantation age should not be regarded as a barrier.",
            "no",
        ),
        (
            "Is there a gender difference in outcome after stroke?",
            "Outcome after stroke did not differ by gender.",
            "no",
        ),
        (
            "Is CT superior to ultrasound in appendicitis?",
            "CT and ultrasound were equally accurate in appendicitis.",
            "no",
        ),
        (
            "Does smoking affect outcome of spinal fusion?",
            "Smokers had lower fusion rates and more pain after spinal fusion.",
            "yes",
        ),
    ],
)
def test_what_is_asked_decides_how_a_finding_is_read(question: str, finding: str, expected: str) -> None:
    assert way(question, finding) == expected


def test_a_change_of_something_else_decides_nothing() -> None:
    question = "Does education reduce readmission in heart failure?"
    assert way(question, "Education increased knowledge of heart failure.") is None


def test_a_denied_verb_denies_what_depends_on_it() -> None:
    asked = "Does the dose affect survival after radiotherapy?"
    said = (
        "After radiotherapy the dose does not seem to be a sufficiently important factor to affect survival."
    )
    assert way(asked, said) == "no"


def test_a_denied_verb_denies_nothing_of_the_next_clause() -> None:
    asked = "Does radiotherapy improve survival?"
    said = "Radiotherapy was not begun as early as planned in any of the centres and improved survival."
    assert way(asked, said) != "no"


@pytest.mark.parametrize("quality", ["undisturbed", "unaltered", "unimpaired"])
def test_what_remained_as_it_was_was_not_affected(quality: str) -> None:
    assert way("Does leakage affect continence?", f"Continence remained {quality} after leakage.") == "no"


def test_what_should_not_be_considered_as_a_thing_is_not_to_become_one() -> None:
    asked = "Can ferritin become a diagnostic marker of appendicitis?"
    said = "Ferritin should not be considered as a diagnostic marker of appendicitis."
    assert way(asked, said) == "no"


def test_what_supports_the_hypothesis_affirms_it_and_what_does_not_support_it_does_not() -> None:
    asked = "Does fever predispose recipients to immunization?"
    said = "support our hypothesis that fever of recipients may lead to immunization."
    assert way(asked, f"These data {said}") == "yes"
    assert way(asked, f"These data do not {said}") != "yes"


@pytest.mark.parametrize(
    "said",
    [
        "Metformin slowed not only cognitive decline in diabetes but also weight gain.",
        "Metformin slowed cognitive decline in diabetes while preserving weight.",
        "In small-vessel disease metformin slowed cognitive decline in diabetes.",
    ],
)
def test_an_addition_and_the_name_of_a_thing_restrict_nothing(said: str) -> None:
    assert weigh(QUESTION, [said], f"{QUESTION} {said}") == Verdict("yes", said)


@pytest.mark.parametrize(
    "asked",
    [
        "does metformin slow cognitive decline in diabetes",
        "Does metformin slow cognitive decline in diabetes.",
        "Metformin? Does metformin slow cognitive decline in diabetes?",
        "Metformin in diabetes: does it slow cognitive decline",
    ],
)
def test_a_question_is_read_with_and_without_its_question_mark(asked: str) -> None:
    said = "Metformin slowed cognitive decline in diabetes."
    assert way(asked, said) == "yes"
    assert way(asked, said.replace("slowed", "did not slow")) == "no"


def test_a_positive_effect_is_a_gain_and_an_effect_without_its_sign_is_none() -> None:
    asked = "Does physiotherapy improve tinnitus in adults with neck pain?"
    said = "Physiotherapy can have {} effect on tinnitus in adults with neck pain."
    assert way(asked, said.format("a positive")) == "yes"
    assert way(asked, said.format("an")) is None
    assert way(asked, said.format("a strong")) is None
    assert way(asked.replace("improve", "influence"), said.format("a strong")) == "yes"


@pytest.mark.parametrize("verb", ["increase", "reduce"])
@pytest.mark.parametrize("effect", ["had an impact on", "had a positive effect on", "significantly affected"])
def test_some_change_answers_no_question_for_a_rise_or_a_fall(verb: str, effect: str) -> None:
    said = f"Beta blockers {effect} mortality in heart failure."
    asked = f"Do beta blockers {verb} mortality in heart failure?"
    assert way(asked, said) is None
    assert weigh(asked, [said], f"{asked} Mortality was 4 and 15 % (p = 0.002). {said}") == "wording"


def test_what_has_not_yet_happened_weighs_no_two_sides() -> None:
    said = "In patients not yet on insulin metformin slowed cognitive decline in diabetes."
    assert weigh(QUESTION, [said], f"{QUESTION} {said}") != "weighs two sides"
    assert way(QUESTION, "Metformin slowed cognitive decline in diabetes, yet few took it.") is None


def test_a_conclusion_need_not_repeat_what_its_work_holds_of_half_of_the_question() -> None:
    asked = "Does metformin slow cognitive decline in diabetes after stroke and surgery?"
    said = "Cognitive decline was not slowed."
    assert weigh(asked, [said], f"Adults were given metformin. {said}") == Verdict("no", said)
    assert weigh(asked, [said], said) == "no sentence on the question"
