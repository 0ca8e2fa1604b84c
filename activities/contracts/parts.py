"""The values that parts of a run add to what is published and to the report, each under the name of its part.

In JSON they stand at the top level. A model with parts has no field of any; the value of a part that was not
asked for is missing, and reads as its default.
"""

import importlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import ClassVar, Generic, Self, TypeVar, cast

from pydantic import TypeAdapter, model_validator

from activities.contracts.evidence import Frozen

Input = TypeVar("Input")
Output = TypeVar("Output")

MODULES: Mapping[str, str] = {
    "continues": "activities.contracts.prepare",
    "conclusions": "activities.contracts.appraisal",
    "candidates": "activities.contracts.candidates",
    "analysis": "activities.contracts.effects",
    "table": "activities.contracts.judge",
    "readings": "activities.contracts.plan",
}
"""Name of a value -> the module whose `PART` declares it, in the order of the chapters."""


class PartData(Generic[Input, Output]):
    """The values of a part: what publishing is given, and what the report has."""

    def __init__(
        self, name: str, input_type: object, input_default: Input, report_type: object, report_default: Output
    ) -> None:
        self.name = name
        self.input_kind, self.report_kind = input_type, report_type
        self._input_default, self._report_default = input_default, report_default

    def of_input(self, document: "PublishParts") -> Input:
        """Return the value that publishing is given; the default without the part."""
        return cast(Input, (document.__pydantic_extra__ or {}).get(self.name, self._input_default))

    def of_report(self, report: "ReportParts") -> Output:
        """Return the value in the report; the default without the part."""
        return cast(Output, (report.__pydantic_extra__ or {}).get(self.name, self._report_default))

    @cached_property
    def input_adapter(self) -> TypeAdapter[Input]:
        return TypeAdapter(cast(type[Input], self.input_kind))

    @cached_property
    def report_adapter(self) -> TypeAdapter[Output]:
        return TypeAdapter(cast(type[Output], self.report_kind))


def part_data(name: str) -> PartData[object, object]:
    """Return the declaration of a part's values.

    Raises KeyError for a part that has none.
    """
    declared: PartData[object, object] = importlib.import_module(MODULES[name]).PART
    return declared


class _WithParts(Frozen, extra="allow"):
    """A model that holds values of parts beside its fields. Other unknown fields are ignored."""

    is_report: ClassVar[bool]

    @model_validator(mode="after")
    def _typed(self) -> Self:
        values = self.__pydantic_extra__ or {}
        for name in list(values):
            if name in MODULES:
                data = part_data(name)
                adapter = data.report_adapter if self.is_report else data.input_adapter
                values[name] = adapter.validate_python(values[name])
            else:
                del values[name]
        return self

    def _own_names(self) -> set[str]:
        return super()._own_names() | MODULES.keys()

    @property
    def parts(self) -> Iterator[str]:
        """The names of the parts that it has values of, in the order of their chapters."""
        return (name for name in MODULES if name in (self.__pydantic_extra__ or {}))


class PublishParts(_WithParts):
    """What publishing is given of parts."""

    is_report = False


class ReportParts(_WithParts):
    """What a report shows of parts."""

    is_report = True
