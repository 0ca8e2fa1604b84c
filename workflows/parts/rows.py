"""The declarations of the parts, one row each.

A part is a file of this folder and a row of `PARTS`. Its file is imported when the part is asked for. It
keeps its state under its name (`RunState.parts`), acts at the stages that its row names, in the order of the
rows, and adds its fields to what is published.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from activities.contracts.parts import PartName
from activities.contracts.step import Role
from workflows.context import RunContext
from workflows.part_state import AnalysisState

Stage = Literal[
    "after_judging",
    "beside_drafts",
    "before_writing",
    "before_draft",
    "before_answer",
    "beside_writing",
    "before_publishing",
]
"""When a part may act; each is a method of `workflows.parts.part.Part`."""


class Entry(NamedTuple):
    """Where a part is: its module and its class."""

    module: str
    name: str


@dataclass(frozen=True)
class PartRow:
    """The declaration of a part."""

    entry: Entry
    is_wanted: Callable[[RunContext], bool]
    """Whether the run asks for it, once it is prepared."""
    acts: tuple[Stage, ...]
    roles: tuple[Role, ...] = ()
    """Roles that it may ask."""


def _wants_table(context: RunContext) -> bool:
    columns = context.request.columns or context.profile.columns
    return bool(columns) or _wants_statistics(context)


def _wants_statistics(context: RunContext) -> bool:
    return context.request.analyse or context.state.part(AnalysisState).requested


def _wants_entries(context: RunContext) -> bool:
    parsed = context.state.question.parsed
    return parsed is not None and not {"when", "how_much"}.isdisjoint(parsed.asks)


PARTS: Mapping[PartName, PartRow] = {
    "dialogue": PartRow(
        Entry("workflows.parts.dialogue", "DialoguePart"),
        lambda context: context.request.follow_up is not None,
        (),
    ),
    "candidates": PartRow(
        Entry("workflows.parts.candidates", "CandidatesPart"),
        lambda context: context.profile.candidates,
        ("after_judging", "before_writing"),
        ("hypothesis_generator", "verifier"),
    ),
    "full_texts": PartRow(
        Entry("workflows.parts.full_texts", "FullTextsPart"),
        lambda context: context.request.limits.full_texts > 0,
        ("before_draft",),
    ),
    "table": PartRow(
        Entry("workflows.parts.table", "TablePart"), _wants_table, ("beside_writing",), ("extractor",)
    ),
    "entries": PartRow(
        Entry("workflows.parts.entries", "EntriesPart"),
        _wants_entries,
        ("beside_drafts", "before_answer"),
        ("extractor",),
    ),
    "conclusions": PartRow(
        Entry("workflows.parts.conclusions", "ConclusionsPart"),
        lambda context: not context.profile.candidates,
        ("beside_drafts", "before_answer", "beside_writing"),
        ("appraiser",),
    ),
    "analysis": PartRow(
        Entry("workflows.parts.analysis", "AnalysisPart"),
        _wants_statistics,
        ("before_publishing",),
        ("analyst",),
    ),
    "own_steps": PartRow(
        Entry("workflows.parts.own_steps", "OwnStepsPart"), lambda _: False, (), ("own_role",)
    ),
}
"""The dialogue acts when a run is prepared, and own steps where a graph names them: at no stage."""
