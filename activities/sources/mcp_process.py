"""A search of an MCP server, in a process of its own: `python -m activities.sources.mcp_process`.

What a stranger's server sends is read, validated and mapped to items here: a schema whose pattern backtracks,
a list of two hundred thousand tools and a line of hundreds of megabytes cost this process its time or its
memory, and the worker nothing. The job comes as JSON over stdin; items, or the error, go as JSON to stdout.
"""

import asyncio
import errno
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from pydantic import JsonValue

from activities.configuration.mcp import McpSource
from activities.contracts.errors import Malformed, Refused, SourceError, Unavailable
from activities.contracts.evidence import Query
from activities.sources.records import value_at

if TYPE_CHECKING:
    import httpx2
    from mcp import Client
    from mcp.types import CallToolResult

MAX_MEMORY_BYTES = 1 << 30
"""Address space of this process; the server that it starts has what it had before."""
MAX_RESULT_CHARS = 5_000_000
"""Characters of one tool's result, and of all items of a search; a server that sends more is not read."""
MAX_ITEMS = 200
HTTP_SECONDS = 30.0
EVENT_SECONDS = 300.0
"""A server may hold a stream of events open for so long without a word."""
ERRORS: dict[str, type[SourceError]] = {kind.__name__: kind for kind in (Malformed, Refused, Unavailable)}
"""Failures of a search, by their names in the answer."""


def main() -> None:
    job = json.loads(sys.stdin.buffer.read())
    source, name = McpSource.model_validate(job["source"]), job["name"]
    limit(source.timeout)
    query = Query.model_validate(job["query"])
    try:
        answer = json.dumps({"items": asyncio.run(search_server(name, source, query))})
    except Exception as error:  # noqa: BLE001 - whatever a stranger's answer causes is told in one line
        fault = failure(name, source, error)
        kind = type(fault).__name__
        answer = json.dumps({"error": kind if kind in ERRORS else "Unavailable", "message": str(fault)})
    if len(answer) > MAX_RESULT_CHARS:
        message = f"{name}: its items have {len(answer)} characters; {MAX_RESULT_CHARS} are read"
        answer = json.dumps({"error": "Malformed", "message": message})
    sys.stdout.write(answer)
    sys.stdout.flush()


def limit(seconds: float) -> None:
    """Limit this process, where the system can; who started it ends it sooner, unless that was killed."""
    if os.name != "posix":
        return
    import resource
    import signal

    signal.alarm(int(seconds) + 10)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, hard))


def without_limits(command: Sequence[str]) -> Sequence[str]:
    """Return the command of a server, which begins with the limits that this process had."""
    if os.name != "posix":
        return command
    return ("/bin/sh", "-c", 'ulimit -S -v unlimited 2>/dev/null; exec "$@"', "sh", *command)


async def search_server(name: str, source: McpSource, query: Query) -> Sequence[JsonValue]:
    """Return the items of a search, with their texts. Raises what the connection raises, and SourceError."""
    async with connect(source) as client:
        arguments: dict[str, JsonValue] = {**source.arguments, source.query: query.text}
        if source.limit is not None:
            arguments[source.limit] = query.limit
        await check_arguments(name, client, source.tool, arguments)
        items = items_of(await call(name, client, source.tool, arguments), source, name)
        if source.fetch is None:
            return items
        contents: list[JsonValue] = []
        for item in items[: query.limit]:
            request = {source.fetch.argument: value_at(item, source.fetch.value)}
            contents.append(content_of(await call(name, client, source.fetch.tool, request)))
        return contents


@asynccontextmanager
async def connect(source: McpSource) -> AsyncIterator["Client"]:
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client

    async with AsyncExitStack() as stack:
        if source.url:
            token = os.environ.get(source.token_variable or "", "")
            headers = {"Authorization": f"Bearer {token}"} if token else None
            http = await stack.enter_async_context(http_client(source.url, headers))
            transport = streamable_http_client(source.url, http_client=http)
        else:
            if shutil.which(source.command[0]) is None:
                raise FileNotFoundError(errno.ENOENT, "there is no such program")
            environment = {name: os.environ[name] for name in source.variables if name in os.environ}
            program, *arguments = without_limits(source.command)
            errors = stack.enter_context(open(os.devnull, "w"))  # noqa: PTH123, SIM115, ASYNC230 - a device
            transport = stdio_client(
                StdioServerParameters(command=program, args=arguments, env=environment), errlog=errors
            )
        client = Client(transport, read_timeout_seconds=source.timeout)
        yield await stack.enter_async_context(client)


