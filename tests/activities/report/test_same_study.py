"""Reports of one study count once, also where no identifier joins them."""

import pytest

from activities.contracts.evidence import Identifiers
from activities.report.independence import studies, unversioned
from tests.activities.cases import pubmed

TEXT = (
    "We followed 412 nurses of two hospitals for four years and asked each of them twice a year for pain in "
    "the lower back. Lifting without a hoist doubled the risk of pain in the lower back."
)
FOUND = "Lifting without a hoist doubled the risk of pain in the lower back."
ARTICLE = pubmed(
    0,
    "Lifting and pain in the lower back of nurses: a cohort study in two hospitals",
    TEXT,
    "observational",
    evidence_id="doi:10.1000/a",
    year=2021,
    identifiers=Identifiers(doi="10.1000/a"),
)
PREPRINT = ARTICLE.replace(
    evidence_id="doi:10.1101/b",
    source="europepmc",
    title="Low back pain after lifting among hospital nurses",
    text=TEXT.replace("We followed", "In this cohort we followed"),
    identifiers=Identifiers(doi="10.1101/b"),
    evidence_type="preprint",
)
OTHER = ARTICLE.replace(
    evidence_id="doi:10.1000/c",
    title="Frost damage to apple blossom in early spring",
    text="Frost in April killed most of the blossom in 30 orchards.",
    identifiers=Identifiers(),
)


def test_works_of_one_trial_are_one_study_and_a_review_that_names_it_is_another() -> None:
    texts = {
        "NCT00000001 enrolled 120 patients.": 1,
        "Ten years of NCT00000001.": 1,
        "Of them 500 adults were enrolled (ISRCTN12345678).": 2,
        "Later results of ISRCTN12345678.": 2,
        "In all, 501 participants were recruited.": 3,
    }
    works = [
        pubmed(n, f"Number {n}", text, "observational", identifiers=Identifiers())
        for n, text in enumerate(texts)
    ]
    review = works[0].replace(evidence_id="review", evidence_type="systematic_review")
    assert list(studies([*works, review]).values()) == [*texts.values(), 4]


def test_abstracts_under_the_doi_of_their_supplement_are_two_studies() -> None:
    other = OTHER.replace(identifiers=ARTICLE.identifiers, authors=("Anna Lund",))
    again = other.replace(evidence_id="doc:1")
    works = [ARTICLE.replace(authors=("Ito K",)), other, again, PREPRINT.replace(authors=("Ito K",))]
    assert list(studies(works).values()) == [1, 2, 2, 3]


def test_versions_of_a_work_are_one_study_whatever_their_years_and_identifiers() -> None:
    review = ARTICLE.replace(
        evidence_id="pmid:1",
        title="Lifting aids for the prevention of pain in the lower back",
        evidence_type="systematic_review",
        authors=("Ott, Ann",),
        year=2015,
        identifiers=Identifiers(pmid="1", doi="10.1002/14651858.cd001234.pub2"),
    )
    update = review.replace(
        evidence_id="pmid:2",
        title="Lifting aids for preventing pain in the lower back",
        year=2021,
        identifiers=Identifiers(pmid="2", doi="10.1002/14651858.cd001234.pub3"),
    )
    preprint = review.replace(
        evidence_id="arxiv:1",
        year=2014,
        authors=("A. Ott",),
        identifiers=Identifiers(arxiv="1"),
        facts={"published_as": "10.1002/14651858.cd001234.pub2"},
    )
    other = review.replace(evidence_id="pmid:3", authors=("Zed, Zoe",), identifiers=Identifiers(pmid="3"))
    assert studies([review, update, preprint, other]) == {"pmid:1": 1, "pmid:2": 1, "arxiv:1": 1, "pmid:3": 2}


def test_a_title_joins_no_two_registered_trials() -> None:
    one, other = (
        ARTICLE.replace(
            evidence_id=f"pmid:{n}", authors=("Ott",), identifiers=Identifiers(nct=f"NCT0000000{n}")
        )
        for n in (1, 2)
    )
    assert set(studies([one, other]).values()) == {1, 2}


@pytest.mark.parametrize(
    ("doi", "work"),
    [
        ("10.12688/f1000research.1234.2", "10.12688/f1000research.1234"),
        ("10.21203/rs.3.rs-1234/v2", "10.21203/rs.3.rs-1234"),
        ("10.20944/preprints202001.0001.v1", "10.20944/preprints202001.0001"),
        ("10.1056/nejmoa1234567", "10.1056/nejmoa1234567"),
    ],
)
def test_a_doi_without_its_version_names_the_work(doi: str, work: str) -> None:
    assert unversioned(doi) == work
