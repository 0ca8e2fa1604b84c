"""A research graph as data: typed nodes and the edges between them, from TOML or made in Python.

A definition travels in the request of its run, so the file it was read from may change at any time. What a
definition must satisfy as a whole is in `workflows.graph.validation`.
"""

import operator
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, model_validator

from activities.contracts.evidence import Frozen
from workflows.rules.stopping import MAX_STALLED_ITERATIONS, LastStep

NODES = 100
EDGES = 400
"""The most nodes and edges of a definition: it travels with each request."""
NODE_NAME = r"^[A-Za-z][A-Za-z0-9_-]{0,39}$"

MAX_PROMPT_CHARS = 8_000
MAX_PROMPTS_CHARS = 32_000
"""The longest prompt of a node, and all of a definition together."""
MAX_TOOLS = 20

OwnName = Annotated[str, StringConstraints(pattern=NODE_NAME)]
"""The name of an entry point."""
PromptText = Annotated[str, StringConstraints(max_length=MAX_PROMPT_CHARS)]
NodeName = Annotated[str, StringConstraints(pattern=NODE_NAME)]
AgentStep = Literal[
    "plan",
    "observe",
    "evaluate_gaps",
    "select_tools",
    "judge",
    "hypothesize",
    "analyse",
    "synthesizer",
    "writer",
]
"""The step that an agent node executes, which a role does. `writer` and `synthesizer` end a graph."""
EXITS: tuple[AgentStep, ...] = ("writer", "synthesizer")
"""`writer` writes the single section of a report; `synthesizer` writes one section for each research loop."""
Action = Literal["begin_iteration", "search_question", "search_recommended"]
"""What a state node does to the state: begin the next iteration; make the question, or what the judge
recommended, what is searched for next."""
ParallelRun = Literal["branches", "execute_tools", "parallel_loops"]
"""What runs at the same time: the branches that parallel edges lead to, all searches that were selected, or a
research loop for each section of the plan as a child workflow."""

COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}
UNLIMITED = 10**12
"""Stands for what is left where there is no limit: more than any limit may be, and finite, so that JSON has
it."""


class Facts(Frozen):
    iteration: int = 0
    evidence: int = 0
    """Items that the run holds."""
    new_evidence: int = 0
    """Items that the latest searches added."""
    unjudged: int = 0
    """Items found since the latest judgement."""
    searches: int = 0
    tasks: int = 0
    """Searches selected and not replaced by a later selection."""
    gaps: int = 0
    stalled: int = 0
    """Searches in a row, each of all selected ones, that added nothing."""
    judge_failures: int = 0
    """Judgements in a row that failed."""
    confidence: float = 0.0
    """The confidence of the latest judgement, 0 to 1."""
    lowest_score: int = 0
    """The lowest score of a criterion in the latest judgement, 0 to 10."""
    hypotheses: int = 0
    tokens_used: int = 0
    tokens_left: int = UNLIMITED
    """Free for research; what writing the report needs is kept back. `UNLIMITED` without a limit."""
    cost_used_usd: float = 0.0
    cost_left_usd: float = UNLIMITED
    """Free for research, in US dollars."""
    seconds_used: float = 0.0
    """Working time; waiting for a person does not count."""
    seconds_left: float = UNLIMITED
    """Working time that is left for research."""
    judged: bool = False
    sufficient: bool = False
    """Whether the latest judgement meets the profile."""
    all_failed: bool = False
    """Whether searches were made and not one got an answer."""
    unread_steering: bool = False
    """Whether a reviewer gave an instruction that no step has read."""
    last: LastStep = "start"
    """The research step that was completed last."""


NAMED: Mapping[str, Callable[[Facts], bool]] = {
    "sufficient": lambda facts: facts.sufficient,
    "all_failed": lambda facts: facts.all_failed,
    "stalled": lambda facts: facts.stalled >= MAX_STALLED_ITERATIONS,
    "gaps_open": lambda facts: facts.gaps > 0,
    "tasks_selected": lambda facts: facts.tasks > 0,
    "nothing_to_judge": lambda facts: facts.evidence == 0 or (facts.judged and facts.unjudged == 0),
    "judge_failed": lambda facts: facts.judge_failures > 0,
    "unread_steering": lambda facts: facts.unread_steering,
    "has_evidence": lambda facts: facts.evidence > 0,
    "has_hypotheses": lambda facts: facts.hypotheses > 0,
}
"""Conditions by name. A definition can only name what is here or compare a number of `Facts`."""
NUMBERS = frozenset(name for name, field in Facts.model_fields.items() if field.annotation in (int, float))


def _among(names: Collection[str]) -> AfterValidator:
    def check(name: str) -> str:
        if name not in names:
            raise ValueError(f"{name!r} is not one of {', '.join(sorted(names))}")
        return name

    return AfterValidator(check)


Named = Annotated[str, _among(NAMED)]


class Part(Frozen):
    """Base of the parts of a definition.

    A field that is not known could change what a run does, so it is refused.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")


class AgentNode(Part):
    """One step that a role does."""

    type: Literal["agent"] = "agent"
    step: AgentStep
    prompt: PromptText = ""
    """Stands in place of the prompt file of the step's role; a file names it as `prompt_file`."""
    tools: Annotated[tuple[str, ...], Field(max_length=MAX_TOOLS)] = ()
    """The only sources that `select_tools` may choose; empty for all that are searched."""


class StateNode(Part):
    """A change of the state, without a model."""

    type: Literal["state"] = "state"
    action: Action


