"""Candidates without a model: names beside the passages that name them, and what registers say."""

from activities.contracts.evidence import Evidence
from activities.contracts.judge import HypothesisInput, MechanismHypothesis
from activities.extractive import hypothesise
from activities.text.normal_form import verbatim
from tests.activities.extractive.abstracts import context, document, library

REVIEW = document(
    1,
    "Allopurinol lowers the urate of people with gout. Colchicine ends attacks of gout within a day.",
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
    return {one.generic_name: one for one in hypothesise(step, works).hypotheses}


def test_every_drug_stands_beside_a_passage_that_names_it() -> None:
    candidates = found("Which drugs treat gout?", REVIEW)
    assert set(candidates) == {"allopurinol", "colchicine"}
    for name, candidate in candidates.items():
        (support,) = candidate.supporting_evidence
        assert name in support.quote.casefold()
        assert verbatim(support.quote, REVIEW.text)


def test_nothing_is_judged_of_a_candidate() -> None:
    for candidate in found("Which drugs treat dementia?", *library()).values():
        assert candidate.confidence == 0
        assert candidate.effect == candidate.pathway == ""
        assert candidate.contradicting_evidence == ()


def test_a_record_says_where_a_drug_stands() -> None:
    allopurinol = found("Which drugs treat gout?", REVIEW, APPROVAL)["allopurinol"]
    assert allopurinol.regulatory_status == "approved"
    assert [support.evidence_id for support in allopurinol.records] == ["pmid:2"]


def test_a_drug_of_the_question_comes_first_and_a_choice_is_kept() -> None:
    assert next(iter(found("Does colchicine treat gout?", REVIEW))) == "colchicine"
    assert set(found("Which drugs treat gout?", REVIEW, chosen=("Zyloprim",))) == {"allopurinol"}


def test_retracted_works_name_no_candidate() -> None:
    assert found("Which drugs treat gout?", REVIEW.model_copy(update={"standing": "retracted"})) == {}
