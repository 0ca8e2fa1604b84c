"""A list names each thing once, whole, and only what is of the kind asked for."""

import pytest

from activities.text.answer_phrases import noun_phrases
from activities.text.answer_reader import Passage
from activities.text.answers import answers


def named(question: str, *texts: str, works: tuple[str, ...] = ()) -> list[str]:
    passages = [Passage(f"w:{number}", text) for number, text in enumerate(texts)]
    return [found.name.casefold() for found in answers(question, passages, works)]


def test_a_part_of_a_longer_answer_is_not_named_beside_it() -> None:
    said = "Features of Smith triad include cervical emphysema, severe chest pain and vomiting."
    assert sorted(named("What are features of the Smith triad?", said, said)) == [
        "cervical emphysema",
        "severe chest pain",
        "vomiting",
    ]


def test_two_forms_of_one_wording_are_one_answer() -> None:
    found = named(
        "What are the hallmarks of quiescence?",
        "The hallmarks of quiescence include evasion of growth suppressors, lower metabolism and small size.",
        "The hallmarks of quiescence include evading growth suppressors, lower metabolism and small size.",
    )
    assert sum("growth suppressors" in name for name in found) == 1


def test_what_is_done_is_named_by_its_gerund() -> None:
    found = named(
        "What are the steps of ribosome maturation?",
        "Methylation, splicing and cleavage are steps of ribosome maturation.",
        "RNA splicing is a key step of ribosome maturation.",
    )
    assert any("splicing" in name for name in found)


@pytest.mark.parametrize(
    ("text", "phrase", "is_one"),
    [
        ("RNA splicing is a step.", "RNA splicing", True),
        ("Cells were splicing.", "splicing", False),
        ("Growth stops by removing introns.", "removing introns", False),
    ],
)
def test_a_participle_of_a_verb_names_nothing(text: str, phrase: str, is_one: bool) -> None:
    assert (phrase in [name for name, _ in noun_phrases(text)]) == is_one


def test_who_described_a_kind_is_none_of_its_things() -> None:
    found = named(
        "What are the hallmarks of quiescence?",
        "The hallmarks of quiescence described by Miller and Tanaka are widely cited.",
        "The hallmarks of quiescence include low metabolism, small size and slow division.",
    )
    assert "miller" not in found
    assert "tanaka" not in found


def test_a_number_with_what_it_counts_is_no_member_of_a_list() -> None:
    found = named(
        "What are features of the Smith triad?",
        "Features of the Smith triad include 70 years of age, vomiting and severe chest pain.",
    )
    assert not any(name[0].isdigit() for name in found)


def test_diseases_come_before_symptoms_where_diseases_are_asked_for() -> None:
    found = named(
        "Plasma exchange is used for which diseases?",
        "Plasma exchange is used for relapses and for myasthenia gravis and multiple sclerosis.",
    )
    assert found[-1:] != ["myasthenia gravis"]
    assert "relapses" not in found[:2]


def test_the_initials_of_what_is_asked_about_name_it() -> None:
    said = "LS is inherited by autosomal recessive and maternal transmission."
    assert "autosomal recessive" in named("How is Leigh syndrome inherited?", said)


def test_an_abbreviation_is_given_with_what_the_work_says_it_stands_for() -> None:
    work = "Bruton tyrosine kinase (BTK) is found in B cells. Smithinib is a BTK inhibitor and blocks BTK."
    found = named(
        "What does smithinib inhibit?", "Smithinib is a BTK inhibitor and blocks BTK.", works=(work,)
    )
    assert found[0].startswith("bruton tyrosine kinase")


def test_what_a_study_adjusted_for_is_no_answer() -> None:
    found = named(
        "List risk factors for asthma in children.",
        "After adjusting for risk factors including income and sleep, tobacco smoke was a risk factor for "
        "asthma in children.",
    )
    assert not {"income", "sleep"} & set(found)


def test_the_thing_asked_about_is_no_answer_however_it_is_described() -> None:
    found = named(
        "What are the adverse effects of letrozole in breast cancer?",
        "Adverse effects of letrozole in early breast cancer include arthralgia, myalgia and osteoporosis.",
        "Adverse effects after tamoxifen, in metastatic breast cancer, were arthralgia and myalgia.",
    )
    assert {"arthralgia", "myalgia", "osteoporosis"} <= set(found)
    assert not any("cancer" in name or "tamoxifen" in name for name in found)


def test_a_name_that_stands_for_the_kind_asked_for_leaves_out_the_rest() -> None:
    work = "Reactivation of herpes simplex virus type 1 (HSV-1) was assessed after stapedectomy."
    said = "Palsy after stapedectomy is caused by a reactivation of HSV-1 in the ganglion."
    found = named("Which virus causes palsy after stapedectomy?", said, works=(work,))
    assert found == ["herpes simplex virus type 1 (hsv-1)"]


def test_a_drug_is_named_without_its_class_its_form_or_what_it_was_compared_with() -> None:
    found = named(
        "Which drugs are used to treat Parkinson's disease?",
        "Isradipine, a calcium channel blocker, is used to treat Parkinson's disease.",
        "Treatment with immediate-release isradipine improved Parkinson's disease compared with levodopa.",
    )
    assert found == ["isradipine"]


def test_what_a_model_was_adjusted_for_and_words_of_every_day_are_no_drugs() -> None:
    found = named(
        "Which drugs are used to treat hypertension?",
        "Hypertension was treated with amlodipine, on three consecutive measurements or a disease-modifying"
        " plan, independently of age, sex and intake of furosemide.",
    )
    assert found == ["amlodipine"]


def test_the_question_s_own_abbreviation_is_no_answer() -> None:
    found = named(
        "What are common symptoms in female carriers of DMD?",
        "Common symptoms in female carriers of Duchenne muscular dystrophy (DMD) include muscle weakness.",
    )
    assert "duchenne muscular dystrophy" not in found
    assert "muscle weakness" in found


def test_the_abbreviation_of_a_substance_that_was_measured_is_no_drug() -> None:
    found = named(
        "Which drugs are used to treat heart disease?",
        "Amlodipine was used to treat heart disease.",
        "Levels of asymmetric dimethylarginine (ADMA), an inhibitor, predict treatment of heart disease.",
    )
    assert found == ["amlodipine"]
