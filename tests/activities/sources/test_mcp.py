"""Tools of MCP servers as sources: what they find can be quoted, and what goes wrong is an outage."""

import asyncio
import resource
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import JsonValue, ValidationError

from activities.configuration.file import ConfigError
from activities.configuration.mcp import McpSource
from activities.contracts.errors import Malformed, Refused, SourceError, TooSlow, Unavailable
from activities.contracts.evidence import Query
from activities.settings import Settings
from activities.sources import registry
from activities.sources.base import SearchResult, search
from activities.sources.http.client import Http
from activities.sources.mcp import McpToolSource
from activities.sources.mcp_process import failure, search_server
from activities.sources.records import value_at
from client.configuration import source_names
from tests.activities.sources.mcp_server import BODY

ROOT = Path(__file__).parents[3]
MAP = {"text": "/body", "title": "/title", "url": "/link", "year": "/date", "authors": "/by"}


class Here(McpToolSource):
    """Searches in this process, which has imported the library of the protocol once."""

    async def _items(self, query: Query) -> Sequence[JsonValue]:
        try:
            return await search_server(self.info.name, self._source, query)
        except Exception as error:
            raise failure(self.info.name, self._source, error) from error


def notes(way: str = "well", kind: type[McpToolSource] = Here, **more: Any) -> McpToolSource:
    command = [sys.executable, "-m", "tests.activities.sources.mcp_server", way]
    fields = {"command": command, "tool": "search_notes", "query": "text", "items": "/results", "map": MAP}
    return kind("notes", McpSource.model_validate({**fields, **more}))


async def asked(source: McpToolSource, text: str = "metformin", limit: int = 10) -> SearchResult:
    return await search(source, Query(text=text, limit=limit))


async def test_what_a_tool_finds_becomes_evidence_and_nothing_found_is_no_outage() -> None:
    found = await asked(notes(kind=McpToolSource, limit="count"))
    assert found.status == "ok"
    first, second = found.records
    assert (first.title, first.year, first.url) == (
        "Metformin and mortality",
        2021,
        "https://notes.example/1",
    )
    assert first.text == BODY
    assert first.authors == ("Ada Lovelace", "Alan Turing")
    assert second.evidence_id.startswith("doc:")
    assert found.set_aside == 1, "a note without a text cannot be quoted"
    assert (await asked(notes("empty"))).status == "empty"
    assert len((await asked(notes("counted", limit="count"), limit=1)).records) == 1


@pytest.mark.parametrize(
    ("way", "error"),
    [
        ("dies", Unavailable),
        ("errs", Unavailable),
        ("odd", Malformed),
        ("hangs", TooSlow),
    ],
)
async def test_a_server_that_fails_is_an_outage_and_never_an_empty_answer(
    way: str, error: type[SourceError]
) -> None:
    with pytest.raises(error) as raised:
        await asked(notes(way, timeout=2 if way == "hangs" else 30))
    assert raised.value.status != "empty"


@pytest.mark.parametrize("way", ["pattern", "many", "long"])
async def test_a_hostile_server_costs_the_worker_neither_time_nor_memory(way: str) -> None:
    """The loop goes on, on which the runs of others are, and the worker holds none of what is sent."""
    longest = 0.0

    async def beat() -> None:
        nonlocal longest
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.01)
            longest = max(longest, time.perf_counter() - before)

    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    beating = asyncio.create_task(beat())
    began = time.perf_counter()
    with pytest.raises(SourceError):
        await asked(notes(way, McpToolSource, timeout=3), "a" * 40 + "!")
    beating.cancel()
    assert time.perf_counter() - began < 9
    assert longest < 0.5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident < 100_000


async def test_a_tool_that_cannot_be_called_as_configured_is_refused_by_name() -> None:
    for wrong in ({"arguments": {"count": "many"}}, {"arguments": {"colour": "red"}}, {"tool": "find"}):
        with pytest.raises(Refused, match=r"\[mcp.notes\]"):
            await asked(notes("odd", **wrong))
    with pytest.raises(Refused, match="no-such-server"):
        await asked(notes(command=["/usr/bin/no-such-server"]))


