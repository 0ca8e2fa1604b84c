"""A proxy of the environment gets nothing that is for this machine, and nothing at all while offline.

Each client that the product makes is here, with a proxy that writes down who connects to it.
"""

import asyncio
import gc
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from activities.configuration.mcp import McpSource
from activities.contracts.evidence import Query
from activities.evidence_store import EvidenceStore
from activities.models.address import parse
from activities.models.server_facts import ask_server
from activities.models.transport import open_client as open_model
from activities.proxies import is_here, is_this_machine, proxy_fault
from activities.settings import Settings
from activities.sources.base import search
from activities.sources.http.client import open_http
from activities.sources.http.pages import SafePages, networks
from activities.sources.mcp import McpToolSource
from client import connection as tracing
from client.checkup import check_model
from client.connection import open_client as open_temporal
from client.failures import BadInput
from client.model_servers import check_models, listed_models
from client.runs.embedded import check_store
from tests.client.harness import determinator
from tests.fake_openai import FakeOpenAI, sensible
from tests.papers import QUESTION, papers
from tests.replay import ReplayServer, Reply

ELSEWHERE = "http://lab.example"
Client = Callable[[str, Settings], Awaitable[object]]


class Proxy:
    """Writes down the first bytes of each connection, and closes it."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.seen.append(connection.recv(65_536))
                connection.close()

    def close(self) -> None:
        self._listener.close()


PROXIES = ("HTTP_PROXY", "ALL_PROXY")


@pytest.fixture(params=PROXIES)
def proxy(home: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """The proxy that the environment names, for HTTP or for all, as SOCKS."""
    listening = Proxy()
    scheme = "socks5" if request.param == "ALL_PROXY" else "http"
    for name in (request.param, request.param.lower()):
        monkeypatch.setenv(name, f"{scheme}://{listening.address}")
    for name in ("NO_PROXY", "no_proxy"):  # what a client adds to it goes with the test
        monkeypatch.setenv(name, "intranet.example")
    yield listening
    listening.close()


@pytest.fixture
def server() -> Iterator[ReplayServer]:
    with ReplayServer() as replaying:
        replaying.on("/*", Reply(404, "{}", {"content-type": "application/json"}))
        yield replaying


async def model(url: str, settings: Settings) -> None:
    async with open_model(parse(f"{url}/v1"), "key", 2.0, offline=settings.offline) as client:
        await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "prompt"}])


async def facts_of_a_model(url: str, settings: Settings) -> None:
    await ask_server(parse(f"{url}/v1"), "m", "key")


def served_at(url: str, settings: Settings) -> Settings:
    key = SecretStr("key")
    return settings.model_copy(update={"openai_base_url": f"{url}/v1", "openai_api_key": key, "model": "m"})


async def model_check(url: str, settings: Settings) -> None:
    await check_models(served_at(url, settings), ["m"])


async def model_list(url: str, settings: Settings) -> None:
    await listed_models(served_at(url, settings))


async def doctor(url: str, settings: Settings) -> None:
    await check_model(served_at(url, settings))


async def source(url: str, settings: Settings) -> None:
    async with open_http(settings) as http:
        await http.get("pubmed", f"{url}/search")


async def page(url: str, settings: Settings) -> None:
    await SafePages(networks(["127.0.0.0/8"])).read(f"{url}/page")


async def store(url: str, settings: Settings) -> None:
    os.environ.update(AWS_ENDPOINT=url, AWS_ALLOW_HTTP="true", AWS_REGION="x")
    os.environ.update(AWS_ACCESS_KEY_ID="id", AWS_SECRET_ACCESS_KEY="secret")
    try:
        assert await EvidenceStore.at("s3://bucket/evidence").get_named("answers/1") is None
    finally:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            del os.environ[name]


async def mcp(url: str, settings: Settings) -> None:
    row = {"url": f"{url}/mcp", "tool": "search", "map": {"text": ""}, "timeout": 20}
    tool = McpToolSource("notes", McpSource.model_validate(row), offline=settings.offline)
    await search(tool, Query(text="metformin", limit=1))


async def traces(url: str, settings: Settings) -> None:
    os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = url
    tracing.provider.cache_clear()
    try:
        with tracing.provider().get_tracer("test").start_as_current_span("a"):
            pass
        await asyncio.to_thread(tracing.flush_traces)
        tracing.provider().shutdown()
    finally:
        del os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"]
        tracing.provider.cache_clear()


CLIENTS = (*(model, facts_of_a_model, model_check, model_list, doctor), *(source, page, store, mcp, traces))


@pytest.mark.parametrize(
    ("client", "proxy"),
    # which client reads proxies is decided in one place; tools are asked by a process of their own
    [(one, name) for one in CLIENTS for name in PROXIES if one is not mcp or name == "HTTP_PROXY"],
    indirect=["proxy"],
)
async def test_what_is_for_this_machine_goes_through_no_proxy(
    client: Client, proxy: Proxy, server: ReplayServer, home: Path
) -> None:
    with suppress(Exception):  # it answers 404 to everything
        await client(server.url, Settings(home=home))
    assert server.asked, "the client did not reach the server"
    assert proxy.seen == []


async def test_a_temporal_server_is_asked_directly(proxy: Proxy, dev_server: str) -> None:
    client = await open_temporal({"target_host": dev_server}, timeout=20)
    assert await anext(client.list_workflows("WorkflowType = 'None'"), None) is None
    assert proxy.seen == []


@pytest.mark.parametrize("proxy", ["HTTP_PROXY"], indirect=True)
@pytest.mark.parametrize("client", [model, model_check, model_list, doctor, source, mcp])
async def test_offline_no_client_can_use_a_proxy(client: Client, proxy: Proxy, home: Path) -> None:
    """Online each of them does: the proxy can be seen."""
    for offline in (True, False):
        with suppress(Exception):
            await client(ELSEWHERE, Settings(home=home, offline=offline))
        assert bool(proxy.seen) is not offline


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # httpcore drops the socket
@pytest.mark.parametrize("proxy", ["ALL_PROXY"], indirect=True)
@pytest.mark.parametrize("client", [model, source])
async def test_a_proxy_that_speaks_socks_is_used(client: Client, proxy: Proxy, home: Path) -> None:
    with suppress(Exception):
        await client(ELSEWHERE, Settings(home=home))
    gc.collect()  # within this test
    assert proxy.seen[0].startswith(b"\x05")


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        *(("ALL_PROXY", "socks4://127.0.0.1:1080"), ("ALL_PROXY", "http://")),
        *(("HTTPS_PROXY", "ftp://proxy"), ("HTTPS_PROXY", "http://proxy:99999")),
    ],
)
def test_a_proxy_that_cannot_be_used_ends_a_command_with_one_line(kind: str, wrong: str, home: Path) -> None:
    ran = determinator("ask", QUESTION, env={kind: wrong})
    assert (ran.code, ran.out) == (2, "")
    (line,) = ran.err.splitlines()
    assert f"{kind} names no proxy that can be used" in line
    assert not (home / "state" / "server.json").exists()


@pytest.mark.parametrize("proxy", ["ALL_PROXY"], indirect=True)
def test_a_question_offline_with_a_proxy_for_all_reaches_its_model_and_nothing_else(
    proxy: Proxy, home: Path, tmp_path: Path
) -> None:
    with FakeOpenAI() as model_server:
        model_server.script(sensible)
        ran = determinator(
            *("ask", QUESTION, "--offline", "--library", str(papers(tmp_path))),
            *("--model", "stub", "--base-url", model_server.base_url, "--max-iterations", "1"),
            env={"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": model_server.base_url},
        )
        assert ran.code == 0, ran
        assert model_server.bodies
    assert proxy.seen == []


ENCODES = """
import time
from activities.text.embeddings import english

