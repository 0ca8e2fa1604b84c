"""Writers point at sentences; code quotes them, checks the wording, and adds what is missing."""

import json

import pytest

from activities.drafts import DraftClaim, SectionDraft
from activities.roles.drafting import ClaimAnswer, DraftAnswer
from activities.roles.registry import SPECS
from activities.types import Claim, Evidence, ModelChoice
from activities.verification.quote_check import QuoteChecker, verbatim
from activities.verification.wording import wording_problem
from tests.activities.roles.conftest import DOCUMENTS, QUESTION, Case
from tests.fake_openai import LIES, evidence_of, quoting, says, sensible, sentences_of

SMALL = ModelChoice(backend="openai", model="m", effort="small")
LARGE = ModelChoice(backend="openai", model="m", effort="large")
COHORT = "In 4120 adults metformin was associated with a lower risk of dementia over five years."


def claims_of(draft: SectionDraft) -> list[DraftClaim]:
    return [claim for paragraph in draft.paragraphs for claim in paragraph.claims]


def choosing(*claims: dict[str, object], title: str = "") -> dict[str, object]:
    filled = [{"paragraph": 1, "text": "", "contradicts": "", **claim} for claim in claims]
    return {"title": title, "claims": filled, "limitations": []}


async def draft_of(case: Case, answer: object, **update: object) -> SectionDraft:
    case.server.script(says(answer))  # type: ignore[arg-type]
    charged = await case.thinker.think("writer", case.step("writer").model_copy(update=update))
    assert isinstance(charged.output, SectionDraft)
    return charged.output


async def test_a_label_becomes_the_sentence_it_stands_for(case: Case) -> None:
    draft = await draft_of(case, choosing({"sentence": "S1"}))
    [claim] = claims_of(draft)
    assert claim.text == COHORT
    assert [(s.evidence_id, s.quote) for s in claim.support] == [("pmid:1", COHORT)]
    assert not claim.added_by_code


async def test_a_draft_without_a_claim_has_what_comes_nearest(case: Case) -> None:
    asked = "Does metformin lower the risk of hearing loss in adults?"
    draft = await draft_of(case, choosing(), question=asked)
    assert claims_of(draft) == []
    assert [near.evidence_id for near in draft.nearest][:1] == ["pmid:1"]
    assert "hearing loss" in draft.not_mentioned


async def test_words_of_the_models_own_stand_when_they_stand_on_the_sentence(case: Case) -> None:
    text = "Metformin was associated with a lower risk of dementia in 4120 adults."
    [claim] = claims_of(await draft_of(case, choosing({"sentence": "S1", "text": text})))
    assert claim.text == text


@pytest.mark.parametrize(
    "text",
    [
        "Metformin was associated with a higher risk of dementia in 4120 adults.",
        "Metformin was associated with a lower risk of dementia in 9000 adults.",
        "Wonderpill was associated with a lower risk of dementia in adults.",
        "Diabetes treatment protects the ageing brain against cognitive decline.",
    ],
)
async def test_a_wording_that_says_something_else_is_replaced_by_the_sentence(case: Case, text: str) -> None:
    [claim] = claims_of(await draft_of(case, choosing({"sentence": "S1", "text": text})))
    assert claim.text == COHORT


async def test_an_answer_that_copies_its_quotes_is_read_too(case: Case) -> None:
    case.server.script(quoting)
    step = case.step("writer", case.refs[:2])
    draft = (await case.thinker.think("writer", step)).output
    by_id = {d.evidence_id: d for d in DOCUMENTS}
    cited = [s for claim in claims_of(draft) for s in claim.support]
    assert {s.evidence_id for s in cited} == {"pmid:1", "pmid:2"}
    assert all(verbatim(s.quote, by_id[s.evidence_id].text) for s in cited)
    assert len(case.server.bodies) == 1


async def test_contradictions_are_named_by_label(case: Case) -> None:
    draft = await draft_of(case, choosing({"sentence": "S1"}, {"sentence": "S2", "contradicts": "S1"}))
    one, other = claims_of(draft)
    assert one.contradicts == ()
    assert other.contradicts == (COHORT,)
    unused = choosing({"sentence": "S1", "contradicts": "S2"})
    [alone] = claims_of(await draft_of(case, unused, scope="again"))
    assert alone.contradicts == (), "a sentence that is no claim cannot be contradicted by one"


