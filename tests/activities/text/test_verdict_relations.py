"""A direction is read from every form in which a sentence states or denies what is asked."""

import pytest

from activities.text.verdict import verdict


def way(question: str, *findings: str, work: str = "") -> str | None:
    found = verdict(question, findings, work)
    return found.way if found else None


@pytest.mark.parametrize(
    ("question", "finding"),
    [
        ("Do mutations in ABC1 cause Smith syndrome?", "Smith syndrome is caused by mutations in ABC1."),
        ("Can zinc deficiency cause stunting?", "Stunting due to zinc deficiency is common in infants."),
        ("Does ABC1 regulate chromatin looping?", "Chromatin looping is regulated by ABC1."),
        ("Does ABC1 regulate chromatin looping?", "Regulation of chromatin looping by ABC1 was seen."),
        ("Is Smith disease a vasculitis?", "Smith disease, an acute vasculitis, begins in childhood."),
        ("Is ABC1 a kinase?", "The serine kinase ABC1 is found in skin."),
        ("Is autophagy involved in gout?", "Autophagy plays a role in gout."),
        ("Can alopecia occur after fluoxetine?", "A girl developed alopecia after fluoxetine."),
        ("Is cardiac toxicity a side effect of zinc?", "Zinc causes cardiac toxicity at high doses."),
        ("Is zinc effective for gout?", "Zinc met its primary endpoint in gout."),
        ("Is zinc effective for gout?", "Zinc demonstrated efficacy in gout."),
        ("Are microRNAs present in saliva?", "MicroRNAs have been detected in saliva."),
        ("Can influenza cause anosmia?", "Anosmia is a common symptom of influenza."),
        (
            "Is zinc effective for treatment of depression?",
            "Zinc was superior to rest in major depressive disorder.",
        ),
        ("Can zinc be used for treatment of gout?", "Zinc was approved for the treatment of gout."),
    ],
)
def test_a_relation_is_affirmed_in_any_syntax(question: str, finding: str) -> None:
    assert way(question, finding) == "yes"


@pytest.mark.parametrize(
    "finding",
    [
        "Zinc and gout were measured in 300 adults.",
        "We examined whether gout is caused by zinc.",
        "Many people fear that gout is caused by zinc.",
    ],
)
def test_a_relation_that_is_only_named_is_not_affirmed(finding: str) -> None:
    assert way("Is gout caused by zinc?", finding) is None


@pytest.mark.parametrize(
    ("question", "finding"),
    [
        ("Is zinc effective for gout?", "Zinc failed to meet its primary endpoint in patients with gout."),
        ("Is zinc effective for gout?", "The trial of zinc in gout was stopped for futility."),
        ("Is zinc effective for gout?", "In gout, zinc was no better than placebo."),
        ("Is zinc effective for gout?", "Zinc was safe and well tolerated, but did not improve gout."),
        ("Is zinc effective for gout?", "Zinc did not demonstrate efficacy in gout."),
        ("Is zinc effective for gout?", "The efficacy of zinc in gout was not shown."),
        ("Is zinc effective for gout?", "Trials of zinc in gout were negative."),
        ("Is there any treatment for gout?", "No effective therapies are available for gout."),
        ("Is there any treatment for gout?", "There is currently no treatment for gout."),
        ("Is there a vaccine for gout?", "A vaccine for gout is not available."),
        ("Is gout caused by zinc?", "The claim that gout is caused by zinc has been refuted."),
        ("Is a scout image of the bladder necessary?", "A scout image of the bladder should be omitted."),
        ("Should zinc be monitored in gout?", "Monitoring of zinc in gout does not seem warranted."),
        ("Are all kinases active?", "Several kinases are inactive."),
        ("Are enhancers always transcribed?", "Not all enhancers are transcribed."),
        ("Is zinc approved for gout in Europe?", "Approval of zinc for gout was not granted in Europe."),
    ],
)
def test_a_denial_is_read_by_what_was_asked(question: str, finding: str) -> None:
    assert way(question, finding) == "no"


@pytest.mark.parametrize(
    ("question", "finding"),
    [
        ("Is zinc approved by the agency?", "Zinc is awaiting approval by the agency."),
        ("Is Smith disease an infectious disease?", "Smith disease is a noninfectious disease of the skin."),
        ("Is zinc a kinase inhibitor?", "The data raise the possibility of zinc as a kinase inhibitor."),
    ],
)
def test_what_is_awaited_contrary_or_merely_possible_affirms_nothing(question: str, finding: str) -> None:
    assert way(question, finding) != "yes"


def test_what_should_not_be_withheld_is_not_denied() -> None:
    assert (
        way("Should surgery of gout be offered?", "We should not hesitate to offer surgery of gout.") != "no"
    )


def test_a_statement_on_some_affirms_nothing_about_all() -> None:
    assert way("Are all kinases active?", "The kinase ABC1 is active.") is None


def test_whom_a_group_was_compared_with_denies_nothing() -> None:
    said = "Smokers with gout had worse survival than those who had not received zinc."
    assert way("Does smoking affect survival in gout?", said) == "yes"


def test_an_abbreviation_that_the_work_defines_names_what_is_asked() -> None:
    work = "Keyhole adrenal surgery (KAS) for large tumours of the adrenal gland was studied. KAS was safe."
    said = "KAS is a safe and effective technique for large tumours."
    assert way("Is keyhole adrenal surgery safe for large tumours?", said, work=work) == "yes"


def test_something_said_of_not_all_denies_a_question_for_all() -> None:
    asked = "Is group therapy suitable for all people with tinnitus?"
    said = "Group therapy helps with tinnitus, but not all people are willing to join."
    assert way(asked, said) == "no"
    assert way(asked, "Group therapy helps with tinnitus, but not all clinics pay for it.") is None


def test_something_beside_it_denies_that_it_is_the_only_one() -> None:
    asked = "Is quinine only effective in adults with malaria?"
    assert way(asked, "Quinine is effective in adults with malaria and also in children.") == "no"
    assert way(asked, "Quinine is effective in adults with malaria.") is None


def test_what_is_used_or_can_be_had_exists() -> None:
    asked = "Is there any treatment for onychophagia?"
    assert way(asked, "Habit reversal is used as a treatment for onychophagia, but takes long.") == "yes"
    assert way(asked, "A treatment for onychophagia is not available.") != "yes"
    assert way(asked, "Onychophagia calls for a plan of treatment.") is None
