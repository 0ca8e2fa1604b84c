"""The state of each part, which `RunState.parts` holds under its name."""

from typing import ClassVar

from pydantic import BaseModel, Field

from activities.contracts.appraisal import Appraisal
from activities.contracts.candidates import Candidate
from activities.contracts.effects import Analysed
from activities.contracts.judge import MechanismHypothesis, Table
from activities.contracts.plan import Clarified
from activities.contracts.prepare import Continued
from activities.contracts.step import Reading
from workflows.graph.definition import GraphDefinition
from workflows.rules.stopping import LastStep

MAX_VISITED = 100
"""Nodes that a graph run remembers having visited: the latest."""


class PartState(BaseModel, defer_build=True):
    """Base of the states of parts."""

    name: ClassVar[str]


class ClarificationState(PartState, defer_build=True):
    """The readings of the question, once a model was asked."""

    name = "clarification"
    clarified: Clarified | None = None

    @property
    def readings(self) -> tuple[Reading, ...]:
        return self.clarified.readings if self.clarified else ()


class DialogueState(PartState, defer_build=True):
    """The earlier run that a run follows up."""

    name = "dialogue"
    imported: bool = False
    continues: Continued | None = None


class CandidatesState(PartState, defer_build=True):
    """The candidates of a run and the hypotheses that they are made of."""

    name = "candidates"
    hypotheses: list[MechanismHypothesis] = Field(default_factory=list)
    candidates: list[Candidate] = Field(default_factory=list)
    guided: bool = False
    """Whether hypotheses were formed to guide the searches; there may be none."""
    named: bool = False
    """Whether candidates have been asked for; there may be none."""


class FullTextsState(PartState, defer_build=True):
    """The works whose full text was asked for."""

    name = "full_texts"
    tried: list[str] = Field(default_factory=list)


class TableState(PartState, defer_build=True):
    """The reader's table, once it has been filled."""

    name = "table"
    table: Table | None = None


class ConclusionsState(PartState, defer_build=True):
    """The effects of the works on the outcomes of a comparing question, once they were read."""

    name = "conclusions"
    appraisal: Appraisal | None = None


class AnalysisState(PartState, defer_build=True):
    """The statistics, as they were computed last."""

    name = "analysis"
    requested: bool = False
    """Whether a step of the mode asked for them."""
    done: Analysed | None = None


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
    happened: LastStep = "start"
    """The step of a loop that was completed last."""

    def record(self, name: str, result: str) -> None:
        """Record a visit that has ended."""
        self.visits[name] = self.visits.get(name, 0) + 1
        self.visited = [*self.visited, name][-MAX_VISITED:]
        self.results[name] = result