async def test_a_claim_of_an_earlier_section_is_named_by_label(case: Case) -> None:
    earlier = (Claim(id="s1-1", text="Metformin raised the risk of dementia."),)
    answer = choosing({"sentence": "S1", "contradicts": "C1"})
    [claim] = claims_of(await draft_of(case, answer, written=earlier))
    assert claim.contradicts == (earlier[0].text,)
    assert "C1: Metformin raised" in case.server.bodies[0]["messages"][1]["content"]


async def test_labels_are_an_enum_and_lists_are_bound(case: Case) -> None:
    await draft_of(case, choosing({"sentence": "S1"}))
    body = case.server.bodies[0]
    schema = body["response_format"]["json_schema"]["schema"]
    claim = schema["$defs"]["ClaimAnswer"]["properties"]
    assert claim["sentence"]["enum"] == list(sentences_of(case.server.asked[0]))
    assert schema["properties"]["claims"]["maxItems"] <= 14
    assert claim["text"]["maxLength"] <= 300
    assert {"item", "quote"}.isdisjoint(claim)


@pytest.mark.parametrize("role", SPECS)
def test_every_list_and_free_text_of_every_role_is_bound(role: str) -> None:
    from activities.models.structured import schema_of

    spec = SPECS[role]  # type: ignore[index]

    def check(node: dict[str, object], path: str) -> None:
        for name, part in (node.get("properties") or {}).items():  # type: ignore[attr-defined]
            if part.get("type") == "array":
                assert part["maxItems"] <= 20, f"{role}: {path}{name}"
                part = part["items"]
            if part.get("type") == "string" and f"{path}{name}" not in CHOSEN.get(role, ()):
                assert part.get("maxLength", 1_000) <= 900, f"{role}: {path}{name}"
        for name, part in (node.get("$defs") or {}).items():  # type: ignore[attr-defined]
            check(part, f"{name}.")

    check(schema_of(spec.answer), "")


CHOSEN = {
    "writer": ("ClaimAnswer.sentence",),
    "long_writer": ("ClaimAnswer.sentence",),
    "judge": ("relevant",),
    "query_parser": ("research_mode", "profile"),
    "manager": ("next_speaker",),
}
"""Fields without a bound because their values are listed."""


async def test_what_is_ours_cannot_be_quoted(case: Case) -> None:
    """Headings, the reason the search ended, background and earlier claims are no evidence."""
    ours = "The search ended because the token budget was exceeded in this run."
    step = {"background": ours, "stop_reason": "token_budget_exceeded", "title": "Evidence on metformin"}
    answer = {"title": "", "claims": [{"text": ours, "item": "E1", "quote": ours}], "limitations": []}
    draft = await draft_of(case, answer, **step)
    checker = QuoteChecker({d.evidence_id: d for d in DOCUMENTS})
    assert not [c for c in claims_of(draft) if c.text == ours and checker.check(c).kept]
    prompt = case.server.bodies[0]["messages"][1]["content"]
    assert ours not in prompt
    assert "budget" not in prompt


async def test_code_adds_claims_where_a_small_model_makes_too_few(case: Case) -> None:
    case.server.script(says(choosing()))
    step = case.step("writer").model_copy(update={"model": SMALL})
    charged = await case.thinker.think("writer", step)
    [claim] = claims_of(charged.output)
    assert claim.added_by_code
    assert claim.text == COHORT
    assert len(case.server.bodies) == 1, "a small model was asked to repair what code can add"


async def test_a_claim_of_the_model_is_not_added_again(case: Case) -> None:
    step = {"model": SMALL}
    claims = claims_of(await draft_of(case, choosing({"sentence": "S1"}), **step))
    assert [c.added_by_code for c in claims] == [False]


async def test_one_claim_off_topic_is_no_answer(case: Case) -> None:
    bread = Evidence(
        evidence_id="doc:bread",
        source="library",
        title="Bread",
        text="Sourdough rises slowly in a cool room overnight and keeps well for a week.",
    )
    refs = [await case.store.put(bread)]
    case.server.script(says(choosing({"sentence": "S1"})))
    charged = await case.thinker.think("writer", case.step("writer", refs))
    assert claims_of(charged.output) == []
    assert any("address the question" in note for note in charged.notes)


