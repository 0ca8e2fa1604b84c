"""Paths of a knowledge graph in a database that speaks Bolt (Neo4j, Memgraph, FalkorDB ...).

They lie between the drugs, genes and diseases that a question names. Needs the extra `neo4j`. Each path is
one record with a sentence a relation, its provenance and its dates. It is what somebody put into a graph, so
its evidence type is `knowledge_graph`, which no grade rates above weak.

A question's names are its runs of words; the database compares them with the names of its nodes. They travel
as parameters of statements that `graph_schema` makes, in read transactions.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from activities.contracts.errors import Malformed, RateLimited, Refused, Unavailable
from activities.contracts.evidence import Evidence, Provenance, Query
from activities.extras import install
from activities.settings import Settings
from activities.sources.base import Exchange
from activities.sources.graph_schema import GraphSchema, Statement, load_schema
from activities.sources.http.client import Http
from activities.sources.names import info_of
from activities.sources.records import new_record

if TYPE_CHECKING:
    from neo4j import AsyncDriver, AsyncSession

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
DEFAULT_PORT = 7687
SECONDS = 12.0
"""For one statement, its connection included."""
CONNECTING = 0.8
"""Share of `SECONDS` for the connection, so that its driver closes one that hangs."""
ATTEMPTS = 2
"""At a statement that is not answered, each on a connection of its own."""
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
        self._made: tuple[asyncio.AbstractEventLoop, AsyncDriver] | None = None
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
        here = urlsplit(self.address).hostname in _LOOPBACK
        self.info = info_of("neo4j").replace(
            title=f"{title} (graph database)", domains=("biomedical", "local") if here else ("biomedical",)
        )

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
        """Return what the database answers; asked again where it hangs or is not reached.

        Raises SourceError.
        """
        for left in reversed(range(ATTEMPTS)):
            try:
                return await self._asked(statement, names, limit)
            except Unavailable:
                if not left:
                    raise
                await self.close()
        raise AssertionError("unreachable")

    async def _asked(self, statement: Statement, names: Sequence[str], limit: int) -> list[GraphPath]:
        """One attempt. Raises SourceError."""
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
            raise Unavailable(f"neo4j at {self.address} cannot be reached: {error}") from error
        except (Neo4jError, DriverError) as error:
            raise Unavailable(f"neo4j failed: {error}") from error

    def _driver(self) -> "AsyncDriver":
        """Return the driver with its connections, kept for the event loop it was made in."""
        from neo4j import AsyncGraphDatabase

        loop = asyncio.get_running_loop()
        if self._made is None or self._made[0] is not loop:
            password = self._password.get_secret_value() if self._password else ""
            driver = AsyncGraphDatabase.driver(
                self.address,
                auth=(self._user, password),
                connection_timeout=SECONDS * CONNECTING,
                max_transaction_retry_time=0.0,
                telemetry_disabled=True,
                user_agent="determinator",
            )
            self._made = loop, driver
        return self._made[1]

    async def close(self) -> None:
        if self._made is not None:
            await self._made[1].close()
            self._made = None

    def _record(self, path: GraphPath, statement: Statement, query: str) -> Evidence:
        assert self._schema is not None
        text = "\n".join(_sentences(self._schema, path, statement))
        origins = _of_all(self._schema.provenance, path)
        dates = _of_all(self._schema.dates, path)
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
        origin = _shown((*schema.provenance, *schema.dates), path.properties[place])
        stated = f"{nodes[place]} {schema.relations.get(kind, kind)} {nodes[place + 1]} in {schema.title}"
        yield f"{stated} ({origin})." if origin else f"{stated}."


def _shown(names: Sequence[str], properties: Mapping[str, Any]) -> str:
    """Return properties as text: `sources: DrugBank, ChEMBL; year: 2017`."""
    parts = []
    for name in names:
        value = properties.get(name)
        if value not in (None, "", []):
            values = value if isinstance(value, list) else [value]
            parts.append(f"{name}: {', '.join(_plain(one) for one in values[:10])}")
    return "; ".join(parts)


def _of_all(names: Sequence[str], path: GraphPath) -> str:
    """Return the properties of all relations of a path, each once."""
    return "; ".join(dict.fromkeys(filter(None, (_shown(names, values) for values in path.properties))))


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


def _refusal(code: str, message: str) -> Refused | RateLimited:
    if "AuthenticationRateLimit" in code:
        return RateLimited(f"neo4j refuses further attempts: {message}")
    if "Security" in code:
        return Refused(
            f"neo4j refuses the user or the password ({code}); the password is read from NEO4J_PASSWORD, the "
            "user from the setting neo4j_user"
        )
    return Refused(f"neo4j refuses the statement ({code}): {message}")
