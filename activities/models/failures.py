"""Translate a model server's failures: status, body and headers -> one of our errors, worded for the user.

Categories of `ModelRefused`: auth, insufficient_quota, model_not_found, bad_request, context_length, refusal,
content_filter. `ModelBusy` is rate_limited, `ModelDown` is unavailable.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

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
    try:
        return max(float(headers["retry-after-ms"]) / 1000, 0.0)
    except (KeyError, ValueError):
        pass
    if (seconds := retry_after(headers)) is not None:
        return seconds
    match = _WAIT.search(message)
    if match is None:
        return None
    return sum(float(number) * _SECONDS[unit.lower()] for number, unit in _SPAN.findall(match.group(1)))


@dataclass(frozen=True, slots=True)
class _Failure:
    """What a server said when a call failed."""

    status: int | None
    """None: the failure came inside a stream."""
    code: str
    message: str
    where: str
    """Model and address."""
    key_sent: bool

    @property
    def words(self) -> str:
        return f"{self.code} {self.message}"

    @property
    def said(self) -> str:
        return f": {self.message}" if self.message else ""

    @property
    def is_ours(self) -> bool:
        """Whether the request is at fault."""
        return self.status is not None and self.status < 500

    def is_in(self, *statuses: int) -> bool:
        return self.status in statuses


_Test = Callable[[_Failure], bool]
_PERMANENT: tuple[tuple[_Test, str, str], ...] = (
    (
        lambda f: bool(_QUOTA.search(f.words)) or f.is_in(402),
        "insufficient_quota",
        "the account of {where} is out of credit{said}",
    ),
    (
        lambda f: bool(_CONTEXT.search(f.words)) and not f.is_in(401, 403),
        "context_length",
        "the prompt was too long for {where}{said}",
    ),
)
"""(test, category, words) of failures that a later attempt cannot change; the first that holds decides."""
_PERMANENT_UNLESS_BUSY: tuple[tuple[_Test, str, str], ...] = (
    (
        lambda f: f.is_in(401, 403) and not f.key_sent,
        "auth",
        "{where} wants a key ({status}){said}; OPENAI_API_KEY goes to the address of OPENAI_BASE_URL alone",
    ),
    (
        lambda f: f.is_in(401, 403),
        "auth",
        "{where} refused the key ({status}){said}; OPENAI_API_KEY must hold one of this server",
    ),
    (
        lambda f: bool(_FILTER.search(f.words)),
        "content_filter",
        "the content filter of {where} stopped the question{said}",
    ),
    (
        lambda f: (
            f.is_in(404) or (f.status is not None and f.status < 500 and bool(_NO_MODEL.search(f.words)))
        ),
        "model_not_found",
        "{where} was not found{said}; check the model's name and OPENAI_BASE_URL",
    ),
)
_REQUEST_AT_FAULT: tuple[tuple[_Test, str, str], ...] = (
    (lambda f: f.is_in(413), "context_length", "the prompt was too long for {where}{said}"),
    (lambda _: True, "bad_request", "{where} refused the request ({status}){said}"),
)
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
    to be let in."""
    error = error_object(body)
    whole = scrub(" ".join(str(error.get("message") or "").split()), *secrets)
    code = " ".join(str(error.get(key) or "") for key in ("code", "type", "status"))
    failure = _Failure(status, code, whole[:300], f"{model} at {address}", bool(secrets))
    busy = status == 429 or "rate_limit" in code or "RESOURCE_EXHAUSTED" in code
    trouble = status is None or status >= 500 or status in _TRY_LATER
    if (refused := _first(_PERMANENT, failure)) is not None:
        return refused
    if busy:
        return ModelBusy(f"{failure.where} is busy (429){failure.said}", retry_after=wait_of(headers, whole))
    if (refused := _first(_PERMANENT_UNLESS_BUSY, failure)) is not None:
        return refused
    if trouble:
        shown = f" ({status})" if status else ""
        return ModelDown(f"{failure.where} failed{shown}{failure.said}", retry_after=wait_of(headers, ""))
    refused = _first(_REQUEST_AT_FAULT, failure)
    assert refused is not None  # the last row always holds
    return refused


def _first(rows: Sequence[tuple[_Test, str, str]], failure: _Failure) -> ModelRefused | None:
    for test, category, words in rows:
        if test(failure):
            text = words.format(where=failure.where, said=failure.said, status=failure.status)
            return ModelRefused(text, category=category)
    return None


def scrub(text: str, *secrets: str) -> str:
    """A provider's text without the given secrets and without anything else that looks like a key."""
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, "[key]")
    return _BEARER.sub("Bearer [key]", _KEY.sub("[key]", text))
