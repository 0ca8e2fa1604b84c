"""What a small model is shown and asked for, and that it never leaves less than code alone would."""

import json

import pytest

from activities.drafts import SectionDraft
from activities.roles.allowances import allowance_of
from activities.sources.library import SAMPLE
from activities.sources.library.files import list_folder, read_files
from activities.steps import JudgeAssessment, Role, StepContext
from activities.text.ranking import rank, relevant
from activities.types import Effort, Evidence, ModelChoice
from activities.verification.quote_check import QuoteChecker
from tests.activities.roles.conftest import Case
from tests.fake_openai import criteria_of, evidence_of, says, sensible, sentences_of

SMALL = ModelChoice(backend="openai", model="m", effort="small")
FINDING = "Metformin lowered the risk of dementia in cohort {n} by a third."


def step_of(case: Case, role: Role, refs: object = None, **update: object) -> StepContext:
    step = case.step(role, refs)  # type: ignore[arg-type]
    return step.model_copy(update={"model": SMALL, "allowance": allowance_of(role, SMALL), **update})


def abstract(n: int, text: str = "") -> Evidence:
    aim = f"BACKGROUND: It is not known what cohort {n} has to say, and this was debated for long. "
    return Evidence(
        evidence_id=f"pmid:{n}",
        source="library",
        title=f"Cohort {n} of metformin and dementia",
        text=text or f"{aim * 8}CONCLUSION: {FINDING.format(n=n)}",
    )


@pytest.mark.parametrize(("effort", "works"), [("small", 7), ("normal", 12)])
async def test_a_judge_sees_what_works_found(case: Case, effort: Effort, works: int) -> None:
    """And not only why they were made, with which an abstract begins."""
    refs = [await case.store.put(abstract(n)) for n in range(10, 22)]
    case.server.script(sensible)
    choice = SMALL.model_copy(update={"effort": effort})
    update = {"model": choice, "allowance": allowance_of("judge", choice)}
    await case.thinker.think("judge", step_of(case, "judge", refs, **update))
    shown = evidence_of(case.server.asked[0])
    assert len(shown) >= works
    assert all("lowered the risk of dementia" in text for text in shown.values())


async def test_a_small_judge_cannot_leave_a_criterion_out(case: Case) -> None:
    asked = case.server.asked
    names = [criterion.name for criterion in case.step("judge").profile.criteria]
    scores = {name: 4 + place for place, name in enumerate(names)}
    case.server.script(says({"scores": scores, "confidence": 0.4, "relevant": ["E1"]}))
    charged = await case.thinker.think("judge", step_of(case, "judge"))
    schema = case.server.bodies[0]["response_format"]["json_schema"]["schema"]
    assert schema["$defs"]["Scores"]["required"] == names == criteria_of(asked[0])
    assert set(schema["properties"]) == {"scores", "confidence", "relevant"}
    assert isinstance(charged.output, JudgeAssessment)
    assert charged.output.scores == scores
    assert not charged.output.by_code


async def test_a_judges_list_of_scores_is_read_where_a_server_ignores_the_schema(case: Case) -> None:
    names = [criterion.name for criterion in case.step("judge").profile.criteria]
    entries = [{"criterion": name, "score": 3 + place} for place, name in enumerate(names)]
    case.server.script(says({"scores": entries, "confidence": 0.4, "relevant": []}))
    charged = await case.thinker.think("judge", step_of(case, "judge"))
    assert charged.output.scores == {name: 3 + place for place, name in enumerate(names)}
    assert charged.usage.calls == 1


async def test_a_small_writer_is_offered_no_aims_and_no_work_on_another_subject(case: Case) -> None:
    bread = abstract(30, "Sourdough rises slowly in a cool place overnight. It keeps well for a week.")
    bread = bread.model_copy(update={"title": "Bread"})
    aims = abstract(
        31, f"OBJECTIVE: To assess metformin and dementia in adults. RESULTS: {FINDING.format(n=31)}"
    )
    refs = [await case.store.put(item) for item in (*(abstract(n) for n in range(10, 16)), aims, bread)]
    case.server.script(says({"claims": []}))
    await case.thinker.think("writer", step_of(case, "writer", refs))
    offered = sentences_of(case.server.asked[0])
    assert len(offered) >= 6
    assert not [said for said in offered.values() if "ourdough" in said or "To assess" in said]
    schema = case.server.bodies[0]["response_format"]["json_schema"]["schema"]
    assert set(schema["properties"]) == {"claims"}
    assert schema["properties"]["claims"]["maxItems"] == 8


@pytest.mark.parametrize("role", ["judge", "writer"])
async def test_code_does_the_step_that_a_small_model_cannot(case: Case, role: Role) -> None:
    case.server.script(says("I am only a small model."))
    charged = await case.thinker.think(role, step_of(case, role))
    alone = await case.thinker.think(role, step_of(case, role, model=ModelChoice()))
    assert charged.output == alone.output
    assert charged.model == "extractive"
    assert charged.usage.calls == 2, "what was paid is charged"
    assert any("m gave no usable answer" in str(note) for note in charged.notes)


GARBAGE: tuple[object, ...] = (
    "I am sorry, I can not.",
    '{"claims": [{"paragraph": 1, "sentence": "S1", "te',
    {"claims": [{"paragraph": 1, "sentence": "S999", "text": "Wonderpill cures all."}] * 20},
    {
        "claims": [{"paragraph": 9, "sentence": "S1", "text": "Wonderpill cures all.", "contradicts": "S1"}]
        * 20
    },
    {"claims": [{"paragraph": 1, "sentence": f"S{n}", "text": ""} for n in range(30, 0, -1)]},
)


async def test_ten_questions_keep_as_many_claims_with_a_babbling_model_as_without(case: Case) -> None:
    """As many claims, and as many that cite a work on the question."""
    works = [d for d in read_files(list_folder(SAMPLE)).documents if d.standing != "retracted"][::6]
    for number, asked in enumerate(works[::10][:10]):
        found = [item.document for item in sorted(rank(asked.title, works), key=lambda i: -i.relevance)[:8]]
        refs = tuple([await case.store.put(document) for document in found])
        case.server.script(says(GARBAGE[number % len(GARBAGE)]))  # type: ignore[arg-type]
        step = step_of(case, "writer", refs, question=asked.title, scope=str(number))
        charged = await case.thinker.think("writer", step)
        alone = await case.thinker.think("writer", step.model_copy(update={"model": ModelChoice()}))
        checker = QuoteChecker({document.evidence_id: document for document in found})
        helping = {item.document.evidence_id for item in relevant(rank(asked.title, found))}
        kept, kept_alone = (kept_of(draft, checker, helping) for draft in (charged.output, alone.output))
        assert kept >= kept_alone, asked.title
        assert "Wonderpill" not in json.dumps(charged.output.model_dump(mode="json"))


def kept_of(draft: SectionDraft, checker: QuoteChecker, helping: set[str]) -> tuple[int, int]:
    """Claims that hold, and those of them that cite a work on the question."""
    claims = [c for p in draft.paragraphs for c in p.claims if checker.check(c).kept]
    return len(claims), sum(any(s.evidence_id in helping for s in claim.support) for claim in claims)
