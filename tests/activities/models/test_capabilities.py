"""A form of request that a server refused is not sent again."""

import pytest

from activities.evidence_store import EvidenceStore
from activities.models.capabilities import Capabilities, CapabilityMemory

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


def test_a_smaller_cap_is_learned() -> None:
    text = "max_tokens is too large: 9000. This model supports at most 4096 completion tokens"
    assert learn(text, param="max_tokens", code="invalid_value").max_output == 4096


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


def test_the_ladder_ends_in_plain_instructions() -> None:
    rungs = [Capabilities()]
    while (lower := rungs[-1].learned(400, {"message": "response_format is not supported"})) is not None:
        rungs.append(lower)
    assert [r.format for r in rungs] == ["json_schema", "json_object_schema", "json_object", "none"]


def test_recorded_refusals_teach() -> None:
    text = "Unsupported value: 'messages[0].role' does not support 'system' with this model."
    assert not learn(text, param="messages[0].role", code="unsupported_value").system_role
    text = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value."
    assert not learn(text, param="temperature", code="unsupported_value").temperature
    assert not learn("Unknown parameter: 'stream_options'.", param="stream_options").stream_usage
    assert not learn("System role not supported", status=500).system_role
    text = "1 validation error: {'type': 'literal_error', 'loc': ('body', 'response_format', 'type')}"
    assert learn(text, status=500).format == "json_object_schema", "llama-cpp-python says it with a 500"


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


async def test_what_was_learned_outlives_the_process_and_stays_with_its_model(store: EvidenceStore) -> None:
    learned = Capabilities(format="none", temperature=False)
    await CapabilityMemory(store).remember(LOCAL, "m", learned)
    fresh = CapabilityMemory(store)
    assert await fresh.of(LOCAL, "m") == learned
    assert await fresh.of(LOCAL, "other") == Capabilities.assumed(LOCAL)
    assert await fresh.of(OPENAI, "m") == Capabilities.assumed(OPENAI)
