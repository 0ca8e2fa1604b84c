"""Model servers: those of this machine are found, and a model that a server does not have is refused."""

import json
import ssl
from pathlib import Path

import httpx
import pytest

from activities.settings import Settings, user_config_path
from client import model_servers
from client.embedded.binary import free_port
from client.failures import BadInput
from client.model_servers import check_models, client_of, local_servers
from tests.client.harness import determinator, inside, processes_of
from tests.fake_openai import PATH, FakeOpenAI, fails, says
from tests.papers import QUESTION
from tests.replay import Reply

JSON = {"content-type": "application/json"}


def listed(*names: str) -> Reply:
    return Reply(200, json.dumps({"data": [{"id": name} for name in names]}), JSON)


async def test_a_model_that_is_listed_costs_no_call_and_one_that_answers_unlisted_is_used(
    tmp_path: Path,
) -> None:
    with FakeOpenAI() as server:
        server.on("/v1/models", listed("llama-3"))
        server.script(says("ok"))
        settings = Settings(home=tmp_path, openai_base_url=server.base_url)
        await check_models(settings, ["llama-3"])
        assert [asked for asked in server.asked if asked.path == PATH] == []
        await check_models(settings, ["any-name"])
        assert [body["max_tokens"] for body in server.bodies] == [1]


async def test_a_server_that_cannot_be_asked_is_left_to_the_run(tmp_path: Path) -> None:
    await check_models(Settings(home=tmp_path, openai_base_url="http://127.0.0.1:9/v1"), ["any"])
    with pytest.raises(BadInput, match="begins with http"):
        await check_models(Settings(home=tmp_path, openai_base_url="no address"), ["any"])


def test_a_model_that_its_server_does_not_have_is_refused_before_anything_starts(home: Path) -> None:
    with FakeOpenAI() as server:
        server.on("/v1/models", listed("llama-3", "qwen-2"))
        server.script(fails(404, "no such model"))
        ran = determinator("ask", QUESTION, "--base-url", server.base_url, "--model", "lama-3")
    assert ran.code == 2, ran
    assert "has no model 'lama-3'; did you mean llama-3" in ran.err
    assert processes_of(home) == {"server": [], "worker": []}


async def test_a_local_server_is_found_by_its_port_and_asked_for_its_models_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with FakeOpenAI() as server:
        server.on("/v1/models", listed("tiny"))
        port = int(server.url.rsplit(":", 1)[1])
        monkeypatch.setattr(model_servers, "LOCAL_PORTS", {"Ollama": port, "vLLM": 9})
        (found,) = await local_servers()
        assert [asked.path for asked in server.asked] == ["/v1/models"]
    assert f"--base-url http://127.0.0.1:{port}/v1 --model tiny" in found.line()


def test_a_key_without_a_models_name_is_said_with_where_to_name_one(home: Path) -> None:
    with FakeOpenAI() as server:
        server.on("/v1/models", listed("llama-3", "qwen-2"))
        env = {"OPENAI_API_KEY": "sk-of-the-test", "OPENAI_BASE_URL": server.base_url}
        ran = inside("ask", QUESTION, "--address", f"127.0.0.1:{free_port()}", **env)
        (line,) = [line for line in ran.err.splitlines() if "no model is named" in line]
        assert "llama-3, qwen-2" in line
        assert str(user_config_path()) in line
        assert not server.bodies


@pytest.mark.parametrize("address", ["https://127.0.0.1:8443/v1", "HTTPS://127.0.0.1:8443/v1"])
async def test_a_certificate_is_checked_however_https_is_spelled(address: str) -> None:
    """The name of a scheme is read in any case, and the key goes to the server that is asked."""
    async with client_of(address) as http:
        transport = http._transport
        assert isinstance(transport, httpx.AsyncHTTPTransport)
        context = transport._pool._ssl_context
        assert context is not None
        assert context.verify_mode is ssl.CERT_REQUIRED
