"""A tool of an MCP server as a source, as `[mcp.NAME]` describes it (`activities.configuration.mcp`).

One search is one connection: the program is started, or the address asked, for it, and nothing is kept that
could hang or die between searches. What the server says is data: its results are mapped by JSON pointers, and
neither the description of its tool nor an error it reports becomes evidence. A server that hangs, dies or
reports an error is an outage.
"""

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from pydantic import JsonValue

from activities.configuration.mcp import McpSource
from activities.errors import Malformed, Refused, SourceError, TooSlow, Unavailable
from activities.sources.base import Exchange
from activities.sources.http.rate_limiter import RateLimiter
from activities.sources.records import SetAside, pointed, read_records, year_of
from activities.types import Evidence, Identifiers, Query, SourceInfo
from activities.verification.identifiers import evidence_id, normal_doi, normal_pmid

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

MAX_TEXT_CHARS = 200_000
"""Of one item; what is beyond is cut."""
MAX_RESULT_CHARS = 5_000_000
"""Of one tool's result; a server that sends more is not read."""
MAX_ITEMS = 200
TITLE_CHARS = 300


class McpToolSource:
    """See the module."""

    def __init__(self, name: str, chosen: McpSource) -> None:
        self._chosen = chosen
        self._limiter = RateLimiter(chosen.rate) if chosen.rate else None
        where = chosen.url or chosen.command[0]
        self.address = chosen.url or ""
        self.info = SourceInfo(
            name=name,
            title=chosen.title or name,
            covers=chosen.covers or f"The tool {chosen.tool} of the MCP server {where}.",
            how_to_enable=f"Configured as [mcp.{name}].",
            rate=f"{chosen.rate:g} searches a second" if chosen.rate else "unlimited",
            rate_per_second=chosen.rate,
            domains=tuple(chosen.domains),
        )
        self.missing = self._lacking()

    def _lacking(self) -> str:
        """What is missing to use it; empty when nothing is."""
        from importlib.util import find_spec

        if find_spec("mcp") is None:
            return "the MCP client is not installed: pip install 'determinator[mcp]'"
        variable = self._chosen.token_variable
        if variable and not os.environ.get(variable):
            return f"{variable} is not set, which holds the token for {self._chosen.url}"
        return ""

    async def exchange(self, query: Query, cursor: Mapping[str, str] | None = None) -> Exchange:
        """One search. Raises SourceError."""
        try:
            async with self._turn(), asyncio.timeout(self._chosen.timeout):
                found = await self._found(query)
        except TimeoutError as error:
            raise TooSlow(f"{self.info.name} did not answer within {self._chosen.timeout:g} s") from error
        except SourceError:
            raise
        except Exception as error:
            raise self._failure(error) from error
        batch = read_records(self.info.name, query, found[: query.limit], self._evidence)
        return batch.exchange(len(found), query.text)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Wait for a turn where a rate is set."""
        if self._limiter is None:
            yield
            return
        async with self._limiter.passage():
            yield

    async def _found(self, query: Query) -> Sequence[JsonValue]:
        """The items of a search, with their texts. Raises what the connection raises, and SourceError."""
        chosen = self._chosen
        async with self._connected() as client:
            arguments: dict[str, JsonValue] = {**chosen.arguments, chosen.query: query.text}
            if chosen.limit is not None:
                arguments[chosen.limit] = query.limit
            await self._check(client, chosen.tool, arguments)
            listed = items_of(await self._call(client, chosen.tool, arguments), chosen, self.info.name)
            if chosen.fetch is None:
                return listed
            fetched: list[JsonValue] = []
            for item in listed[: query.limit]:
                given = {chosen.fetch.argument: pointed(item, chosen.fetch.value)}
                fetched.append(whole(await self._call(client, chosen.fetch.tool, given)))
            return fetched

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator["Client"]:
        from mcp import Client, StdioServerParameters
        from mcp.client.stdio import stdio_client
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client

        chosen = self._chosen
        async with AsyncExitStack() as stack:
            if chosen.url:
                token = os.environ.get(chosen.token_variable or "", "")
                headers = {"Authorization": f"Bearer {token}"} if token else None
                http = await stack.enter_async_context(create_mcp_http_client(headers=headers))
                transport = streamable_http_client(chosen.url, http_client=http)
            else:
                given = {name: os.environ[name] for name in chosen.variables if name in os.environ}
                program, *arguments = chosen.command
                errors = stack.enter_context(open(os.devnull, "w"))  # noqa: PTH123, SIM115, ASYNC230 - a device
                transport = stdio_client(
                    StdioServerParameters(command=program, args=arguments, env=given), errlog=errors
                )
            client = Client(transport, read_timeout_seconds=chosen.timeout)
            yield await stack.enter_async_context(client)

    async def _check(self, client: "Client", tool: str, arguments: Mapping[str, JsonValue]) -> None:
        """Raises Refused when the server has no such tool, or its schema does not allow the arguments."""
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import SchemaError

        tools = {found.name: found for found in (await client.list_tools()).tools}
        if tool not in tools:
            there = ", ".join(sorted(tools)) or "none"
            raise Refused(f"[mcp.{self.info.name}]: the server has no tool {tool}; it has {there}"[:600])
        schema = tools[tool].input_schema
        try:
            wrong = next(Draft202012Validator(schema).iter_errors(dict(arguments)), None)
        except SchemaError:
            return  # the server itself judges the arguments
        unknown = sorted(set(arguments) - set(schema.get("properties", arguments)))
        if wrong is not None or unknown:
            reason = wrong.message if wrong is not None else f"it has no argument {unknown[0]}"
            raise Refused(
                f"[mcp.{self.info.name}]: the tool {tool} does not take these arguments: {reason}"[:600]
            )

    async def _call(
        self, client: "Client", tool: str, arguments: Mapping[str, JsonValue]
    ) -> "CallToolResult":
        """Raises Unavailable when the tool reports an error: its text is no result."""
        result = await client.call_tool(tool, dict(arguments))
        if result.is_error:
            raise Unavailable(f"{self.info.name}: the tool {tool} reported an error: {text_of(result)[:200]}")
        return result

    def _failure(self, error: BaseException) -> SourceError:
        """The outage that an exception of the connection stands for."""
        inner = error
        while isinstance(inner, BaseExceptionGroup):
            inner = inner.exceptions[0]
        if isinstance(inner, SourceError):
            return inner
        if isinstance(inner, FileNotFoundError | PermissionError):
            return Refused(
                f"[mcp.{self.info.name}]: {self._chosen.command[0]} cannot be started: {inner.strerror}"
            )
        said = " ".join(str(inner).split())[:200] or type(inner).__name__
        return Unavailable(f"{self.info.name}: its MCP server does not answer: {said}")

    def _evidence(self, item: JsonValue) -> Evidence:
        """One item as evidence. Raises SetAside without a text, ValueError for another shape."""
        fields = self._chosen.map
        text = plain(pointed(item, fields.text))[:MAX_TEXT_CHARS]
        if not text.strip():
            raise SetAside("without text to quote")
        title = optional(item, fields.title) or next(line for line in text.splitlines() if line.strip())
        url = optional(item, fields.url)
        identifiers = Identifiers(
            doi=normal_doi(optional(item, fields.doi)),
            pmid=normal_pmid(optional(item, fields.pmid)),
            url=url if re.match(r"https?://", url) else None,
        )
        return Evidence(
            evidence_id=evidence_id(identifiers, f"{self.info.name}\n{title}\n{text}"),
            source=self.info.name,
            title=" ".join(title.split())[:TITLE_CHARS],
            text=text,
            authors=tuple(names(item, fields.authors)),
            year=year_of(optional(item, fields.year)),
            venue=optional(item, fields.venue) or None,
            identifiers=identifiers,
            url=identifiers.url,
        )


def text_of(result: "CallToolResult") -> str:
    """The blocks of text of a result, one after the other."""
    return "\n".join(block.text for block in result.content if block.type == "text")


def whole(result: "CallToolResult") -> JsonValue:
    """A result as data: what is structured, else its text read as JSON, else its text. Raises Malformed for
    one that is too long."""
    text = text_of(result)
    if len(text) > MAX_RESULT_CHARS:
        raise Malformed(f"a tool's result has {len(text)} characters; at most {MAX_RESULT_CHARS} are read")
    if result.structured_content is not None:
        found: JsonValue = result.structured_content
        return found
    try:
        parsed: JsonValue = json.loads(text)
    except ValueError:
        return text
    return parsed


def items_of(result: "CallToolResult", chosen: McpSource, name: str) -> Sequence[JsonValue]:
    """The items of a result. Raises Malformed when there is no list where one should be."""
    if chosen.items is not None:
        found = pointed(whole(result), chosen.items)
        if not isinstance(found, list):
            raise Malformed(f"{name}: there is no list at {chosen.items or 'the whole'} of the tool's result")
        return found[:MAX_ITEMS]
    whole(result)
    texts = [block.text for block in result.content if block.type == "text" and block.text.strip()]
    if chosen.lines:
        texts = [line for text in texts for line in text.splitlines() if line.strip()]
    return texts[:MAX_ITEMS]


def plain(value: JsonValue) -> str:
    """A value as text: a list as its parts on lines, nothing for null."""
    if value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(filter(None, map(plain, value)))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def optional(item: JsonValue, pointer: str | None) -> str:
    """The text at a pointer; empty without one."""
    return "" if pointer is None else plain(pointed(item, pointer)).strip()


def names(item: JsonValue, pointer: str | None) -> list[str]:
    """Authors, from a list or from text with semicolons."""
    found = None if pointer is None else pointed(item, pointer)
    parts = found if isinstance(found, list) else plain(found).split(";")
    return [name for part in parts if (name := plain(part).strip())]
