"""The built-in graphs, and graph files of one's own. Workflow code reads no files and does not use this."""

import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from workflows.graph.definition import GraphDefinition
from workflows.graph.validation import GraphError, Problem, require_valid

DEFAULT = "iterative"
"""The graph of a run that names none."""
FILE_BYTES = 256 * 1024
"""A graph file is smaller."""


def builtin_names() -> tuple[str, ...]:
    """The names of the built-in graphs, sorted."""
    files = (entry.name for entry in _folder().iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml")))


def builtin(name: str) -> GraphDefinition:
    """A built-in graph. Raises KeyError for a name there is none of."""
    if name not in builtin_names():
        raise KeyError(name)
    return read_definition((_folder() / f"{name}.toml").read_text(encoding="utf-8"))


def load(name: str) -> GraphDefinition:
    """A built-in graph by its name, or the graph in a file. Raises GraphError."""
    if name in builtin_names():
        return builtin(name)
    path = Path(name).expanduser()
    try:
        if path.stat().st_size > FILE_BYTES:
            raise GraphError((Problem("unreadable", "", f"{name} is larger than {FILE_BYTES:,} bytes"),))
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        names = ", ".join(builtin_names())
        reason = getattr(error, "strerror", None) or "it is not text"
        message = f"{name} is neither a built-in graph ({names}) nor a file that can be read: {reason}"
        raise GraphError((Problem("unreadable", "", message),)) from error
    return read_definition(text)


def read_definition(text: str) -> GraphDefinition:
    """The valid graph in a TOML text. Raises GraphError."""
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise GraphError((Problem("unreadable", "", f"not TOML: {error}"),)) from error
    try:
        definition = GraphDefinition.model_validate(given)
    except ValidationError as error:
        raise GraphError(tuple(_problems(error, given))) from error
    return require_valid(definition)


def _problems(error: ValidationError, given: Mapping[str, Any]) -> list[Problem]:
    """What pydantic refused, each with its node."""
    found = []
    for one in error.errors(include_url=False, include_input=False):
        where = [str(part) for part in one["loc"]]
        message = one["msg"].removeprefix("Value error, ")
        match where:
            case ["nodes", name, *rest]:
                keys = ".".join(part for part in rest if part not in ("[key]", "agent", "state", "decision"))
                found.append(Problem("unreadable", name, f"{keys}: {message}" if keys else message))
            case ["edges", number, *rest] if number.isdigit():
                edge = given["edges"][int(number)]
                source = str(edge.get("source", "")) if isinstance(edge, dict) else ""
                target = str(edge.get("target", "?")) if isinstance(edge, dict) else "?"
                keys = ".".join(rest)
                found.append(Problem("unreadable", source, f"its edge to {target}: {keys}: {message}"))
            case _:
                found.append(Problem("unreadable", "", f"{'.'.join(where)}: {message}"))
    return found


def _folder() -> Any:  # noqa: ANN401 - Traversable has moved between modules of the supported Pythons
    return resources.files(__package__) / "graphs"
