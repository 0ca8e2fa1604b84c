"""The abilities of a server: learned from its refusals, once, and remembered for address and model."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Literal, get_args

from pydantic import ValidationError

from activities.contracts.errors import StoreError
from activities.contracts.evidence import Frozen
from activities.evidence_store import EvidenceStore
from activities.logs import log

LimitName = Literal["max_completion_tokens", "max_tokens", "none"]
Format = Literal["json_schema", "json_object_schema", "json_object", "none"]
LADDER: tuple[Format, ...] = get_args(Format)
"""Best first. `json_object_schema` is the schema inside `json_object`, as llama.cpp's servers accept it."""
SHRINK_FACTOR = 0.6
"""The share of what a prompt had, when a server calls it too long and does not say what it can read."""
MIN_CONTEXT = 512
"""Tokens; a number below this in an error message is not the size of a context."""

_NO = re.compile(
    r"unsupported|not support|does ?n.t support|unknown|unrecogni[sz]ed|not allowed|not permitted|invalid|"
    r"extra (?:inputs|fields)|unexpected|literal_error|must be|should be|not available|only (?:the )?default|"
    r"incompatible|not implemented|deprecated|failed to parse|repetitions|unavailable",
    re.IGNORECASE,
)
_UNSUPPORTED = re.compile(r"unsupported|not support|not implemented|literal_error", re.IGNORECASE)
"""Words of a refusal that comes as a 500, as llama-cpp-python's does."""
_AT_MOST = re.compile(
    r"(?:at most|less than or equal to|maximum (?:value )?(?:of|is)|<=)\s*`?(\d{2,7})", re.IGNORECASE
)
_BOUNDS = re.compile(r"max(?:items|length)|pattern|grammar|repetitions", re.IGNORECASE)
"""Names that OpenAI, vLLM (xgrammar) and llama.cpp give to bounds of a schema that they refuse."""
_CONTEXT_SIZES = (
    re.compile(r"maximum context length is (\d+)", re.IGNORECASE),  # vLLM, OpenAI
    re.compile(r"exceeds? (?:the )?available context size \((\d+)", re.IGNORECASE),  # llama.cpp
    re.compile(r"exceeds? context window of (\d+)", re.IGNORECASE),  # llama-cpp-python
    re.compile(r"max(?:imum)? number of (?:input )?tokens allowed \((\d+)", re.IGNORECASE),  # Gemini
    re.compile(r"max_new_tokens`? must be <= (\d+)", re.IGNORECASE),  # TGI
    re.compile(r"max_seq_len \((\d+)", re.IGNORECASE),  # SiliconFlow
    re.compile(r"cannot exceed (\d+)", re.IGNORECASE),  # Cohere
    re.compile(r"(?<!\d)(\d{3,8}) max(?:imum)?\b", re.IGNORECASE),  # Anthropic, Mistral
    re.compile(r"(?:最大|上限|限制)\D{0,12}(\d+)"),  # in Chinese
    re.compile(r"(?:context (?:length|window|size)|n_ctx|num_ctx)(?! by)\D{0,20}(\d+)", re.IGNORECASE),
)
_EXCEEDED_BY = re.compile(r"exceeded (?:max(?:imum)? )?context length by (\d+)", re.IGNORECASE)
"""Ollama's words: by how much, not how large the context is."""


class Capabilities(Frozen):
    format: Format = "json_schema"
    limit: LimitName = "max_tokens"
    """Name of the parameter that caps the output."""
    refused_limits: tuple[LimitName, ...] = ()
    temperature: bool = True
    system_role: bool = True
    stream: bool = True
    stream_usage: bool = True
    logprobs: bool = True
    max_output: int | None = None
    bounds: bool = True
    """Whether a schema may hold `maxItems`, `maxLength` and `pattern`."""
    context_tokens: int | None = None
    """Size of the context, where an error or the server itself named it."""

    @classmethod
    def default_for(cls, address: str) -> "Capabilities":
        """Return what to try first.

        OpenAI has retired `max_tokens` for its newer models and refuses `maxLength` in strict
        schemas; other servers may not know the newer name and then would not cap the output at all.
        """
        if "api.openai.com" in address or ".openai.azure.com" in address:
            return cls(limit="max_completion_tokens", bounds=False)
        return cls()

    def after_refusal(self, status: int, error: Mapping[str, object]) -> "Capabilities | None":
        """Return the capabilities after a refusal; None when it is not about the form of the request.

        `error` is the body's error object (`message`, `param`, `code`).
        """
        param, code = (str(error.get(name) or "") for name in ("param", "code"))
        message = str(error.get("message") or error)
        if status not in (400, 404, 415, 422, 500, 501):
            return None
        if status >= 500 and not _UNSUPPORTED.search(message):
            return None  # a failing server says nothing about its capabilities
        words = f"{param} {message}".lower()
        if code == "context_length_exceeded" or not (_NO.search(message) or _NO.search(code)):
            return self.with_output_cap(words)
        # what it is about: the parameter it names, else all of its words
        is_named = param.lower() not in ("", "none", "body") and not _BOUNDS.search(message)
        subject = param.lower() if is_named else words
        return next((lesson(self, words) for pattern, lesson in _LESSONS if pattern.search(subject)), None)

    def next_format(self) -> "Capabilities | None":
        """Return the next weaker form of structured output; None after the last."""
        rung = LADDER.index(self.format) + 1
        return self.replace(format=LADDER[rung]) if rung < len(LADDER) else None

    def without(self, name: str, *also: str) -> "Capabilities | None":
        """Return the same without a capability; None when it was not assumed."""
        if not getattr(self, name):
            return None
        return self.replace(**dict.fromkeys((name, *also), False))

    def with_output_cap(self, words: str) -> "Capabilities | None":
        """`max_tokens is too large: 9000. This model supports at most 4096 completion tokens`."""
        match = _AT_MOST.search(words)
        if match is None or "max_" not in words or "context" in words:
            return None
        max_output = int(match.group(1))
        if self.max_output is not None and max_output >= self.max_output:
            return None
        return self.replace(max_output=max_output)

    def with_other_limit(self) -> "Capabilities | None":
        """Return the other name for the output cap; no cap once both were refused."""
        if self.limit == "none":
            return None
        refused_limits = (*self.refused_limits, self.limit)
        names: tuple[LimitName, ...] = ("max_completion_tokens", "max_tokens")
        limit: LimitName = next((name for name in names if name not in refused_limits), "none")
        return self.replace(limit=limit, refused_limits=refused_limits)


