"""Model servers: those that run on this machine, and whether one has the model that was named."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from activities.configuration.declaration import did_you_mean
from activities.contracts.errors import ModelRefused
from activities.credentials import without_credentials
from activities.models.address import parse
from activities.models.prices import OPENAI_URL
from activities.proxies import reads_proxies
from activities.settings import Settings
from client.failures import BadInput

if TYPE_CHECKING:
    import httpx

LOCAL_PORTS = {"Ollama": 11434, "LM Studio": 1234, "llama.cpp": 8080, "vLLM": 8000}
"""The port on which each serves by default."""
LOOK_SECONDS = 0.5
"""Time that a server on this machine may take to list its models."""
ASK_SECONDS = 10.0
"""Time that a configured server may take to say that it does not have a model."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A model server on this machine that no setting names."""

    kind: str
    url: str
    models: tuple[str, ...]

    def line(self) -> str:
        return (
            f"{self.kind} runs on this machine with the model {self.models[0]}: use it with "
            f"`--base-url {self.url} --model {self.models[0]}`"
        )


async def local_servers() -> list[LocalServer]:
    """Return the model servers that answer on their usual ports of this machine.

    They are asked for the list of their models and for nothing else.
    """
    servers = await asyncio.gather(*(_look(kind, port) for kind, port in LOCAL_PORTS.items()))
    return [server for server in servers if server is not None]


async def _look(kind: str, port: int) -> LocalServer | None:
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
    except (OSError, TimeoutError):
        return None
    import httpx  # only where there is something to ask: it takes a tenth of a second

    url = f"http://127.0.0.1:{port}/v1"
    try:
        async with client_of(url, timeout=LOOK_SECONDS) as http:
            names = model_names(await http.get(f"{url}/models"))
    except (httpx.HTTPError, httpx.InvalidURL):
        return None
    return LocalServer(kind, url, names) if names else None


def client_of(
    address: str,
    *,
    offline: bool = False,
    timeout: float = ASK_SECONDS,
    headers: dict[str, str] | None = None,
) -> "httpx.AsyncClient":
    """Return a client of one server, without a proxy on this machine and while `offline`."""
    import httpx

    transport = None
    if not reads_proxies(address, offline=offline):
        # reading the certificates of every authority takes 25 ms of a processor
        transport = httpx.AsyncHTTPTransport(verify=urlsplit(address).scheme != "http")
    return httpx.AsyncClient(timeout=timeout, headers=headers, transport=transport)


def model_names(answer: "httpx.Response") -> tuple[str, ...]:
    """Return the ids in a list of models; empty when it is no such list."""
    try:
        return tuple(str(entry["id"]) for entry in answer.json()["data"])
    except (ValueError, KeyError, TypeError):
        return ()


def server_of(settings: Settings) -> tuple[str, dict[str, str]]:
    """Return the address of the configured server, and the headers that it is asked with."""
    key = settings.openai_api_key
    headers = {"authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    return (settings.openai_base_url or OPENAI_URL).rstrip("/"), headers


async def listed_models(settings: Settings) -> tuple[str, tuple[str, ...]]:
    """Return the address of the configured server, for people, and the models that it lists."""
    import httpx

    address, headers = server_of(settings)
    names: tuple[str, ...] = ()
    with suppress(httpx.HTTPError, httpx.InvalidURL):
        async with client_of(address, offline=settings.offline, headers=headers) as http:
            names = model_names(await http.get(f"{address}/models"))
    return without_credentials(address), names


async def check_models(settings: Settings, models: list[str]) -> None:
    """Raise BadInput for what is no address, and for a model that its server says it does not have.

    A server that lists the model is asked nothing more. One that lists others is asked for one token, since
    some answer under any name; a server that cannot be asked is left to the run, which waits or falls back.
    """
    import httpx

    address, headers = server_of(settings)
    try:
        parse(address)
    except ModelRefused as error:
        raise BadInput(str(error)) from error
    async with client_of(address, offline=settings.offline, headers=headers) as http:
        try:
            names = model_names(await http.get(f"{address}/models"))
            for model in models:
                if not names or model in names:
                    continue
                body = {"model": model, "max_tokens": 1, "messages": [{"role": "user", "content": "1"}]}
                answer = await http.post(f"{address}/chat/completions", json=body)
                if answer.status_code == httpx.codes.NOT_FOUND:
                    hint = did_you_mean(model, names) or "."
                    has = ", ".join(sorted(names)[:8])
                    raise BadInput(
                        f"{without_credentials(address)} has no model {model!r}{hint} It has {has}"
                    )
        except (httpx.HTTPError, httpx.InvalidURL):
            return
