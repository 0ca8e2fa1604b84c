"""Candidates without a model: names beside the passages that name them, and what registers say."""

from activities.contracts.evidence import Evidence
from activities.contracts.judge import HypothesisInput, MechanismHypothesis
from activities.extractive.candidates import hypothesise
from activities.text.normal_form import verbatim
from tests.activities.extractive.abstracts import context, document, library

REVIEW = document(
    1,
    "Allopurinol lowers the urate of people with gout. Colchicine ends attacks of gout within a day. "
    "Sildenafil acts by way of cGMP. Allopurinol and colchicine are both cheap.",
    "Treating gout",
    "review",
)
APPROVAL = document(
    2,
    "FDA application NDA018877.\nOriginal submission 1: approved on 1966-08-19.",
    "ZYLOPRIM (ALLOPURINOL) - FDA application NDA018877",
    "regulatory",
    facts={"generic_name": "ALLOPURINOL", "approval_status": "approved"},
)


def found(question: str, *works: Evidence, **more: object) -> dict[str, MechanismHypothesis]:
    step = HypothesisInput(**context(question), evidence=(), **more)
    return {hypothesis.generic_name: hypothesis for hypothesis in hypothesise(step, works).hypotheses}


def test_a_drug_stands_beside_a_passage_that_names_it_and_nothing_is_judged_of_it() -> None:
    candidates = found("Which drugs treat gout?", REVIEW)
    assert set(candidates) == {"allopurinol", "colchicine"}
    for name, candidate in candidates.items():
        (support,) = candidate.supporting_evidence
        assert name in support.quote.casefold()
        assert verbatim(support.quote, REVIEW.text)
    for candidate in found("Which drugs treat dementia?", *library()).values():
        assert candidate.confidence == 0
        assert candidate.effect == candidate.pathway == ""
        assert candidate.contradicting_evidence == ()


def test_what_is_named_once_is_offered_where_somebody_asks_for_it() -> None:
    assert set(found("Which drugs treat gout?", REVIEW)) == {"allopurinol", "colchicine"}
    assert "sildenafil" in found("Does sildenafil help people with gout?", REVIEW)


def test_a_drug_is_called_as_the_nearest_passage_writes_it() -> None:
    work = document(3, "Salbutamol opened the airways of people with asthma.", "Salbutamol", "review")
    assert found("Which drugs treat asthma?", work)["albuterol"].drug == "salbutamol"


def test_a_record_says_where_a_drug_stands_and_a_retracted_work_names_none() -> None:
    allopurinol = found("Which drugs treat gout?", REVIEW, APPROVAL)["allopurinol"]
    assert allopurinol.regulatory_status == "approved"
    assert [support.evidence_id for support in allopurinol.records] == ["pmid:2"]
    assert found("Which drugs treat gout?", REVIEW.replace(standing="retracted")) == {}
