"""Whether a definition is a graph that a run can walk; pure, over the definition alone.

A valid graph ends: from each node an exit can be reached, and each cycle passes a decision with a budget.
`networkx` (BSD-3-Clause) finds paths and cycles; it is imported when a graph is checked.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from workflows.graph.definition import (
    EXITS,
    AgentNode,
    AgentStep,
    CodeNode,
    DecisionNode,
    GraphDefinition,
    ParallelNode,
    RoleNode,
)

if TYPE_CHECKING:
    import networkx as nx

Code = Literal[
    "unreadable",
    "unknown_node",
    "unknown_part",
    "wrong_edge",
    "no_way_on",
    "no_exit",
    "wrong_exit",
    "wrong_step",
    "unreachable",
    "unguarded_cycle",
    "wrong_branch",
]
IN_BRANCHES: tuple[AgentStep, ...] = ("observe", "evaluate_gaps", "judge", "hypothesize")
"""Steps that may run at the same time as others: none reads what another of them writes."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault of a definition, and where it is."""

    code: Code
    node: str
    """The node it is about; empty for the definition as a whole."""
    message: str

    def __str__(self) -> str:
        return f"node {self.node}: {self.message}" if self.node else self.message


class GraphError(Exception):
    """A definition that no run can walk."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def problems(definition: GraphDefinition) -> tuple[Problem, ...]:
    """All that is wrong with a definition; empty when a run can walk it.

    Branches are followed where each node is there, ways through the graph where all else is right.
    """
    faults = [*_unknown_nodes(definition)]
    has_all_nodes = not faults
    faults += [problem for name in definition.nodes for problem in _edges_of(definition, name)]
    if has_all_nodes:
        faults += _branches(definition)
    if not faults:
        faults += _paths(definition)
    return tuple(faults)


def unknown_parts(
    definition: GraphDefinition,
    roles: Collection[str],
    steps: Collection[str],
    sources: Collection[str] | None = None,
) -> Iterator[Problem]:
    """Names of roles, steps and sources that are not installed.

    `sources` is None where they are not known.
    """
    for name, node in definition.nodes.items():
        match node:
            case RoleNode() if node.role not in roles:
                yield Problem("unknown_part", name, f"no installed package has a role {node.role}")
            case CodeNode() if node.step not in steps:
                yield Problem("unknown_part", name, f"no installed package has a step {node.step}")
            case AgentNode() if sources is not None:
                for tool in node.tools:
                    if tool not in sources:
                        yield Problem("unknown_part", name, f"there is no source {tool}")


def _unknown_nodes(definition: GraphDefinition) -> Iterator[Problem]:
    if definition.entry not in definition.nodes:
        yield Problem("unknown_node", definition.entry, "the graph begins with it, and it does not exist")
    for edge in definition.edges:
        for end, other in ((edge.source, edge.target), (edge.target, edge.source)):
            if end not in definition.nodes:
                yield Problem("unknown_node", end, f"an edge joins it to {other}, and it does not exist")


def _edges_of(definition: GraphDefinition, name: str) -> Iterator[Problem]:
    node, edges = definition.nodes[name], definition.edges_from(name)
    kinds = [edge.type for edge in edges]
    ways, choices, forks = (kinds.count(kind) for kind in ("sequential", "conditional", "parallel"))
    for edge in edges:
        if edge.when and edge.type != "conditional":
            yield Problem("wrong_edge", name, f"its {edge.type} edge to {edge.target} has a condition")
        if edge.type == "conditional" and not edge.when:
            yield Problem("wrong_edge", name, f"its conditional edge to {edge.target} has no condition")
    if isinstance(node, AgentNode) and node.step in EXITS:
        if edges:
            yield Problem("wrong_edge", name, "it ends the graph, and an edge leaves it")
        verb, exit_step = ("has", "synthesizer") if definition.has_sections else ("has no", "writer")
        if node.step != exit_step:
            yield Problem("wrong_exit", name, f"a graph that {verb} parallel_loops ends with the {exit_step}")
        return
    if isinstance(node, AgentNode) and node.tools and node.step != "select_tools":
        yield Problem("wrong_step", name, "only the step select_tools has tools")
    if isinstance(node, AgentNode) and node.step == "plan" and not definition.has_sections:
        message = "it plans sections, and the graph has no parallel_loops to research them"
        yield Problem("wrong_step", name, message)
    if choices and not isinstance(node, DecisionNode):
        yield Problem("wrong_edge", name, "only a decision has conditional edges")
    is_fork = isinstance(node, ParallelNode) and node.run == "branches"
    if forks and not is_fork:
        yield Problem("wrong_edge", name, "only a parallel node that runs branches has parallel edges")
    if is_fork and not forks:
        yield Problem("wrong_edge", name, "it runs branches, and no parallel edge leads to one")
    if ways > 1:
        yield Problem("wrong_edge", name, f"it has {ways} sequential edges; a node has one")
    if isinstance(node, DecisionNode) and not choices and node.budget is None:
        yield Problem(
            "wrong_edge", name, "it decides nothing: it has neither a conditional edge nor a budget"
        )
    is_in_branch = any(name in branch for fork in definition.nodes for branch in definition.branches(fork))
    if not ways and not is_in_branch:
        condition = " for when no condition holds" if isinstance(node, DecisionNode) else ""
        yield Problem("no_way_on", name, f"no sequential edge leaves it{condition}, and it is no exit")


def _branches(definition: GraphDefinition) -> Iterator[Problem]:
    """Branches hold steps that may run at the same time, each once, and nothing else leads into them."""
    inside: dict[str, str] = {}
    """Node in a branch -> the parallel node it belongs to."""
    for fork in definition.nodes:
        steps: list[str] = []
        for branch in definition.branches(fork):
            for name in branch:
                if name in inside:
                    yield Problem(
                        "wrong_branch", name, f"it is in two branches, of {inside[name]} and {fork}"
                    )
                inside[name] = fork
                node = definition.nodes[name]
                if not isinstance(node, AgentNode) or node.step not in IN_BRANCHES:
                    steps_allowed = ", ".join(IN_BRANCHES)
                    yield Problem("wrong_branch", name, f"a branch has agent nodes of {steps_allowed} only")
                elif node.step in steps:
                    yield Problem("wrong_branch", name, f"the branches of {fork} run {node.step} twice")
                else:
                    steps.append(node.step)
    for edge in definition.edges:
        is_same_branch = inside.get(edge.source) == inside.get(edge.target)
        if edge.target in inside and edge.type != "parallel" and not is_same_branch:
            message = f"it is in a branch of {inside[edge.target]}, and {edge.source} leads into it"
            yield Problem("wrong_branch", edge.target, message)
    if definition.entry in inside:
        yield Problem("wrong_branch", definition.entry, "the graph cannot begin in a branch")


def _walk(definition: GraphDefinition) -> "nx.DiGraph[str]":
    """Return the graph as a run walks it: after a branch it goes on behind the parallel node."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(definition.nodes)
    graph.add_edges_from((edge.source, edge.target) for edge in definition.edges)
    for name in definition.nodes:
        next_node = definition.next_node(name)
        for branch in definition.branches(name):
            if next_node is not None:
                graph.add_edge(branch[-1], next_node)
    return graph


