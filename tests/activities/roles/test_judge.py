"""Judgements: the sentences that they name, and their use in another run."""

from pathlib import Path
from typing import Any

import pytest

from activities.contracts.evidence import Evidence, ModelChoice
from activities.contracts.iterations import Recommendation
from activities.contracts.judge import JudgeBatch, JudgeInput, WorkJudgement
from activities.evidence_store import EvidenceStore
from activities.profiles.loader import load_profile
from activities.roles.judge import JUDGE, JudgeAnswer
from activities.roles.judgement_store import JudgementStore, StoredJudgement, with_stored

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


STEP = JudgeInput(
    run_id="r", question="Does it work?", profile=load_profile("general"), iteration=1, evidence=()
)


def stored(recommendation: Recommendation, *beside: str) -> dict[str, StoredJudgement]:
    return {
        "a": StoredJudgement(
            judgement=WorkJudgement(evidence_id="a", answers=2),
            recommendation=recommendation,
            gaps=("children",),
            recommended_searches=("it in children",),
            beside=beside,
        )
    }


@pytest.mark.parametrize("beside", [("a",), ("a", "b")])
def test_a_question_asked_again_is_searched_as_far(beside: tuple[str, ...]) -> None:
    """Also where the earlier advice rested on more works: with fewer, more is missing."""
    batch = with_stored(STEP, stored("continue", *beside), JudgeBatch(), "m")
    assert (batch.recommendation, batch.gaps) == ("continue", ("children",))
    assert batch.recommended_searches == ("it in children",)


def test_advice_holds_where_its_works_are_there_and_new_judgements_name_their_gaps() -> None:
    assert with_stored(STEP, stored("synthesize", "a"), JudgeBatch(), "m").recommendation == "synthesize"
    assert with_stored(STEP, stored("synthesize", "a", "b"), JudgeBatch(), "m").recommendation == ""
    new = JudgeBatch(judgements=(WorkJudgement(evidence_id="b", answers=1),), gaps=("doses",))
    batch = with_stored(STEP, stored("continue", "a"), new, "m")
    assert batch.gaps == ("doses",)
    assert {judgement.evidence_id for judgement in batch.judgements} == {"a", "b"}


@pytest.mark.parametrize(
    "other",
    [
        {"prompt": "Judge as a regulator would."},
        {"instruction": "Look at harms."},
        {"question": "Is it safe?"},
        {"model": ModelChoice(backend="openai", model="other")},
    ],
)
async def test_a_judgement_belongs_to_the_prompt_that_it_was_asked_with(
    other: dict[str, object], tmp_path: Path
) -> None:
    """A node of a graph has a prompt of its own: neither uses what the other was told."""
    files = EvidenceStore.at(str(tmp_path))
    ref = await files.put(Evidence(evidence_id="a", source="library", title="T", text="It works."))
    step = STEP.replace(evidence=(ref,))
    another = step.model_copy(update=other)
    store = JudgementStore(files)
    for asked, grade in ((step, 3), (another, 1)):
        assert not await store.load(asked)
        batch = JudgeBatch(judgements=(WorkJudgement(evidence_id="a", answers=grade),))
        await store.keep(asked, batch)
    known = [await store.load(asked) for asked in (step, another)]
    assert [one["a"].judgement.answers for one in known] == [3, 1]
