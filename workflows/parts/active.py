"""The parts of one run: each is imported when it is asked for."""

import importlib
from collections.abc import Awaitable, Iterator
from typing import TYPE_CHECKING, cast

from activities.contracts.parts import PartName
from workflows.parts.part import Part
from workflows.parts.rows import PARTS, Stage

if TYPE_CHECKING:
    from workflows.parts.analysis import AnalysisPart
    from workflows.parts.candidates import CandidatesPart
    from workflows.parts.conclusions import ConclusionsPart
    from workflows.parts.dialogue import DialoguePart
    from workflows.parts.full_texts import FullTextsPart
    from workflows.parts.own_steps import OwnStepsPart
    from workflows.parts.table import TablePart
    from workflows.run import RunParts


class Parts:
    """The parts that a run asks for."""

    def __init__(self, run: "RunParts") -> None:
        self._run = run
        self._loaded: dict[PartName, Part] = {}

    def load(self, name: PartName) -> Part:
        """Return a part of the run, imported on first use."""
        if name not in self._loaded:
            module, kind = PARTS[name].entry
            self._loaded[name] = getattr(importlib.import_module(module), kind)(self._run)
        return self._loaded[name]

    def active(self, stage: Stage | None = None) -> Iterator[Part]:
        """Yield the parts that the run asks for, of those that act at a stage where it is named.

        None before the run is prepared.
        """
        context = self._run.context
        for name, row in PARTS.items():
            acts = stage is None or stage in row.acts
            if acts and context.state.question.prepared is not None and row.is_wanted(context):
                yield self.load(name)

    async def act(self, stage: Stage, use_model: bool) -> None:
        """Have each part act, one after another, in the order of their rows."""
        for part in self.active(stage):
            await getattr(part, stage)(use_model)

    def beside_writing(self, use_model: bool) -> Iterator[Awaitable[None]]:
        """Yield the steps of the parts beside the last step that writes the answer."""
        for part in self.active("beside_writing"):
            yield from part.beside_writing(use_model)

    @property
    def dialogue(self) -> "DialoguePart":
        return cast("DialoguePart", self.load("dialogue"))

    @property
    def candidates(self) -> "CandidatesPart":
        return cast("CandidatesPart", self.load("candidates"))

    @property
    def conclusions(self) -> "ConclusionsPart":
        return cast("ConclusionsPart", self.load("conclusions"))

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
