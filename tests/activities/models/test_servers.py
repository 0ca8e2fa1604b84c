"""A model that is down, or refuses a form of request, is not asked again and again."""

import pytest

from activities.contracts.errors import ModelBusy, ModelDown, ModelError, ModelRefused
from activities.contracts.evidence import ModelChoice
from activities.models.capabilities import Capabilities
from activities.models.servers import FAILURES, IN_A_ROW_SECONDS, REST_SECONDS, Breaker
from tests.activities.models.conftest import GOOD, Asker
from tests.fake_openai import FakeOpenAI, fails, says

DOWN = fails(503, "overloaded")


class Sick:
    """A breaker with a clock, around a model with scripted answers."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.calls = 0
        self.breaker = Breaker(lambda: self.now)

    def call(self, error: ModelError | None = None, takes: float = 1.0) -> None:
        with self.breaker.passage():
            self.calls += 1
            self.now += takes
            if error is not None:
                raise error

    def fail(self, takes: float = 1.0) -> None:
        with pytest.raises(ModelDown):
            self.call(ModelDown("it is down"), takes)

    def opened(self) -> "Sick":
        for _ in range(FAILURES):
            self.fail()
        return self


def test_after_failures_in_a_row_no_call_is_made_until_the_pause_is_over() -> None:
    sick = Sick().opened()
    sick.now += REST_SECONDS - 1
    with pytest.raises(ModelDown, match="it is down; it was not asked again") as raised:
        sick.call()
    assert sick.calls == FAILURES
    assert raised.value.retry_after == pytest.approx(1)
    sick.now += 1
    sick.call()
    assert sick.calls == FAILURES + 1


def test_an_answer_closes_it_and_resets_the_row() -> None:
    sick = Sick().opened()
    sick.now += REST_SECONDS
    sick.call()
    for _ in range(FAILURES - 1):
        sick.fail()
    sick.call()
    assert sick.calls == 2 * FAILURES + 1


def test_one_asks_for_all_and_a_probe_without_an_answer_is_followed_by_another() -> None:
    sick = Sick().opened()
    sick.now += REST_SECONDS
    with sick.breaker.passage():
        calls = sick.calls
        sick.fail()
        assert sick.calls == calls
    sick.call()
    sick = Sick().opened()
    sick.now += REST_SECONDS
    with pytest.raises(KeyboardInterrupt), sick.breaker.passage():
        raise KeyboardInterrupt
    sick.now += REST_SECONDS
    sick.call()


def test_calls_under_way_together_fail_as_one() -> None:
    sick = Sick()
    passages = [sick.breaker.passage() for _ in range(FAILURES + 1)]
    for passage in passages:
        passage.__enter__()
    sick.now += 1
    for passage in passages:
        error = ModelDown("it is down")
        passage.__exit__(type(error), error, None)
    sick.call()


def test_failures_far_apart_are_no_row_but_slow_ones_are() -> None:
    sick = Sick()
    for _ in range(FAILURES):
        sick.fail()
        sick.now += IN_A_ROW_SECONDS + 1
    sick.call()
    for _ in range(FAILURES):
        sick.fail(takes=240)
    calls = sick.calls
    sick.fail()
    assert sick.calls == calls


@pytest.mark.parametrize("answer", [ModelBusy("slow down"), ModelRefused("no such model")])
def test_a_server_that_answers_is_not_down(answer: ModelError) -> None:
    sick = Sick()
    for _ in range(FAILURES - 1):
        sick.fail()
    with pytest.raises(type(answer)):
        sick.call(answer)
    sick.fail()
    sick.call()


async def test_a_model_that_is_down_costs_no_request_while_it_rests(
    ask: Asker, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.models.servers.REST_SECONDS", 1e9)
    server.script(DOWN)
    for number in range(FAILURES + 2):
        with pytest.raises(ModelDown, match="overloaded"):
            await ask(scope=f"step {number}")
    assert len(server.bodies) == FAILURES
    # another model of the same server is another matter
    server.script(says(GOOD))
    other = Asker(ask.model, ModelChoice(backend="openai", model="other"))
    assert (await other())[0].label == "yes"


OPENAI = Capabilities.default_for("https://api.openai.com/v1")
LOCAL = Capabilities.default_for("http://127.0.0.1:8080/v1")
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
    new = old.after_refusal(status, error)
    assert (new and {name: getattr(new, name) for name in learned or {}}) == learned


def test_the_output_cap_goes_by_the_name_the_server_knows() -> None:
    assert (OPENAI.limit, LOCAL.limit) == ("max_completion_tokens", "max_tokens")
