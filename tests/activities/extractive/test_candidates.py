"""Candidates without a model: from clauses that say what is in use for the disease asked about."""

import pytest

from activities.extractive import hypothesise
from activities.steps import HypothesisInput, MechanismHypothesis
from activities.types import Evidence
from tests.activities.extractive.abstracts import context, document

REVIEWS = {
    "gout": ("Allopurinol is the first-line therapy for gout. Colchicine is effective in acute gout."),
    "tuberculosis": (
        "First-line treatment of tuberculosis is isoniazid, rifampicin, pyrazinamide and ethambutol. "
        "Bedaquiline was approved for multidrug-resistant tuberculosis."
    ),
    "amyotrophic lateral sclerosis": (
        "Riluzole and edaravone are approved for amyotrophic lateral sclerosis. The insulin receptor and "
        "dopamine receptors were studied in amyotrophic lateral sclerosis. In amyotrophic lateral sclerosis "
        "drugs of other diseases, such as chronic myeloid leukaemia (imatinib), failed."
    ),
}


def found(*documents: Evidence, disease: str) -> dict[str, MechanismHypothesis]:
    step = HypothesisInput(**context(f"Which approved drugs might treat {disease}?"), evidence=())
    return {h.generic_name: h for h in hypothesise(step, documents).hypotheses}


@pytest.mark.parametrize(
    ("disease", "drugs"),
    [
        ("gout", {"allopurinol", "colchicine"}),
        ("tuberculosis", {"isoniazid", "rifampin", "pyrazinamide", "ethambutol", "bedaquiline"}),
        ("amyotrophic lateral sclerosis", {"riluzole", "edaravone"}),
    ],
)
def test_every_drug_that_a_clause_calls_in_use_is_a_candidate_and_no_other(
    disease: str, drugs: set[str]
) -> None:
    review = document(1, REVIEWS[disease], f"Treatment of {disease}", "review")
    assert set(found(review, disease=disease)) == drugs


def test_a_record_says_where_a_drug_stands_and_is_no_support() -> None:
    review = document(1, REVIEWS["gout"], "Treatment of gout", "review")
    approval = document(
        2,
        "FDA application NDA018877.\nOriginal submission 1: approved on 1966-08-19.",
        "ZYLOPRIM (ALLOPURINOL) - FDA application NDA018877",
        "regulatory",
        facts={"generic_name": "ALLOPURINOL", "approval_status": "approved"},
    )
    allopurinol = found(review, approval, disease="gout")["allopurinol"]
    assert allopurinol.regulatory_status == "approved"
    assert [s.evidence_id for s in allopurinol.records] == ["pmid:2"]
    assert [s.evidence_id for s in allopurinol.supporting_evidence] == ["pmid:1"]


TRIALS = (
    document(
        1,
        "BACKGROUND: Exenatide, approved for type 2 diabetes, has been proposed for Parkinson's disease.\n"
        "METHODS: 62 patients received exenatide or placebo.\n"
        "CONCLUSIONS: Exenatide had positive effects on motor scores in Parkinson's disease.",
        "Exenatide in Parkinson's disease: a randomised trial",
        "randomized_trial",
    ),
    document(
        2,
        "OBJECTIVE: To assess nilotinib, approved for chronic myeloid leukaemia, in Parkinson's disease.\n"
        "METHODS: 76 patients received nilotinib or placebo.\n"
        "CONCLUSIONS: Nilotinib did not improve motor scores in Parkinson's disease.",
        "Nilotinib in Parkinson's disease: a randomised trial",
        "randomized_trial",
    ),
)


def test_a_candidate_rests_on_what_was_found_and_not_on_what_was_proposed() -> None:
    exenatide = found(*TRIALS, disease="Parkinson's disease")["exenatide"]
    assert [s.quote for s in exenatide.supporting_evidence] == [
        "Exenatide had positive effects on motor scores in Parkinson's disease."
    ]
    assert exenatide.current_indications == ("type 2 diabetes",)


def test_a_drug_that_only_failed_is_no_candidate() -> None:
    assert set(found(*TRIALS, disease="Parkinson's disease")) == {"exenatide"}
