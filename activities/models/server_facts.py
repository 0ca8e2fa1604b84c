"""What a server reports about itself: its context, how many calls it serves at once, the size of its model.

Asked are `/props` (llama.cpp), `/v1/models` (all; vLLM and llama.cpp add facts), Ollama's `/api/ps` and
`/api/show`, and LM Studio's `/api/v0/models`. Only servers on this machine or in a private network are asked:
what a provider's model can do is listed in `genai-prices`. Nothing depends on an answer: a server that says
nothing is assumed to be small.
"""

import re
from collections.abc import Mapping
from typing import Any

import httpx2

from activities.contracts.bounds import MAX_CALL_TOKENS, MAX_PARAMETERS, MAX_SLOTS, whole
from activities.contracts.evidence import Frozen
from activities.logs import log
from activities.models.address import Address

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
        listed = await _json(client, "GET", f"{address.shown}/models")
        settings = props.get("default_generation_settings")
        context = settings.get("n_ctx") if isinstance(settings, Mapping) else None
        facts: dict[str, object] = {
            "context_tokens": _tokens(context),
            "slots": whole(props.get("total_slots"), MAX_SLOTS, 1),
            **_from_models(listed, model),
        }
        owners = (str(entry.get("owned_by") or "") for entry in _entries(listed))
        if not props and next(owners, "") in ("", "library"):
            running = await _json(client, "GET", f"{address.root}/api/ps")
            if running:
                shown = await _json(client, "POST", f"{address.root}/api/show", {"model": model})
                facts |= _from_ollama(running, shown, model)
        if facts.get("context_tokens") is None:
            facts |= _from_lm_studio(await _json(client, "GET", f"{address.root}/api/v0/models"), model)
    values: dict[str, Any] = {name: value for name, value in facts.items() if value is not None}
    values.setdefault("parameters", parameters_in(model))
    log.info("model_server_facts", address=address.shown, model=model, **values)
    return ServerFacts.model_validate(values)


def parameters_in(model: str) -> float | None:
    """Return the size of a model in billions of parameters, by its name: `qwen2.5:1.5b`."""
    match = _SIZE_IN_NAME.search(re.sub(r"[-_:/]", " ", model))
    if match is None:
        return None
    return float(match.group(1)) / (1000 if match.group(2) in "mM" else 1)


async def _json(
    client: httpx2.AsyncClient, method: str, url: str, body: Mapping[str, str] | None = None
) -> dict[str, Any]:
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


def _entries(listed: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    data = listed.get("data")
    return [entry for entry in data if isinstance(entry, Mapping)] if isinstance(data, list) else []


def _from_models(listed: Mapping[str, Any], model: str) -> dict[str, object]:
    entries = _entries(listed)
    entry = next((e for e in entries if e.get("id") == model), entries[0] if len(entries) == 1 else {})
    meta = entry.get("meta")
    size = whole(meta.get("n_params"), MAX_PARAMETERS, 1) if isinstance(meta, Mapping) else None
    facts: dict[str, object] = {}
    if context := _tokens(entry.get("max_model_len")):
        facts["context_tokens"] = context
    if entry.get("owned_by") in MANY_AT_ONCE:
        facts["slots"] = 0
    if size is not None:
        facts["parameters"] = size / 1e9
    return facts


def _from_ollama(running: Mapping[str, Any], shown: Mapping[str, Any], model: str) -> dict[str, object]:
    loaded = running.get("models")
    for entry in loaded if isinstance(loaded, list) else ():
        if not isinstance(entry, Mapping) or model not in (entry.get("name"), entry.get("model")):
            continue
        if context := _tokens(entry.get("context_length")):
            return {"context_tokens": context, **_ollama_size(shown)}
    facts = _ollama_size(shown)
    if match := _NUM_CTX.search(str(shown.get("parameters") or "")):
        return {"context_tokens": _tokens(int(match.group(1))), **facts}
    info = shown.get("model_info")
    largest = [
        size
        for name, value in (info.items() if isinstance(info, Mapping) else ())
        if str(name).endswith(".context_length") and (size := _tokens(value))
    ]
    return {"context_tokens": min([OLLAMA_CONTEXT, *largest]), **facts}


def _from_lm_studio(listed: Mapping[str, Any], model: str) -> dict[str, object]:
    """Return the context of a model; one not loaded yet is loaded by the first call, with the default."""
    entry = next((e for e in _entries(listed) if e.get("id") == model), None)
    largest = _tokens(entry.get("max_context_length")) if entry is not None else None
    if entry is None or largest is None:
        return {}
    loaded = _tokens(entry.get("loaded_context_length"))
    return {"context_tokens": loaded or min(LM_STUDIO_CONTEXT, largest)}


def _ollama_size(shown: Mapping[str, Any]) -> dict[str, object]:
    details = shown.get("details")
    size = str(details.get("parameter_size") or "") if isinstance(details, Mapping) else ""
    return {"parameters": parameters_in(size)} if size else {}


def _tokens(value: object) -> int | None:
    return whole(value, MAX_CALL_TOKENS, 1)
