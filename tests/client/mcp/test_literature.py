"""The search tools of the MCP server, called by the official client, against recorded answers."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from client.api import Determinator
from tests.replay import Asked, ReplayServer, Reply, recorded
from tests.worker.fleet import busiest_second

if TYPE_CHECKING:  # to import it takes a second of each process that collects tests
    from mcp import Client

RATE_WITH_KEY = 10
"""Requests a second that NCBI allows with a key."""
CALLS = 40
"""Those of four seconds."""
PMID = "22663011"
TOOLS = (
    *("search_literature", "start_research"),
    *("list_runs", "research_status", "get_report", "search_evidence", "verify_report"),
    *("change_run", "ask_report", "review_status", "review_change"),
)
EFETCH = recorded("pubmed/efetch_structured_abstract_rct_22663011.xml")
ESEARCH = recorded("pubmed/esearch_json_1_hit.json")


@pytest.fixture
def pubmed(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ReplayServer]:
    with ReplayServer() as server:

        def esearch(asked: Asked) -> Reply:
            answer = json.loads(ESEARCH.body)
            answer["esearchresult"]["idlist"] = [PMID]
            return Reply(200, json.dumps(answer), {"content-type": "application/json"})

        server.on("/esearch.fcgi", esearch)
        server.on("/efetch.fcgi", EFETCH)
        monkeypatch.setenv("DETERMINATOR_PUBMED_URL", server.url)
        monkeypatch.setenv("DETERMINATOR_EUROPEPMC_URL", server.url + "/europepmc")
        monkeypatch.setenv("NCBI_API_KEY", "a-key-that-is-secret")
        yield server


@asynccontextmanager
async def connected() -> "AsyncIterator[Client]":
    """A client of a server in this process; no fixture, since it has to end in the task that began it."""
    from mcp import Client

    from client.mcp.server import build_server

    async with Determinator() as determinator, Client(build_server(determinator)) as client:
        yield client


async def called(client: "Client", tool: str, **arguments: Any) -> Any:
    """The structured answer of a tool."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def searched(client: "Client", source: str = "pubmed", **arguments: Any) -> Any:
    """The answer of one source."""
    answer = await called(client, "search_literature", sources=[source], **arguments)
    (search,) = answer["searches"]
    return search


