"""Nodes of one's own: roles and steps of installed packages, prompts and tools of a node."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from activities import own_step_activity
from activities.contracts.evidence import Evidence
from activities.own_step_activity import CodeStep, OwnStepInput, OwnStepOutput
from tests.workflows.conftest import Stage, a_request, limitations
from tests.workflows.graph.graphs import a_graph
from tests.workflows.script import failing, refused
from workflows.graph.definition import AgentNode, CodeNode, GraphDefinition, GraphView, Node, RoleNode
from workflows.graph.library import load, missing_parts, read_definition
from workflows.graph.validation import GraphError, problems, unknown_parts

FACT = "One of the works is a trial."


def a_line(**between: Node) -> GraphDefinition:
    """Search for the question, then the given nodes in their order, then the report."""
    own: dict[str, Node] = {
        "select": AgentNode(step="select_tools", tools=("alpha",)),
        "judge": AgentNode(step="judge", prompt="Judge as a regulator would."),
        "write": AgentNode(step="writer", prompt="Write for a regulator."),
    }
    return a_graph(" ".join(("wanted select search judge", *between)), own=own | between)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A package with a role and two steps; how many texts the step was given."""
    given: list[int] = []

    async def count(_step: OwnStepInput, works: Sequence[Evidence]) -> OwnStepOutput:
        given.append(len([work.text for work in works]))
        return OwnStepOutput(said="counted", facts=(FACT,), gaps=("what of harms?",))

    async def fail(_step: OwnStepInput, _works: Sequence[Evidence]) -> OwnStepOutput:
        raise ValueError("no such unit")

    steps = {"count": CodeStep("count", count), "fail": CodeStep("fail", fail)}
    monkeypatch.setattr(own_step_activity, "code_steps", lambda: steps)
    monkeypatch.setattr("workflows.graph.library.missing_parts", lambda *_: ())
    return given


async def test_a_role_and_a_step_of_ones_own_change_what_is_searched_and_what_the_writer_is_told(
    stage: Stage, installed: list[int]
) -> None:
    stage.script.answers["own_role"] = lambda _: OwnStepOutput(said="doubted", facts=("A doubt.",))
    stage.script.unpaywall = True
    graph = a_line(count=CodeNode(step="count"), doubt=RoleNode(role="critic", prompt="Doubt."))
    _, _, run = await stage.play(a_request("graph", graph=graph))
    assert installed == [1]
    (asked,) = stage.fakes.of("own_role")
    assert isinstance(asked.step, OwnStepInput)
    assert (asked.step.name, asked.step.prompt) == ("critic", "Doubt.")
    assert asked.step.gaps == ("what of harms?",)
    assert FACT in asked.step.background
    assert asked.paid
    (writer,) = stage.fakes.of("writer")
    assert FACT in writer.step.background
    assert "A doubt." in writer.step.background
    view = await run.ask("graph", GraphView)
    assert (view.results["count"], view.results["doubt"]) == ("counted", "doubted")


async def test_prompts_and_tools_of_a_node_reach_its_role_and_no_other(
    stage: Stage, installed: list[int]
) -> None:
    await stage.play(a_request("graph", graph=a_line()))
    assert {task.source for task in stage.fakes.searches} == {"alpha"}
    assert {call.step.prompt for call in stage.fakes.of("judge")} == {"Judge as a regulator would."}
    assert {call.step.prompt for call in stage.fakes.of("writer")} == {"Write for a regulator."}
    others = [call for call in stage.fakes.calls if call.role not in ("judge", "writer")]
    assert {call.step.prompt for call in others} == {""}


async def test_a_step_that_fails_is_stated_and_the_run_goes_on(stage: Stage, installed: list[int]) -> None:
    outcome, report, run = await stage.play(a_request("graph", graph=a_line(bad=CodeNode(step="fail"))))
    assert outcome.stop_reason
    assert "step_failed" in limitations(report)
    assert (await run.ask("graph", GraphView)).results["bad"] == "failed"


def test_names_that_are_not_installed_and_tools_of_other_steps_are_refused() -> None:
    graph = a_line(count=CodeNode(step="count"), doubt=RoleNode(role="critic"))
    assert {problem.node for problem in missing_parts(graph)} == {"count", "doubt"}
    (source,) = unknown_parts(graph, ["critic"], ["count"], ["beta"])
    assert (source.node, source.code) == ("select", "unknown_part")
    wrong = a_line(bad=AgentNode(step="judge", tools=("alpha",)))
    assert [problem.node for problem in problems(wrong)] == ["bad"]


def test_a_prompt_file_is_read_below_the_folder_of_its_graph_only(tmp_path: Path) -> None:
    folder = tmp_path / "graphs"
    folder.mkdir()
    (tmp_path / "secret.md").write_text("secret")
    (folder / "judge.md").write_text("Judge as a regulator would.\n")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    text = """
name = "line"
entry = "judge"
edges = [{ source = "judge", target = "end" }]
[nodes]
judge = { type = "agent", step = "judge", prompt_file = "FILE" }
end = { type = "agent", step = "writer" }
"""
    file = folder / "line.toml"
    file.write_text(text.replace("FILE", "judge.md"))
    judge = load(str(file)).nodes["judge"]
    assert isinstance(judge, AgentNode)
    assert judge.prompt == "Judge as a regulator would."
    for name in ("../secret.md", str(tmp_path / "secret.md"), "link.md", "missing.md"):
        file.write_text(text.replace("FILE", name))
        with pytest.raises(GraphError, match="judge"):
            load(str(file))
    with pytest.raises(GraphError, match="names no file"):
        read_definition(text)


async def test_a_role_of_ones_own_that_breaks_leaves_the_others_their_model(
    stage: Stage, installed: list[int]
) -> None:
    stage.script.before["own_role"] = failing(refused("model_not_found"))
    graph = a_line(count=CodeNode(step="count"), doubt=RoleNode(role="critic", prompt="Doubt."))
    _, report, _ = await stage.play(a_request("graph", graph=graph))
    assert not stage.fakes.of("own_role")
    assert all(call.paid for call in stage.fakes.of("writer"))
    assert report.written_by == "model"
