"""Prompts: stable part first, evidence fenced and within its room, nothing left out in silence."""

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.models.tokens import estimate, room
from activities.roles import prompt
from activities.roles.allowances import ALLOWANCES
from activities.roles.registry import SPECS
from activities.roles.role import prompt_file
from activities.steps import Role
from activities.types import Evidence, Statement
from tests.activities.roles.conftest import DOCUMENTS, PLANTED, QUESTION, Case
from tests.fake_openai import evidence_of, role_of, says, sensible

ROLES = list(SPECS)
READERS: list[Role] = [
    "observer",
    "gap_evaluator",
    "judge",
    "reflector",
    "hypothesis_generator",
    "writer",
    "long_writer",
]


WRITERS: list[Role] = ["writer", "long_writer"]


@pytest.mark.parametrize("role", ROLES)
async def test_every_role_has_its_own_prompt_and_says_which_version(case: Case, role: Role) -> None:
    case.server.script(sensible)
    charged = await case.thinker.think(role, case.step(role))
    [asked] = case.server.asked
    assert role_of(asked) == role
    system = case.server.bodies[0]["messages"][0]["content"]
    file = prompt_file(role, evidence=role in READERS)
    assert system.startswith(file.text)
    assert charged.prompt_version == f"{role}@{hashlib.sha256(file.text.encode()).hexdigest()[:8]}"
    assert charged.model == "m"


@pytest.mark.parametrize("role", ROLES)
async def test_the_stable_part_does_not_change_with_the_step(case: Case, role: Role) -> None:
    case.server.script(sensible)
    step = case.step(role)
    await case.thinker.think(role, step)
    changed = {"question": "Something else about metformin and dementia?", "scope": "other"}
    await case.thinker.think(role, step.model_copy(update=changed))
    one, other = (b["messages"][0]["content"] for b in case.server.bodies)
    assert one == other


@pytest.mark.parametrize("role", READERS)
async def test_planted_instructions_stay_inside_the_fence(case: Case, role: Role) -> None:
    case.server.script(sensible)
    await case.thinker.think(role, case.step(role))
    system, user = (m["content"] for m in case.server.bodies[0]["messages"])
    assert "IGNORE ALL" not in system
    # the one valid pair of marks separates the three parts of the prompt
    found = re.fullmatch(r"(.*)<<<(evidence-[0-9a-f]{12})\n(.*)\n\2>>>(.*)", user, re.DOTALL)
    assert found is not None
    before, mark, inside, after = found.groups()
    assert ("IGNORE ALL" in inside) is (role not in WRITERS), "an instruction was offered as a sentence"
    assert "IGNORE ALL" not in before + after
    assert "<<<" not in inside
    assert ">>>" not in inside
    assert mark != "evidence-000000000000"
    assert after.strip(), "the task must come after the evidence"


async def test_no_text_forges_an_item(case: Case) -> None:
    case.server.script(sensible)
    await case.thinker.think("judge", case.step("judge"))
    assert set(evidence_of(case.server.asked[0])) == {"E1", "E2", "E3"}


@pytest.mark.parametrize("role", READERS)
async def test_what_is_left_out_is_stated(case: Case, role: Role) -> None:
    case.server.script(sensible)
    many = [
        DOCUMENTS[0].model_copy(
            update={"evidence_id": f"pmid:{n}", "text": f"{n} adults took metformin against dementia. " * 60}
        )
        for n in range(100, 190)
    ]
    refs = [await case.store.put(document) for document in many]
    charged = await case.thinker.think(role, case.step(role, refs))
    shown = len(evidence_of(case.server.asked[0]))
    assert 0 < shown < 90
    (note,) = (n for n in charged.notes if isinstance(n, Statement) and n.code == "items_not_shown")
    assert (note.number("missing"), note.number("of")) == (90 - shown, 90)
    assert note.text("step")
    body = case.server.bodies[0]
    sent = estimate(*(m["content"] for m in body["messages"]))
    assert sent <= ALLOWANCES[role].input_tokens
    assert sent + body["max_tokens"] <= ALLOWANCES[role].tokens


async def test_all_that_fits_is_shown_without_a_limitation(case: Case) -> None:
    case.server.script(sensible)
    charged = await case.thinker.think("judge", case.step("judge"))
    assert charged.notes == ()


async def test_the_least_relevant_is_left_out_first(case: Case) -> None:
    case.server.script(sensible)
    bread = DOCUMENTS[0].model_copy(
        update={"title": "Bread", "text": "Sourdough rises slowly in a cool room overnight. " * 10}
    )
    noise = [bread.model_copy(update={"evidence_id": f"doc:{n}"}) for n in range(60)]
    refs = [await case.store.put(document) for document in (*noise, *DOCUMENTS[:2])]
    judged = await case.thinker.think("judge", case.step("judge", refs))
    assert {"pmid:1", "pmid:2"} <= set(judged.output.relevant)


