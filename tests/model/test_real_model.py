"""The roles on a real model of 135 million parameters: it knows little, and nothing it says wrong gets out.

Not a test of the model's wit: of the way a server is found out, of typed answers, of usage, of the gate.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from activities.errors import ModelUnusable
from activities.evidence_store import EvidenceStore
from activities.models.capabilities import CapabilityMemory
from activities.models.client import OpenAIModel
from activities.roles.runner import RoleThinker
from activities.settings import Settings
from activities.steps import (
    Charged,
    JudgeAssessment,
    ParsedQuery,
    Role,
    SectionDraft,
)
from activities.types import ModelChoice
from tests.activities.roles.conftest import DOCUMENTS, QUESTION, Case
from tests.fake_openai import FakeOpenAI
from tests.model.conftest import CONTEXT

pytestmark = [pytest.mark.model, pytest.mark.timeout(900)]

ROLES: list[Role] = [
    "query_parser",
    "planner",
    "observer",
    "gap_evaluator",
    "tool_selector",
    "judge",
    "reflector",
    "hypothesis_generator",
    "writer",
    "proofreader",
    "manager",
]
SHOWN = {d.evidence_id for d in DOCUMENTS}


@pytest.fixture
async def real(model_url: str, tmp_path: Path) -> AsyncIterator[Case]:
    store = EvidenceStore.at(str(tmp_path / "store"))
    settings = Settings(home=tmp_path, openai_base_url=model_url, context_tokens=CONTEXT)
    model = OpenAIModel(settings, store)
    refs = tuple([await store.put(document) for document in DOCUMENTS])
    with FakeOpenAI() as unused:
        yield Case(unused, RoleThinker(model, store, settings), store, settings, refs)
    await model.aclose()


@pytest.mark.parametrize("role", ROLES)
async def test_every_role_ends_with_a_typed_answer(real: Case, role: Role) -> None:
    """From the model, or, when it cannot, from the extractive back end that was named as its fallback."""
    step = real.step(role).model_copy(update={"fallbacks": (ModelChoice(),)})
    charged: Charged[object] = await real.thinker.think(role, step)
    assert charged.usage.calls >= 1
    assert charged.usage.input_tokens > 50
    assert charged.usage.tokens <= step.allowance.tokens
    assert charged.fell_back is (charged.model == "extractive")
    if isinstance(charged.output, JudgeAssessment):
        assert set(charged.output.scores) == {c.name for c in step.profile.criteria}
        assert all(0 <= score <= 10 for score in charged.output.scores.values())
        assert set(charged.output.relevant) <= SHOWN
    if isinstance(charged.output, SectionDraft):
        cited = [s for p in charged.output.paragraphs for c in p.claims for s in c.support]
        assert {s.evidence_id for s in cited} <= SHOWN


async def test_the_schema_reaches_a_server_that_refuses_the_usual_form(real: Case, model_url: str) -> None:
    charged = await real.thinker.think("query_parser", real.step("query_parser"))
    assert isinstance(charged.output, ParsedQuery)
    assert charged.model == "m"
    learned = await CapabilityMemory(real.store).of(model_url, "m")
    assert learned.format == "json_object_schema"
    assert charged.output.original_query == QUESTION


async def test_a_cancelled_call_leaves_the_server_free(real: Case) -> None:
    task = asyncio.create_task(real.thinker.think("judge", real.step("judge")))
    await asyncio.sleep(2)
    task.cancel()
    with pytest.raises((asyncio.CancelledError, ModelUnusable)):
        await task
    step = real.step("query_parser")
    async with asyncio.timeout(120):
        charged = await real.thinker.think("query_parser", step)
    assert charged.output.improved_query
