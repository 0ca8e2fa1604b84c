"""Every mode in one table: its workflow, what it is good for, what it needs and its defaults.

A row names its workflow class as text, which is imported when a worker registers it: a command of the client
reads the table and imports nothing. Another mode is one row here and one name in
`activities.contracts.evidence.BuiltInMode`, or, in a package of one's own, an entry point of the group
`determinator.modes` that names a function declared with `@mode`.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, Unpack

from activities.plugins import load, no_exit

Need = Literal["sources", "model", "manager_model", "graph"]
"""What a run may need: a source that can be searched, a language model, one that is large enough to manage a
team, a graph that was given with the question."""
REASONS: Mapping[Need, str] = {
    "sources": "no source that can be searched is enabled",
    "model": "no language model is connected",
    "manager_model": "no language model that can manage a team is connected",
    "graph": "no graph was given",
}


class MoreOfMode(TypedDict, total=False):
    """The fields that a mode may set beside its name; see `ModeInfo`."""

    aliases: tuple[str, ...]
    needs: tuple[Need, ...]
    best_with: tuple[Need, ...]
    least_tokens: int
    defaults: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeInfo:
    name: str
    workflow: str
    location: str = ""
    """`module:Class`, and those of its child workflows after it, separated by spaces."""
    classes: Callable[[], type | Sequence[type]] | None = None
    """The same for a mode of an installed package: imports the classes."""
    good_for: str
    """The questions it suits; the query parser is shown this line."""
    aliases: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ("sources",)
    """Without one of these it is refused."""
    best_with: tuple[Need, ...] = ()
    """Without one of these `auto` does not choose it."""
    least_tokens: int = 0
    """Token budget below which `auto` does not choose it when a language model is used."""
    defaults: Mapping[str, int] = field(default_factory=dict)
    """Limits that differ from those of `workflows.types.Limits`, where a person names the mode."""


def mode(
    *, name: str, workflow: str, good_for: str, **details: Unpack[MoreOfMode]
) -> Callable[[Callable[[], type | Sequence[type]]], ModeInfo]:
    """Declare a function without parameters as a mode.

    It imports the workflow class `workflow` and returns it, with those of its child workflows if it has any.
    Only a worker calls it. Other keywords are fields of `ModeInfo`.
    """

    def declare(classes: Callable[[], type | Sequence[type]]) -> ModeInfo:
        return ModeInfo(name=name, workflow=workflow, good_for=good_for, classes=classes, **details)

    return declare


@dataclass(frozen=True, slots=True)
class Available:
    sources: bool
    model: bool
    tokens: int | None = None
    """Its token limit; None without one."""
    manager_model: bool = False
    graph: bool = False

    def has(self, need: Need) -> bool:
        is_met: bool = getattr(self, need)
        return is_met


AUTO = "auto"
BUILT_IN: tuple[ModeInfo, ...] = (
    ModeInfo(
        name="simple",
        workflow="SimpleResearch",
        location="workflows.simple:SimpleResearch",
        good_for="a question for a single fact: one line of searches and judgements, the fewest model calls",
        defaults={"max_iterations": 10, "results_per_search": 10},
    ),
    ModeInfo(
        name="iterative",
        workflow="IterativeResearch",
        location="workflows.iterative:IterativeResearch",
        good_for="a question about one subject, whatever its aspects (a comparison with benefits and harms, "
        "a dispute, an account): one text on all works, which names what is missing and searches on",
    ),
    ModeInfo(
        name="deep",
        workflow="DeepResearch",
        location="workflows.deep:DeepResearch",
        good_for="an overview of a field, or subjects that each need works of their own: a plan, then a "
        "researched section for each",
        least_tokens=100_000,
        defaults={"results_per_search": 25},
    ),
    ModeInfo(
        name="graph",
        workflow="GraphResearch",
        location="workflows.graph.workflow:GraphResearch",
        good_for="steps in an order of one's own, given as a graph; without one the same as iterative",
        best_with=("graph",),
    ),
    ModeInfo(
        name="team",
        workflow="TeamResearch",
        location="workflows.team:TeamResearch",
        good_for="an open question where each step depends on the last, as in looking for mechanisms or "
        "candidates: a manager directs search, hypotheses and judgement",
        aliases=("advanced", "magentic"),
        best_with=("manager_model",),
        least_tokens=100_000,
        defaults={"max_iterations": 10},
    ),
    ModeInfo(
        name="hierarchical",
        workflow="HierarchicalResearch",
        location="workflows.hierarchy:HierarchicalResearch workflows.hierarchy:SubTeamResearch",
        good_for="several things to compare: a sub-team for each refines its result by a judge's feedback",
        least_tokens=100_000,
        defaults={"max_iterations": 10},
    ),
)
TABLE: tuple[ModeInfo, ...] = (
    *BUILT_IN,
    *load(
        "determinator.modes",
        ModeInfo,
        taken_names={AUTO, *(name for info in BUILT_IN for name in (info.name, *info.aliases))},
    ).values(),
)
"""The modes of this package, then those that installed packages add."""
MODES: Mapping[str, ModeInfo] = {info.name: info for info in TABLE}
"""The modes that a run may have; `auto` chooses one of them."""
WORKFLOW_OF_MODE: Mapping[str, str] = {
    AUTO: "AutoResearch",
    **{info.name: info.workflow for info in TABLE},
}
CHOICES: Mapping[str, str] = {
    AUTO: AUTO,
    **{info.name: info.name for info in TABLE},
    **{alias: info.name for info in TABLE for alias in info.aliases},
}
"""What a person may write -> the mode."""


def refusal(mode: str, setup: Available) -> str:
    """Return why a mode cannot run with what there is; empty when it can. `auto` can when any mode can."""
    if mode == AUTO:
        reasons = [refusal(name, setup) for name in MODES]
        return "" if "" in reasons else reasons[0]
    if mode not in MODES:
        return f"the mode {mode} is not part of this version; there are {', '.join(MODES)}"
    reasons = [REASONS[need] for need in MODES[mode].needs if not setup.has(need)]
    return f"the mode {mode} cannot run: {', and '.join(reasons)}" if reasons else ""


def modes_for_auto(setup: Available) -> dict[str, str]:
    """Return the modes that `auto` chooses among, with what each is good for."""
    return {info.name: info.good_for for info in TABLE if not reason_against(info, setup)}


def reason_against(info: ModeInfo, setup: Available) -> str:
    """Return why `auto` does not choose a mode; empty when it may."""
    reasons = [REASONS[need] for need in (*info.needs, *info.best_with) if not setup.has(need)]
    if not reasons and setup.model and setup.tokens is not None and setup.tokens < info.least_tokens:
        reasons = [f"it wants {info.least_tokens:,} tokens"]
    return reasons[0] if reasons else ""


def class_at(location: str) -> Any:  # noqa: ANN401 - a workflow class, whose methods are its own
    """Return the class at `module:Class`, imported now."""
    module, _, name = location.partition(":")
    return getattr(importlib.import_module(module), name)


def workflow_classes(modes: Sequence[ModeInfo] = TABLE) -> list[type]:
    """Return the workflow classes of the modes and of `auto`, imported now."""
    locations = ["workflows.auto:AutoResearch", *(place for info in modes for place in info.location.split())]
    classes: list[type] = []
    classes += map(class_at, locations)
    for info in modes:
        with no_exit():
            own_classes = info.classes() if info.classes else ()
        classes += [own_classes] if isinstance(own_classes, type) else own_classes
    return classes