def test_what_a_tool_says_of_itself_is_not_told_to_the_step_that_selects_sources() -> None:
    assert "IGNORE" not in notes().info.covers


async def test_a_program_gets_only_the_variables_that_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-ours")
    monkeypatch.setenv("NOTES_FOLDER", "named")
    source = notes("environment", McpToolSource, variables=["NOTES_FOLDER"], map={"text": ""})
    seen = "\n".join(record.text for record in (await asked(source, limit=200)).records)
    assert "NOTES_FOLDER=named" in seen
    assert "sk-secret-of-ours" not in seen


@pytest.mark.parametrize(
    "wrong",
    [
        {"tool": "t"},
        {"tool": "t", "command": ["a"], "url": "https://b"},
        {"tool": "t", "url": "file:///etc/passwd"},
        {"tool": "t", "command": ["a"], "items": "results"},
        {"tool": "t", "command": ["a"], "domains": ["everything"]},
        {"tool": "t", "command": ["a"], "colour": "red"},
    ],
)
def test_a_configuration_that_cannot_be_used_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        McpSource.model_validate(wrong)


def test_a_source_cannot_replace_another_one() -> None:
    given = McpSource(command=["x"], tool="t")
    settings = Settings(mcp={"pubmed": given, "notes": given})
    sources = registry.Sources(settings, Http(httpx.AsyncClient()))
    assert isinstance(sources["notes"], McpToolSource)
    assert not isinstance(sources["pubmed"], McpToolSource)


def test_the_configuration_file_names_such_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "determinator.toml"
    monkeypatch.setenv("DETERMINATOR_CONFIG", str(path))
    path.write_text("[mcp.notes]\ncommand = ['notes-server']\ntool = 'find'\nmap = { text = '/body' }\n")
    assert Settings().mcp["notes"].map.text == "/body"
    assert "notes" in source_names()
    path.write_text("[mcp.notes]\ncommand = ['notes-server']\ntol = 'find'\n")
    with pytest.raises(ConfigError, match=r"determinator.toml .*did you mean tool"):
        Settings()
    path.write_text("[mcp.'../x']\ncommand = ['notes-server']\ntool = 'find'\n")
    with pytest.raises(ConfigError, match=r"\[mcp\] \.\./x: a source's name"):
        Settings()


def test_a_pointer_finds_what_rfc_6901_says() -> None:
    data: Any = {"a/b": [1, {"m~n": 2}], "": 3}
    assert value_at(data, "/a~1b/1/m~0n") == 2
    assert value_at(data, "") == data
    assert value_at(data, "/") == 3
    assert value_at(data, "/a~1b/7") is None


def reference_server(name: str) -> str:
    found = shutil.which(name)
    assert found is not None, f"{name} is not installed; `make test-npm` installs it"
    return found


@pytest.mark.npm
async def test_files_are_found_and_read_through_the_reference_server_for_files(tmp_path: Path) -> None:
    program = reference_server("mcp-server-filesystem")
    text = "Metformin lowered mortality in adults with diabetes."
    (tmp_path / "metformin.txt").write_text(text)
    (tmp_path / "other.md").write_text("Nothing of it.")
    source = McpToolSource(
        "files",
        McpSource.model_validate(
            {
                "command": [program, str(tmp_path)],
                "tool": "search_files",
                "query": "pattern",
                "arguments": {"path": str(tmp_path)},
                "lines": True,
                "fetch": {"tool": "read_text_file", "argument": "path"},
                "map": {"text": "/content"},
            }
        ),
    )
    found = await asked(source, "*metformin*")
    assert [record.text for record in found.records] == [text]


@pytest.mark.npm
async def test_the_reference_server_for_everything_is_a_source() -> None:
    source = McpToolSource(
        "everything",
        McpSource(
            command=[reference_server("mcp-server-everything")], tool="echo", query="message", timeout=60
        ),
    )
    found = await asked(source, "metformin lowers mortality")
    assert "metformin lowers mortality" in found.records[0].text
