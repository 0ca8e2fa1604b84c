"""Translate a model server's failures: status, body and headers -> one of our errors, worded for the user.

Categories of `ModelRefused`: auth, insufficient_quota, model_not_found, bad_request, context_length, refusal,
content_filter. `ModelBusy` is rate_limited, `ModelDown` is unavailable.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

from activities.contracts.bounds import MAX_SECONDS, real
from activities.contracts.errors import ModelBusy, ModelDown, ModelError, ModelRefused
from activities.sources.http.failures import retry_after

_WAIT = re.compile(
    r"(?:try again|retry)(?: again)? (?:in|after)\s+((?:\d+(?:\.\d+)?\s*(?:ms|s|m|h)[a-z]*\s*)+)",
    re.IGNORECASE,
)
_SPAN = re.compile(r"(?<!\d)(\d+(?:\.\d+)?)\s*(ms|s|m|h)", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_CONTEXT = re.compile(
    r"context.?(?:length|window|size)|maximum context|prompt is too long|too many (?:input )?tokens|"
    r"exceed_context|exceed(?:ed|s)? (?:the |max(?:imum)? )?(?:available )?context|request too large|"
    r"input is too long|n_ctx",
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"content.?(?:filter|policy|management)|ResponsibleAIPolicy|safety system", re.IGNORECASE
)
_QUOTA = re.compile(
    r"insufficient_quota|exceeded your current quota|billing_hard_limit|insufficient balance|out of credits|"
    r"credit balance is too low|payment required",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model.{0,80}(?:not found|does not exist|not exist|unknown)|model_not_found|unknown model", re.IGNORECASE
)
_KEY = re.compile(r"\b(sk|gsk|key|pk|AIza)[-_]?[A-Za-z0-9_\-*]{12,}", re.IGNORECASE)
SHORTEST_SECRET = 6
"""Characters; a shorter key is a placeholder for a local server and part of many words."""
_BEARER = re.compile(r"Bearer\s+\S+", re.IGNORECASE)


def error_object(body: object) -> dict[str, object]:
    """The error object of a body: `{"error": {...}}`, `{"error": "text"}`, `{"detail": ...}` or bare text."""
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    if isinstance(body, dict):
        inner = body.get("error")
        if isinstance(inner, dict):
            return inner
        if isinstance(inner, str):
            return {**body, "message": inner}
        if "message" not in body and "detail" in body:
            return {**body, "message": str(body["detail"])}
        return body
    return {"message": str(body or "")}


def wait_of(headers: Mapping[str, str], message: str) -> float | None:
    """Seconds the server asks us to wait: `retry-after-ms`, `retry-after`, else its text (`try again in
    1m6.779s`)."""
    with suppress(KeyError, ValueError):
        if (wait := real(float(headers["retry-after-ms"]) / 1000, MAX_SECONDS)) is not None:
            return wait
    if (seconds := retry_after(headers)) is not None:
        return seconds
    match = _WAIT.search(message)
    if match is None:
        return None
    return sum(float(number) * _SECONDS[unit.lower()] for number, unit in _SPAN.findall(match.group(1)))


_TRY_LATER = (408, 409, 425)
"""Statuses below 500 that another attempt may change."""


def translate(
    status: int | None,
    body: object,
    headers: Mapping[str, str],
    *,
    model: str,
    address: str,
    secrets: Sequence[str] = (),
) -> ModelError:
    """The error for a failed call. `status` None: the failure came inside a stream; `secrets`: what was sent
    to be let in. Of several signs the first decides; what a later attempt cannot change comes first."""
    error = error_object(body)
    whole = scrub(" ".join(str(error.get("message") or "").split()), *secrets)
    code = " ".join(str(error.get(key) or "") for key in ("code", "type", "status"))
    where, said = f"{model} at {address}", f": {whole[:300]}" if whole else ""
    words = f"{code} {whole[:300]}"

    def refused(category: str, text: str) -> ModelRefused:
        return ModelRefused(text, category=category)

    if _QUOTA.search(words) or status == 402:
        return refused("insufficient_quota", f"the account of {where} is out of credit{said}")
    if _CONTEXT.search(words) and status not in (401, 403):
        return refused("context_length", f"the prompt was too long for {where}{said}")
    if status == 429 or "rate_limit" in code or "RESOURCE_EXHAUSTED" in code:
        return ModelBusy(f"{where} is busy (429){said}", retry_after=wait_of(headers, whole))
    if status in (401, 403):
        asks = f"{where} refused the key ({status}){said}; OPENAI_API_KEY must hold one of this server"
        if not secrets:
            own = "OPENAI_API_KEY goes to the address of OPENAI_BASE_URL alone"
            asks = f"{where} wants a key ({status}){said}; {own}"
        return refused("auth", asks)
    if _FILTER.search(words):
        return refused("content_filter", f"the content filter of {where} stopped the question{said}")
    if status == 404 or (status is not None and status < 500 and _NO_MODEL.search(words)):
        fix = "check the model's name and OPENAI_BASE_URL"
        return refused("model_not_found", f"{where} was not found{said}; {fix}")
    if status is None or status >= 500 or status in _TRY_LATER:
        shown = f" ({status})" if status else ""
        return ModelDown(f"{where} failed{shown}{said}", retry_after=wait_of(headers, ""))
    if status == 413:
        return refused("context_length", f"the prompt was too long for {where}{said}")
    return refused("bad_request", f"{where} refused the request ({status}){said}")


def scrub(text: str, *secrets: str) -> str:
    """A provider's text without the given secrets and without anything else that looks like a key."""
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, "[key]")
    return _BEARER.sub("Bearer [key]", _KEY.sub("[key]", text))
