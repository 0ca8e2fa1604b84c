"""`graph list|show|check`, and `ask --graph`: what is wrong with a file is said before a run is started."""

from pathlib import Path

import pytest

from activities.settings import Settings
from client.cli.main import run
from client.failures import BadInput, Exit
from client.runs.options import AskOptions
from client.runs.request import build_request
from tests.workflows.graph.test_validation import LINE
from workflows.graph.definition import GraphDefinition
from workflows.graph.library import builtin, builtin_names

QUESTION = "Does metformin lower mortality?"


@pytest.fixture
def line(tmp_path: Path) -> Path:
    """A file with a valid graph."""
    path = tmp_path / "line.toml"
    path.write_text(LINE)
    return path


@pytest.mark.parametrize("name", builtin_names())
def test_a_graph_is_printed_as_its_definition(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    graph = builtin(name)
    assert run(["graph", "show", name]) == Exit.DONE
    assert GraphDefinition.model_validate_json(capsys.readouterr().out) == graph


def test_a_file_is_checked_and_what_is_wrong_is_said_with_its_node(
    line: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["graph", "check", str(line)]) == Exit.DONE
    line.write_text(LINE.replace('target = "write"', 'target = "wrote"'))
    capsys.readouterr()
    for command in (["graph", "check", str(line)], ["ask", QUESTION, "--graph", str(line)]):
        assert run(command) == Exit.BAD_INPUT
        said = capsys.readouterr()
        assert said.out == ""
        assert "node wrote" in said.err


UNREADABLE = """
name = "line"
entry = "serch"
[nodes]
search = { type = "paralel", run = "execute_tools" }
read = { type = "agent", step = "observe", prompt_file = "none.md" }
again = { type = "decision", budget = 0 }
more = { type = "decision", budget = "iteration" }
[[edges]]
source = "search"
target = "wrote"
hurry = true
[[edges]]
source = "again"
target = "read"
when = [{ field = "confidnce", op = "<", value = 1 }]
"""
WRONG = """
name = "line"
entry = "serch"
[nodes]
search = { type = "parallel", run = "execute_tools" }
write = { type = "agent", step = "writer" }
choose = { type = "agent", step = "select_tools", tools = ["pubmde"] }
[[edges]]
source = "search"
target = "write"
[[edges]]
source = "write"
target = "choose"
"""


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (
            UNREADABLE,
            [
                "node read: prompt_file none.md: No such file or directory",
                "node search: the type 'paralel' is not known; did you mean parallel?",
                "node again: budget: 0 is too small; the least is 1",
                "node more: budget: 'iteration' is not known; did you mean iterations?",
                "node search: its edge to wrote: hurry: there is no such key",
                "node again: its edge to read: when.0.field: 'confidnce' is not one of confidence, ",
            ],
        ),
        (
            WRONG,
            [
                "node serch: the graph begins with it, and it does not exist",
                "node write: it ends the graph, and an edge leaves it",
                "node choose: no sequential edge leaves it, and it is no exit",
                "node choose: there is no source pubmde",
            ],
        ),
    ],
)
def test_everything_that_is_wrong_with_a_file_is_said_at_once_on_a_line_each(
    line: Path, capsys: pytest.CaptureFixture[str], text: str, faults: list[str]
) -> None:
    line.write_text(text)
    assert run(["graph", "check", str(line)]) == Exit.BAD_INPUT
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(faults), lines
    for said, fault in zip(lines, faults, strict=True):
        assert said.startswith(f"Error: {line}: {fault}")


def test_the_mode_graph_without_a_graph_walks_a_built_in_one(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    assert build_request(settings, QUESTION, AskOptions(mode="graph")).graph == builtin("iterative")
    assert build_request(settings, QUESTION, AskOptions(mode="deep")).graph is None
    with pytest.raises(BadInput):
        build_request(settings, QUESTION, AskOptions(mode="graph", graph="iteratve"))