@pytest.mark.parametrize("count", [1, 4])
async def test_claims_with_a_word_of_the_question_alone_are_no_answer(case: Case, count: int) -> None:
    """However many a model makes of them."""
    text = "The risk of frost damage to apple orchards was lower on slopes than in valleys in year {n}."
    refs = [
        await case.store.put(
            Evidence(evidence_id=f"doc:{n}", source="library", title="Orchards", text=text.format(n=n))
        )
        for n in range(count)
    ]
    named: list[dict[str, object]] = [{"sentence": f"S{n}"} for n in range(1, count + 1)]
    case.server.script(says(choosing(*named)))
    charged = await case.thinker.think("writer", case.step("writer", refs))
    assert claims_of(charged.output) == []


async def test_claims_that_rest_on_nothing_are_asked_for_once_more_with_the_reason(case: Case) -> None:
    wrong = {"text": "Metformin works.", "item": "E1", "quote": "Metformin works wonders for everyone alive."}
    first = {"title": "", "claims": [wrong, {"sentence": "S77"}], "limitations": []}
    case.server.script(says(first), says(choosing({"sentence": "S2"}, {"sentence": "S1"})))
    charged = await case.thinker.think("writer", case.step("writer"))
    assert len(case.server.bodies) == 2
    said = case.server.bodies[1]["messages"][1]["content"]
    assert "not in the text" in said
    assert "S77" in said
    assert {c.support[0].evidence_id for c in claims_of(charged.output)} == {"pmid:1", "pmid:2"}


async def test_a_usable_answer_survives_a_failed_repair(case: Case) -> None:
    first = choosing({"sentence": "S1"}, {"sentence": "S77"})
    case.server.script(says(first), says("I give up."))
    charged = await case.thinker.think("writer", case.step("writer"))
    assert [c.text for c in claims_of(charged.output)] == [COHORT]
    assert charged.usage.calls == 2


@pytest.mark.parametrize("role", ["planner", "writer", "judge", "gap_evaluator", "observer"])
async def test_an_answer_that_repeats_the_example_is_refused(case: Case, role: str) -> None:
    from activities.roles.role import prompt_file

    example = prompt_file(role, evidence=False).example
    case.server.script(says(example), sensible)
    charged = await case.thinker.think(role, case.step(role))  # type: ignore[arg-type]
    assert len(case.server.bodies) == 2
    assert "hedge" not in json.dumps(charged.output.model_dump(mode="json")).casefold()


@pytest.mark.parametrize("role", SPECS)
def test_no_example_holds_a_placeholder_and_each_is_an_answer(role: str) -> None:
    from activities.roles.role import prompt_file

    file = prompt_file(role, evidence=False)
    assert "..." not in json.dumps(file.example)
    SPECS[role].answer.model_validate(file.example)  # type: ignore[index]


@pytest.mark.parametrize(("choice", "most"), [(SMALL, 20), (LARGE, 240)])
async def test_a_larger_model_gets_more_sentences(case: Case, choice: ModelChoice, most: int) -> None:
    text = " ".join(
        f"In cohort {n} metformin lowered the risk of dementia in {n} older adults with diabetes."
        for n in range(30)
    )
    refs = [
        await case.store.put(DOCUMENTS[0].model_copy(update={"evidence_id": f"pmid:{n}", "text": text}))
        for n in range(50, 70)
    ]
    from activities.roles.allowances import allowance_of

    case.server.script(says(choosing({"sentence": "S1"})))
    update = {"model": choice, "allowance": allowance_of("writer", choice)}
    await case.thinker.think("writer", case.step("writer", refs).model_copy(update=update))
    asked = case.server.asked[-1]
    shown = sentences_of(asked)
    assert 10 <= len(shown) <= most
    assert (len(shown) > 60) is (choice is LARGE)
    assert all(any(s in " ".join(b.split()) for b in evidence_of(asked).values()) for s in shown.values())


def test_the_old_form_of_an_answer_is_still_one() -> None:
    answer = DraftAnswer.model_validate({"title": LIES["title"], "claims": LIES["claims"], "limitations": []})
    assert answer.claims[0] == ClaimAnswer(
        paragraph=1,
        text="Wonderpill cures all.",
        item="E999",
        quote="Wonderpill cures everything it touches.",
    )


def test_a_name_may_be_in_the_title_and_a_number_may_not() -> None:
    quote = "The drug was associated with a lower risk of dementia in older adults."
    title = "Metformin and dementia in 4120 adults"
    assert not wording_problem(
        "Metformin was associated with a lower risk of dementia.", [quote], [title], [2019]
    )
    number = "Metformin was associated with a lower risk of dementia in 4120 adults."
    assert "4120" in wording_problem(number, [quote], [title], [2019])
    assert QUESTION
