"""What is a graph that a run can walk, and what is refused, with the node named."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.workflows.graph.graphs import SPOILED, valid_graphs
from workflows.graph.definition import NODES, Comparison, DecisionNode, Edge, GraphDefinition, ParallelNode
from workflows.graph.library import FILE_BYTES, builtin, builtin_names, load, read_definition
from workflows.graph.validation import Code, GraphError, problems

LINE = """
name = "line"
entry = "search"
[nodes]
search = { type = "parallel", run = "execute_tools" }
write = { type = "agent", step = "writer" }
[[edges]]
source = "search"
target = "write"
"""


@settings(max_examples=60, deadline=None)
@given(valid_graphs())
def test_a_graph_whose_cycles_have_a_budget_is_valid(graph: GraphDefinition) -> None:
    assert problems(graph) == ()


@settings(max_examples=60, deadline=None)
@given(valid_graphs(), st.sampled_from(sorted(SPOILED)))
def test_what_is_wrong_is_found_and_its_node_is_named(graph: GraphDefinition, code: Code) -> None:
    spoiled = SPOILED[code](graph)
    faults = problems(spoiled)
    assert code in {problem.code for problem in faults}
    named = {problem.node for problem in faults if problem.code == code}
    assert all(name in (*spoiled.nodes, "nowhere") or code == "no_exit" for name in named)


def test_the_cycle_that_might_never_end_is_named() -> None:
    endless = builtin("iterative")
    nodes = {
        name: node.model_copy(update={"budget": None}) if name == "again" else node
        for name, node in endless.nodes.items()
    }
    faults = problems(endless.model_copy(update={"nodes": nodes}))
    assert {problem.code for problem in faults} == {"wrong_edge"}
    nodes["judged"] = nodes["judged"].model_copy(update={"budget": None})
    nodes["again"] = endless.nodes["again"]
    (problem,) = problems(endless.model_copy(update={"nodes": nodes}))
    assert problem.code == "unguarded_cycle"
    assert problem.node == "judge"
    assert "judge -> judged" in problem.message


def test_a_way_around_the_research_loops_is_refused() -> None:
    deep = builtin("deep")
    shortcut = deep.model_copy(
        update={
            "entry": "choose",
            "nodes": {"choose": DecisionNode(), **deep.nodes},
            "edges": (
                Edge(source="choose", target="synthesize", type="conditional", when=("has_evidence",)),
                Edge(source="choose", target="plan"),
                *deep.edges,
            ),
        }
    )
    (problem,) = problems(shortcut)
    assert (problem.code, problem.node) == ("wrong_exit", "synthesize")


@pytest.mark.parametrize("name", builtin_names())
def test_the_built_in_graphs_are_valid_and_survive_the_way_to_the_run(name: str) -> None:
    graph = builtin(name)
    assert problems(graph) == ()
    assert GraphDefinition.model_validate_json(graph.model_dump_json()) == graph


@pytest.mark.parametrize(
    ("changed", "node"),
    [
        (('step = "writer"', 'step = "poet"'), "write"),
        (('run = "execute_tools"', 'run = "os.system"'), "search"),
        (('type = "parallel"', 'type = "lambda"'), "search"),
        (('target = "write"', 'target = "write"\nwhen = "__import__"'), "search"),
        (('target = "write"', 'target = "write"\nwhen = "1 < 2"'), "search"),
        (('target = "write"', 'target = "write"\nhurry = true'), "search"),
        (('entry = "search"', 'entry = "sea rch"'), ""),
        (('name = "line"', "name = line"), ""),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_node(changed: tuple[str, str], node: str) -> None:
    assert read_definition(LINE).entry == "search"
    with pytest.raises(GraphError) as error:
        read_definition(LINE.replace(*changed))
    assert {problem.code for problem in error.value.problems} == {"unreadable"}
    assert node in {problem.node for problem in error.value.problems}


def test_the_example_in_the_documents_is_valid() -> None:
    page = (Path(__file__).parents[3] / "docs/modes.md").read_text()
    example = page.split("```toml\n", 1)[1].split("```", 1)[0]
    assert read_definition(example).branches("think") == (("judge",), ("hypothesize",))


def test_comparisons_and_lists_of_conditions_are_read_from_a_file() -> None:
    graph = read_definition(
        LINE.replace('target = "write"', 'target = "decide"')
        + """
[nodes.decide]
type = "decision"
budget = "iterations"
[[edges]]
source = "decide"
target = "search"
when = ["has_evidence", { field = "confidence", op = "<", value = 0.5 }]
[[edges]]
source = "decide"
target = "write"
"""
    )
    assert graph.edges[1].when == ("has_evidence", Comparison(field="confidence", op="<", value=0.5))


def test_a_file_that_is_too_large_or_not_there_is_refused(tmp_path: Path) -> None:
    large = tmp_path / "large.toml"
    large.write_text("#" * (FILE_BYTES + 1))
    for name in (str(large), str(tmp_path / "none.toml"), "iteratve", str(tmp_path)):
        with pytest.raises(GraphError) as error:
            load(name)
        assert [problem.code for problem in error.value.problems] == ["unreadable"]


def test_a_definition_has_an_upper_size() -> None:
    nodes = {f"n{place}": ParallelNode(run="execute_tools") for place in range(NODES + 1)}
    with pytest.raises(ValueError, match="at most"):
        GraphDefinition(name="large", entry="n0", nodes=nodes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a" + ".a" * 30_000 + " = 1", "dots"),
        ("x = " + "[" * 60_000, "values inside values"),
        ("".join(f"k{n} = 1\n" for n in range(7_000)), "nodes"),
        ("[nodes." + "n" * 60_000 + "]\ntype = 'agent'", "nnn"),
    ],
)
def test_a_hostile_graph_file_is_refused_at_once(text: str, message: str) -> None:
    began = time.process_time()
    with pytest.raises(GraphError, match=message):
        read_definition(text)
    assert time.process_time() - began < 1