def http_client(url: str, headers: dict[str, str] | None) -> "httpx2.AsyncClient":
    """Return a client with the limits on time that the library's own has, without a proxy to this machine.

    While offline this process has none in its environment.
    """
    import httpx2

    from activities.proxies import reads_proxies

    timeout = httpx2.Timeout(HTTP_SECONDS, read=EVENT_SECONDS)
    transport = None
    if not reads_proxies(url, offline=False):
        transport = httpx2.AsyncHTTPTransport(verify=url.startswith("https:"))  # else it reads certificates
    return httpx2.AsyncClient(headers=headers, timeout=timeout, transport=transport)


async def check_arguments(name: str, client: "Client", tool: str, arguments: Mapping[str, JsonValue]) -> None:
    """Raise Refused when the server has no such tool, or its schema does not allow the arguments."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    tools = {offer.name: offer for offer in (await client.list_tools()).tools}
    if tool not in tools:
        tool_names = ", ".join(sorted(tools)) or "none"
        raise Refused(f"[mcp.{name}]: the server has no tool {tool}; it has {tool_names}"[:600])
    schema = tools[tool].input_schema
    try:
        violation = next(Draft202012Validator(schema).iter_errors(dict(arguments)), None)
    except SchemaError:
        return  # the server itself judges the arguments
    unknown = sorted(set(arguments) - set(schema.get("properties", arguments)))
    if violation is not None or unknown:
        reason = violation.message if violation is not None else f"it has no argument {unknown[0]}"
        raise Refused(f"[mcp.{name}]: the tool {tool} does not take these arguments: {reason}"[:600])


async def call(
    name: str, client: "Client", tool: str, arguments: Mapping[str, JsonValue]
) -> "CallToolResult":
    """Raise Unavailable when the tool reports an error: its text is no result."""
    result = await client.call_tool(tool, dict(arguments))
    if result.is_error:
        raise Unavailable(f"{name}: the tool {tool} reported an error: {text_of(result)[:200]}")
    return result


def failure(name: str, source: McpSource, error: BaseException) -> SourceError:
    """Return the outage that an exception of the connection stands for."""
    inner = error
    while isinstance(inner, BaseExceptionGroup):
        inner = inner.exceptions[0]
    if isinstance(inner, SourceError):
        return inner
    if isinstance(inner, FileNotFoundError | PermissionError):
        return Refused(f"[mcp.{name}]: {source.command[0]} cannot be started: {inner.strerror}")
    reason = " ".join(str(inner).split())[:200] or type(inner).__name__
    return Unavailable(f"{name}: its MCP server does not answer: {reason}")


def text_of(result: "CallToolResult") -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


def content_of(result: "CallToolResult") -> JsonValue:
    """Return a result as data: what is structured, else its text read as JSON, else its text.

    Raises Malformed for one that is too long.
    """
    text = text_of(result)
    if len(text) > MAX_RESULT_CHARS:
        raise Malformed(f"a tool's result has {len(text)} characters; at most {MAX_RESULT_CHARS} are read")
    if result.structured_content is not None:
        content: JsonValue = result.structured_content
        return content
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return text
    return value


def items_of(result: "CallToolResult", source: McpSource, name: str) -> Sequence[JsonValue]:
    """Return the items of a result. Raises Malformed when there is no list where one should be."""
    if source.items is not None:
        items = value_at(content_of(result), source.items)
        if not isinstance(items, list):
            raise Malformed(f"{name}: there is no list at {source.items or 'the whole'} of the tool's result")
        return items[:MAX_ITEMS]
    content_of(result)
    texts = [block.text for block in result.content if block.type == "text" and block.text.strip()]
    if source.lines:
        texts = [line for text in texts for line in text.splitlines() if line.strip()]
    return texts[:MAX_ITEMS]


if __name__ == "__main__":
    main()
