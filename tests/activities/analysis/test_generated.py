"""A generated program must compute its numbers of the effects."""

import pytest

from activities.analysis.generated import NOT_COMPUTED, run_generated, shifted
from activities.contracts.effects import Arms, Effect, Program
from activities.extras import NotInstalled
from tests.activities.analysis.test_sandbox import _sandbox_is_there  # noqa: F401 - skips without bubblewrap

EFFECTS = tuple(
    Effect(study=f"s{n}", outcome=f"o{n}", measure="MD", estimate=n, low=n - 1, high=n + 1, quote="a secret")
    for n in (1, 2, 3)
)


def test_numbers_of_the_effects_are_a_result() -> None:
    code = (
        "x = [e['estimate'] for e in effects]\n"
        "result = {'estimate': np.mean(x), 'low': min(x), 'high': max(x), 'null': 0}"
    )
    done = run_generated(Program(code=code, method="a mean"), EFFECTS)
    assert (done.estimate, done.low, done.high, done.failed, done.method) == (2, 1, 3, "", "a mean")


def test_numbers_that_a_program_holds_itself_are_none() -> None:
    code = "result = {'estimate': 0.5, 'low': 0.4, 'high': 0.6, 'null': 1}"
    assert run_generated(Program(code=code), EFFECTS).failed == NOT_COMPUTED


def test_a_program_sees_no_sentence_of_a_work() -> None:
    done = run_generated(Program(code="print([e['quote'] for e in effects])\nresult = {}"), EFFECTS)
    assert done.output.strip() == "['', '', '']"


def test_shifted_effects_stay_possible() -> None:
    arms = Arms(events=4, total=4, control_events=1, control_total=9)
    other = shifted(Effect(study="s", outcome="o", measure="OR", estimate=2, low=1, high=4, n=13, arms=arms))
    assert other.arms is not None
    assert other.arms.events <= other.arms.total
    assert (other.estimate, other.low, other.high) == (3, 1.5, 6)


def test_without_bubblewrap_a_program_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(NotInstalled) as refused:
        run_generated(Program(code="result = {}"), EFFECTS)
    assert "\n" not in str(refused.value)
    assert "bubblewrap" in str(refused.value)
