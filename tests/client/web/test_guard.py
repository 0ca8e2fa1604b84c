"""What reaches the page: its own origin, small requests, and routes that it uses."""

import asyncio
import gc
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import httpx
import pytest
import typst
import uvicorn
from fastapi import FastAPI
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from activities.settings import Settings
from client.access import Access
from client.api import Determinator
from client.cli.servers import listen_at, serve_app
from client.embedded.binary import free_port
from client.runs.spoken import MAX_BYTES
from client.web.guard import GRADIO, MAX_BODY_BYTES, QUESTION_FILE
from client.web.signing_in import SignIn
from tests.browser.staged import TOKEN, StagedClient

pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # of Gradio
    pytest.mark.xdist_group("gradio"),
]

HOST = "http://localhost"


@pytest.fixture(scope="module", autouse=True)
def _loops_of_gradio() -> Iterator[None]:
    """Gradio leaves event loops open."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def built(home: Path, token: str) -> FastAPI:
    """The whole page of a home, made in a thread, whose event loop is Gradio's to replace."""
    from client.web.server import (
        build_app,  # Gradio takes seconds to import: not in each process of the tests
    )

    client = cast("Determinator", StagedClient(Settings(home=home)))
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(build_app, client, SignIn(token=token)).result()


@pytest.fixture(scope="module")
def its_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def page(its_home: Path) -> TestClient:
    """The whole page, opened by its one user."""
    browser = TestClient(built(its_home, TOKEN), base_url=HOST)
    assert browser.get("/", params={"token": TOKEN}).status_code == 200
    return browser


def test_each_function_of_the_page_takes_what_its_fields_give_and_is_told_who_asks() -> None:
    """Gradio warns of values that do not fit."""
    from gradio.helpers import special_args

    from client.web.page import build_page

    request = object()
    with ThreadPoolExecutor(1) as thread:
        page = thread.submit(build_page, Access(Determinator(), shared=False)).result()
    tried = 0
    for one in page.fns.values():
        if one.fn and one.fn.__module__.startswith("client."):
            assert request in special_args(one.fn, [None] * len(one.inputs), request)[0], one.fn
            tried += 1
    assert tried


@pytest.mark.parametrize(
    "origin", ["http://localhost:3000", "http://127.0.0.1", "https://evil.example", "null", "localhost"]
)
def test_a_page_of_another_origin_can_neither_ask_nor_sign_in(page: TestClient, origin: str) -> None:
    headers = {"origin": origin}
    for path in ("/config", "/", f"{GRADIO}queue/data"):
        answer = page.get(path, headers=headers)
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers
    form = {"name": "ada", "password": "x"}
    assert page.post("/sign-in", data=form, headers=headers).status_code == 403
    asking = {**headers, "access-control-request-method": "POST"}
    assert page.options(f"{GRADIO}queue/join", headers=asking).status_code == 403


def test_the_page_itself_may_ask(page: TestClient) -> None:
    assert page.get("/config", headers={"origin": HOST}).status_code == 200
    assert page.get("/config", headers={"origin": f"{HOST}:80"}).status_code == 200


@pytest.mark.parametrize(
    "route", ["upload", "upload_progress", "proxy=http://localhost", "file=/etc/passwd", "vibe-code", "info"]
)
def test_routes_that_the_page_does_not_use_are_not_there(page: TestClient, route: str) -> None:
    files = {"files": ("a.bin", b"x" * 10)}
    assert page.post(GRADIO + route, files=files).status_code == 404
    assert page.get(GRADIO + route).status_code == 404


def test_a_large_request_is_refused_however_its_length_is_told(page: TestClient) -> None:
    path = f"{GRADIO}queue/join"
    assert page.post(path, content=b"x" * (MAX_BODY_BYTES + 1)).status_code == 413
    assert page.post(path, content=b"x", headers={"content-length": "9" * 30}).status_code == 413
    chunks = (b'"' + b"x" * 100_000 for _ in range(12))
    assert page.post(path, content=chunks).status_code >= 400


@pytest.mark.parametrize(("proxies", "address"), [(None, "127.0.0.1"), ("127.0.0.1", "6.6.6.6")])
async def test_the_address_of_a_browser_is_believed_of_a_named_proxy_only(
    proxies: str | None, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    if proxies:
        monkeypatch.setenv("FORWARDED_ALLOW_IPS", proxies)
    servers: list[uvicorn.Server] = []
    begin = uvicorn.Server.__init__

    def kept(server: uvicorn.Server, config: uvicorn.Config) -> None:
        begin(server, config)
        servers.append(server)

    monkeypatch.setattr(uvicorn.Server, "__init__", kept)

    async def who(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await PlainTextResponse(str(scope["client"][0]))(scope, receive, send)

    port = free_port()
    serving = asyncio.create_task(serve_app(who, listen_at("127.0.0.1", port), "port {port}"))
    try:
        async with httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(retries=5)) as http:
            forwarded = {"X-Forwarded-For": "6.6.6.6"}
            assert (await http.get(f"http://127.0.0.1:{port}/", headers=forwarded)).text == address
    finally:
        servers[0].should_exit = True
        await serving


def test_a_cookie_of_one_page_opens_no_other(page: TestClient, its_home: Path) -> None:
    """The same home, once for its one user and once for a list."""
    second = TestClient(built(its_home, "u" * 64), base_url=HOST, follow_redirects=False)
    second.cookies.update(page.cookies)
    assert page.get("/config").status_code == 200
    assert second.get("/config").status_code == 401
    assert second.get("/").headers["location"] == "/sign-in"


def test_a_question_is_read_from_a_file_by_whoever_is_signed_in_and_nothing_is_kept(
    page: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    answer = page.post(QUESTION_FILE, content=typst.compile(b"Does aspirin prevent stroke?"))
    assert answer.json() == {"text": "Does aspirin prevent stroke?"}
    assert list(tmp_path.iterdir()) == []
    refused = page.post(QUESTION_FILE, content=b"<script>alert(1)</script>")
    assert (refused.status_code, refused.headers["content-type"]) == (422, "application/json")
    assert page.post(QUESTION_FILE, content=b"%PDF-" + b" " * MAX_BYTES).status_code == 413
    evil = {"origin": "https://evil.example"}
    assert page.post(QUESTION_FILE, content=b"%PDF-", headers=evil).status_code == 403
    assert page.get(QUESTION_FILE).status_code in (404, 405)
    stranger = TestClient(page.app, base_url=HOST)
    assert stranger.post(QUESTION_FILE, content=b"%PDF-").status_code == 401
