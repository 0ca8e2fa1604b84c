"""The words for what pydantic refuses, the same wherever a person or a program reads them."""

import re
from collections.abc import Iterable, Sequence

from pydantic_core import ErrorDetails

from activities.configuration.declaration import nearest
from activities.configuration.question import SourceFilters

_QUOTED = re.compile(r"'([^']*)'")
MAX_SHOWN_CHARS = 80
"""A value that is refused may be anything: its beginning is repeated."""
BOUNDS = {
    "greater_than_equal": "too small; the least is",
    "less_than_equal": "too large; the most is",
    "greater_than": "too small; it has to be more than",
    "less_than": "too large; it has to be less than",
}


def by_place(errors: Iterable[ErrorDetails]) -> dict[str, list[ErrorDetails]]:
    """Return what is wrong with each value, by its place (`columns.0`): a union says it for each type."""
    faults: dict[str, list[ErrorDetails]] = {}
    for error in errors:
        parts = [str(part) for part in error["loc"]]
        place = ".".join(part for part in parts if not part.startswith(("literal[", "function-")))
        faults.setdefault(place, []).append(error)
    return faults


def worded(errors: Sequence[ErrorDetails]) -> str:
    """Return what is wrong with a value, with the nearest name where one of several had to be given."""
    first = errors[0]
    kind, value = first["type"], first["input"]
    shown = _short(repr(value))
    if kind == "literal_error":
        choices = [
            name for error in errors for name in _QUOTED.findall(error.get("ctx", {}).get("expected", ""))
        ]
        return f"{shown} is not known{nearest(_short(str(value)), choices)}"
    if kind == "union_tag_invalid":
        tag, known = first["ctx"]["tag"], _QUOTED.findall(first["ctx"]["expected_tags"])
        return f"the type {_short(repr(tag))} is not known{nearest(_short(tag), known)}"
    if kind == "extra_forbidden" and first["loc"][-2:-1] == ("filters",):
        return f"there is no such key{nearest(str(first['loc'][-1]), SourceFilters.model_fields)}"
    if kind == "extra_forbidden":
        return "there is no such key"
    if kind == "missing":
        return "it is missing"
    if kind == "finite_number":
        return f"{shown} is not an amount; leave it out for no limit"
    if kind in ("int_parsing", "int_type", "int_from_float", "float_parsing", "float_type"):
        return f"{shown} is not a {'whole ' * kind.startswith('int')}number"
    if kind in BOUNDS:
        (limit,) = first["ctx"].values()
        bound = f"{limit:,}" if isinstance(limit, int) else f"{limit:g}"
        return f"{_short(str(value))} is {BOUNDS[kind]} {bound}"
    return first["msg"].removeprefix("Value error, ")


def _short(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}..."
