"""A failing answer as an error with its kind."""

import email.utils
import math
import time
from collections.abc import Mapping
from contextlib import suppress

import httpx

from activities.contracts.errors import RateLimited, Refused, SourceError, Unavailable


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a Retry-After header: a number or an HTTP date (RFC 9110, 10.2.3); None without one."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    with suppress(ValueError):
        seconds = float(value)
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    try:
        return max(email.utils.parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return None


def failure(response: httpx.Response, source: str) -> SourceError:
    status = response.status_code
    wait = retry_after(response.headers)
    text = f"{source} answered {status}: {summary(response)}"
    if status == 429:
        return RateLimited(text, retry_after=wait)
    if status in (408, 425) or status >= 500:
        return Unavailable(text, retry_after=wait)
    return Refused(text)


def summary(response: httpx.Response, limit: int = 200) -> str:
    """Return the start of a body on one line, for a message."""
    text = " ".join(response.text[: limit * 4].split())[:limit]
    return text or ("it is empty" if response.is_success else response.reason_phrase)
