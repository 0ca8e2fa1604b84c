"""A tool of an MCP server as a source, as `[mcp.NAME]` describes it (`activities.configuration.mcp`).

One search is one connection in a process of its own (`activities.sources.mcp_process`): the program is
started, or the address asked, for it, and nothing is kept that could hang or die between searches. What the
server says is data: its results are mapped by JSON pointers, and neither the description of its tool nor an
error it reports becomes evidence. A server that hangs, dies or reports an error is an outage.
"""

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import nullcontext

from pydantic import JsonValue

from activities.configuration.mcp import McpSource
from activities.contracts.errors import Malformed, TooSlow, install
from activities.contracts.evidence import Evidence, Query, SourceInfo
from activities.processes import NETWORK, for_python, python, start_async
from activities.sources.base import Exchange
from activities.sources.http.rate_limiter import RateLimiter
from activities.sources.mcp_process import ERRORS
from activities.sources.publication import year_of
from activities.sources.records import SetAside, identifiers_of, new_record, read_records, value_at

PROCESS = "activities.sources.mcp_process"
MAX_TEXT_CHARS = 200_000
"""Characters of one item; what is beyond is cut."""
TITLE_CHARS = 300


class McpToolSource:
    def __init__(self, name: str, source: McpSource, *, offline: bool = False) -> None:
        self._source = source
        self._offline = offline
        self._limiter = RateLimiter(source.rate) if source.rate else None
        location = source.url or source.command[0]
        self.address = source.url or ""
        self.info = SourceInfo(
            name=name,
            title=source.title or name,
            covers=source.covers or f"The tool {source.tool} of the MCP server {location}.",
            how_to_enable=f"Configured as [mcp.{name}].",
            rate=f"{source.rate:g} searches a second" if source.rate else "unlimited",
            rate_per_second=source.rate,
            domains=tuple(source.domains),
        )
        self.missing = self._missing_part()

    def _missing_part(self) -> str:
        """Return what is missing to use it; empty when nothing is."""
        from importlib.util import find_spec

        if find_spec("mcp") is None:
            return f"the MCP client is not installed: {install('mcp')}"
        variable = self._source.token_variable
        if variable and not os.environ.get(variable):
            return f"{variable} is not set, which holds the token for {self._source.url}"
        return ""

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        try:
            turn = self._limiter.passage() if self._limiter else nullcontext()
            async with turn, asyncio.timeout(self._source.timeout):
                items = await self._items(query)
        except TimeoutError as error:
            raise TooSlow(f"{self.info.name} did not answer within {self._source.timeout:g} s") from error
        items, count = items[: query.limit], len(items)
        yield read_records(self.info.name, query, items, self._evidence, hits=count, sent=query.text)

    async def _items(self, query: Query) -> Sequence[JsonValue]:
        """Return the items of a search, from a process of its own, which ends with it. Raises SourceError."""
        job = {"name": self.info.name, "source": self._source.model_dump(), "query": query.model_dump()}
        network = () if self._offline else NETWORK
        names = (*network, *self._source.variables, self._source.token_variable or "")
        process = await start_async(
            python(PROCESS),
            for_python(*names),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            data, _ = await process.communicate(json.dumps(job).encode())
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        try:
            answer = json.loads(data)
        except (ValueError, RecursionError):
            raise Malformed(
                f"{self.info.name}: what its MCP server sent needs more than the memory that is given to it"
            ) from None
        if "error" in answer:
            raise ERRORS[answer["error"]](answer["message"])
        items: list[JsonValue] = answer["items"]
        return items

    def _evidence(self, item: JsonValue) -> Evidence:
        """Read an item as evidence. Raises SetAside without a text, ValueError for another shape."""
        fields = self._source.map
        text = plain(value_at(item, fields.text))[:MAX_TEXT_CHARS]
        if not text.strip():
            raise SetAside("without text to quote")
        title = optional(item, fields.title) or next(line for line in text.splitlines() if line.strip())
        url = optional(item, fields.url)
        address = url if re.match(r"https?://", url) else None
        return new_record(
            self.info.name,
            title=" ".join(title.split())[:TITLE_CHARS],
            text=text,
            authors=names(item, fields.authors),
            year=year_of(optional(item, fields.year)),
            venue=optional(item, fields.venue),
            identifiers=identifiers_of(
                doi=optional(item, fields.doi), pmid=optional(item, fields.pmid), url=address
            ),
            url=address,
        )


def plain(value: JsonValue) -> str:
    """Return a value as text: a list as its parts on lines, nothing for null."""
    if value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(filter(None, map(plain, value)))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def optional(item: JsonValue, pointer: str | None) -> str:
    """Return the text at a pointer; empty without one."""
    return "" if pointer is None else plain(value_at(item, pointer)).strip()


def names(item: JsonValue, pointer: str | None) -> list[str]:
    """Return authors, from a list or from text with semicolons."""
    value = None if pointer is None else value_at(item, pointer)
    parts = value if isinstance(value, list) else plain(value).split(";")
    return [name for part in parts if (name := plain(part).strip())]
