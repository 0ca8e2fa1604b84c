"""A judge names a design of a closed list and participants, each with sentences of that very work."""

from typing import Any

import pytest

from activities.contracts.evidence import Evidence, ModelChoice
from activities.contracts.judge import JudgeInput, WorkJudgement
from activities.profiles.loader import load_profile
from activities.roles.judge import JUDGE, JudgeAnswer

WORKS = [
    Evidence(
        evidence_id="pmid:1",
        source="pubmed",
        title="A cohort study of nurses",
        text="We followed 521,324 adults of ten countries for twelve years. Nobody was told why. "
        "Mortality was lower in those who drank coffee.",
    ),
    Evidence(
        evidence_id="pmid:2",
        source="pubmed",
        title="Coffee",
        text="In all 44 adults were allocated by chance to coffee or to water.",
    ),
]


def judged(**fields: object) -> WorkJudgement:
    step = JudgeInput(
        run_id="r",
        question="Does coffee lower mortality?",
        profile=load_profile("general"),
        model=ModelChoice(backend="openai", model="m"),
        iteration=1,
        evidence=(),
    )
    answer: dict[str, Any] = {"works": [{"work": "E1", "answers": 3, "sentences": ["S3"], **fields}]}
    prompt = JUDGE.render(step, WORKS, 20_000)
    (judgement,) = JUDGE.accept(step, prompt, JudgeAnswer.model_validate(answer)).output.judgements
    return judgement


def test_a_design_and_participants_stand_on_their_sentences() -> None:
    one = judged(design="cohort", participants=521324, design_from=["S1"])
    assert (one.design, one.participants) == ("cohort", 521_324)
    assert [support.quote for support in one.design_support] == [WORKS[0].text[:61]]


@pytest.mark.parametrize("labels", [[], ["S4"], ["E2"], ["S99"]])
def test_a_design_without_a_sentence_of_its_own_work_is_none(labels: list[str]) -> None:
    one = judged(design="cohort", participants=521324, design_from=labels)
    assert (one.design, one.participants, one.design_support) == ("", None, ())


def test_a_title_names_a_design_and_a_number_elsewhere_is_not_its_participants() -> None:
    one = judged(design="Cohort", participants=521324, design_from=["E1"])
    assert (one.design, one.participants) == ("cohort", None)


def test_a_design_that_is_none_of_the_list_is_left_open() -> None:
    assert judged(design="other", design_from=["S1"]).design == ""
    assert judged(design="prospective study", design_from=["S1"]).design == ""


def test_a_work_compares_where_the_model_says_that_the_question_does() -> None:
    assert judged(comparator="water", compares=True).compares
    assert not judged(comparator="water", compares="false").compares
    assert not judged(comparator="water").compares


@pytest.mark.parametrize(
    ("own", "said", "kind"), [(True, "Bill", "bill"), (True, "poem", ""), (False, "bill", "")]
)
def test_only_a_document_of_ones_own_has_a_kind_and_only_for_one_it_is_asked(
    monkeypatch: pytest.MonkeyPatch, own: bool, said: str, kind: str
) -> None:
    works = [WORKS[0].replace(evidence_type="document"), WORKS[1]] if own else WORKS
    monkeypatch.setattr("tests.activities.roles.test_judge.WORKS", works)
    assert judged(kind=said).kind == kind
    step = JudgeInput(run_id="r", question="Why?", profile=load_profile("general"), iteration=1, evidence=())
    prompt = JUDGE.render(step, works, 20_000)
    assert bool(prompt.choices["works.kind"]) is own
