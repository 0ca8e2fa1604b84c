"""Reports of one study count once, also where no identifier joins them."""

import pytest

from activities.contracts.evidence import Evidence, EvidenceType, Identifiers
from activities.report.independence import studies, unversioned

LIFTING = "Lifting aids for the prevention of pain in the lower back"
FROST = "Frost damage to apple blossom in early spring"


def work(
    name: str, author: str, title: str, kind: EvidenceType = "observational", **more: object
) -> Evidence:
    """A work with the identifiers that are given."""
    ids = {key: more.pop(key) for key in Identifiers.model_fields if key in more}
    fields = {"evidence_id": name, "source": "pubmed", "title": title, "text": "", "evidence_type": kind}
    made = {**fields, "authors": (author,), "identifiers": ids, **more}
    return Evidence.model_validate(made)


def test_works_of_one_trial_are_one_study_and_a_review_that_names_it_is_another() -> None:
    texts = {
        "NCT00000001 enrolled 120 patients.": 1,
        "Ten years of NCT00000001.": 1,
        "Of them 500 adults were enrolled (ISRCTN12345678).": 2,
        "Later results of ISRCTN12345678.": 2,
        "In all, 501 participants were recruited.": 3,
    }
    works = [work(f"{n}", "Poe E", f"Number {n}", text=text) for n, text in enumerate(texts)]
    review = works[0].replace(evidence_id="review", evidence_type="systematic_review")
    assert list(studies([*works, review]).values()) == [*texts.values(), 4]


def test_abstracts_under_the_doi_of_their_supplement_are_two_studies() -> None:
    works = [
        work("a", "Ito K", LIFTING, doi="10.1000/a"),
        work("b", "Anna Lund", FROST, doi="10.1000/a"),
        work("c", "Anna Lund", FROST, doi="10.1000/a"),
        work("d", "Ito K", "Low back pain after lifting among nurses", "preprint", doi="10.1101/b"),
    ]
    assert list(studies(works).values()) == [1, 2, 2, 3]


def test_versions_of_a_work_are_one_study_whatever_their_years_and_identifiers() -> None:
    doi, other = "10.1002/14651858.cd001234", "Lifting aids for preventing pain in the lower back"
    works = [
        work("a", "Ott, Ann", LIFTING, "systematic_review", year=2015, pmid="1", doi=f"{doi}.pub2"),
        work("b", "Ott, Ann", other, "systematic_review", year=2021, pmid="2", doi=f"{doi}.pub3"),
        work("c", "A. Ott", LIFTING, "preprint", year=2014, arxiv="1", facts={"published_as": f"{doi}.pub2"}),
        work("d", "Zed, Zoe", LIFTING, "systematic_review", year=2015, pmid="3"),
    ]
    assert studies(works) == {"a": 1, "b": 1, "c": 1, "d": 2}


def test_a_title_joins_no_two_registered_trials() -> None:
    works = [work(f"{n}", "Ott", LIFTING, nct=f"NCT0000000{n}") for n in (1, 2)]
    assert set(studies(works).values()) == {1, 2}


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
