"""A retracted work is known by each way in which publishers mark one; a notice is never a work."""

import pytest

from activities.contracts.evidence import Evidence
from activities.retractions.wording import notice_kind
from activities.sources.publication import read_marks

TITLE = "Effects of a drug on pain"
FINDING = "Forty patients took the drug for a year. Their pain was lower than that of the controls."


def work(title: str = TITLE, text: str = FINDING, **fields: object) -> Evidence:
    return Evidence.model_validate(
        {"evidence_id": "pmid:1", "source": "library", "title": title, "text": text, **fields}
    )


def titles(written: str) -> list[str]:
    """Titles between bars, in which a star stands for that of the work."""
    return [one.strip().replace("*", TITLE) for one in written.split("|")]


MARKED = titles(
    "RETRACTED: * | RETRACTED ARTICLE: * | Retracted article: * | Retracted Article. * | RETRACTED ARTICLE *"
    "| [Retracted] * | [RETRACTED ARTICLE] * | (Retracted) * | Retracted \u2014 * | RETRACTED CHAPTER: *"
    "| * (Retracted) | * [RETRACTED] | * (Retracted article. See vol. 12, pg. 34, 2012) | * - RETRACTED"
    '| *: RETRACTED ARTICLE | This article has been retracted: "*" | WITHDRAWN: * | Withdrawn: * | REMOVED: *'
    "| TEMPORARY REMOVAL: *"
)
FIRST_SENTENCES = (
    "This article has been retracted.",
    "This article has been retracted at the request of the Editor-in-Chief.",
    "This article was withdrawn at the request of the authors.",
    "This paper has been formally retracted by the publisher because of overlap.",
    "The above article, published online on 3 May 2012, has been retracted by agreement of all.",
    "This study has been retracted.",
    "This submission has been withdrawn.",
    "This paper has been withdrawn by the author due to an error in equation 1.",
    "This article has been removed: please see the policy on article withdrawal.",
    "The publisher regrets that this article has been temporarily removed.",
    "At the request of the authors, the following article has been retracted.",
    "RETRACTED:",
)
TYPES = ("Retracted Publication", "retracted article", "Withdrawn Publication")


@pytest.mark.parametrize(
    ("marked", "types", "where"),
    [
        (work(f"*RETRACTED* {TITLE}"), (), "title"),
        *((work(title), (), "title") for title in MARKED),
        *((work(text=f"{first} {FINDING}"), (), "text") for first in FIRST_SENTENCES),
        *((work(), ("Journal Article", name), "publication type") for name in TYPES),
    ],
    ids=["stars", *MARKED, *FIRST_SENTENCES, *TYPES],
)
def test_what_says_so_marks_a_retracted_work(marked: Evidence, types: tuple[str, ...], where: str) -> None:
    found = read_marks(marked, types=types)
    assert found is not None
    assert found.standing == "retracted"
    assert found.notices[0].reported_by == f"library ({where})"
    is_withdrawn = where == "title" and "withdrawn" in marked.title.casefold()
    assert found.notices[0].kind == ("withdrawal" if is_withdrawn else "retraction")


@pytest.mark.parametrize(
    ("title", "text"),
    [
        *((title, FINDING) for title in titles(
            "Retraction of the foreskin in boys | Retraction pockets of the eardrum"
            "| Retracted articles in surgery journals: what are surgeons doing wrong?"
            "| Retracted papers: a survey | Withdrawn from care: patients"
            "| Removed sutures and healing: a trial"
            "| Citations of retracted papers: a cohort study | Correction of hyponatremia in heart failure"
            "| Correction to normal of serum sodium | Withdrawn patients in trials of a drug"
            "| Removed teeth and pain | Withdrawal of treatment in intensive care"
        )),
        (TITLE, "In this study, five patients were withdrawn. " + FINDING),
        (TITLE, "This study was withdrawn before enrolment of patients."),
        (TITLE, FINDING + " A study by others has been retracted."),
        (TITLE, "Many papers on this drug have been retracted. " + FINDING),
        (TITLE, "We study papers. This paper has been withdrawn is a phrase."),
    ],
)  # fmt: skip
def test_a_work_about_such_things_is_not_marked(title: str, text: str) -> None:
    assert read_marks(work(title, text)) == work(title, text)


NOTICES = {
    "retraction notice": titles(
        "Retraction notice to: * | Retraction Note: * | Retraction: * | Notice of retraction: * | Retraction"
        '| Retraction of "*" | Statement of Retraction: * | Withdrawal notice: *'
    ),
    "expression of concern": titles("Expression of concern: * | Editorial Expression of Concern on a drug"),
    "correction notice": titles(
        "Erratum | Erratum to: * | Erratum for Smith et al., * | Corrigendum to * | Corrigendum: *"
        "| Author Correction: * | Publisher Correction: * | Correction to: * | Correction: * | Correction"
    ),
}


@pytest.mark.parametrize(
    ("title", "text", "kind"),
    [
        *((title, "", kind) for kind, entities_of_kind in NOTICES.items() for title in entities_of_kind),
        (TITLE, "[This retracts the article DOI: 10.1155/2022/9172719.].", "retraction notice"),
        (TITLE, "[This corrects the article DOI: 10.1371/journal.pone.0123456.].", "correction notice"),
        (TITLE, "This corrects the article on page 12.", "correction notice"),
    ],
)
def test_a_notice_is_known_by_its_title_or_first_sentence_and_left_out(
    title: str, text: str, kind: str
) -> None:
    assert notice_kind(title, text) == kind
    assert read_marks(work(title, text or FINDING)) is None


@pytest.mark.parametrize("name", ["Retraction of Publication", "Published Erratum", "Expression of Concern"])
def test_a_notice_is_known_by_its_publication_type_or_its_source(name: str) -> None:
    assert read_marks(work(), types=[name]) is None
    assert read_marks(work(facts={"notice": "correction notice"})) is None


def test_what_a_source_knows_is_never_made_milder() -> None:
    assert read_marks(work(standing="retracted")) == work(standing="retracted")
    found = read_marks(work("RETRACTED: Effects of a drug on pain", standing="corrected"))
    assert found is not None
    assert found.standing == "retracted"
