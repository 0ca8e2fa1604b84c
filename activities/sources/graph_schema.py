"""The names that a graph database uses, and the paths that are looked for in it.

A TOML file holds them, and no Cypher. Each name becomes a quoted identifier of a read statement that is made
here, and everything a question contributes travels as a parameter, so that neither a file nor a question can
add a clause.
"""

import re
import tomllib
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Self

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from activities.contracts.errors import Refused

BUNDLED = Path(__file__).parent / "graph_schemas"
MAX_NAME_CHARS = 100
_NAME = re.compile(r"[^\W\d]\w*(?:[ -]\w+)*")


class PathPattern(BaseModel, frozen=True, extra="forbid"):
    """One path: the kinds of its nodes, and the relationship types between each two of them."""

    kinds: tuple[str, ...] = Field(min_length=2, max_length=5)
    relations: tuple[tuple[str, ...], ...]
    both_ends: bool = False
    """Whether it is looked for only where a question names both ends: with one, there would be too many."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(self.relations) != len(self.kinds) - 1 or not all(self.relations):
            raise ValueError("a path needs one list of relations between each two kinds")
        return self


class GraphSchema(BaseModel, frozen=True, extra="forbid"):
    title: str
    """What a reader calls the graph."""
    name: str
    """The property by which nodes are found and shown."""
    id: str = ""
    provenance: tuple[str, ...] = ()
    """Properties of a relationship that say where it is from."""
    dates: tuple[str, ...] = ()
    """Properties of a relationship that say from when it is."""
    kinds: dict[str, str]
    """Our word -> the graph's label."""
    relations: dict[str, str]
    """Relationship type -> words for it, from the kind that comes first in a path."""
    paths: tuple[PathPattern, ...] = Field(min_length=1)

    @field_validator("name", "id")
    @classmethod
    def _is_name(cls, value: str) -> str:
        if value:
            _quoted(value)
        return value

    @model_validator(mode="after")
    def _known(self) -> Self:
        for word in (*self.kinds.values(), *self.relations):
            _quoted(word)
        for path in self.paths:
            if unknown := [kind for kind in path.kinds if kind not in self.kinds]:
                raise ValueError(f"a path has the kind {unknown[0]!r}, which [kinds] does not have")
            types = [name for names in path.relations for name in names]
            if unknown := [name for name in types if name not in self.relations]:
                raise ValueError(f"a path has the relation {unknown[0]!r}, which [relations] does not have")
        return self

    @cached_property
    def statements(self) -> tuple["Statement", ...]:
        """Every statement, those in which a question names both ends first, short paths first."""
        both = [(path, (0, len(path.kinds) - 1)) for path in self.paths]
        single = [
            (path, (end,)) for path in self.paths if not path.both_ends for end in (0, len(path.kinds) - 1)
        ]
        return tuple(Statement(path, ends, _cypher(self, path, ends)) for path, ends in (*both, *single))


class Statement(NamedTuple):
    """A read statement for one path whose named nodes are those at `ends`."""

    path: PathPattern
    ends: tuple[int, ...]
    cypher: str
    """Its parameters: `names` (lower-case names) and `limit`."""


def load_schema(name: str) -> GraphSchema:
    """Return a bundled schema by its name, or one of a file. Raises Refused with what is wrong in it."""
    bundled = BUNDLED / f"{name}.toml"
    path = bundled if re.fullmatch(r"\w+", name) and bundled.is_file() else Path(name).expanduser()
    try:
        return GraphSchema.model_validate(tomllib.loads(path.read_text("utf-8")))
    except OSError as error:
        names = ", ".join(sorted(file.stem for file in BUNDLED.glob("*.toml")))
        raise Refused(f"neo4j_schema: {name} is neither a file nor one of {names}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refused(f"{path} is not TOML: {error}") from error
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise Refused(f"{path}: {where}: {problem['msg']}") from error


def _quoted(name: str) -> str:
    """Return a name as an identifier of Cypher. Raises ValueError for what is no plain name."""
    if len(name) > MAX_NAME_CHARS or not _NAME.fullmatch(name):
        raise ValueError(f"{name[:MAX_NAME_CHARS]!r} is no name of a label, a relation or a property")
    return f"`{name}`"


def _cypher(schema: GraphSchema, path: PathPattern, ends: tuple[int, ...]) -> str:
    nodes = [f"(n{i}:{_quoted(schema.kinds[kind])})" for i, kind in enumerate(path.kinds)]
    between = [f"-[r{i}:{'|'.join(map(_quoted, types))}]-" for i, types in enumerate(path.relations)]
    pattern = nodes[0] + "".join(edge + node for edge, node in zip(between, nodes[1:], strict=True))
    name = _quoted(schema.name)
    named = [f'toLower(replace(n{end}.{name}, "\'", "")) IN $names' for end in ends]
    # a path that comes back to a node of its own says nothing
    different = [
        f"n{i} <> n{j}" for (i, first), (j, second) in pairwise(enumerate(path.kinds)) if first == second
    ]
    identifier = f"n{{0}}.{_quoted(schema.id)}" if schema.id else "null"
    count = len(path.kinds)
    columns = [
        "[" + ", ".join(f"n{i}.{name}" for i in range(count)) + "] AS names",
        "[" + ", ".join(identifier.format(i) for i in range(count)) + "] AS ids",
        "[" + ", ".join(f"type(r{i})" for i in range(count - 1)) + "] AS types",
        "[" + ", ".join(f"properties(r{i})" for i in range(count - 1)) + "] AS properties",
    ]
    order = ", ".join(f"n{i}.{name}" for i in range(count))
    return (
        f"MATCH {pattern} WHERE {' AND '.join([*named, *different])} "
        f"RETURN {', '.join(columns)} ORDER BY {order} LIMIT $limit"
    )
