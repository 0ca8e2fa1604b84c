"""Which model answers: the one asked for, its fallbacks when it cannot, and none where none is needed."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from activities.contracts.errors import ModelBusy, ModelDown, ModelRefused
from activities.contracts.evidence import ModelChoice
from activities.contracts.step import Role
from activities.roles.allowances import allowance_of
from activities.roles.role import ROLES
from tests.activities.roles.conftest import DOCUMENTS, MODEL, SMALL_MODEL, Case
from tests.fake_openai import breaks, fails, labels_by_work, says, sensible
from tests.replay import Reply

OTHER = ModelChoice(backend="openai", model="other")
NONE = ModelChoice()
DOWN = fails(503, "overloaded")
BUSY = fails(429, "slow down", retry_after="9")


async def test_every_role_works_without_a_language_model(case: Case) -> None:
    for role in ROLES:
        charged = await case.thinker.think(role, case.step(role, model=NONE))
        assert (charged.model, charged.usage.tokens, charged.prompt_version) == ("extractive", 0, ""), role
    assert case.server.bodies == []


async def test_no_model_is_paid_to_read_nothing(case: Case) -> None:
    roles: tuple[Role, ...] = ("observer", "gap_evaluator", "judge", "hypothesis_generator", "writer")
    for role in (*roles, "extractor"):
        charged = await case.thinker.think(role, case.step(role, ()))
        assert (charged.usage.calls, charged.model) == (0, "code"), role
    assert case.server.bodies == []


async def test_searches_that_all_failed_are_no_reason_to_search_differently(case: Case) -> None:
    step = case.step("reflector", ())
    failed = tuple(search.replace(status="unavailable") for search in step.searches)
    charged = await case.thinker.think("reflector", step.replace(searches=failed))
    assert case.server.bodies == []
    assert (charged.model, charged.output.served, charged.output.better_searches) == ("code", False, ())


@pytest.mark.parametrize(
    ("failure", "fallbacks", "last_attempt", "model"),
    [
        (DOWN, (OTHER, NONE), False, "other"),
        (DOWN, (NONE,), False, "extractive"),
        (fails(401, "bad key"), (OTHER,), False, "other"),
        (fails(404, "no such model"), (OTHER,), False, "other"),
        (BUSY, (OTHER,), True, "other"),
    ],
)
async def test_a_model_that_cannot_answer_hands_over_at_once(
    case: Case, failure: Reply, fallbacks: tuple[ModelChoice, ...], last_attempt: bool, model: str
) -> None:
    case.last_attempt = last_attempt
    case.server.script(failure, sensible)
    charged = await case.thinker.think("judge", case.step("judge", fallbacks=fallbacks))
    assert (charged.model, charged.fell_back) == (model, True)
    assert [b["model"] for b in case.server.bodies] == ["m", "other"][: 1 + (model == "other")]
    assert charged.notes, "the failure is not stated"


async def test_a_busy_model_is_waited_for(case: Case) -> None:
    case.server.script(BUSY, sensible)
    step = case.step("judge", fallbacks=(OTHER,))
    with pytest.raises(ModelBusy) as raised:
        await case.thinker.think("judge", step)
    assert raised.value.retry_after == 9
    assert (await case.thinker.think("judge", step)).model == "m"


async def test_what_failed_calls_cost_is_charged_and_raised_with_the_failure(case: Case) -> None:
    case.server.script(says("no json", usage=(400, 30)), says("still none", usage=(400, 30)), sensible)
    step = case.step("judge", fallbacks=(OTHER,))
    charged = await case.thinker.think("judge", step)
    assert charged.fell_back
    assert charged.usage.calls == 3
    assert charged.usage.tokens > 860
    case.server.script(says("no json", usage=(400, 30)), says("still none", usage=(400, 30)), DOWN)
    with pytest.raises(ModelDown) as raised:
        await case.thinker.think("judge", step.replace(question="Does aspirin help?"))
    assert raised.value.usage.tokens == 860


async def test_extractive_work_does_not_hold_up_the_heartbeat(case: Case) -> None:
    """The loop must keep turning while documents are ranked, or a busy worker would look dead."""
    big = DOCUMENTS[0].replace(text=DOCUMENTS[0].text * 400)
    refs = [await case.store.put(big.replace(evidence_id=f"pmid:{n}")) for n in range(10)]
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0.001)

    task = asyncio.create_task(beat())
    step = case.step("judge", refs, model=NONE)
    await case.thinker.think("judge", step)
    task.cancel()
    assert beats > 3


CONTEXT_ERRORS = {
    "llama.cpp": (
        400,
        "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it",
    ),
    "ollama": (400, "prompt too long; exceeded max context length by 900 tokens"),
    "vllm": (400, "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens"),
    "llama-cpp-python": (500, "Requested tokens (9000) exceed context window of 4096"),
    "lm studio": (200, "Cannot truncate prompt with n_keep (9000) >= n_ctx (4096)"),
    "no number": (400, "the prompt is too long"),
    "Gemini": (400, "The input token count (9000) exceeds the maximum number of tokens allowed (4096)."),
    "TGI": (422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 9000 `inputs` tokens"),
    "SiliconFlow": (400, "length of prompt_tokens (9000) must be less than max_seq_len (4096)."),
    "in Chinese": (400, "输入长度超过模型最大上下文长度限制 4096"),
}
LONG_TEXT = " ".join(
    f"In cohort {n} metformin lowered the risk of dementia in {n} older adults." for n in range(90)
)


def length_of(body: Mapping[str, Any]) -> int:
    return sum(len(message["content"]) for message in body["messages"])


@pytest.mark.parametrize(
    ("role", "words"), [*(("judge", words) for words in CONTEXT_ERRORS), ("writer", "llama.cpp")]
)
async def test_a_prompt_that_is_too_long_is_made_smaller_and_not_repeated(
    case: Case, role: Role, words: str
) -> None:
    status, message = CONTEXT_ERRORS[words]
    refs = [
        await case.store.put(DOCUMENTS[0].replace(evidence_id=f"pmid:{n}", text=LONG_TEXT))
        for n in range(100, 112)
    ]
    case.server.script(fails(status, message) if status >= 400 else breaks(message), sensible)
    charged = await case.thinker.think(role, case.step(role, refs))
    assert charged.model == "m"
    first, second = map(length_of, case.server.bodies)
    assert second < first
    if "4096" in message:
        assert await case.thinker._model_of(MODEL).context(MODEL) == 4096
    await case.thinker.think(role, case.step(role, refs, scope="next"))
    assert len(case.server.bodies) == 3, "what was learned of the context was forgotten"


@pytest.mark.parametrize("largest", [20_000, 12_000])
async def test_a_large_prompt_that_is_refused_in_unknown_words_is_tried_shorter_and_remembered(
    case: Case, largest: int
) -> None:
    refs = [
        await case.store.put(DOCUMENTS[0].replace(evidence_id=f"pmid:{n}", text=LONG_TEXT))
        for n in range(100, 112)
    ]
    refusal = fails(400, "Es ist etwas schiefgegangen.")
    case.server.script(lambda asked: refusal if length_of(asked.json()) > largest else sensible(asked))
    charged = await case.thinker.think("judge", case.step("judge", refs))
    assert charged.model == "m"
    assert length_of(case.server.bodies[0]) > largest, "the prompt is not too long for this test"
    assert case.server.bodies[-1]["response_format"]["type"] == "json_schema", "its format was not at fault"
    asked = len(case.server.bodies)
    await case.thinker.think("judge", case.step("judge", refs, scope="next"))
    assert len(case.server.bodies) == asked + 1, "what was learned was forgotten"


async def test_a_refusal_that_is_not_of_the_length_ends_after_few_attempts(case: Case) -> None:
    case.server.script(fails(400, "Es ist etwas schiefgegangen."))
    with pytest.raises(ModelRefused, match="schiefgegangen"):
        await case.thinker.think("judge", case.step("judge"))
    assert len(case.server.bodies) <= 6


async def test_a_small_model_says_one_word_and_code_does_the_rest(case: Case) -> None:
    case.server.script(says("yes"))
    for role in ROLES:
        update = {"model": SMALL_MODEL, "allowance": allowance_of(role, SMALL_MODEL)}
        charged = await case.thinker.think(role, case.step(role).model_copy(update=update))
        assert charged.model == ("m" if role == "orderer" else "extractive"), role
        if role == "orderer":
            assert charged.output.yes == 1.0
    (body,) = case.server.bodies
    assert DOCUMENTS[0].text[:60] in str(body["messages"])


async def test_a_model_that_judges_puts_nothing_in_order_by_one_word(case: Case) -> None:
    charged = await case.thinker.think("orderer", case.step("orderer", model=MODEL))
    assert (charged.model, charged.output.yes, case.server.bodies) == ("extractive", None, [])


async def test_a_work_is_judged_once_for_a_question(case: Case) -> None:
    case.server.script(sensible)
    first = (await case.thinker.think("judge", case.step("judge", case.refs[:2]))).output
    later = case.step("judge", scope="a later round")
    again = await case.thinker.think("judge", later)
    assert len(case.server.bodies) == 2
    assert set(labels_by_work(case.server.asked[-1])) == {"E1"}, "the two judged works were shown again"
    assert again.output.judgements[:2] == first.judgements
    assert {j.evidence_id for j in again.output.judgements} == {d.evidence_id for d in DOCUMENTS}
    third = await case.thinker.think("judge", later.replace(scope="a refresh"))
    assert (len(case.server.bodies), third.usage.tokens) == (2, 0)
    assert third.output.scores == again.output.scores
