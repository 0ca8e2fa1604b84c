"""The MCP server as programs start it: over stdin and stdout, and over HTTP with a token."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import httpx2
import pytest

from client.access import Folders
from client.embedded.binary import free_port
from client.failures import BadInput
from tests.client.harness import COMMAND, begin, living, wait_until
from tests.client.mcp.test_literature import TOOLS, called, refused
from tests.conftest import CACHE, move_in
from tests.papers import QUESTION, papers

if TYPE_CHECKING:
    from mcp import Client

pytestmark = pytest.mark.xdist_group("e2e-alone")

TOKEN = "a-token-for-the-tests-of-mcp"


@pytest.fixture(scope="module")
def allowed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of documents below the one that the servers may read."""
    return papers(tmp_path_factory.mktemp("mcp") / "allowed")


@pytest.fixture
def library(file_home: Path, allowed: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("DETERMINATOR_OFFLINE", "true")
    return str(allowed)


@asynccontextmanager
async def over_stdio(home: Path, library: str) -> "AsyncIterator[Client]":
    """A client of a server that it starts itself, as desktop programs do."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    parameters = StdioServerParameters(
        command=COMMAND[0],
        args=[*COMMAND[1:], "mcp", "--allow", str(Path(library).parent)],
        env={
            "DETERMINATOR_HOME": str(home),
            "DETERMINATOR_OFFLINE": "true",
            "DETERMINATOR_CACHE": CACHE,
            "DETERMINATOR_WORKERS": "1",
        },
    )
    async with Client(stdio_client(parameters), read_timeout_seconds=180) as client:
        yield client


@pytest.fixture(scope="module")
def serving(shared_home: Path, allowed: Path) -> Iterator[str]:
    port = free_port()
    with pytest.MonkeyPatch.context() as patch:
        move_in(shared_home, allowed.parent, patch)
        patch.setenv("DETERMINATOR_OFFLINE", "true")
        patch.setenv("DETERMINATOR_MCP_TOKEN", TOKEN)
        server = begin("mcp", "--http", f"127.0.0.1:{port}", "--allow", str(allowed.parent))
    try:
        wait_until(lambda: is_up(port), what="the MCP server")
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)


@pytest.fixture
def served(serving: str, library: str) -> str:
    """The address of a server over HTTP, the same for all tests of this file."""
    return serving


def is_up(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/mcp").status_code == 401
    except httpx.HTTPError:
        return False


@asynccontextmanager
async def over_http(address: str) -> "AsyncIterator[Client]":
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=180) as http,
        Client(streamable_http_client(address, http_client=http), read_timeout_seconds=180) as client,
    ):
        yield client


async def test_a_run_is_started_followed_read_and_verified_over_stdio(file_home: Path, library: str) -> None:
    seen: list[str | None] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append(message)

    async with over_stdio(file_home, library) as client:
        result = await client.call_tool(
            "start_research",
            {"question": QUESTION, "mode": "simple", "library": library, "wait_seconds": 120},
            progress_callback=progress,
        )
        assert not result.is_error, result.content
        state: Any = result.structured_content
        assert state["status"] == "completed"
        assert state["spent"]["tokens"] == 0
        assert len(seen) > 3, "progress is reported while a run goes on"
        report = await called(client, "get_report", run=state["run"])
        assert report["claims"]
        assert (await called(client, "verify_report", run=state["run"]))["holds"] is True
        support = report["claims"][0]["support"][0]
        near = await called(client, "search_evidence", query=support["quote"], run=state["run"], limit=1)
        assert near["result"][0]["evidence_id"] == support["evidence_id"]
        assert "OFFLINE" in await refused(client, "ask_report", run=state["run"], action="refresh")
        told = await called(
            client, "ask_report", run=state["run"], action="tell", text="In whom was it seen?"
        )
        assert told.keys() == report.keys(), "one form of a report"
        again = await called(
            client,
            "start_research",
            follow_up=state["run"],
            question="In whom was it seen?",
            wait_seconds=120,
        )
        assert again["status"] == "completed"
        assert again["run"] != state["run"]


async def test_a_killed_worker_ends_neither_a_run_nor_its_progress(file_home: Path, library: str) -> None:
    """Progress goes on after the kill, and the end is told."""
    killed: list[int] = []
    after: list[float] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        if killed:
            after.append(progress)
            return
        killed.extend(living(file_home)["worker"])
        for pid in killed:
            os.kill(pid, signal.SIGKILL)

    async with over_stdio(file_home, library) as client:
        result = await client.call_tool(
            "start_research",
            {"question": QUESTION, "mode": "iterative", "library": library, "wait_seconds": 170},
            progress_callback=progress,
        )
        assert not result.is_error, result.content
        state: Any = result.structured_content
        assert state["status"] == "completed"
        assert killed
        assert len(after) > 3
        assert after == sorted(set(after)), "each event once, in order"
        assert killed != living(file_home)["worker"]
        assert (await called(client, "verify_report", run=state["run"]))["holds"] is True


async def test_a_gate_is_approved_and_a_run_is_steered_and_cancelled_over_http(
    served: str, library: str
) -> None:
    async with over_http(served) as client:
        state = await called(
            client,
            "start_research",
            question=QUESTION,
            mode="deep",
            library=library,
            approve=["plan"],
            wait_seconds=100,
        )
        assert (state["status"], state["waiting_for"]) == ("running", "plan")
        run = state["run"]
        assert (await called(client, "change_run", run=run, action="steer", text="only adults"))["run"] == run
        assert "not for the report" in await refused(
            client, "change_run", run=run, action="approve", gate="report"
        )
        (first, *_) = state["plan"]["report_outline"]
        plan = {**state["plan"], "report_outline": [{**first, "title": "One section"}]}
        await called(client, "change_run", run=run, action="edit_plan", plan=plan)
        waiting = await called(client, "research_status", run=run)
        assert [section["title"] for section in waiting["plan"]["report_outline"]] == ["One section"]
        more = await called(client, "change_run", run=run, action="extend", iterations=2)
        assert more["max_iterations"] > 2
        assert (await called(client, "change_run", run=run, action="pause"))["run"] == run
        await called(client, "change_run", run=run, action="approve", gate="plan", note="fine")
        await called(client, "change_run", run=run, action="resume")
        finished = await client.call_tool("change_run", {"run": run, "action": "finish"})
        assert not finished.is_error or "is over" in str(finished.content)  # it may have ended by itself
        ended = await called(client, "research_status", run=run, wait_seconds=120)
        assert ended["status"] == "completed"
        assert "is over" in await refused(client, "change_run", run=run, action="cancel")


async def test_only_folders_that_the_operator_allows_are_read(
    served: str, library: str, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    link = Path(library).parent / "link"
    link.symlink_to(outside)
    allowed = Folders([Path(library).parent])
    assert allowed.check(library) == library
    for name in (str(outside), str(link), f"{library}/../../outside", "/etc/passwd", "~", "a\0b"):
        with pytest.raises(BadInput, match="not below"):
            allowed.check(name)
    with pytest.raises(BadInput, match="not below"):
        Folders([]).check(library)
    async with over_http(served) as client:
        assert "not below" in await refused(client, "start_research", question=QUESTION, library="/etc")
        assert "not below" in await refused(client, "start_research", question=QUESTION, graph="/etc/x.toml")
        profile = await refused(client, "start_research", question=QUESTION, profile="/etc/passwd.toml")
        assert "profile" in profile


def test_nothing_is_answered_without_the_token(served: str) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for headers, reason in (
        ({}, "a token is needed"),
        ({"Authorization": "Bearer wrong"}, "not the right one"),
        ({"Authorization": f"Bearer {TOKEN[:-1]}"}, "not the right one"),
        ({"Authorization": TOKEN}, "not the right one"),
    ):
        answer = httpx.post(served, json=body, headers=headers)
        assert answer.status_code == 401
        assert reason in answer.json()["error"]
    right = {"Authorization": f"Bearer {TOKEN}"}
    elsewhere = httpx.post(served, json=body, headers={**right, "Host": "evil.example"})
    assert elsewhere.status_code in (403, 421), "a page of another host cannot reach it by its name"


@pytest.fixture(scope="session")
def sdk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which node finds the SDK of JavaScript."""
    folder = tmp_path_factory.mktemp("npm")
    command = ["npm", "install", "--prefix", str(folder), "--silent", "@modelcontextprotocol/sdk@1"]
    subprocess.run(command, check=True, timeout=170)
    shutil.copy(Path(__file__).with_name("foreign.mjs"), folder)
    return folder


@pytest.mark.npm
@pytest.mark.parametrize("way", ["stdio", "http"])
def test_a_foreign_client_calls_every_tool(
    sdk: Path, way: str, home: Path, library: str, request: pytest.FixtureRequest
) -> None:
    if way == "stdio":
        target = [sys.executable, *COMMAND[1:], "mcp"]
    else:
        target = [request.getfixturevalue("served"), TOKEN]
    ran = subprocess.run(
        ["node", str(sdk / "foreign.mjs"), way, *target], capture_output=True, text=True, timeout=200
    )
    assert ran.returncode == 0, ran.stderr
    answers = json.loads(ran.stdout)
    assert sorted(answers) == sorted(TOOLS)
    assert all("\n" not in answer["text"] for answer in answers.values() if answer["error"])
    assert '"source": "library"' in answers["search_literature"]["text"]
    assert "no run" in answers["get_report"]["text"]
    assert "not below" in answers["start_research"]["text"]
