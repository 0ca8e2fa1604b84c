"""What takes long leaves the loop of the interface free for the other requests."""

import asyncio
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from fastapi import FastAPI

from activities.report.schema import Report
from activities.settings import Settings
from client.access import Access
from client.http import protocol, rest
from client.http.desk import Case, Desk
from client.http.tokens import Token
from client.reports.load import RunReport
from tests.browser.staged import RUN, StagedClient
from tests.client.seen import BARE_REPORT
from tests.client.web.visitor import app_of, visitor

SECONDS = 1.0
REPORT = Report.model_validate(BARE_REPORT)


class ARun:
    """A run that has ended."""

    id = "ask-x"

    async def draft(self) -> Any:
        return RunReport.of(REPORT)

    async def version(self, _: int | None) -> Any:
        return await self.draft()


def slow(*_: object) -> bytes:
    time.sleep(SECONDS)
    return b"{}"


async def longest_wait(during: Any) -> float:
    """The longest time for which the loop did nothing else while something was awaited."""
    longest, over = 0.0, False

    async def beat() -> None:
        nonlocal longest
        while not over:
            began = time.monotonic()
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - began)

    beating = asyncio.create_task(beat())
    await asyncio.sleep(0.02)
    await during
    over = True
    await beating
    return longest


def app() -> FastAPI:
    case = Case(cast(Any, ARun()), Token(sha256="0" * 64, user=""))

    def of_scope(*_: object, **__: object) -> Any:
        async def dependency() -> Case:
            return case

        return dependency

    desk = cast(Desk, SimpleNamespace(client=None, needs=of_scope, run_for=of_scope))
    served = FastAPI()
    served.include_router(rest.rest(desk))
    return served


async def test_a_download_blocks_no_other_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "as_bytes", slow)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app()), base_url="http://here") as client:
        await client.get("/runs/ask-x/report?format=none")  # what is imported at the first request
        assert await longest_wait(client.get("/runs/ask-x/report?format=pdf")) < SECONDS / 2


async def test_a_download_of_the_page_blocks_no_other_request(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("client.web.reading.as_bytes", slow)
    client = StagedClient(Settings(home=tmp_path))
    client.staged.over = True
    page = app_of(Access(cast(Any, client), is_shared=False))
    async with visitor(page, "local") as http:
        await http.get(f"/run/{RUN}/download/none")
        assert await longest_wait(http.get(f"/run/{RUN}/download/pdf")) < SECONDS / 2


async def test_the_text_of_a_report_blocks_no_other_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "text_of", slow)
    assert await longest_wait(protocol.ending(cast(Any, ARun()), "completed")) < SECONDS / 2


async def test_a_report_over_mcp_blocks_no_other_call(monkeypatch: pytest.MonkeyPatch) -> None:
    class Runs:
        async def run(self, name: str) -> Any:
            return ARun()

    from client.mcp import research

    monkeypatch.setattr(research, "render", slow)
    tools = research.Research(cast(Any, Runs()), cast(Any, None))
    assert await longest_wait(tools.get_report()) < SECONDS / 2
