"""Translate a model server's failures: status, body and headers -> one of our errors, worded for the user.

Categories of `ModelRefused`: auth, insufficient_quota, model_not_found, bad_request, context_length, refusal,
content_filter. `ModelBusy` is rate_limited, `ModelDown` is unavailable.
"""

import re
from collections.abc import Mapping
from contextlib import suppress

from activities.contracts.bounds import MAX_SECONDS, real_number
from activities.contracts.errors import ModelBusy, ModelDown, ModelError, ModelRefused
from activities.credentials import redacted
from activities.sources.http.failures import retry_after

_WAIT = re.compile(
    r"(?:try again|retry)(?: again)? (?:in|after)\s+((?:\d+(?:\.\d+)?\s*(?:ms|s|m|h)[a-z]*\s*)+)",
    re.IGNORECASE,
)
_SPAN = re.compile(r"(?<!\d)(\d+(?:\.\d+)?)\s*(ms|s|m|h)", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_CONTEXT = re.compile(
    r"context.?(?:length|window|size)|maximum context|too many (?:input )?tokens|exceed_context|"
    r"exceed(?:ed|s)? (?:the |max(?:imum)? )?(?:available )?context|request too large|n_ctx|max_seq_len|"
    r"(?:prompt|inputs?|string|messages?|content|text)`? (?:is |are )?(?:too long|longer than)|"
    r"token count.{0,40}exceed|max(?:imum)? number of (?:input )?tokens|max_new_tokens|"
    r"上下文|过长|太长|(?:长度|字数|tokens?).{0,16}超|超[过出].{0,20}(?:长度|字数|tokens?)",
    re.IGNORECASE,
)
"""Words of servers whose prompt was too long, in Chinese too. One that says it otherwise is asked once more
with a shorter prompt (`activities.roles.runner`)."""
_RATE = re.compile(r"per.?min|per.?day|\brate\b|频率|速率|每分钟", re.IGNORECASE)
"""In the words of a refusal for now, which may count tokens as well."""
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
UNEXPLAINED = "bad_request"
"""The category of a refusal whose words say nothing that is known."""
_BEARER = re.compile(r"Bearer\s+\S+", re.IGNORECASE)
_TITLE = re.compile(r"<title>([^<]*)", re.IGNORECASE)
_MESSAGES = ("message", "msg", "detail", "error")
"""Keys under which servers put the words of an error."""


class ReportedError(Exception):
    """An error that a server reports where an answer was expected, with a status of success."""

    def __init__(self, body: object) -> None:
        self.body = error_object(body)
        self.status = status_in(self.body)
        super().__init__(str(self.body.get("message") or "it reported an error without words"))


def error_object(body: object) -> dict[str, object]:
    """Return the error object of a body.

    `{"error": {...}}`, `{"error": "text"}`, `{"detail": ...}` or bare text.
    """
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    if not isinstance(body, dict):
        return {"message": _without_markup(str(body or ""))}
    inner = body.get("error")
    if isinstance(inner, dict):
        return inner
    words = next((str(body[name]) for name in _MESSAGES if body.get(name)), "")
    return {**body, "message": words} if words else body


def is_error(body: object) -> bool:
    """Tell whether a server's JSON that holds no answer says why."""
    return isinstance(body, dict) and any(body.get(name) for name in _MESSAGES)


def status_in(error: Mapping[str, object]) -> int | None:
    """Return the status of HTTP that an error names as its code; None for a code of another kind."""
    for code in (error.get("code"), error.get("status")):
        if isinstance(code, int | str) and re.fullmatch(r"[45]\d\d", str(code)):
            return int(code)
    return None


def _without_markup(text: str) -> str:
    """Return the title of a page that stands where an error was expected, as a proxy sends it."""
    if not text.lstrip().startswith("<"):
        return text
    title = _TITLE.search(text)
    return f"a web page: {title.group(1).strip()}" if title else "a web page"


def wait_of(headers: Mapping[str, str], message: str) -> float | None:
    """Return the seconds that the server asks us to wait.

    `retry-after-ms`, `retry-after`, else its text (`try again in 1m6.779s`).
    """
    with suppress(KeyError, ValueError):
        if (wait := real_number(float(headers["retry-after-ms"]) / 1000, MAX_SECONDS)) is not None:
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
    has_key: bool = True,
) -> ModelError:
    """Return the error for a failed call.

    `status` None: the failure came inside a stream; `has_key`: a key was sent. Of several signs the first
    decides; what a later attempt cannot change comes first.
    """
    error = error_object(body)
    status = status_in(error) if status is None else status
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    message = "; ".join(filter(None, (str(error.get("message") or ""), raw if isinstance(raw, str) else "")))
    summary = scrub(" ".join(message.split()))
    code = " ".join(str(error.get(key) or "") for key in ("code", "type", "status"))
    server, detail = f"{model} at {address}", f": {summary[:300]}" if summary else ""
    words = f"{code} {summary[:300]}"

    def refuse(category: str, text: str) -> ModelRefused:
        return ModelRefused(text, category=category)

    if _QUOTA.search(words) or status == 402:
        return refuse("insufficient_quota", f"the account of {server} is out of credit{detail}")
    is_long = _CONTEXT.search(words) and (status != 429 or not _RATE.search(words) or "too large" in words)
    if is_long and status not in (401, 403):
        return refuse("context_length", f"the prompt was too long for {server}{detail}")
    if status == 429 or "rate_limit" in code or "RESOURCE_EXHAUSTED" in code:
        return ModelBusy(f"{server} is busy (429){detail}", retry_after=wait_of(headers, summary))
    if status in (401, 403):
        text = f"{server} refused the key ({status}){detail}; OPENAI_API_KEY must hold one of this server"
        if not has_key:
            reason = "OPENAI_API_KEY goes to the address of OPENAI_BASE_URL alone"
            text = f"{server} wants a key ({status}){detail}; {reason}"
        return refuse("auth", text)
    if _FILTER.search(words):
        return refuse("content_filter", f"the content filter of {server} stopped the question{detail}")
    if status == 404 or (status is not None and status < 500 and _NO_MODEL.search(words)):
        fix = "check the model's name and OPENAI_BASE_URL"
        return refuse("model_not_found", f"{server} was not found{detail}; {fix}")
    if status is None or status >= 500 or status in _TRY_LATER:
        status_text = f" ({status})" if status else ""
        return ModelDown(f"{server} failed{status_text}{detail}", retry_after=wait_of(headers, ""))
    if status == 413:
        return refuse("context_length", f"the prompt was too long for {server}{detail}")
    return refuse(UNEXPLAINED, f"{server} refused the request ({status}){detail}")


def scrub(text: str) -> str:
    """Return a provider's text without the keys of this process and what else looks like a key."""
    return _BEARER.sub("Bearer [key]", _KEY.sub("[key]", redacted(text)))
