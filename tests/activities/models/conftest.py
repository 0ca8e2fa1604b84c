"""A scripted server and the real client in front of it."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from pydantic import BaseModel, SecretStr

from activities.contracts.evidence import Allowance, ModelChoice
from activities.evidence_store import EvidenceStore
from activities.heartbeat import has_timed_out
from activities.models.base import Completion
from activities.models.client import OpenAIModel
from activities.settings import Settings
from tests.fake_openai import FakeOpenAI

KEY = "sk-test-1234567890abcdef"


class Verdict(BaseModel):
    """What the tests ask for."""

    label: str
    score: int
    reasons: list[str] = []


GOOD = {"label": "yes", "score": 7, "reasons": ["one", "two"]}


class Asker:
    """The real client with everything a call needs already filled in."""

    def __init__(self, model: OpenAIModel, choice: ModelChoice) -> None:
        self.model = model
        self.choice = choice

    async def __call__(
        self,
        *,
        scope: str = "wf/run/1",
        user: str = "Question: does it work?",
        allowance: Allowance | None = None,
        seconds: float | None = None,
    ) -> tuple[Verdict, Completion]:
        return await self.model.ask(
            self.choice,
            system="You judge. Answer with JSON.",
            user=user,
            answer=Verdict,
            allowance=allowance or Allowance(input_tokens=3000, output_tokens=800),
            scope=scope,
            seconds=seconds,
        )


Workers = Callable[..., Asker]


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def settings(server: FakeOpenAI, tmp_path: Path) -> Settings:
    return Settings(
        home=tmp_path,
        openai_base_url=server.base_url,
        openai_api_key=SecretStr(KEY),
        prices={"m": {"input": 1.0, "output": 4.0, "cached_input": 0.5}},
    )


@pytest.fixture
async def worker(settings: Settings, store: EvidenceStore) -> AsyncIterator[Workers]:
    """`worker(**changed)`: the client of another worker, whose settings differ in `changed`."""
    async with AsyncExitStack() as stack:

        def start(**changed: object) -> Asker:
            model = OpenAIModel(settings.model_copy(update=changed), store, has_timed_out)
            stack.push_async_callback(model.aclose)
            return Asker(model, ModelChoice(backend="openai", model="m"))

        yield start


@pytest.fixture
def ask(worker: Workers) -> Asker:
    return worker()
