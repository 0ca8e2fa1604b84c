"""The parts of a run, declared in one row each, and those that one run asks for.

A part is a file of this folder, of its name, with its class as `PART`, and a row of `PARTS`. It is imported
when it is asked for, keeps its state under its name (`RunState.parts`) and acts at the stages that its row
names, in the order of the rows. `activities.contracts.parts` has the type of the value that it adds to what
is published, `activities.report.parts` its check and its chapter.
"""

import importlib
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from activities.contracts.step import Role
from workflows.context import RunContext, RunPart
from workflows.part_state import (
    AnalysisState,
    CandidatesState,
    ClarificationState,
    ConclusionsState,
    DialogueState,
    FullTextsState,
    PartState,
    TableState,
)

if TYPE_CHECKING:
    from workflows.parts.analysis import AnalysisPart
    from workflows.parts.candidates import CandidatesPart
    from workflows.parts.clarification import ClarificationPart
    from workflows.parts.dialogue import DialoguePart
    from workflows.parts.full_texts import FullTextsPart
    from workflows.parts.own_steps import OwnStepsPart
    from workflows.parts.table import TablePart
    from workflows.run import RunParts

Stage = Literal[
    "after_judging",
    "before_writing",
    "before_draft",
    "before_answer",
    "beside_writing",
    "before_publishing",
]
"""When a part may act; each is a method of `OptionalPart`."""


class OptionalPart(RunPart):
    """A part that a run may ask for. A subclass implements the stages that its row in `PARTS` names."""

    async def after_judging(self, use_model: bool) -> None:
        """Act after each judgement of a loop."""

    async def before_writing(self, use_model: bool) -> None:
        """Act once nothing more is searched for."""

    async def before_draft(self, use_model: bool) -> None:
        """Act before the only section of a report is written."""

    async def before_answer(self, use_model: bool) -> None:
        """Act before what the answer is written from is written."""

    def beside_writing(self, use_model: bool) -> Iterable[Awaitable[None]]:
        """Return the steps that go on at the same time as that step."""
        return ()

    async def before_publishing(self, use_model: bool) -> None:
        """Act on all that is written."""

    def cited_ids(self) -> Iterable[str]:
        """Ids of works that the part quotes."""
        return ()

    def published_value(self, cited_ids: Collection[str]) -> object:
        """Return the value that the part adds to what is published, of the works with `cited_ids`."""


@dataclass(frozen=True, kw_only=True)
class PartRow:
    """The declaration of a part."""

    is_wanted: Callable[[RunContext], bool]
    """Whether the run asks for it, once it is prepared."""
    acts: tuple[Stage, ...] = ()
    """None for a part that acts when a run is prepared, or where a graph names it."""
    roles: tuple[Role, ...] = ()
    """Roles that it may ask."""
    state: type[PartState] | None = None
    value: str = ""
    """The value that it adds to what is published, which has a check and a chapter; empty for none."""


def _wants_table(context: RunContext) -> bool:
    columns = context.request.columns or context.profile.columns
    return bool(columns) or _wants_statistics(context)


def _wants_statistics(context: RunContext) -> bool:
    return context.request.analyse or context.state.part(AnalysisState).requested


PARTS: Mapping[str, PartRow] = {
    "clarification": PartRow(
        is_wanted=lambda context: context.request.clarify != "off",
        roles=("clarifier",),
        state=ClarificationState,
        value="readings",
    ),
    "dialogue": PartRow(
        is_wanted=lambda context: context.request.follow_up is not None,
        state=DialogueState,
        value="continues",
    ),
    "candidates": PartRow(
        is_wanted=lambda context: context.profile.candidates,
        acts=("after_judging", "before_writing"),
        roles=("hypothesis_generator", "verifier"),
        state=CandidatesState,
        value="candidates",
    ),
    "full_texts": PartRow(
        is_wanted=lambda context: context.request.limits.full_texts > 0,
        acts=("before_draft",),
        state=FullTextsState,
    ),
    "table": PartRow(
        is_wanted=_wants_table,
        acts=("beside_writing",),
        roles=("extractor",),
        state=TableState,
        value="table",
    ),
    "conclusions": PartRow(
        is_wanted=lambda context: not context.profile.candidates,
        acts=("beside_writing",),
        roles=("appraiser",),
        state=ConclusionsState,
        value="conclusions",
    ),
    "analysis": PartRow(
        is_wanted=_wants_statistics,
        acts=("before_publishing",),
        roles=("analyst",),
        state=AnalysisState,
        value="analysis",
    ),
    "own_steps": PartRow(is_wanted=lambda _: False, roles=("own_role",)),
}


class OptionalParts(RunPart):
    """The parts that a run asks for."""

    def __init__(self, run: "RunParts") -> None:
        super().__init__(run)
        self._loaded: dict[str, OptionalPart] = {}

    def load(self, name: str) -> OptionalPart:
        """Return a part of the run, imported on first use."""
        if name not in self._loaded:
            module = importlib.import_module(f"workflows.parts.{name}")
            self._loaded[name] = module.PART(self.run)
        return self._loaded[name]

    def active(self, stage: Stage | None = None) -> Iterator[OptionalPart]:
        """Yield the parts that the run asks for, of those that act at a stage where it is named.

        None before the run is prepared.
        """
        for name, row in PARTS.items():
            if (stage is None or stage in row.acts) and self._is_active(row):
                yield self.load(name)

    def published_values(self, cited_ids: Collection[str]) -> dict[str, object]:
        """Return the values of the parts by their names, which are fields of `PublishInput`."""
        return {
            row.value: self.load(name).published_value(cited_ids)
            for name, row in PARTS.items()
            if row.value and self._is_active(row)
        }

    def _is_active(self, row: PartRow) -> bool:
        return self.state.question.prepared is not None and row.is_wanted(self.context)

    async def act(self, stage: Stage, use_model: bool) -> None:
        """Have each part act, one after another, in the order of their rows."""
        for part in self.active(stage):
            await getattr(part, stage)(use_model)

    def beside_writing(self, use_model: bool) -> Iterator[Awaitable[None]]:
        """Yield the steps of the parts beside the last step that writes the answer."""
        for part in self.active("beside_writing"):
            yield from part.beside_writing(use_model)

    @property
    def clarification(self) -> "ClarificationPart":
        return cast("ClarificationPart", self.load("clarification"))

    @property
    def dialogue(self) -> "DialoguePart":
        return cast("DialoguePart", self.load("dialogue"))

    @property
    def candidates(self) -> "CandidatesPart":
        return cast("CandidatesPart", self.load("candidates"))

    @property
    def full_texts(self) -> "FullTextsPart":
        return cast("FullTextsPart", self.load("full_texts"))

    @property
    def own_steps(self) -> "OwnStepsPart":
        return cast("OwnStepsPart", self.load("own_steps"))

    @property
    def analysis(self) -> "AnalysisPart":
        return cast("AnalysisPart", self.load("analysis"))

    @property
    def table(self) -> "TablePart":
        return cast("TablePart", self.load("table"))