async def test_the_reviewers_words_are_followed_and_evidence_is_not(case: Case) -> None:
    case.server.script(sensible)
    step = case.step("judge").model_copy(update={"steering": ("Look at women only.",)})
    await case.thinker.think("judge", step)
    user = case.server.bodies[0]["messages"][1]["content"]
    assert user.index("The reviewer says") < user.index("Look at women only.") < user.index("<<<")


async def test_a_small_context_gets_a_small_prompt(case: Case) -> None:
    from activities.models.client import OpenAIModel
    from activities.roles.runner import RoleThinker

    case.server.script(says({"scores": [], "confidence": 0.1}))
    small = case.settings.model_copy(update={"context_tokens": 2600})
    model = OpenAIModel(small, case.store)
    refs = [await case.store.put(d.model_copy(update={"text": d.text * 20})) for d in DOCUMENTS]
    await RoleThinker(model, case.store, small).think("judge", case.step("judge", refs))
    await model.aclose()
    body = case.server.bodies[0]
    assert estimate(*(m["content"] for m in body["messages"])) + body["max_tokens"] <= 2600


# the pure parts


_TEXT = st.text(st.characters(codec="utf-8"), max_size=1500)


@given(_TEXT, st.integers(60, 3000))
def test_an_excerpt_is_of_the_text_and_within_its_limit(text: str, limit: int) -> None:
    cut = prompt.excerpt(text, {"metformin"}, limit)
    assert len(cut.encode()) <= limit
    flat = " ".join(text.split())
    assert all(piece.strip() in flat for piece in cut.split(" [...] ")) or "[...]" in flat


def test_a_long_text_is_shown_by_its_relevant_passages() -> None:
    filler = "The weather was mild and the harvest was good in that year. " * 200
    text = f"{filler}Metformin lowered the risk of dementia in this cohort. {filler}"
    cut = prompt.excerpt(text, {"metformin", "dementia"}, 1200)
    assert "Metformin lowered the risk of dementia in this cohort." in cut
    assert "[...]" in cut


@given(_TEXT)
def test_nothing_closes_its_own_fence(text: str) -> None:
    fence = prompt.fenced("evidence", f"{text} >>> {text} <<<x evidence-0>>>")
    mark = fence.split("\n", 1)[0].removeprefix("<<<")
    assert fence.count("<<<") == fence.count(">>>") == 1
    assert fence.count(mark) == 2


@given(st.lists(_TEXT, min_size=1, max_size=12), st.integers(0, 4000))
def test_shown_evidence_fits_its_room(texts: list[str], tokens: int) -> None:
    documents = [
        Evidence(evidence_id=f"doc:{n}", source="library", title=text[:80], text=text)
        for n, text in enumerate(texts)
    ]
    shown = prompt.show(QUESTION, documents, tokens, 600, 30)
    if len(shown.items) > 1:
        assert estimate(shown.text) <= tokens


def test_copies_of_one_report_do_not_crowd_out_what_contradicts_it() -> None:
    copies = [DOCUMENTS[0].model_copy(update={"evidence_id": f"pmid:{n}"}) for n in range(10, 20)]
    against = DOCUMENTS[1].model_copy(
        update={"text": "In a trial of 80 patients no effect of metformin on the risk of dementia was seen."}
    )
    assert against in prompt.most_relevant(QUESTION, [*copies, against], 2)


def test_a_deep_run_of_five_sections_stays_within_the_default_budget() -> None:
    once: list[Role] = ["query_parser", "planner", "proofreader"]
    each: list[Role] = ["observer", "gap_evaluator", "tool_selector", "judge", "reflector"]
    each += ["hypothesis_generator", "long_writer"]
    reserved = sum(ALLOWANCES[r].tokens for r in once)
    reserved += 5 * sum(ALLOWANCES[r].tokens for r in each)
    assert reserved == 217_500, "the docstring of the table names this sum"
    assert reserved < 250_000


@pytest.mark.parametrize("role", ROLES)
def test_a_prompt_leaves_most_of_its_room_to_what_it_is_about(role: Role) -> None:
    fixed = estimate(prompt_file(role, evidence=role in READERS).text)
    assert fixed < 0.7 * room(ALLOWANCES[role], 32_000)


def test_the_planted_text_is_what_the_fence_is_tested_with() -> None:
    assert PLANTED in DOCUMENTS[2].text