english().encode(["a text"])
time.sleep(10)
"""


@pytest.mark.parametrize("proxy", ["ALL_PROXY"], indirect=True)
def test_an_encoder_sends_no_telemetry(proxy: Proxy) -> None:
    """onnxruntime 1.32 sends it through this proxy within 10 s of a session, unless it is refused."""
    subprocess.run([sys.executable, "-c", ENCODES], check=True)
    assert proxy.seen == []


def test_evidence_leaves_no_machine_that_is_offline(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="the evidence store s3://bucket/evidence is not on this"):
        check_store(Settings(home=home, offline=True, store_url="s3://bucket/evidence"))
    check_store(Settings(home=home, offline=True))
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:9000")
    assert is_here("s3://bucket/evidence")
    assert not is_here("https://store.example/evidence")


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.9.9.9", "127.1", "2130706433"),
        *("0x7f000001", "::1", "[::1]", "::ffff:127.0.0.1", "0.0.0.0", "::", socket.gethostname()),
    ],
)
def test_this_machine_is_known_in_any_spelling(host: str) -> None:
    assert is_this_machine(host)


@pytest.mark.parametrize("host", ["", "lab.example", "localhost.example", "192.0.2.7", "2001:db8::1"])
def test_another_machine_is_none_of_them(host: str) -> None:
    assert not is_this_machine(host)


def test_a_proxy_is_accepted_as_people_write_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    assert proxy_fault() == ""
    for sound in ("proxy.example:3128", "http://user:pa@proxy:1", "socks5h://127.0.0.1:1080"):
        monkeypatch.setenv("ALL_PROXY", sound)
        assert proxy_fault() == ""
        httpx.AsyncClient()
