"""What a run asks back before it searches, answered by a person at a terminal; the real server, a scripted
model."""

from pathlib import Path

import pytest

from tests.client.harness import determinator
from tests.client.terminal import Terminal
from tests.fake_openai import FakeOpenAI, role_of, says, sensible
from tests.papers import papers
from tests.replay import Asked, Reply

pytestmark = pytest.mark.xdist_group("e2e-models")

VAGUE = "Does metformin help?"
READINGS = [
    {"question": "In whom?", "assumed": "adults with type 2 diabetes"},
    {"question": "Help with what?", "assumed": "blood glucose"},
]


def asks_back(asked: Asked) -> Reply:
    """Asks back, and is a good model otherwise."""
    return says({"questions": READINGS})(asked) if role_of(asked) == "clarifier" else sensible(asked)


@pytest.fixture
def served(model: FakeOpenAI) -> FakeOpenAI:
    return model.script(asks_back)


def is_searched_as_meant(server: FakeOpenAI, run: str) -> None:
    """What was answered and assumed stands in a later prompt and in the report's method."""
    writer = next(str(body) for body in server.bodies if "# Writer" in str(body))
    method = determinator("report", run, "--format", "md").out
    for text in (writer, method):
        assert "cancer" in text
        assert "adults with type 2 diabetes" in text
        assert "blood glucose" not in text


def test_a_person_at_a_terminal_answers_what_a_run_asks_back(served: FakeOpenAI, tmp_path: Path) -> None:
    terminal = Terminal(
        *("ask", VAGUE, "--mode", "simple", "--library", str(papers(tmp_path)), "--model", "stub"),
        columns=140,
    )
    terminal.expect("In whom? [adults with type 2 diabetes]")
    terminal.type("")  # keeps what is assumed
    terminal.expect("Help with what? [blood glucose]")
    terminal.type("preventing colorectal cancer")
    assert terminal.end() == 0, terminal.text()
    is_searched_as_meant(served, "last")
