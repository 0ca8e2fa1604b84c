"""What a server can do: found out from its refusals, once, and remembered for the address and the model."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from activities.errors import StoreError
from activities.evidence_store import EvidenceStore

LimitName = Literal["max_completion_tokens", "max_tokens", "none"]
Format = Literal["json_schema", "json_object_schema", "json_object", "none"]
LADDER: tuple[Format, ...] = ("json_schema", "json_object_schema", "json_object", "none")
"""Best first. `json_object_schema` is the schema inside `json_object`, as llama.cpp's servers take it."""

_NO = re.compile(
    r"unsupported|not support|does ?n.t support|unknown|unrecogni[sz]ed|not allowed|not permitted|invalid|"
    r"extra (?:inputs|fields)|unexpected|literal_error|must be|should be|not available|only (?:the )?default|"
    r"incompatible|not implemented|deprecated",
    re.IGNORECASE,
)
_UNSUPPORTED = re.compile(r"unsupported|not support|not implemented|literal_error", re.IGNORECASE)
"""What a refusal says that comes as a 500, as llama-cpp-python's does."""
_AT_MOST = re.compile(
    r"(?:at most|less than or equal to|maximum (?:value )?(?:of|is)|<=)\s*`?(\d{2,7})", re.IGNORECASE
)


class Capabilities(BaseModel):
    """How a server wants to be asked."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: Format = "json_schema"
    limit: LimitName = "max_tokens"
    """Name of the parameter that caps the output."""
    refused_limits: tuple[LimitName, ...] = ()
    temperature: bool = True
    system_role: bool = True
    stream: bool = True
    stream_usage: bool = True
    max_output: int | None = None
    """Largest output cap the server takes."""

    @classmethod
    def assumed(cls, address: str) -> "Capabilities":
        """What to try first. OpenAI has retired `max_tokens` for its newer models; other servers may not know
        the newer name and then would not cap the output at all."""
        official = "api.openai.com" in address or ".openai.azure.com" in address
        return cls(limit="max_completion_tokens" if official else "max_tokens")

    def lowered(self) -> "Capabilities":
        """One rung down the ladder of structured output."""
        rung = LADDER.index(self.format)
        return self.model_copy(update={"format": LADDER[min(rung + 1, len(LADDER) - 1)]})

    def learned(self, status: int, error: Mapping[str, object]) -> "Capabilities | None":
        """What a refusal teaches; None when it is not about how the question was put.

        `error` is the body's error object (`message`, `param`, `code`).
        """
        if status not in (400, 404, 415, 422, 500, 501):
            return None
        message = str(error.get("message") or error)
        param = str(error.get("param") or "")
        code = str(error.get("code") or "")
        if status >= 500 and not _UNSUPPORTED.search(message):
            return None  # a server in trouble teaches nothing
        if code == "context_length_exceeded" or not (_NO.search(message) or _NO.search(code)):
            return self._capped(param, message)
        about = f"{param} {message}".lower()
        if param:
            about = param.lower() if param.lower() not in ("none", "body") else about
        if (
            "response_format" in about
            or "json_schema" in about
            or "json_object" in about
            or "schema" in about
        ):
            return self.lowered() if self.format != "none" else None
        if "stream_options" in about or "include_usage" in about:
            return self._changed(stream_usage=False) if self.stream_usage else None
        if "temperature" in about:
            return self._changed(temperature=False) if self.temperature else None
        if "max_tokens" in about or "max_completion_tokens" in about:
            return self._capped(param, message) or self._other_limit()
        if ("role" in about and ("system" in message.lower())) or "system role" in about:
            return self._changed(system_role=False) if self.system_role else None
        if re.search(r"\bstream(ing)?\b", about):
            return self._changed(stream=False, stream_usage=False) if self.stream else None
        return None

    def _capped(self, param: str, message: str) -> "Capabilities | None":
        """`max_tokens is too large: 9000. This model supports at most 4096 completion tokens`."""
        found = _AT_MOST.search(message)
        if found is None or "max_" not in f"{param} {message}" or "context" in message.lower():
            return None
        most = int(found.group(1))
        return self._changed(max_output=most) if self.max_output is None or most < self.max_output else None

    def _other_limit(self) -> "Capabilities | None":
        """The other name for the output cap; no cap once both were refused."""
        if self.limit == "none":
            return None
        refused = (*self.refused_limits, self.limit)
        names: tuple[LimitName, ...] = ("max_completion_tokens", "max_tokens")
        left: LimitName = next((name for name in names if name not in refused), "none")
        return self._changed(limit=left, refused_limits=refused)

    def _changed(self, **fields: object) -> "Capabilities":
        return self.model_copy(update=fields)


class CapabilityMemory:
    """Capabilities by address and model: in memory, and in the evidence store for the next worker."""

    def __init__(self, store: EvidenceStore) -> None:
        self._store = store
        self._known: dict[str, Capabilities] = {}

    async def of(self, address: str, model: str) -> Capabilities:
        """What is known, else what is assumed. A memory that cannot be read is no reason to fail."""
        name = _name(address, model)
        if name not in self._known:
            try:
                data = await self._store.get_named(name)
                known = Capabilities.model_validate_json(data) if data else None
            except (StoreError, ValidationError):
                known = None
            self._known.setdefault(name, known or Capabilities.assumed(address))
        return self._known[name]

    async def remember(self, address: str, model: str, capabilities: Capabilities) -> None:
        """Keep what was found out."""
        name = _name(address, model)
        self._known[name] = capabilities
        try:
            await self._store.put_named(name, capabilities.model_dump_json().encode())
        except StoreError:
            return  # it will be found out again


def _name(address: str, model: str) -> str:
    digest = hashlib.sha256(json.dumps([address, model]).encode()).hexdigest()
    return f"capabilities/{digest[:32]}.json"
