"""A model for the tests of `xdist_group("e2e-models")`: one server and one worker for all of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fake_openai import FakeOpenAI


@pytest.fixture(scope="session")
def model_server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


@pytest.fixture
def model(model_server: FakeOpenAI, file_home: Path, monkeypatch: pytest.MonkeyPatch) -> FakeOpenAI:
    """The model, asked nothing yet, with a key and a price. Its server stays, so that the worker need not
    start again."""
    paid = {
        "OPENAI_API_KEY": "sk-of-the-test-0123456789",
        "DETERMINATOR_EFFORT": "normal",
        "DETERMINATOR_PRICES": '{"stub": {"input": 1, "output": 4}}',
    }
    model_server.forget().serve(monkeypatch, **paid)
    return model_server
