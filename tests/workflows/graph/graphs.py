"""Graphs from names, strategies for valid graphs, and ways to spoil one."""

from collections.abc import Callable, Mapping
from itertools import pairwise

from hypothesis import strategies as st

from workflows.graph.definition import (
    Action,
    AgentNode,
    AgentStep,
    Comparison,
    Condition,
    DecisionNode,
    Edge,
    GraphDefinition,
    Node,
    ParallelNode,
    StateNode,
)
from workflows.graph.validation import Code

NODES: Mapping[str, Node] = {
    "begin": StateNode(action="begin_iteration"),
    "wanted": StateNode(action="search_question"),
    "recommended": StateNode(action="search_recommended"),
    "select": AgentNode(step="select_tools"),
    "search": ParallelNode(run="execute_tools"),
    "think": ParallelNode(),
    "judge": AgentNode(step="judge"),
    "hypothesize": AgentNode(step="hypothesize"),
    "analyse": AgentNode(step="analyse"),
    "again": DecisionNode(budget="iterations"),
    "write": AgentNode(step="writer"),
}
"""What the graphs of tests are made of, by name."""


def a_graph(
    line: str, branches: str = "", until: Condition | None = None, own: Mapping[str, Node] | None = None
) -> GraphDefinition:
    """A line of named nodes to the writer. `think`, where it is there, has these branches; `until` makes
    rounds of the line, which end at its last node, a decision, where the condition holds."""
    nodes = {name: {**NODES, **(own or {})}[name] for name in (*line.split(), *branches.split(), "write")}
    names = line.split()
    edges = [Edge(source=one, target=other) for one, other in pairwise(names)]
    edges += [Edge(source="think", target=name, type="parallel") for name in branches.split()]
    if until is None:
        edges.append(Edge(source=names[-1], target="write"))
    else:
        edges.append(Edge(source=names[-1], target="write", type="conditional", when=(until,)))
        edges.append(Edge(source=names[-1], target=names[0]))
    return GraphDefinition(name="made", entry=names[0], nodes=nodes, edges=tuple(edges))


STEPS: tuple[AgentStep, ...] = ("observe", "evaluate_gaps", "select_tools", "judge", "hypothesize", "analyse")
ACTIONS: tuple[Action, ...] = ("begin_iteration", "search_question", "search_recommended")
CONDITIONS: tuple[Condition, ...] = (
    "sufficient",
    "all_failed",
    "stalled",
    "gaps_open",
    "tasks_selected",
    "nothing_to_judge",
    "has_evidence",
    Comparison(field="confidence", op="<", value=0.5),
    Comparison(field="evidence", op=">=", value=3),
    Comparison(field="iteration", op="!=", value=2),
)
BRANCHES: tuple[tuple[AgentStep, ...], ...] = (
    ("judge", "hypothesize"),
    ("observe", "judge"),
    ("evaluate_gaps", "hypothesize"),
)


@st.composite
def valid_graphs(draw: st.DrawFn) -> GraphDefinition:
    """A line of nodes from the entry to the writer; its decisions jump anywhere on the line."""
    kinds = draw(
        st.lists(
            st.sampled_from(["agent", "state", "tools", "fork", "decision", "round", "round"]),
            min_size=1,
            max_size=8,
        )
    )
    line = [f"n{place}" for place in range(len(kinds))] + ["end"]
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    for place, kind in enumerate(kinds):
        name = line[place]
        if kind == "agent":
            nodes[name] = AgentNode(step=draw(st.sampled_from(STEPS)))
        elif kind == "state":
            nodes[name] = StateNode(action=draw(st.sampled_from(ACTIONS)))
        elif kind == "round":  # searches that find something, which single nodes in a random order seldom do
            nodes[name] = StateNode(action="search_question")
            nodes[f"{name}-select"] = AgentNode(step="select_tools")
            nodes[f"{name}-search"] = ParallelNode(run="execute_tools")
            edges.append(Edge(source=name, target=f"{name}-select"))
            edges.append(Edge(source=f"{name}-select", target=f"{name}-search"))
            name = f"{name}-search"
        elif kind == "tools":
            nodes[name] = ParallelNode(run="execute_tools")
        elif kind == "fork":
            nodes[name] = ParallelNode()
            for number, step in enumerate(draw(st.sampled_from(BRANCHES))):
                nodes[f"{name}-{number}"] = AgentNode(step=step)
                edges.append(Edge(source=name, target=f"{name}-{number}", type="parallel"))
        else:
            nodes[name] = DecisionNode(budget=draw(st.sampled_from(["iterations", 1, 3])))
            for _ in range(draw(st.integers(0, 2))):
                when = tuple(draw(st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=2)))
                target = draw(st.sampled_from(line))
                edges.append(Edge(source=name, target=target, type="conditional", when=when))
        edges.append(Edge(source=name, target=line[place + 1]))
    nodes["end"] = AgentNode(step="writer")
    return GraphDefinition(name="random", entry="n0", nodes=nodes, edges=tuple(edges))


def with_(graph: GraphDefinition, nodes: Mapping[str, Node] | None = None, *edges: Edge) -> GraphDefinition:
    """The graph with more nodes and edges."""
    return graph.model_copy(
        update={"nodes": {**graph.nodes, **(nodes or {})}, "edges": (*graph.edges, *edges)}
    )


def around(graph: GraphDefinition) -> GraphDefinition:
    """The graph with a cycle at its entry that no budget guards."""
    loop = DecisionNode()
    more = with_(
        graph,
        {"loop": loop},
        Edge(source="loop", target="loop", type="conditional", when=("has_evidence",)),
        Edge(source="loop", target=graph.entry),
    )
    return more.model_copy(update={"entry": "loop"})


SPOILED: Mapping[Code, Callable[[GraphDefinition], GraphDefinition]] = {
    "unknown_node": lambda graph: with_(graph, None, Edge(source="nowhere", target=graph.entry)),
    "unreachable": lambda graph: with_(
        graph, {"island": StateNode(action="begin_iteration")}, Edge(source="island", target="end")
    ),
    "no_way_on": lambda graph: with_(graph, {"island": StateNode(action="begin_iteration")}),
    "wrong_edge": lambda graph: with_(graph, None, Edge(source="end", target=graph.entry)),
    "wrong_exit": lambda graph: with_(graph, {"end": AgentNode(step="synthesizer")}),
    "wrong_step": lambda graph: with_(
        graph, {"plan": AgentNode(step="plan")}, Edge(source="plan", target=graph.entry)
    ),
    "no_exit": lambda graph: with_(
        graph, {"end": DecisionNode(budget=3)}, Edge(source="end", target=graph.entry)
    ),
    "unguarded_cycle": around,
    "wrong_branch": lambda graph: with_(
        graph,
        {"fork": ParallelNode(), "inner": StateNode(action="begin_iteration")},
        Edge(source="fork", target="inner", type="parallel"),
        Edge(source="fork", target=graph.entry),
    ),
}
"""What is wrong -> a valid graph with that fault."""
