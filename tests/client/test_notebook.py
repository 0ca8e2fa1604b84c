"""The example of a notebook."""

import ast
import json
from pathlib import Path

import pytest

from determinator import RunReport

pytestmark = pytest.mark.xdist_group("e2e-alone")  # offline as those, so that no worker is replaced for it

EXAMPLES = Path(__file__).parents[2] / "examples"


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
