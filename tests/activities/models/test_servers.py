"""A model that is down is called by one step for all, not by every step."""

import pytest

from activities.contracts.errors import ModelBusy, ModelDown, ModelError, ModelRefused
from activities.contracts.evidence import ModelChoice
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
