"""The roles on a real model of 135 million parameters: it knows little, and nothing it says wrong gets out.

Not a test of the model's wit: of what a server says of itself, of typed answers, of usage, of the checks, and
that a run with such a model is no worse than one without.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from activities.contracts.errors import ModelUnusable
from activities.contracts.evidence import ModelChoice
from activities.contracts.judge import JudgeAssessment
from activities.contracts.plan import ParsedQuery
from activities.contracts.step import Role, StepAnswer
from activities.contracts.write import SectionDraft
from activities.evidence_store import EvidenceStore
from activities.models.address import parse
from activities.models.capabilities import CapabilityMemory
from activities.models.client import OpenAIModel
from activities.models.prices import effort_for
from activities.models.server_facts import ask_server
from activities.roles.allowances import allowance_of
from activities.roles.runner import RoleThinker
from activities.settings import Settings
from tests.activities.roles.conftest import DOCUMENTS, QUESTION, Case
from tests.client.harness import begin
from tests.e2e.stage import evidence_of, faults, report_of
from tests.fake_openai import FakeOpenAI
from tests.model.conftest import CONTEXT

pytestmark = [pytest.mark.model, pytest.mark.timeout(900)]

ROLES: list[Role] = [
    *("query_parser", "planner", "observer", "gap_evaluator", "tool_selector", "judge", "orderer"),
    *("reflector", "hypothesis_generator", "writer", "verifier", "editor", "extractor"),
    *("appraiser", "manager"),
]
SHOWN = {d.evidence_id for d in DOCUMENTS}


@pytest.fixture
async def real(model_url: str, tmp_path: Path) -> AsyncIterator[Case]:
    store = EvidenceStore.at(str(tmp_path / "store"))
    settings = Settings(home=tmp_path, openai_base_url=model_url, context_tokens=CONTEXT)
    model = OpenAIModel(settings, store)
    refs = tuple([await store.put(document) for document in DOCUMENTS])
    with FakeOpenAI() as unused:
        yield Case(unused, RoleThinker(lambda _: model, store, settings), store, settings, refs)
    await model.aclose()


@pytest.mark.parametrize("role", ROLES)
async def test_every_role_ends_with_a_typed_answer(real: Case, role: Role) -> None:
    """From the model, or, when it cannot, from the extractive back end that was named as its fallback."""
    choice = ModelChoice(backend="openai", model="m", effort="small" if role == "orderer" else "normal")
    update = {"model": choice, "allowance": allowance_of(role, choice), "fallbacks": (ModelChoice(),)}
    step = real.step(role).model_copy(update=update)
    charged: StepAnswer[object] = await real.thinker.think(role, step)
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


async def test_the_server_holds_its_model_to_the_schema(real: Case, model_url: str) -> None:
    charged = await real.thinker.think("query_parser", real.step("query_parser"))
    assert isinstance(charged.output, ParsedQuery)
    assert charged.model == "m"
    learned = await CapabilityMemory(real.store).of(model_url, "m")
    assert learned.format in ("json_schema", "json_object_schema")
    assert learned.bounds
    assert charged.output.original_query == QUESTION


async def test_the_server_says_what_it_is(real: Case, model_url: str) -> None:
    facts = await ask_server(parse(model_url), "m", "no-key")
    assert facts.context_tokens == CONTEXT
    assert facts.slots == 1
    assert facts.parameters is not None
    assert 0.1 < facts.parameters < 0.2
    assert effort_for(facts) == "small"


def test_a_run_with_the_model_is_no_worse_than_one_without(
    file_home: Path, model_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the command line, with the effort found by the size of the model."""
    monkeypatch.setenv("DETERMINATOR_OFFLINE", "true")
    monkeypatch.setenv("OPENAI_BASE_URL", model_url)
    question = ["What is known about survival in lung cancer?", "--mode", "iterative"]
    reports = []
    for model in ("extractive", "smollm2"):
        run = begin("ask", *question, "--model", model)
        out, err = run.communicate(timeout=800)
        assert run.returncode == 0, out + err
        run_id = next(word for word in out.split() if word.startswith("ask-"))
        reports.append((report_of(run_id), evidence_of(run_id)))
    (alone, _), (report, evidence) = reports
    assert not faults(report, evidence)
    assert report["verification"]["verified"] >= alone["verification"]["verified"]
    assert report["confidence"] <= alone["confidence"]
    assert 0 < report["methodology"]["tokens"] <= 10_000


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
