"""The words for what pydantic refuses, the same wherever a person or a program reads them."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from activities.configuration.declaration import nearest
from activities.configuration.question import SourceFilters
from activities.messages import count_of

_QUOTED = re.compile(r"'([^']*)'")
MAX_SHOWN_CHARS = 80
"""A value that is refused may be anything: its beginning is repeated."""
BOUNDS = {
    "greater_than_equal": "too small; the least is",
    "less_than_equal": "too large; the most is",
    "greater_than": "too small; it has to be more than",
    "less_than": "too large; it has to be less than",
}
KINDS = {
    **dict.fromkeys(("string_type", "string_unicode"), "{value} is not a text"),
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "{value} is not a whole number"),
    **dict.fromkeys(("float_parsing", "float_type"), "{value} is not a number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "{value} is neither true nor false"),
    **dict.fromkeys(("sequence_str", "tuple_type", "list_type"), "{value} is not a list"),
    **dict.fromkeys(("dict_type", "model_type"), "{value} is not a table or object of keys"),
    "int_parsing_size": "{value} is too large a number",
    "finite_number": "{value} is not an amount; leave it out for no limit",
    "missing": "it is missing",
    "json_invalid": "it is not JSON",
}
"""Kinds of pydantic's errors that the value alone explains."""
LENGTHS = {
    "string_too_short": ("character", "characters", "least", "min_length"),
    "string_too_long": ("character", "characters", "most", "max_length"),
    "too_short": ("entry", "entries", "least", "min_length"),
    "too_long": ("entry", "entries", "most", "max_length"),
}


def faults_of(error: ValidationError, subject: str, keys: Collection[str] = ()) -> str:
    """`columns.0: it is missing`: what pydantic refuses, on one line.

    `subject` names the thing itself, where a fault is of all of it; `keys`: those that there are.
    """
    faults = by_place(error.errors(include_url=False))
    return "; ".join(
        f"{place or subject}: {in_words(errors, keys)}"
        for place, errors in faults.items()
        if not any(inner.startswith(f"{place}.") for inner in faults)  # a list is too short without it
    )


def keys_of(model: type[BaseModel]) -> list[str]:
    """Return the keys of a file that a model describes, those of its tables as well."""

    def tables(annotation: object) -> Iterator[type[BaseModel]]:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield annotation
            for field in annotation.model_fields.values():
                yield from tables(field.annotation)
        for part in get_args(annotation):
            yield from tables(part)

    return sorted({key for table in tables(model) for key in table.model_fields})


def by_place(errors: Iterable[ErrorDetails]) -> dict[str, list[ErrorDetails]]:
    """Return what is wrong with each value, by its place (`columns.0`): a union says it for each type."""
    faults: dict[str, list[ErrorDetails]] = {}
    for error in errors:
        parts = [str(part) for part in error["loc"]]
        place = ".".join(part for part in parts if not part.startswith(("literal[", "function-")))
        faults.setdefault(place, []).append(error)
    return faults


def in_words(errors: Sequence[ErrorDetails], keys: Collection[str] = ()) -> str:
    """Return what is wrong with a value, with the nearest name where one of several had to be given.

    `keys`: those that there are where it stands.
    """
    first = errors[0]
    kind, value = first["type"], first["input"]
    text = _short(repr(value))
    if kind == "literal_error":
        choices = [
            name for error in errors for name in _QUOTED.findall(error.get("ctx", {}).get("expected", ""))
        ]
        return f"{text} is not known{nearest(_short(str(value)), choices)}"
    if kind == "union_tag_invalid":
        tag, tags = first["ctx"]["tag"], _QUOTED.findall(first["ctx"]["expected_tags"])
        return f"the type {_short(repr(tag))} is not known{nearest(_short(tag), tags)}"
    if kind == "extra_forbidden":
        names: Collection[str] = SourceFilters.model_fields if first["loc"][-2:-1] == ("filters",) else keys
        return f"there is no such key{nearest(str(first['loc'][-1]), names) if names else ''}"
    if kind in KINDS:
        return KINDS[kind].format(value=text)
    if kind in BOUNDS:
        (limit,) = first["ctx"].values()
        bound = f"{limit:,}" if isinstance(limit, int) else f"{limit:g}"
        return f"{_short(str(value))} is {BOUNDS[kind]} {bound}"
    if kind in LENGTHS:
        singular, plural, end, limit = LENGTHS[kind]
        return f"it has {count_of(len(value), singular, plural)}; the {end} is {first['ctx'][limit]:,}"
    if kind == "string_pattern_mismatch":
        return f"{text} is not of the form {first['ctx']['pattern']}"
    return first["msg"].removeprefix("Value error, ")


def _short(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}..."
