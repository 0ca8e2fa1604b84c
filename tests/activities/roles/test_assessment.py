"""Confidence and relevance, computed from judgements; which works are judged, and in what batches."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.contracts.evidence import (
    Effort,
    Evidence,
    EvidenceRef,
    EvidenceType,
    Identifiers,
    ModelChoice,
)
from activities.contracts.judge import (
    Direction,
    JudgeAssessment,
    JudgeBatch,
    Ordered,
    OrderInput,
    WorkJudgement,
    relevance_score,
)
from activities.profiles.loader import load_profile
from activities.report.strength import DEFINITE, DIRECTLY
from activities.roles.allowances import MAX_JUDGED_LARGE, WORKS_A_BATCH, WORKS_A_BATCH_LARGE, judge_batches
from activities.roles.assessment import assess
from activities.roles.selection import FIRST_OF_A_SEARCH, order, without_duplicates
from workflows.rules.payload_limits import to_order

PROFILE = load_profile("drug_repurposing")


def ref(name: str, kind: EvidenceType = "randomized_trial", **update: object) -> EvidenceRef:
    return EvidenceRef(
        evidence_id=name, blob=name, source="pubmed", title=name, evidence_type=kind, chars=1_500
    ).model_copy(update=update)


def work(name: str, answers: int = 3, direction: Direction = "yes") -> WorkJudgement:
    return WorkJudgement(evidence_id=name, answers=answers, direction=direction)


def assessed(*judged: WorkJudgement, works: tuple[EvidenceRef, ...] = ()) -> JudgeAssessment:
    return assess([JudgeBatch(judgements=judged)], judged, PROFILE, works or tuple(map(ref, "abcdef")))


def sure(*judged: WorkJudgement, works: tuple[EvidenceRef, ...] = ()) -> float:
    value = assessed(*judged, works=works).confidence
    assert value is not None
    return value


def test_what_was_read_is_counted_by_source_and_by_kind() -> None:
    kinds: dict[str, EvidenceType] = {
        "a": "review",
        "b": "randomized_trial",
        "c": "trial_registration",
        "d": "preprint",
        "e": "drug_label",
    }
    works = tuple(ref(name, kind) for name, kind in kinds.items())
    assessment = assessed(*map(work, kinds), works=works)
    assert assessment.sources_breakdown == {"pubmed": 5}
    assert [relevance_score(answers) for answers in range(4)] == [0.0, 0.33, 0.67, 1.0]
    assert assessment.kinds_breakdown == {"peer_reviewed": 2, "trials": 1, "preprints": 1, "other": 1}


def test_each_independent_work_adds_and_weak_kinds_do_not_make_a_strong_one() -> None:
    one, two = sure(work("a")), sure(work("a"), work("b"))
    assert one == pytest.approx(DEFINITE * DIRECTLY * 0.95, abs=1e-4)
    assert one < two <= DEFINITE
    assert sure(work("a"), work("b"), works=(ref("a"), ref("b", "case_report"))) < two
    names = [f"w{n}" for n in range(40)]
    many = [work(name) for name in names]
    cohorts = tuple(ref(name, "observational") for name in names)
    assert sure(*many, works=cohorts) < sure(work("a"), work("b")) < DEFINITE
    partly = [work(name, 2) for name in names]
    assert sure(*partly, works=cohorts) < 0.5
    assert sure(*many, *partly[:1], works=cohorts) <= DEFINITE * 0.75


def test_reports_of_one_trial_disagreement_and_retraction_lower_confidence() -> None:
    trial = Identifiers(nct="NCT00000001")
    same = (ref("a", identifiers=trial), ref("b", identifiers=trial))
    assert sure(work("a"), work("b"), works=same) == sure(work("a"))
    split = sure(work("a"), work("b", direction="no"))
    assert split < sure(work("a"))
    assert sure(work("a"), work("b"), work("c"), work("d", direction="no")) > split
    assert sure(work("a"), works=(ref("a", standing="retracted"),)) == 0.0


def test_sides_count_only_where_the_judge_says_that_yes_or_no_is_asked() -> None:
    split = (work("a"), work("b", direction="no"))
    others = [work(name, direction="not_asked") for name in "cde"]
    assert sure(*split, *others) == sure(*(judged.replace(direction="yes") for judged in (*split, *others)))
    (why,) = assessed(*split, *others).confidence_reasons
    assert (why.number("yes"), why.number("no")) == (0, 0)
    (why,) = assessed(*split, *others[:2]).confidence_reasons
    assert (why.number("yes"), why.number("no")) == (1, 1)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["yes", "no", "mixed", "not_asked"])), max_size=6)
)
def test_confidence_stays_within_bounds(rows: list[tuple[int, Direction]]) -> None:
    judged = [work(name, answers, side) for name, (answers, side) in zip("abcdef", rows, strict=False)]
    if judged:
        assert 0.0 <= sure(*judged) <= DEFINITE


def test_the_works_that_answer_most_directly_come_first() -> None:
    works = (ref("a", "case_report"), ref("b"), ref("c", "meta_analysis"))
    assessment = assessed(work("a"), work("b", 2), work("c"), works=works)
    assert assessment.relevant == ("c", "a", "b")


def test_a_criterion_has_its_best_score_and_none_where_it_does_not_apply() -> None:
    batches = [
        JudgeBatch(scores={"mechanism": 3, "sources": 7}, recommendation="continue", gaps=("g1", "g2")),
        JudgeBatch(scores={"mechanism": 6}, recommendation="synthesize", gaps=("G1", "g3")),
    ]
    assessment = assess(batches, [work("a")], PROFILE)
    assert assessment.scores == {"mechanism": 6, "sources": 7}
    assert (assessment.recommendation, assessment.sufficient) == ("synthesize", True)
    assert assessment.gaps == ("g1", "g2", "g3")


@pytest.mark.parametrize("effort", ["normal", "large"])
def test_every_work_is_in_one_batch_that_its_prompt_holds(effort: Effort) -> None:
    refs = [ref(f"w{n}", chars=400 + 97 * n) for n in range(MAX_JUDGED_LARGE)]
    batches = judge_batches(refs, ModelChoice(backend="openai", model="m", effort=effort))
    assert [one for batch in batches for one in batch] == refs
    assert max(map(len, batches)) <= (WORKS_A_BATCH_LARGE if effort == "large" else WORKS_A_BATCH)


def evidence(name: str, text: str) -> Evidence:
    return Evidence(evidence_id=name, source="pubmed", title=name, text=text)


def ordered(question: str, documents: Sequence[Evidence], **more: object) -> Ordered:
    """What is shown of documents to a judge; `more`: other fields of the step."""
    refs = tuple(ref(d.evidence_id, d.evidence_type) for d in documents)
    fields = {"run_id": "r", "question": question, "profile": PROFILE, "evidence": refs, **more}
    return order(OrderInput.model_validate(fields), documents)


NOISE = [
    evidence(f"n{n}", f"Number {n} of the reports is on the weather, the harvest and fields of crop {n * 7}.")
    for n in range(30)
]
SCREENED = evidence("screened", "Mortality of screened and unscreened women with a tumour of the breast.")


def test_the_first_works_of_every_search_are_shown() -> None:
    """A precise question is far from every abstract; what a search put first is judged all the same."""
    documents = [*NOISE, SCREENED]
    refs = [
        ref(d.evidence_id, queries=("pubmed: screening trial",) if d is SCREENED else ()) for d in documents
    ]
    asked = "Does mammographic screening (film, digital) alter outcomes?"
    searched = {"evidence": refs, "queries": ("screening trial",), "most": FIRST_OF_A_SEARCH}
    assert "screened" in ordered(asked, documents, **searched).ids


AROUND = [
    evidence("a1", "Screening for cancer of the lung lowered mortality among men who smoke."),
    evidence("a2", "Of the women who were invited to be screened for a tumour two in three came."),
    evidence("a3", "Mortality of women from heart failure fell in the decade after the reform."),
]
WOMEN = "Mortality of screened women?"


def test_what_is_far_from_the_question_is_not_shown_to_a_judge() -> None:
    shown = ordered(WOMEN, [*NOISE, *AROUND])
    assert {"a2", "a3"} <= set(shown.ids) <= {"a1", "a2", "a3"}
    assert shown.far == len(NOISE) + len(AROUND) - len(shown.ids)
    answered = {"answered": (ref("screened"),), "evidence": tuple(ref(d.evidence_id) for d in AROUND)}
    later = ordered(WOMEN, [*NOISE, *AROUND, SCREENED], **answered)
    assert later.ids == (), "nothing is nearer than the weakest work that answers"


def test_what_a_judge_asked_for_is_read_however_far_it_is() -> None:
    """The search found what it named, in words that no question has."""
    asked = "Does mammographic screening (film, digital) alter outcomes?"
    named = [evidence(f"w{n}", f"Harvest {n} of the fields was weighed by {thing} traders.") for n, thing in
             enumerate(("timber", "coffee", "wool", "copper"))]  # fmt: skip
    refs = [
        ref(d.evidence_id, queries=("pubmed: related:4711",) if d in named else ()) for d in [*NOISE, *named]
    ]
    found = {"evidence": refs, "queries": ("related:4711",), "most": 8}
    assert not {d.evidence_id for d in named} & set(ordered(asked, [*NOISE, *named], **found).ids)
    shown = ordered(asked, [*NOISE, *named], **found, asked_for=("related:4711",)).ids
    assert {d.evidence_id for d in named} & set(shown) == {d.evidence_id for d in named[:FIRST_OF_A_SEARCH]}


def test_a_round_is_filled_up_to_what_the_judge_may_read() -> None:
    """One work that is much nearer than the others is no reason to leave these out."""
    asked = "Does aspirin lower mortality after a stroke?"
    nearest = evidence("nearest", "Aspirin lowered mortality after a stroke in a trial of adults.")
    others = [
        evidence(f"s{n}", f"Mortality after a stroke was {n} in ten where {thing} was given early.")
        for n, thing in enumerate(("heparin", "oxygen", "glucose", "insulin", "magnesium", "citicoline"))
    ]
    found = (nearest, *others, *NOISE)
    assert len(ordered(asked, found, most=5).ids) == 5
    every = ordered(asked, found, most=20).ids
    assert {d.evidence_id for d in (nearest, *others)} <= set(every)
    assert not {d.evidence_id for d in NOISE} & set(every), "what is far is not shown to fill a round"


def test_a_copy_of_a_work_is_shown_once() -> None:
    copies = [evidence(f"c{n}", SCREENED.text).replace(title="Same") for n in range(5)]
    found = ordered(WOMEN, [*copies, *AROUND], most=4).ids
    assert sum(name.startswith("c") for name in found) == 1
    assert len(found) == 4


def test_a_folder_that_one_round_can_read_is_shown_whole() -> None:
    """The letter that decides has no word of the question, and stands beside works of other sources."""
    minutes = evidence("own1", "The members met to talk about the lease of the workshop and its end.")
    letter = evidence("own2", "Dear Ms Verma, three months will do for us. Yours, R. Harrow")
    folder = [work.replace(evidence_type="document", source="library") for work in (minutes, letter)]
    found = [*folder, *NOISE]
    refs = tuple(to_order(ref(d.evidence_id, d.evidence_type, source=d.source), ()) for d in found)
    asked = "When can the lease of the workshop end?"
    assert "own2" not in ordered(asked, found, evidence=refs).ids
    assert {"own1", "own2"} <= set(ordered(asked, found, evidence=refs, whole_folder=True).ids)


@pytest.mark.parametrize(
    ("kind", "month", "pounds"),
    [("document", "April", "540"), ("document", "May", "520"), ("review", "March", "820")],
)
def test_a_text_with_another_number_or_of_ones_own_with_another_word_is_no_copy(
    kind: str, month: str, pounds: str
) -> None:
    bill = "The rent of the workshop for {} is {} pounds, paid by the guild of turners to R. Harrow."
    bills = {
        name: evidence("bill", bill.format(*words)).replace(evidence_type=kind)
        for name, words in (("b1", ("March", "520")), ("b2", (month, pounds)), ("b3", ("March", "520")))
    }
    assert without_duplicates(list(bills), bills) == ["b1", "b2"]
