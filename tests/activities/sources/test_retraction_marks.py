"""A retracted work is known by each way in which publishers mark one; a notice is never a work."""

import pytest

from activities.contracts.evidence import Evidence
from activities.retractions.wording import notice_kind
from activities.sources.retraction_marks import read_marks

FINDING = "Forty patients took the drug for a year. Their pain was lower than that of the controls."


def work(title: str = "Effects of a drug on pain", text: str = FINDING, **fields: object) -> Evidence:
    return Evidence.model_validate(
        {"evidence_id": "pmid:1", "source": "library", "title": title, "text": text, **fields}
    )


@pytest.mark.parametrize(
    "title",
    [
        "RETRACTED: Effects of a drug on pain",
        "RETRACTED ARTICLE: Effects of a drug on pain",
        "Retracted article: Effects of a drug on pain",
        "Retracted Article. Effects of a drug on pain",
        "RETRACTED ARTICLE Effects of a drug on pain",
        "[Retracted] Effects of a drug on pain",
        "[RETRACTED ARTICLE] Effects of a drug on pain",
        "(Retracted) Effects of a drug on pain",
        "*RETRACTED* Effects of a drug on pain",
        "Retracted \u2014 Effects of a drug on pain",
        "RETRACTED CHAPTER: Effects of a drug on pain",
        "Effects of a drug on pain (Retracted)",
        "Effects of a drug on pain [RETRACTED]",
        "Effects of a drug on pain (Retracted article. See vol. 12, pg. 34, 2012)",
        "Effects of a drug on pain - RETRACTED",
        "Effects of a drug on pain: RETRACTED ARTICLE",
        'This article has been retracted: "Effects of a drug on pain"',
        "WITHDRAWN: Effects of a drug on pain",
        "Withdrawn: Effects of a drug on pain",
        "REMOVED: Effects of a drug on pain",
        "TEMPORARY REMOVAL: Effects of a drug on pain",
    ],
)
def test_a_title_that_says_so_marks_a_retracted_work(title: str) -> None:
    found = read_marks(work(title))
    assert found is not None
    assert found.standing == "retracted"
    assert found.notices[0].reported_by == "library (title)"


@pytest.mark.parametrize("name", ["Retracted Publication", "retracted article", "Withdrawn Publication"])
def test_a_publication_type_marks_a_retracted_work(name: str) -> None:
    found = read_marks(work(), types=["Journal Article", name])
    assert found is not None
    assert found.standing == "retracted"
    assert found.notices[0].reported_by == "library (publication type)"


@pytest.mark.parametrize(
    "first",
    [
        "This article has been retracted.",
        "This article has been retracted at the request of the Editor-in-Chief.",
        "This article was withdrawn at the request of the authors.",
        "This paper has been formally retracted by the publisher because of overlap.",
        "The following article has been retracted.",
        "The above article, published online on 3 May 2012, has been retracted by agreement of all.",
        "This study has been retracted.",
        "This article has been removed: please see the policy on article withdrawal.",
        "The publisher regrets that this article has been temporarily removed.",
        "At the request of the authors, the following article has been retracted.",
        "RETRACTED ARTICLE",
        "RETRACTED:",
        "Retracted:",
    ],
)
def test_a_first_sentence_that_says_so_marks_a_retracted_work(first: str) -> None:
    found = read_marks(work(text=f"{first} {FINDING}"))
    assert found is not None
    assert found.standing == "retracted"
    assert found.notices[0].reported_by == "library (text)"


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Retraction of the foreskin in boys", FINDING),
        ("Retraction pockets of the eardrum", FINDING),
        ("Retracted articles in surgery journals: what are surgeons doing wrong?", FINDING),
        ("Citations of retracted papers: a cohort study", FINDING),
        ("Correction of hyponatremia in heart failure", FINDING),
        ("Correction to normal of serum sodium", FINDING),
        ("Withdrawn patients in trials of a drug", FINDING),
        ("Removed teeth and pain", FINDING),
        ("Withdrawal of treatment in intensive care", FINDING),
        ("Effects of a drug on pain", "In this study, five patients were withdrawn. " + FINDING),
        ("Effects of a drug on pain", "This study was withdrawn before enrolment of patients."),
        ("Effects of a drug on pain", FINDING + " A study by others has been retracted."),
        ("Effects of a drug on pain", "Many papers on this drug have been retracted. " + FINDING),
    ],
)
def test_a_work_about_such_things_is_not_marked(title: str, text: str) -> None:
    assert read_marks(work(title, text)) == work(title, text)


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("Retraction notice to: Effects of a drug on pain", "retraction notice"),
        ("Retraction Note: Effects of a drug on pain", "retraction notice"),
        ("Retraction: Effects of a drug on pain", "retraction notice"),
        ('Retraction of "Effects of a drug on pain"', "retraction notice"),
        ("Notice of retraction: Effects of a drug on pain", "retraction notice"),
        ("Statement of Retraction: Effects of a drug on pain", "retraction notice"),
        ("Retraction", "retraction notice"),
        ("Withdrawal notice: Effects of a drug on pain", "retraction notice"),
        ("Expression of concern: Effects of a drug on pain", "expression of concern"),
        ("Editorial Expression of Concern on a drug", "expression of concern"),
        ("Erratum", "correction notice"),
        ("Erratum to: Effects of a drug on pain", "correction notice"),
        ("Erratum for Smith et al., Effects of a drug on pain", "correction notice"),
        ("Corrigendum to Effects of a drug on pain", "correction notice"),
        ("Corrigendum: Effects of a drug on pain", "correction notice"),
        ("Author Correction: Effects of a drug on pain", "correction notice"),
        ("Publisher Correction: Effects of a drug on pain", "correction notice"),
        ("Correction to: Effects of a drug on pain", "correction notice"),
        ("Correction: Effects of a drug on pain", "correction notice"),
        ("Correction", "correction notice"),
    ],
)
def test_a_notice_is_known_by_its_title_and_left_out(title: str, kind: str) -> None:
    assert notice_kind(title, "") == kind
    assert read_marks(work(title)) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[This retracts the article DOI: 10.1155/2022/9172719.].", "retraction notice"),
        ("[This corrects the article DOI: 10.1371/journal.pone.0123456.].", "correction notice"),
        ("This corrects the article on page 12.", "correction notice"),
    ],
)
def test_a_notice_is_known_by_its_first_sentence(text: str, kind: str) -> None:
    assert notice_kind("Effects of a drug on pain", text) == kind
    assert read_marks(work(text=text)) is None


@pytest.mark.parametrize("name", ["Retraction of Publication", "Published Erratum", "Expression of Concern"])
def test_a_notice_is_known_by_its_publication_type(name: str) -> None:
    assert read_marks(work(), types=[name]) is None


def test_a_notice_that_its_source_names_is_left_out() -> None:
    assert read_marks(work(facts={"notice": "correction notice"})) is None


def test_what_a_source_knows_is_never_made_milder() -> None:
    assert read_marks(work(standing="retracted")) == work(standing="retracted")
    found = read_marks(work("RETRACTED: Effects of a drug on pain", standing="corrected"))
    assert found is not None
    assert found.standing == "retracted"
