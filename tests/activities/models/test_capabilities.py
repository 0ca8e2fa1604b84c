"""A form of request that a server refused is not sent again."""

import pytest

from activities.models.capabilities import Capabilities

OPENAI = "https://api.openai.com/v1"
LOCAL = "http://127.0.0.1:8080/v1"


def learn(
    message: str, *, param: str = "", code: str = "", status: int = 400, at: str = LOCAL
) -> Capabilities:
    learned = Capabilities.assumed(at).learned(status, {"message": message, "param": param, "code": code})
    assert learned is not None
    return learned


def test_the_output_cap_goes_by_the_name_the_server_knows() -> None:
    assert Capabilities.assumed(OPENAI).limit == "max_completion_tokens"
    assert Capabilities.assumed(LOCAL).limit == "max_tokens"
    text = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens'."
    assert learn(text, param="max_tokens", code="unsupported_parameter").limit == "max_completion_tokens"
    old = learn("Unrecognized request argument supplied: max_completion_tokens", at=OPENAI)
    assert old.limit == "max_tokens"
    neither = old.learned(400, {"message": "Unknown parameter: max_tokens"})
    assert neither is not None
    assert neither.limit == "none"


@pytest.mark.parametrize(
    ("message", "param", "code"),
    [
        ("Invalid parameter: 'response_format' is not supported here.", "response_format", ""),
        ("[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type')}]", "", ""),
        ("Invalid schema for response_format: 'required' is required", "response_format", "invalid"),
        ("this server does not support json_schema", "", ""),
    ],
)  # fmt: skip
def test_structured_output_steps_down_one_rung(message: str, param: str, code: str) -> None:
    assert learn(message, param=param, code=code).format == "json_object_schema"


def test_what_a_server_refuses_teaches_the_form_of_requests() -> None:
    assert not learn("System role not supported", status=500).system_role
    text = "1 validation error: {'type': 'literal_error', 'loc': ('body', 'response_format', 'type')}"
    assert learn(text, status=500).format == "json_object_schema", "llama-cpp-python says it with a 500"
    text = "max_tokens is too large: 9000. This model supports at most 4096 completion tokens"
    assert learn(text, param="max_tokens", code="invalid_value").max_output == 4096


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "Unsupported parameter: 'stop' is not supported with this model."),
        (400, "This model's maximum context length is 4097 tokens, max_tokens included."),
        (401, "Incorrect API key; response_format is not supported"),
        (429, "stream is not supported"),
        (500, "Invalid upstream stream"),
    ],
)
def test_other_failures_teach_nothing(status: int, message: str) -> None:
    code = "context_length_exceeded" if "context" in message else ""
    assert Capabilities().learned(status, {"message": message, "code": code}) is None
