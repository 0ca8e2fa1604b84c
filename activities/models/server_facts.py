"""Facts that a server reports about itself: its context, the calls it serves at once, the size of its model.

Asked are `/props` (llama.cpp), `/v1/models` (all; vLLM and llama.cpp add facts), Ollama's `/api/ps` and
`/api/show`, and LM Studio's `/api/v0/models`. Only servers on this machine or in a private network are asked:
what a provider's model can do is listed in `genai-prices`. Nothing depends on an answer: a server that says
nothing is assumed to be small.
"""

import re
from collections.abc import Mapping

import httpx2
from pydantic import JsonValue

from activities.contracts.bounds import MAX_CALL_TOKENS, MAX_PARAMETERS, MAX_SLOTS, integer
from activities.contracts.evidence import Frozen
from activities.logs import log
from activities.models.address import Address
from activities.sources.records import value_at

ASK_SECONDS = 3.0
LARGEST_ANSWER = 2**20
"""Bytes of an answer that are read; Ollama's `/api/show` has some 30,000 without its tensors."""
OLLAMA_CONTEXT = 4096
"""Tokens that Ollama reads when nothing sets `num_ctx`; it cuts longer prompts silently."""
LM_STUDIO_CONTEXT = 4096
"""Tokens that LM Studio loads a model with when the user sets nothing; it answers a longer prompt with
nothing or with nonsense (lmstudio-bug-tracker issues 1806 and 2339)."""
MANY_AT_ONCE = ("vllm", "sglang")
"""Values of `owned_by` of servers that batch calls."""

_SIZE_IN_NAME = re.compile(r"(?<![\w.])(\d{1,4}(?:\.\d+)?)\s?([bm])(?![a-z])", re.IGNORECASE)
_NUM_CTX = re.compile(r"\bnum_ctx\s+([0-9]{1,9})\b")


class ServerFacts(Frozen):
    """None where the server does not say."""

    context_tokens: int | None = None
    slots: int | None = None
    """Calls served at once; 0 for a server that batches as many as come."""
    parameters: float | None = None
    """Parameters of the model, in billions."""


async def ask_server(address: Address, model: str, key: str) -> ServerFacts:
    """Ask a server about itself and about a model. Never raises for what a server does or does not answer.

    `key` may be empty: local servers need none."""
    if not address.local:
        return ServerFacts(parameters=parameters_in(model))
    headers = {"accept-encoding": "identity"}
    if address.authorization or key:  # an empty token is no valid header
        headers["authorization"] = address.authorization or f"Bearer {key}"
    async with httpx2.AsyncClient(
        timeout=ASK_SECONDS,
        headers=headers,
        params=dict(address.query),
        trust_env=False,
        # reading the certificates of every authority takes 20 ms, and no answer is followed elsewhere
        verify=address.root.startswith("https:"),
    ) as client:
        props = await _json(client, "GET", f"{address.root}/props")
        models = await _json(client, "GET", f"{address.public_url}/models")
        facts = _facts(
            context_tokens=_tokens(value_at(props, "/default_generation_settings/n_ctx")),
            slots=integer(value_at(props, "/total_slots"), MAX_SLOTS, 1),
        )
        facts |= _from_models(models, model)
        if not props and value_at(models, "/data/0/owned_by") in (None, "", "library"):
            loaded = await _json(client, "GET", f"{address.root}/api/ps")
            if loaded:
                details = await _json(client, "POST", f"{address.root}/api/show", {"model": model})
                facts |= _from_ollama(loaded, details, model)
        if "context_tokens" not in facts:
            facts |= _from_lm_studio(await _json(client, "GET", f"{address.root}/api/v0/models"), model)
    values = {**_facts(parameters=parameters_in(model)), **facts}
    log.info("model_server_facts", address=address.public_url, model=model, **values)
    return ServerFacts.model_validate(values)


def _facts(**facts: float | None) -> dict[str, float]:
    return {name: value for name, value in facts.items() if value is not None}


def parameters_in(model: str) -> float | None:
    """Return the size of a model in billions of parameters, by its name: `qwen2.5:1.5b`."""
    match = _SIZE_IN_NAME.search(re.sub(r"[-_:/]", " ", model))
    if match is None:
        return None
    return float(match.group(1)) / (1000 if match.group(2) in "mM" else 1)


async def _json(
    client: httpx2.AsyncClient, method: str, url: str, body: Mapping[str, str] | None = None
) -> dict[str, JsonValue]:
    """Return a JSON object from the server; empty for every other answer."""
    try:
        async with client.stream(method, url, json=body) as response:
            if response.status_code != 200 or "content-encoding" in response.headers:
                return {}
            data = b""
            async for chunk in response.aiter_bytes():
                data += chunk
                if len(data) > LARGEST_ANSWER:
                    return {}
        answer = httpx2.Response(200, content=data).json()
    except (httpx2.HTTPError, httpx2.StreamError, ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _entry(rows: JsonValue, model: str, *names: str) -> JsonValue:
    """Return the entry of a model in a list of models; None where it has none."""
    rows = rows if isinstance(rows, list) else []
    return next((e for e in rows if any(value_at(e, f"/{name}") == model for name in names)), None)


def _from_models(models: JsonValue, model: str) -> dict[str, float]:
    data = value_at(models, "/data")
    only_entry = data[0] if isinstance(data, list) and len(data) == 1 else None
    entry = _entry(data, model, "id") or only_entry
    size = integer(value_at(entry, "/meta/n_params"), MAX_PARAMETERS, 1)
    return _facts(
        context_tokens=_tokens(value_at(entry, "/max_model_len")),
        slots=0 if value_at(entry, "/owned_by") in MANY_AT_ONCE else None,
        parameters=size / 1e9 if size is not None else None,
    )


def _from_ollama(loaded_models: JsonValue, details: JsonValue, model: str) -> dict[str, float]:
    entry = _entry(value_at(loaded_models, "/models"), model, "name", "model")
    context = _tokens(value_at(entry, "/context_length"))
    match = _NUM_CTX.search(str(value_at(details, "/parameters") or ""))
    info = value_at(details, "/model_info")
    sizes = info.items() if isinstance(info, dict) else ()
    limits = [_tokens(value) for name, value in sizes if name.endswith(".context_length")]
    default = _tokens(int(match.group(1))) if match else min([OLLAMA_CONTEXT, *filter(None, limits)])
    size = value_at(details, "/details/parameter_size")
    return _facts(context_tokens=context or default, parameters=parameters_in(str(size)) if size else None)


def _from_lm_studio(models: JsonValue, model: str) -> dict[str, float]:
    """Return the context of a model; one not loaded yet is loaded by the first call, with the default."""
    entry = _entry(value_at(models, "/data"), model, "id")
    max_tokens = _tokens(value_at(entry, "/max_context_length"))
    if max_tokens is None:
        return {}
    loaded_tokens = _tokens(value_at(entry, "/loaded_context_length"))
    return {"context_tokens": loaded_tokens or min(LM_STUDIO_CONTEXT, max_tokens)}


def _tokens(value: object) -> int | None:
    return integer(value, MAX_CALL_TOKENS, 1)
