"""The examples that show a run while it goes on: a notebook, and the chat of Gradio."""

import ast
import importlib
import json
from pathlib import Path

import pytest

from determinator import RunReport

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


def test_every_cell_of_the_notebook_runs(file_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cells run in one namespace, in their order; the last expression of a cell is its output."""
    cells = json.loads((EXAMPLES / "notebook.ipynb").read_text())["cells"]
    names: dict[str, object] = {}
    shown = []
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        body = ast.parse("".join(cell["source"])).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), "notebook", "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), "notebook", "eval"), names))
    _run, report, works, evidence, holds, found, _ = shown
    assert "complete " in capsys.readouterr().out
    assert isinstance(report, RunReport)
    assert "<iframe" in report._repr_html_()
    assert works
    assert evidence[0] > 0
    assert holds is True
    assert len(found) == 3
