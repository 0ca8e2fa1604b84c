"""The built-in graphs, and graph files of one's own. Workflow code reads no files and does not use this."""

import tomllib
from collections.abc import Collection, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from activities.configuration.wording import in_words
from activities.plugins import points
from workflows.graph.definition import MAX_PROMPT_CHARS, GraphDefinition
from workflows.graph.validation import GraphError, Problem, problems, unknown_parts

DEFAULT = "iterative"
"""The graph of a run that names none."""
FILE_BYTES = 256 * 1024
"""A graph file is smaller."""
MAX_DOTS = 500
"""Dots of a line: prompts have some, and the time for a key of very many parts grows with their square."""


def builtin_names() -> tuple[str, ...]:
    """Return the names of the built-in graphs, sorted."""
    files = (entry.name for entry in _folder().iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml")))


def builtin(name: str) -> GraphDefinition:
    """Return a built-in graph.

    Raises KeyError for a name there is none of.
    """
    if name not in builtin_names():
        raise KeyError(name)
    return read_definition((_folder() / f"{name}.toml").read_text(encoding="utf-8"))


def load(name: str, sources: Collection[str] | None = None) -> GraphDefinition:
    """Return a built-in graph by its name, or the graph in a file, whose nodes name sources among `sources`.

    Raises GraphError.
    """
    if name in builtin_names():
        return builtin(name)
    path = Path(name).expanduser()
    try:
        if path.stat().st_size > FILE_BYTES:
            raise GraphError((Problem("unreadable", "", f"it is larger than {FILE_BYTES:,} bytes"),))
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        names = ", ".join(builtin_names())
        reason = getattr(error, "strerror", None) or "it is not text"
        message = f"it is neither a built-in graph ({names}) nor a file that can be read: {reason}"
        raise GraphError((Problem("unreadable", "", message),)) from error
    definition = _parse(text, path.parent)
    if faults := (*problems(definition), *missing_parts(definition, sources)):
        raise GraphError(faults)
    return definition


def missing_parts(definition: GraphDefinition, sources: Collection[str] | None = None) -> tuple[Problem, ...]:
    """Return the roles, steps and sources of a definition that this installation does not have."""
    roles = [point.name for point in points("determinator.roles")]
    steps = [point.name for point in points("determinator.steps")]
    return tuple(unknown_parts(definition, roles, steps, sources))


def read_definition(text: str) -> GraphDefinition:
    """Return the valid graph in a TOML text, without files of prompts. Raises GraphError."""
    definition = _parse(text, None)
    if faults := problems(definition):
        raise GraphError(faults)
    return definition


def _parse(text: str, folder: Path | None) -> GraphDefinition:
    """Return the definition in a TOML text, whether or not a run can walk it. Raises GraphError."""
    if any(line.count(".") > MAX_DOTS for line in text.splitlines()):
        raise GraphError((Problem("unreadable", "", f"a line has more than {MAX_DOTS} dots"),))
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise GraphError((Problem("unreadable", "", f"not TOML: {error}"),)) from error
    except RecursionError:
        message = "it has values inside values to a depth that no graph needs"
        raise GraphError((Problem("unreadable", "", message),)) from None
    faults = [*_read_prompts(data, folder)]
    try:
        definition = GraphDefinition.model_validate(data)
    except ValidationError as error:
        raise GraphError((*faults, *_problems(error, data))) from error
    if faults:
        raise GraphError(tuple(faults))
    return definition


def _read_prompts(data: Mapping[str, Any], folder: Path | None) -> Iterator[Problem]:
    """Put the texts of prompt files in place of their names; yield what cannot be read.

    Only files below the graph's own folder are read: what a graph names is sent to a model.
    """
    nodes = data.get("nodes")
    for name, node in nodes.items() if isinstance(nodes, dict) else ():
        if not isinstance(node, dict) or "prompt_file" not in node:
            continue
        file_name = node.pop("prompt_file")
        try:
            if folder is None or not isinstance(file_name, str):
                raise ValueError("it names no file")  # noqa: TRY301 - one message for all reasons
            file = (folder / file_name).resolve()
            if not file.is_relative_to(folder.resolve()):
                raise ValueError("it is outside the folder of the graph")  # noqa: TRY301
            if file.stat().st_size > 4 * MAX_PROMPT_CHARS:
                raise ValueError(f"it is longer than {MAX_PROMPT_CHARS:,} characters")  # noqa: TRY301
            node["prompt"] = file.read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            yield Problem("unreadable", name, f"prompt_file {file_name}: {reason}")


UNSAID = ("[key]", "agent", "state", "decision", "role", "code", "constrained-int", "Comparison")
"""Parts of the place of a fault that name the type of a value, not its key."""
OTHER_TYPE = ("literal_error", "model_type", "string_type")
"""Faults of a value that may be of several types, where it is none of this type."""


def _problems(error: ValidationError, data: Mapping[str, Any]) -> list[Problem]:
    places: dict[tuple[str, ...], list[ErrorDetails]] = {}
    for fault in error.errors(include_url=False):
        place = tuple(str(part) for part in fault["loc"])
        head, parts = place[:2], [part for part in place[2:] if part not in UNSAID]
        key_path = (*head, *(part for part in parts if not part.startswith(("function-", "literal["))))
        places.setdefault(key_path, []).append(fault)
    faults = []
    for where, errors in places.items():
        words = [d for d in errors if d["type"] == "literal_error" and isinstance(d["input"], str)]
        causes = words or [d for d in errors if d["type"] not in OTHER_TYPE] or errors
        if causes is errors and any(key[: len(where)] == where for key in places if key != where):
            continue  # it is of another type, and what is wrong with that is said
        message = in_words(causes)
        match where:
            case ("nodes", name, *parts):
                keys = ".".join(parts)
                faults.append(Problem("unreadable", name, f"{keys}: {message}" if keys else message))
            case ("edges", number, *parts) if number.isdigit():
                edge = data["edges"][int(number)]
                ends = edge if isinstance(edge, dict) else {}
                text = f"its edge to {ends.get('target', '?')}: {'.'.join(parts)}: {message}"
                faults.append(Problem("unreadable", str(ends.get("source", "")), text))
            case _:
                faults.append(Problem("unreadable", "", f"{'.'.join(where)}: {message}"))
    return faults


def _folder() -> Any:  # noqa: ANN401 - Traversable has moved between modules of the supported Pythons
    return resources.files(__package__) / "graphs"