_Lesson = Callable[[Capabilities, str], Capabilities | None]
_LESSONS: tuple[tuple[re.Pattern[str], _Lesson], ...] = (
    (_BOUNDS, lambda old, _: old.without("bounds") or old.next_format()),
    (re.compile(r"logprobs"), lambda old, _: old.without("logprobs")),
    (re.compile(r"response_format|json.?(?:mode|output|object)|schema"), lambda old, _: old.next_format()),
    (re.compile(r"stream_options|include_usage"), lambda old, _: old.without("stream_usage")),
    (re.compile(r"temperature"), lambda old, _: old.without("temperature")),
    (
        re.compile(r"max_tokens|max_completion_tokens"),
        lambda old, words: old.with_output_cap(words) or old.with_other_limit(),
    ),
    (
        re.compile(r"(?<![a-z])roles?\b|messages\["),
        lambda old, words: old.without("system_role") if "system" in words else None,
    ),
    (re.compile(r"\bstream(ing)?\b"), lambda old, _: old.without("stream", "stream_usage")),
)
"""Subject of a refusal -> (capabilities, its words) -> the new ones; the first match decides."""


def context_size(message: str, prompt_tokens: int) -> int | None:
    """Return the size of a context in tokens, from the words of an error; None when they do not say.

    `prompt_tokens` are those of the request by our own estimate: Ollama says by how much it was too long. The
    numbers are the servers' own (llama.cpp, llama-cpp-python, vLLM, Ollama, OpenAI).
    """
    for pattern in _CONTEXT_SIZES:
        if (match := pattern.search(message)) and int(match.group(1)) >= MIN_CONTEXT:
            return int(match.group(1))
    if match := _EXCEEDED_BY.search(message):
        return max(prompt_tokens - int(match.group(1)), MIN_CONTEXT)
    return None


class CapabilityMemory:
    """Capabilities by address and model: in memory, and in the evidence store for the next worker."""

    def __init__(self, store: EvidenceStore) -> None:
        self._store = store
        self._entries: dict[str, Capabilities] = {}

    async def of(self, address: str, model: str) -> Capabilities:
        """Return what is known, else what is assumed. An unreadable entry does not fail the call."""
        name = _name(address, model)
        if name not in self._entries:
            try:
                data = await self._store.get_named(name)
                entry = Capabilities.model_validate_json(data) if data else None
            except (StoreError, ValidationError):
                entry = None
            self._entries.setdefault(name, entry or Capabilities.default_for(address))
        return self._entries[name]

    async def remember(self, address: str, model: str, capabilities: Capabilities) -> None:
        name = _name(address, model)
        self._entries[name] = capabilities
        try:
            await self._store.put_named(name, capabilities.model_dump_json().encode())
        except StoreError:
            return  # it will be learned again

    async def lower_format(self, address: str, model: str) -> None:
        """Put the schema into the prompt: a server that accepts one and answers in prose ignores it."""
        capabilities = await self.of(address, model)
        if capabilities.format in ("json_schema", "json_object_schema"):
            await self.remember(address, model, capabilities.replace(format="json_object"))

    async def learn_context(
        self, address: str, model: str, error: Mapping[str, object], prompt: int, cap: int
    ) -> None:
        """Remember how much a model can read, which was given more: `prompt` tokens and `cap` to answer in.

        A server that does not say how much is given less by a good share the next time.
        """
        error_size = context_size(f"{error.get('message') or ''} {error}", prompt)
        size = (
            error_size
            if error_size is not None and error_size < prompt + cap
            else math.floor((prompt + cap) * SHRINK_FACTOR)
        )
        capabilities = await self.of(address, model)
        if capabilities.context_tokens is not None and size >= capabilities.context_tokens:
            size = min(size, math.floor(capabilities.context_tokens * SHRINK_FACTOR))
        log.info("model_context_learned", model=model, context_tokens=size)
        await self.remember(address, model, capabilities.replace(context_tokens=size))


def _name(address: str, model: str) -> str:
    digest = hashlib.sha256(json.dumps([address, model]).encode()).hexdigest()
    return f"capabilities/{digest[:32]}.json"
