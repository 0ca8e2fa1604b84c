"""Paths of a knowledge graph in a database that speaks Bolt (Neo4j, Memgraph, FalkorDB ...).

They lie between the drugs, genes and diseases that a question names. Needs the extra `neo4j`. Each path is
one record with a sentence a relation, its provenance and its dates. It is what somebody put into a graph, so
its evidence type is `knowledge_graph`, which no grade rates above weak.

A TOML file says how the graph names things and which paths are looked for, and holds no Cypher: each name
becomes a quoted identifier of a read statement. A question's names are its runs of words, which the database
compares with those of its nodes; they travel as parameters, so that neither a file nor a question adds a
clause.
"""

import asyncio
import re
import tomllib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from activities.configuration.wording import faults_of, keys_of
from activities.contracts.errors import Malformed, RateLimited, Refused, Unavailable, install
from activities.contracts.evidence import Evidence, Provenance, Query
from activities.settings import Settings
from activities.sources.base import Exchange
from activities.sources.http.client import Http
from activities.sources.names import info_of
from activities.sources.records import new_record

if TYPE_CHECKING:
    from neo4j import AsyncDriver, AsyncSession


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
    """The name of the graph for readers."""
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
            _quote(value)
        return value

    @model_validator(mode="after")
    def _names_are_declared(self) -> Self:
        for word in (*self.kinds.values(), *self.relations):
            _quote(word)
        for path in self.paths:
            if unknown := [kind for kind in path.kinds if kind not in self.kinds]:
                raise ValueError(f"a path has the kind {unknown[0]!r}, which [kinds] does not have")
            types = [name for names in path.relations for name in names]
            if unknown := [name for name in types if name not in self.relations]:
                raise ValueError(f"a path has the relation {unknown[0]!r}, which [relations] does not have")
        return self

    @cached_property
    def statements(self) -> tuple["Statement", ...]:
        """The statements, those in which a question names both ends first, short paths first."""
        by_both = [(path, (0, len(path.kinds) - 1)) for path in self.paths]
        by_one = [
            (path, (end,)) for path in self.paths if not path.both_ends for end in (0, len(path.kinds) - 1)
        ]
        return tuple(Statement(path, ends, _cypher(self, path, ends)) for path, ends in (*by_both, *by_one))


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
        raise Refused(f"{path}: {faults_of(error, 'the file', keys_of(GraphSchema))}") from error


def _quote(name: str) -> str:
    """Return a name as an identifier of Cypher. Raises ValueError for what is no plain name."""
    if len(name) > MAX_NAME_CHARS or not _NAME.fullmatch(name):
        raise ValueError(f"{name[:MAX_NAME_CHARS]!r} is no name of a label, a relation or a property")
    return f"`{name}`"


def _cypher(schema: GraphSchema, path: PathPattern, ends: tuple[int, ...]) -> str:
    nodes = [f"(n{i}:{_quote(schema.kinds[kind])})" for i, kind in enumerate(path.kinds)]
    edges = [f"-[r{i}:{'|'.join(map(_quote, types))}]-" for i, types in enumerate(path.relations)]
    pattern = nodes[0] + "".join(edge + node for edge, node in zip(edges, nodes[1:], strict=True))
    name = _quote(schema.name)
    conditions = [f'toLower(replace(n{end}.{name}, "\'", "")) IN $names' for end in ends]
    # a path that comes back to a node of its own says nothing
    inequalities = [
        f"n{i} <> n{j}" for (i, first), (j, second) in pairwise(enumerate(path.kinds)) if first == second
    ]
    identifier = f"n{{0}}.{_quote(schema.id)}" if schema.id else "null"
    count = len(path.kinds)
    columns = [
        "[" + ", ".join(f"n{i}.{name}" for i in range(count)) + "] AS names",
        "[" + ", ".join(identifier.format(i) for i in range(count)) + "] AS ids",
        "[" + ", ".join(f"type(r{i})" for i in range(count - 1)) + "] AS types",
        "[" + ", ".join(f"properties(r{i})" for i in range(count - 1)) + "] AS properties",
    ]
    order = ", ".join(f"n{i}.{name}" for i in range(count))
    return (
        f"MATCH {pattern} WHERE {' AND '.join([*conditions, *inequalities])} "
        f"RETURN {', '.join(columns)} ORDER BY {order} LIMIT $limit"
    )


SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
DEFAULT_PORT = 7687
SECONDS = 12.0
"""For one statement, its connection included."""
CONNECTING = 0.8
"""Share of `SECONDS` for the connection, so that its driver closes one that hangs."""
MAX_WORDS = 6
"""Words of a name in a question."""
MAX_NAMES = 300
MAX_CHARS = 200
"""Characters of a name or a property of the graph that is shown."""
DASH = " \u2013 "
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class GraphPath(NamedTuple):
    names: Sequence[str]
    ids: Sequence[str]
    types: Sequence[str]
    properties: Sequence[Mapping[str, Any]]


class Neo4jSource:
    """The user's graph database; one statement an exchange."""

    def __init__(self, settings: Settings, _: Http | None = None) -> None:
        self._url = settings.source_url("neo4j", "")
        self._user = settings.neo4j_user
        self._password = settings.neo4j_password
        self._database = settings.neo4j_database
        self.missing = ""
        self._schema: GraphSchema | None = None
        self._open_driver: AsyncDriver | None = None
        try:
            self._schema = load_schema(settings.neo4j_schema)
            self.address = _address(self._url) if self._url else ""
        except Refused as error:
            self.missing, self.address = str(error), ""
        if not self._url:
            self.missing = (
                "needs a database; set DETERMINATOR_NEO4J_URL (bolt://host:7687) and NEO4J_PASSWORD"
            )
        title = self._schema.title if self._schema else "Knowledge graph"
        is_local = urlsplit(self.address).hostname in _LOOPBACK
        domains = ("biomedical", "local") if is_local else ("biomedical",)
        self.info = info_of("neo4j").replace(title=f"{title} (graph database)", domains=domains)

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        """Look for one kind of path after the other. Raises SourceError."""
        if self.missing or self._schema is None:
            raise Refused(f"neo4j {self.missing}")
        names, hits = names_in(query.text), 0
        for statement in self._schema.statements if names else ():
            paths = await self._ask(statement, names, query.limit - hits)
            hits += len(paths)
            records = tuple(self._record(path, statement, query.text) for path in paths)
            yield Exchange(records=records, hits=hits, sent=query.text)
            if hits >= query.limit:
                return

    async def _ask(self, statement: Statement, names: Sequence[str], limit: int) -> list[GraphPath]:
        """Return what the database answers. Raises SourceError."""
        try:
            from neo4j import READ_ACCESS
            from neo4j.exceptions import ClientError, DriverError, Neo4jError, ServiceUnavailable
        except ImportError as error:
            raise Refused(f"neo4j needs its driver: {install('neo4j')}") from error
        try:
            async with (
                asyncio.timeout(SECONDS),
                self._driver().session(database=self._database, default_access_mode=READ_ACCESS) as session,
            ):
                return await _read(session, statement, names, limit)
        except ClientError as error:
            raise _refusal(error.code or "", str(error.message or error)) from error
        except TimeoutError as error:
            raise Unavailable(f"neo4j at {self.address} did not answer within {SECONDS:g} s") from error
        except (ServiceUnavailable, OSError) as error:
            raise Unavailable(f"neo4j at {self.address} cannot be reached: {_reason(error)}") from error
        except (Neo4jError, DriverError) as error:
            raise Unavailable(f"neo4j failed: {_reason(error)}") from error

    def _driver(self) -> "AsyncDriver":
        """Return the driver, which keeps its connections."""
        if self._open_driver is None:
            from neo4j import AsyncGraphDatabase

            self._open_driver = AsyncGraphDatabase.driver(
                self.address,
                auth=(self._user, self._password.get_secret_value() if self._password else ""),
                connection_timeout=SECONDS * CONNECTING,
                max_transaction_retry_time=0.0,
                telemetry_disabled=True,
                user_agent="determinator",
            )
        return self._open_driver

    async def close(self) -> None:
        if self._open_driver is not None:
            await self._open_driver.close()
            self._open_driver = None

    def _record(self, path: GraphPath, statement: Statement, query: str) -> Evidence:
        assert self._schema is not None
        text = "\n".join(_sentences(self._schema, path, statement))
        origins = _properties_of(self._schema.provenance, path)
        dates = _properties_of(self._schema.dates, path)
        years = [int(year) for year in re.findall(r"\b(?:19|20)\d\d\b", dates)]
        record = new_record(
            "neo4j",
            url=None,
            title=f"{DASH.join(path.names)} ({self._schema.title})",
            text=text,
            year=max(years, default=None),
            venue=self._schema.title,
            evidence_type="knowledge_graph",
            standing="none",
            full_text=True,
            graph=self._schema.title,
            path=" - ".join(statement.path.kinds),
            relations=", ".join(path.types),
            target=path.names[1] if statement.path.kinds[:2] == ("drug", "gene") else "",
            node_identifiers=", ".join(filter(None, path.ids)),
            provenance=origins,
            dates=dates,
        )
        return record.replace(provenance=(Provenance(source="neo4j", query=query),))


