"""A definition as Mermaid text, for documents.

Names of nodes follow a strict pattern and conditions come from closed sets, so
only the name of the graph is escaped."""

import json

from workflows.graph.conditions import in_words
from workflows.graph.definition import DecisionNode, GraphDefinition, ParallelNode, StateNode
from workflows.graph.validation import title_of


def mermaid(definition: GraphDefinition) -> str:
    """The graph as a Mermaid flowchart."""
    number = {name: f"n{place}" for place, name in enumerate(definition.nodes)}
    lines = ["---", f"title: {json.dumps(definition.name)}", "---", "flowchart TD"]
    for name, node in definition.nodes.items():
        text = f'"{name}<br/>{title_of(node)}"'
        match node:
            case DecisionNode():
                shape = f"{{{text}}}"
            case ParallelNode():
                shape = f"[[{text}]]"
            case StateNode():
                shape = f"[/{text}/]"
            case _:
                shape = f"([{text}])" if definition.is_exit(name) else f"[{text}]"
        lines.append(f"    {number[name]}{shape}")
    for edge in definition.edges:
        if edge.type == "conditional":
            arrow = f'-- "{" and ".join(map(in_words, edge.when))}" -->'
        else:
            arrow = "==>" if edge.type == "parallel" else "-->"
        lines.append(f"    {number[edge.source]} {arrow} {number[edge.target]}")
    return "\n".join(lines)
