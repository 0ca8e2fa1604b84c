"""The example that shows a run while it goes on: the chat of Gradio."""

import importlib
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("plain")

EXAMPLES = Path(__file__).parents[2] / "examples"


async def test_the_chat_of_gradio_shows_steps_that_fold_and_then_the_report(
    file_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gradio, which is not installed here, takes lists of messages."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    answer = importlib.import_module("gradio_app").answer
    shown = [
        messages async for messages in answer("What is known about survival in lung cancer?", [], "simple")
    ]
    assert len(shown) > 3
    *steps, report = shown[-1]
    assert [cell["metadata"]["status"] for cell in shown[0]] == ["pending"]
    assert {step["metadata"]["status"] for step in steps} == {"done"}
    assert "searching" in [step["metadata"]["title"] for step in steps]
    assert report["content"].count("\n1. ") == 1
    assert "metadata" not in report
    (refused,) = [messages async for messages in answer("?", [], "simple")]
    assert "too short for a question" in refused[0]["content"]
