"""Reports of one study count once, also where no identifier joins them."""

from activities.contracts.evidence import Identifiers
from activities.report.assemble import build_report
from activities.report.same_study import joined, may_be_one
from tests.activities.cases import planned, publish_input, pubmed, quoting
from tests.activities.report.rendered import words_of

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


def test_a_preprint_and_its_article_under_a_reworded_title_count_as_one_study() -> None:
    items = [ARTICLE, PREPRINT, OTHER]
    study = joined({item.evidence_id: n for n, item in enumerate(items, start=1)}, items)
    assert study[ARTICLE.evidence_id] == study[PREPRINT.evidence_id] != study[OTHER.evidence_id]
    claim = quoting("Lifting doubled the risk.", *((i.evidence_id, FOUND) for i in (ARTICLE, PREPRINT)))
    documents = {item.evidence_id: item for item in (ARTICLE, PREPRINT)}
    report = build_report(publish_input(planned("s1", claim)), documents)
    assert next(report.claims()).independent_works == 1
    assert "Also published as [2]" in words_of(report, "md")


def test_a_year_an_identifier_or_another_drug_says_that_two_works_are_two() -> None:
    assert may_be_one(ARTICLE, PREPRINT)
    assert not may_be_one(ARTICLE, PREPRINT.replace(year=2019))
    assert not may_be_one(ARTICLE, PREPRINT.replace(evidence_type="article"))
    registered = (
        {"identifiers": Identifiers(nct="NCT00000001")},
        {"identifiers": Identifiers(nct="NCT00000002")},
    )
    assert not may_be_one(*(ARTICLE.model_copy(update=names) for names in registered))
    titles = ({"title": "Riluzole for pain"}, {"title": "Metformin for pain"})
    assert not may_be_one(*(PREPRINT.model_copy(update=title) for title in titles))