class DecisionNode(Part):
    """Follows the first conditional edge whose condition holds, else the sequential one."""

    type: Literal["decision"] = "decision"
    budget: Literal["iterations"] | Annotated[int, Field(ge=1, le=50)] | None = None
    """How often a run passes it at most: as often as the request has iterations, or so many times in each
    iteration. A run that would pass it more often goes to the nearest exit."""


class ParallelNode(Part):
    """Several steps at the same time; the run goes on when all of them have ended."""

    type: Literal["parallel"] = "parallel"
    run: ParallelRun = "branches"


class RoleNode(Part):
    """A role that an installed package adds (`activities.roles.own`)."""

    type: Literal["role"] = "role"
    role: OwnName
    prompt: PromptText = ""
    """Stands in place of the role's own prompt."""


class CodeNode(Part):
    """A step without a model that an installed package adds (`activities.own_step_activity`)."""

    type: Literal["code"] = "code"
    step: OwnName


Node: TypeAlias = Annotated[
    AgentNode | StateNode | DecisionNode | ParallelNode | RoleNode | CodeNode,
    Field(discriminator="type"),
]


class Comparison(Part):
    """A number of the state compared with a constant."""

    field: Annotated[str, _among(NUMBERS)]
    op: Literal["<", "<=", "==", "!=", ">=", ">"]
    value: float


Condition: TypeAlias = Named | Comparison


def holds(condition: Condition, facts: Facts) -> bool:
    if isinstance(condition, Comparison):
        return COMPARE[condition.op](getattr(facts, condition.field), condition.value)
    return NAMED[condition](facts)


class Edge(Part):
    """A way from one node to another."""

    source: NodeName
    target: NodeName
    type: Literal["sequential", "conditional", "parallel"] = "sequential"
    when: tuple[Condition, ...] = ()
    """The conditions of a conditional edge, all of which must hold."""

    @model_validator(mode="before")
    @classmethod
    def _read_short_forms(cls, data: object) -> object:
        """Accept a single condition without a list, and leave out `type` where `when` says it."""
        if not isinstance(data, dict) or "when" not in data:
            return data
        condition = data["when"]
        conditions = condition if isinstance(condition, list | tuple) else [condition]
        return {"type": "conditional" if conditions else "sequential", **data, "when": conditions}


class GraphDefinition(Part):
    name: Annotated[str, StringConstraints(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f]+$")]
    description: Annotated[str, StringConstraints(max_length=500)] = ""
    entry: NodeName
    """The node that a run begins with."""
    nodes: Mapping[NodeName, Node] = Field(min_length=1, max_length=NODES)
    edges: tuple[Edge, ...] = Field(default=(), max_length=EDGES)
    """In the order in which a decision tries them."""

    @model_validator(mode="after")
    def _limit_prompts(self) -> "GraphDefinition":
        if sum(len(getattr(node, "prompt", "")) for node in self.nodes.values()) > MAX_PROMPTS_CHARS:
            raise ValueError(f"the prompts together have more than {MAX_PROMPTS_CHARS:,} characters")
        return self

    @property
    def has_sections(self) -> bool:
        """Tell whether the report has a section for each of several research loops."""
        return any(isinstance(n, ParallelNode) and n.run == "parallel_loops" for n in self.nodes.values())

    def edges_from(self, name: str) -> tuple[Edge, ...]:
        return tuple(edge for edge in self.edges if edge.source == name)

    def next_node(self, name: str) -> str | None:
        """Return the target of the sequential edge of a node; None without one."""
        return next((e.target for e in self.edges_from(name) if e.type == "sequential"), None)

    def branches(self, name: str) -> tuple[tuple[str, ...], ...]:
        """Return the nodes of each branch of a parallel node, in order.

        A branch ends where no edge leads on.
        """
        paths = []
        for edge in self.edges_from(name):
            if edge.type != "parallel":
                continue
            branch, node = list[str](), edge.target
            while node is not None and node not in branch:
                branch.append(node)
                node = self.next_node(node)  # type: ignore[assignment]  # None ends the loop
            paths.append(tuple(branch))
        return tuple(paths)

    def is_exit(self, name: str) -> bool:
        node = self.nodes[name]
        return isinstance(node, AgentNode) and node.step in EXITS

    def nearest_exit(self, name: str) -> str:
        """Return the exit that the fewest edges lead to, the first of several.

        Raises KeyError when none can be reached, which validation excludes.
        """
        visited, level = [name], [name]
        while level:
            for at in level:
                if self.is_exit(at):
                    return at
            targets = dict.fromkeys(edge.target for at in level for edge in self.edges_from(at))
            level = [target for target in targets if target not in visited]
            visited += level
        raise KeyError(name)


class GraphCheck(Frozen):
    """Answer of the activity that checks a graph before its run begins."""

    problems: tuple[str, ...] = ()
    definition: GraphDefinition | None = None
    """The built-in graph of a request without one."""


class GraphView(Frozen):
    """Query `graph`: where the run is in its graph."""

    name: str = ""
    at: str = ""
    """The node that runs, or ran last."""
    running: tuple[str, ...] = ()
    """The nodes that run now: several in a parallel node."""
    visited: tuple[str, ...] = ()
    """The latest nodes, the oldest first."""
    visits: Mapping[str, int] = Field(default_factory=dict)
    results: Mapping[str, str] = Field(default_factory=dict)
    """Node -> the result of its latest visit, in a few words."""
    nodes: tuple[str, ...] = ()
    """All nodes of the graph, in the order of its definition."""
    state: Mapping[str, bool | int | float | str] = Field(default_factory=dict)
    """The facts that conditions use, by name (`Facts`); empty until the run is
    prepared. Query `budget` says what is left."""
