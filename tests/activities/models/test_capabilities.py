"""A form of request that a server refused is not sent again."""

import pytest

from activities.models.capabilities import Capabilities

OPENAI = Capabilities.assumed("https://api.openai.com/v1")
LOCAL = Capabilities.assumed("http://127.0.0.1:8080/v1")
NO_SCHEMA, RENAMED = {"format": "json_object_schema"}, {"limit": "max_completion_tokens"}
LITERAL = "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type')}]"


@pytest.mark.parametrize(
    ("old", "status", "error", "learned"),
    [
        (LOCAL, 400, {"message": "'max_tokens' is not supported. Use 'max_completion_tokens'.",
                      "param": "max_tokens", "code": "unsupported_parameter"}, RENAMED),
        (OPENAI, 400, {"message": "Unrecognized request argument supplied: max_completion_tokens"},
         {"limit": "max_tokens"}),
        (LOCAL.replace(refused_limits=("max_completion_tokens",)), 400,
         {"message": "Unknown parameter: max_tokens"}, {"limit": "none"}),
        (LOCAL, 400, {"message": "Invalid parameter: 'response_format' is not supported here.",
                      "param": "response_format"}, NO_SCHEMA),
        (LOCAL, 400, {"message": LITERAL}, NO_SCHEMA),
        (LOCAL, 500, {"message": f"1 validation error: {LITERAL}"}, NO_SCHEMA),  # llama-cpp-python
        (LOCAL, 400, {"message": "Invalid schema for response_format: 'required' is required",
                      "param": "response_format", "code": "invalid"}, NO_SCHEMA),
        (LOCAL, 400, {"message": "this server does not support json_schema"}, NO_SCHEMA),
        (LOCAL, 500, {"message": "System role not supported"}, {"system_role": False}),
        (LOCAL, 400, {"message": "max_tokens is too large: 9000. This model supports at most 4096 tokens",
                      "param": "max_tokens", "code": "invalid_value"}, {"max_output": 4096}),
        (LOCAL, 400, {"message": "Unsupported parameter: 'stop' is not supported with this model."}, None),
        (LOCAL, 400, {"message": "This model's maximum context length is 4097 tokens, max_tokens included.",
                      "code": "context_length_exceeded"}, None),
        (LOCAL, 401, {"message": "Incorrect API key; response_format is not supported"}, None),
        (LOCAL, 429, {"message": "stream is not supported"}, None),
        (LOCAL, 500, {"message": "Invalid upstream stream"}, None),
    ],
)  # fmt: skip
def test_what_a_server_refuses_teaches_the_form_of_requests_and_other_failures_teach_nothing(
    old: Capabilities, status: int, error: dict[str, object], learned: dict[str, object] | None
) -> None:
    new = old.learned(status, error)
    assert (new and {name: getattr(new, name) for name in learned or {}}) == learned


def test_the_output_cap_goes_by_the_name_the_server_knows() -> None:
    assert (OPENAI.limit, LOCAL.limit) == ("max_completion_tokens", "max_tokens")
