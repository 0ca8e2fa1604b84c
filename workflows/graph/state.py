"""The state of a walk through a graph."""

from pydantic import Field

from workflows.graph.definition import GraphDefinition
from workflows.part_state import PartState
from workflows.rules.stopping import Happened

VISITED_KEPT = 100
"""Nodes that a graph run remembers having visited: the latest."""


class GraphState(PartState, defer_build=True):
    """The position of a graph run, and the results of its nodes."""

    name = "graph"
    definition: GraphDefinition | None = None
    """The graph that is walked, once it has been checked."""
    at: str = ""
    """The node that runs, or runs next; empty before the first."""
    running: list[str] = Field(default_factory=list)
    """The nodes that run now."""
    visited: list[str] = Field(default_factory=list)
    visits: dict[str, int] = Field(default_factory=dict)
    passes: dict[str, int] = Field(default_factory=dict)
    """Decision -> how often it was passed in this iteration."""
    results: dict[str, str] = Field(default_factory=dict)
    happened: Happened = "start"
    """The step of a loop that was completed last."""

    def record(self, name: str, result: str) -> None:
        """Record a visit that has ended."""
        self.visits[name] = self.visits.get(name, 0) + 1
        self.visited = [*self.visited, name][-VISITED_KEPT:]
        self.results[name] = result
