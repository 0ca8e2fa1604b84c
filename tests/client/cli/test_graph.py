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


def test_the_mode_graph_without_a_graph_walks_a_built_in_one(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    assert build_request(settings, QUESTION, AskOptions(mode="graph")).graph == builtin("iterative")
    assert build_request(settings, QUESTION, AskOptions(mode="deep")).graph is None
    with pytest.raises(BadInput):
        build_request(settings, QUESTION, AskOptions(mode="graph", graph="iteratve"))