async def refused(client: "Client", tool: str, **arguments: Any) -> str:
    """The error of a tool: one line."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.content
    (block,) = result.content
    assert block.type == "text"
    assert "\n" not in block.text
    assert "a-key-that-is-secret" not in block.text
    return block.text


async def test_a_search_says_its_status_and_gives_quotable_text(pubmed: ReplayServer) -> None:
    async with connected() as client:
        result = await searched(client, query="aspirin", max_results=3, date_range="5y")
        assert result["status"] == "ok"
        assert result["works"][0]["identifiers"]["pmid"] == PMID
        assert len(result["works"][0]["text"]) > 200
        assert "mindate" in pubmed.asked[0].query or "[dp]" in pubmed.asked[0].query["term"][0]


async def test_an_outage_is_an_error_and_never_an_empty_answer(pubmed: ReplayServer) -> None:
    async with connected() as client:
        pubmed.on("/esearch.fcgi", Reply(503, "down"))
        assert "not `no results`" in await refused(
            client, "search_literature", query="metformin", sources=["pubmed"]
        )


async def test_one_source_that_fails_does_not_spoil_the_others(pubmed: ReplayServer) -> None:
    async with connected() as client:
        pubmed.on("/europepmc/search", Reply(503, "down"))
        found = await called(client, "search_literature", query="aspirin", sources=["pubmed", "europepmc"])
        assert [search["source"] for search in found["searches"]] == ["pubmed"]
        assert [line.partition(":")[0] for line in found["failed"]] == ["europepmc"]


async def test_offline_all_sources_are_those_of_this_machine(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DETERMINATOR_OFFLINE", "true")
    async with connected() as client:
        found = await called(client, "search_literature", query="survival in lung cancer")
        assert "library" in {search["source"] for search in found["searches"]}
        assert "pubmed" not in {search["source"] for search in found["searches"]}


async def test_bad_arguments_are_refused_with_one_clear_line(pubmed: ReplayServer) -> None:
    async with connected() as client:
        assert "max_results" in await refused(client, "search_literature", query="x", max_results=101)
        assert "date_range" in await refused(client, "search_literature", query="x", date_range="2y")
        assert "pubmed" in await refused(client, "search_literature", query="x", sources=["pubmd"])


@pytest.mark.invariant
async def test_many_calls_at_once_keep_the_rate_of_pubmed(pubmed: ReplayServer) -> None:
    async with connected() as client:
        await asyncio.gather(*(searched(client, query=f"aspirin {n}") for n in range(CALLS)))
        assert pubmed.count("/esearch.fcgi") == CALLS
        assert busiest_second([asked.at for asked in pubmed.asked]) <= RATE_WITH_KEY


async def test_every_tool_has_a_short_schema_for_what_it_takes(pubmed: ReplayServer) -> None:
    async with connected() as client:
        tools = (await client.list_tools()).tools
        assert Counter(tool.name for tool in tools) == Counter(TOOLS)
        for tool in tools:
            assert tool.description
            assert tool.input_schema["type"] == "object"
            assert tool.input_schema["additionalProperties"] is False
        listed = sum(len(tool.model_dump_json(exclude_none=True)) for tool in tools)
        assert len(tools) == 11
        assert listed < 16_000, "what a model reads before its first call"


async def test_the_web_is_searched_with_the_next_engine_when_one_is_down(
    pubmed: ReplayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", "a-key")
    monkeypatch.setenv("DETERMINATOR_BRAVE_URL", pubmed.url + "/brave")
    monkeypatch.setenv("DETERMINATOR_SEARXNG_URL", pubmed.url + "/searxng")
    monkeypatch.setenv("DETERMINATOR_DISABLED_SOURCES", '["duckduckgo"]')
    pubmed.on("/brave/res/v1/web/search", Reply(503, "down"))
    empty = Reply(200, json.dumps({"results": []}), {"content-type": "application/json"})
    pubmed.on("/searxng/search", empty)
    async with connected() as client:
        result = await searched(client, "web", query="aspirin")
        assert (result["source"], result["status"]) == ("searxng", "empty")
        pubmed.on("/searxng/search", Reply(503, "down"))
        assert "not `no results`" in await refused(
            client, "search_literature", query="metformin", sources=["web"]
        )


CHANGING: dict[str, dict[str, Any]] = {"change_run": {"action": "pause"}, "ask_report": {"action": "tell"}}


async def test_what_changes_a_run_names_it(pubmed: ReplayServer) -> None:
    """The newest run may be another caller's, and an argument under another name would leave the newest."""
    async with connected() as client:
        for tool, arguments in CHANGING.items():
            assert await refused(client, tool, **arguments) == "run: it is missing", tool
            assert "not `last`" in await refused(client, tool, run="last", **arguments), tool
            wrong = await refused(client, tool, run="a", **(arguments | {"action": "shorten"}))
            assert wrong.startswith("action: 'shorten' is not known"), tool
            assert "no argument run_id" in await refused(client, tool, run="a", run_id="b", **arguments), tool


async def test_a_run_that_is_built_on_is_named(pubmed: ReplayServer) -> None:
    async with connected() as client:
        assert "not `last`" in await refused(client, "start_research", question="And now?", follow_up="last")


async def test_an_unknown_argument_is_refused_by_name(pubmed: ReplayServer) -> None:
    async with connected() as client:
        for tool in (await client.list_tools()).tools:
            message = await refused(client, tool.name, librarry="/etc")
            assert f"{tool.name} has no argument librarry" in message
        message = await refused(client, "start_research", question="Does it help?", librarry="/etc")
        assert "did you mean library?" in message
        assert pubmed.asked == []