async def _read(
    session: "AsyncSession", statement: Statement, names: Sequence[str], limit: int
) -> list[GraphPath]:
    async def work(transaction: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - the driver's
        result = await transaction.run(statement.cypher, names=list(names), limit=limit)
        return list(await result.data())

    rows = await session.execute_read(work)
    try:
        return [
            GraphPath(
                names=[_plain(name) for name in row["names"]],
                ids=["" if name is None else _plain(name) for name in row["ids"]],
                types=[str(name) for name in row["types"]],
                properties=[dict(values) for values in row["properties"]],
            )
            for row in rows
        ]
    except (KeyError, TypeError, AttributeError) as error:
        raise Malformed(f"neo4j answered with rows that cannot be read: {error}") from error


def names_in(text: str) -> list[str]:
    """Return what may be a name in a question: runs of up to six words in lower case, long ones first.

    Without apostrophes and backslashes, which some servers take for the end of a parameter (FalkorDB
    4.16).
    """
    text = re.sub(r"['\u2019\\]", "", text)
    words = [word.strip('.,;:?!"()[]{}\u201c\u201d\u2018') for word in text.lower().split()]
    words = [word for word in words if word]
    runs = [
        " ".join(words[start : start + length])
        for length in range(min(MAX_WORDS, len(words)), 0, -1)
        for start in range(len(words) - length + 1)
    ]
    return list(dict.fromkeys(runs))[:MAX_NAMES]


def _sentences(schema: GraphSchema, path: GraphPath, statement: Statement) -> Iterator[str]:
    """Return a sentence for each relation, with its provenance and dates."""
    nodes = [
        f"{name} ({kind} {identifier})" if identifier else f"{name} ({kind})"
        for name, kind, identifier in zip(path.names, statement.path.kinds, path.ids, strict=True)
    ]
    for place, kind in enumerate(path.types):
        origin = _text_of((*schema.provenance, *schema.dates), path.properties[place])
        sentence = f"{nodes[place]} {schema.relations.get(kind, kind)} {nodes[place + 1]} in {schema.title}"
        yield f"{sentence} ({origin})." if origin else f"{sentence}."


def _text_of(names: Sequence[str], properties: Mapping[str, Any]) -> str:
    """Return properties as text: `sources: DrugBank, ChEMBL; year: 2017`."""
    parts = []
    for name in names:
        value = properties.get(name)
        if value not in (None, "", []):
            values = value if isinstance(value, list) else [value]
            parts.append(f"{name}: {', '.join(_plain(item) for item in values[:10])}")
    return "; ".join(parts)


def _properties_of(names: Sequence[str], path: GraphPath) -> str:
    """Return the properties of all relations of a path, each once."""
    return "; ".join(dict.fromkeys(filter(None, (_text_of(names, values) for values in path.properties))))


def _plain(value: object) -> str:
    """Return a value of the graph on one line, without what acts on a terminal."""
    line = " ".join(str(value).split())
    return "".join(c for c in line if c.isprintable())[:MAX_CHARS]


def _address(url: str) -> str:
    """Return the address with its port. Raises Refused for one that is not Bolt's."""
    try:
        parts = urlsplit(url)
        port = parts.port or DEFAULT_PORT
    except ValueError as error:
        raise Refused(f"DETERMINATOR_NEO4J_URL is no address: {error}") from error
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise Refused("DETERMINATOR_NEO4J_URL is not of the form bolt://host:7687 or neo4j+s://host")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port}"


def _reason(error: Exception) -> str:
    """Return the first line of an error: the driver lists every address that it tried."""
    return (str(error) or type(error).__name__).splitlines()[0][:200].rstrip(":")


def _refusal(code: str, message: str) -> Refused | RateLimited:
    if "AuthenticationRateLimit" in code:
        return RateLimited(f"neo4j refuses further attempts: {message}")
    if "Security" in code:
        return Refused(
            f"neo4j refuses the user or the password ({code}); the password is read from NEO4J_PASSWORD, the "
            "user from the setting neo4j_user"
        )
    return Refused(f"neo4j refuses the statement ({code}): {message}")