def _paths(definition: GraphDefinition) -> Iterator[Problem]:
    import networkx as nx

    graph = _walk(definition)
    reachable = nx.descendants(graph, definition.entry) | {definition.entry}
    exits = [name for name in definition.nodes if definition.is_exit(name)]
    if not exits:
        message = "the graph has no exit: an agent node with the step writer or synthesizer"
        yield Problem("no_exit", "", message)
    ways = {name for end in exits for name in (*nx.ancestors(graph, end), end)}
    for name in definition.nodes:
        if name not in reachable:
            yield Problem("unreachable", name, f"no way leads to it from {definition.entry}")
        if exits and name not in ways:
            yield Problem("no_exit", name, "no way leads from it to an exit")
    if definition.has_sections:
        yield from _exits_without_loops(definition, graph, exits)
    decisions = [
        name
        for name, node in definition.nodes.items()
        if isinstance(node, DecisionNode) and node.budget is not None
    ]
    graph.remove_nodes_from(decisions)
    order = {name: place for place, name in enumerate(definition.nodes)}
    for group in nx.strongly_connected_components(graph):
        names = sorted(group, key=order.__getitem__)
        if len(names) > 1 or graph.has_edge(names[0], names[0]):
            cycle = " -> ".join(a for a, _ in nx.find_cycle(graph.subgraph(group), names[0]))
            message = f"the cycle {cycle} passes no decision with a budget, so a run might never end"
            yield Problem("unguarded_cycle", names[0], message)


def _exits_without_loops(
    definition: GraphDefinition, graph: "nx.DiGraph[str]", exits: list[str]
) -> Iterator[Problem]:
    """Yield the exits that a way leads to past the research loops: the synthesizer writes what they found."""
    import networkx as nx

    loops = [
        n
        for n, node in definition.nodes.items()
        if isinstance(node, ParallelNode) and node.run == "parallel_loops"
    ]
    rest_of_graph = graph.copy()
    rest_of_graph.remove_nodes_from(loops)
    for end in exits:
        if definition.entry == end or (
            definition.entry in rest_of_graph and nx.has_path(rest_of_graph, definition.entry, end)
        ):
            yield Problem("wrong_exit", end, "a way leads to it that passes no parallel_loops")
