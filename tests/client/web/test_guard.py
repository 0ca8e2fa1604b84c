"""What reaches the page: its own origin, small requests, and what a browser may do with the answers."""

import asyncio
from pathlib import Path
from typing import cast

import httpx
import pytest
import typst
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

from activities.settings import Settings
from client.access import Access
from client.api import Determinator
from client.cli.servers import listen_at, serve_app
from client.embedded.binary import free_port
from client.guard import MAX_BODY_BYTES, QUESTION_FILE
from client.http.app import build_app as build_interface
from client.http.tokens import TokenFile
from client.runs.checks import MAX_BYTES
from client.sign_in.signing_in import SignIn, UserList
from client.web.server import build_app, page_app, with_sessions
from tests.browser.staged import RUN, TOKEN, StagedClient
from tests.client.web.visitor import tree_of

HOST = "http://localhost"


def built(home: Path, token: str) -> ASGIApp:
    """The whole page of a home."""
    return build_app(cast("Determinator", StagedClient(Settings(home=home))), SignIn(token=token))


@pytest.fixture(scope="module")
def its_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def page(its_home: Path) -> TestClient:
    """The whole page, opened by its one user."""
    browser = TestClient(built(its_home, TOKEN), base_url=HOST)
    assert browser.get("/", params={"token": TOKEN}).status_code == 200
    return browser


@pytest.mark.parametrize(
    "origin", ["http://localhost:3000", "http://127.0.0.1", "https://evil.example", "null", "localhost"]
)
def test_a_page_of_another_origin_can_neither_ask_nor_sign_in(page: TestClient, origin: str) -> None:
    headers = {"origin": origin}
    for path in ("/", f"/run/{RUN}", f"/run/{RUN}/live"):
        answer = page.get(path, headers=headers)
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers
    form = {"name": "ada", "password": "x", "question": "Does it?"}
    for path in ("/sign-in", "/ask", f"/run/{RUN}/do/cancel", f"/run/{RUN}/talk", "/review/last/overrule"):
        assert page.post(path, data=form, headers=headers).status_code == 403
    asking = {**headers, "access-control-request-method": "POST"}
    assert page.options("/ask", headers=asking).status_code == 403


def test_the_page_itself_may_ask(page: TestClient) -> None:
    assert page.get("/", headers={"origin": HOST}).status_code == 200
    assert page.get("/", headers={"origin": f"{HOST}:80"}).status_code == 200
    assert TestClient(page.app, base_url="http://evil.example").get("/health").status_code == 400


def test_everything_is_loaded_from_the_page_itself_and_no_script_stands_in_it(page: TestClient) -> None:
    answer = page.get("/")
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    tree = tree_of(answer.text)
    loaded = [*tree.xpath("//script/@src"), *tree.xpath("//link/@href")]
    assert len(loaded) == 3
    for address in loaded:
        assert address.startswith("/static/")
        assert page.get(address).status_code == 200
    assert not tree.xpath("//script[not(@src)] | //style | //@style | //@onclick")
    for path in ("../server.py", "%2e%2e/server.py", "page.css", "nothing.js"):
        assert page.get(f"/static/{path}").status_code == 404
    for name in ("htmx.LICENSE", "htmx.min.js"):
        assert page.get(f"/static/{name}").status_code == 200


def test_a_large_request_is_refused_however_its_length_is_told(page: TestClient) -> None:
    path = "/ask"
    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert page.post(path, content=b"x" * (MAX_BODY_BYTES + 1), headers=kind).status_code == 413
    assert page.post(path, content=b"x", headers={**kind, "content-length": "9" * 30}).status_code == 413
    chunks = (b"x" * 100_000 for _ in range(12))
    assert page.post(path, content=chunks, headers=kind).status_code == 413


def test_a_stranger_is_led_to_the_door_and_back(page: TestClient) -> None:
    stranger = TestClient(page.app, base_url=HOST, follow_redirects=False)
    browser = {"accept": "text/html"}
    answer = stranger.get(f"/run/{RUN}", headers=browser)
    assert answer.headers["location"] == f"/sign-in?then=/run/{RUN}"
    assert stranger.get(f"/run/{RUN}").status_code == 401
    part = stranger.get("/history", headers={"hx-request": "true"})
    assert (part.status_code, part.headers["hx-redirect"]) == (401, "/sign-in")
    for then in ("//evil.example", "https://evil.example", "/\\evil.example", "/ok\nx"):
        assert 'value="/"' in TestClient(page_with_passwords()).get("/sign-in", params={"then": then}).text


def page_with_passwords() -> ASGIApp:
    sign_in = SignIn(UserList({"ada": "scrypt$x"}.copy))
    client = cast("Determinator", StagedClient(Settings()))
    return with_sessions(page_app(Access(client, is_shared=True), sign_in))


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
    assert page.get("/history").status_code == 200
    assert second.get("/history").status_code == 401
    assert second.get("/").headers["location"] == "/sign-in"


def test_a_question_is_read_from_a_file_by_whoever_is_signed_in_and_nothing_is_kept(
    page: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def sent(data: bytes) -> dict[str, tuple[str, bytes]]:
        return {"file": ("question", data)}

    typed = {"question": "In men:"}
    answer = page.post(QUESTION_FILE, files=sent(typst.compile(b"Does aspirin prevent stroke?")), data=typed)
    assert tree_of(answer.text).xpath("string(//textarea)") == "In men: Does aspirin prevent stroke?"
    assert list(tmp_path.iterdir()) == []
    refused = page.post(QUESTION_FILE, files=sent(b"<script>alert(1)</script>"))
    assert refused.status_code == 400
    assert "<script>alert" not in refused.text
    assert page.post(QUESTION_FILE, files=sent(b"%PDF-" + b" " * 2 * MAX_BYTES)).status_code == 413
    evil = {"origin": "https://evil.example"}
    assert page.post(QUESTION_FILE, files=sent(b"%PDF-"), headers=evil).status_code == 403
    assert page.get(QUESTION_FILE).status_code in (404, 405)
    stranger = TestClient(page.app, base_url=HOST)
    assert stranger.post(QUESTION_FILE, files=sent(b"%PDF-")).status_code == 401


def test_programs_list_runs_narrowed_as_people_do(its_home: Path) -> None:
    client = cast("Determinator", StagedClient(Settings(home=its_home)))
    program = TestClient(build_interface(client, TokenFile.of_owner("k" * 40)), base_url=HOST)
    key = {"authorization": f"Bearer {'k' * 40}"}
    assert program.get("/v1/models").status_code == 401
    assert program.get("/runs", headers={"authorization": "Bearer wrong"}).status_code == 401
    assert [row["run"] for row in program.get("/runs", headers=key).json()] == [RUN]
    for asked, status in (
        ({"state": "running", "text": "aspirin"}, 200),
        ({"state": "fast"}, 400),
        ({"user": "eve"}, 400),
    ):
        assert program.get("/runs", params=asked, headers=key).status_code == status, asked
