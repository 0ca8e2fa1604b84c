"""Failures are classified: what to retry and when, what never, with messages that contain no key."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.contracts.errors import (
    ModelBusy,
    ModelDown,
    ModelError,
    ModelRefused,
    next_delay,
    to_application_error,
)
from activities.models.failures import scrub, translate, wait_of
from tests.activities.models.conftest import KEY
from tests.replay import RECORDED


def recorded_failure(name: str, status: int, **headers: str) -> ModelError:
    body = json.loads(Path(RECORDED / "openai" / name).read_text())
    return translate(
        status, body, headers, model="gpt-4o", address="https://api.openai.com/v1", secrets=(KEY,)
    )


@pytest.mark.parametrize(
    ("name", "status", "kind", "category"),
    [
        ("error_400_context_length_exceeded.json", 400, ModelRefused, "context_length"),
        ("error_400_context_length_exceeded_messages.json", 400, ModelRefused, "context_length"),
        ("error_401_invalid_api_key.json", 401, ModelRefused, "auth"),
        ("error_404_model_not_found.json", 404, ModelRefused, "model_not_found"),
        ("error_400_unsupported_parameter.json", 400, ModelRefused, "bad_request"),
        ("error_429_gemini_resource_exhausted.json", 429, ModelBusy, "rate_limited"),
        ("error_429_rate_limit_tokens_6ms.json", 429, ModelBusy, "rate_limited"),
        ("error_429_rate_limit_tokens_long_wait.json", 429, ModelBusy, "rate_limited"),
    ],
)
def test_recorded_failures_are_what_they_are(
    name: str, status: int, kind: type[ModelError], category: str
) -> None:
    error = recorded_failure(name, status)
    assert type(error) is kind
    assert error.category == category
    assert to_application_error(error).non_retryable is (kind is ModelRefused)


def test_waits_said_in_words_are_honoured_and_capped() -> None:
    short = recorded_failure("error_429_rate_limit_tokens_6ms.json", 429)
    assert short.retry_after == pytest.approx(0.006)
    long = recorded_failure("error_429_rate_limit_tokens_long_wait.json", 429)
    assert long.retry_after == pytest.approx(114 * 3600 + 18 * 60)
    delay = next_delay(long)
    assert delay is not None
    assert delay.total_seconds() == 300


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"retry-after": "7"}, "try again in 90s", 7.0),
        ({"retry-after-ms": "250", "retry-after": "7"}, "", 0.25),
        ({}, "Please try again in 1m6.779s.", 66.779),
        ({}, "Please retry in 34.5s.", 34.5),
        ({}, "no hint", None),
    ],
)
def test_a_header_goes_before_the_words(headers: dict[str, str], message: str, seconds: float | None) -> None:
    assert wait_of(headers, message) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("status", "error", "category"),
    [
        (
            429,
            {"message": "You exceeded your current quota", "code": "insufficient_quota"},
            "insufficient_quota",
        ),
        (402, {"message": "Payment required"}, "insufficient_quota"),
        (429, {"message": "Request too large for gpt-4o: Limit 30000, Requested 90000"}, "context_length"),
        (403, {"message": "Country not supported"}, "auth"),
        (404, {}, "model_not_found"),
        (400, {"message": "model `x` does not exist"}, "model_not_found"),
        (400, {"message": "filtered", "code": "content_filter"}, "content_filter"),
        (500, {"message": "Requested tokens (9000) exceed context window of 8192"}, "context_length"),
        (413, {"message": "Payload"}, "context_length"),
        (
            400,
            {"message": "The input token count (9000) exceeds the maximum number of tokens allowed (4096)."},
            "context_length",
        ),
        (
            422,
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 9000",
            "context_length",
        ),
        (
            400,
            {"message": "length of prompt_tokens (8192) must be less than max_seq_len (4096)."},
            "context_length",
        ),
        (400, {"message": "输入长度超过模型最大上下文长度限制"}, "context_length"),
        (400, {"message": "Invalid 'messages[0].content': string too long."}, "context_length"),
        (400, {"message": "no"}, "bad_request"),
    ],
)
def test_what_cannot_succeed_later_is_not_retried(status: int, error: object, category: str) -> None:
    failure = translate(status, {"error": error}, {}, model="m", address="http://x/v1")
    assert isinstance(failure, ModelRefused)
    assert failure.category == category


@pytest.mark.parametrize("status", [408, 409, 500, 502, 503, 504, 529])
def test_a_server_in_trouble_is_asked_again(status: int) -> None:
    failure = translate(
        status, "<html>Bad gateway</html>", {"retry-after": "3"}, model="m", address="http://x"
    )
    assert isinstance(failure, ModelDown)
    assert failure.retry_after == 3


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_message_holds_the_key(before: str, after: str) -> None:
    body = {"error": {"message": f"{before}{KEY}{after}"}}
    for status in (400, 401, 404, 429, 500):
        assert KEY not in str(translate(status, body, {}, model="m", address="http://x", secrets=(KEY,)))
    assert KEY not in scrub(f"Authorization: Bearer {KEY}")
