"""A generated program must compute its numbers of the effects."""

import pytest

from activities.analysis.sandbox import NOT_COMPUTED, run_generated
from activities.contracts.effects import Effect, Program

pytestmark = pytest.mark.usefixtures("sandbox")

EFFECTS = tuple(
    Effect(study=f"s{n}", outcome=f"o{n}", measure="MD", estimate=n, low=n - 1, high=n + 1, quote="a secret")
    for n in (1, 2, 3)
)


def test_only_numbers_of_the_effects_are_a_result() -> None:
    code = (
        "x = [e['estimate'] for e in effects]\n"
        "result = {'estimate': np.mean(x), 'low': min(x), 'high': max(x), 'null': 0}"
    )
    done = run_generated(Program(code=code, method="a mean"), EFFECTS)
    assert (done.estimate, done.low, done.high, done.failed, done.method) == (2, 1, 3, "", "a mean")
    code = "result = {'estimate': 0.5, 'low': 0.4, 'high': 0.6, 'null': 1}"
    assert run_generated(Program(code=code), EFFECTS).failed == NOT_COMPUTED


def test_a_program_sees_no_sentence_of_a_work() -> None:
    done = run_generated(Program(code="print([e['quote'] for e in effects])\nresult = {}"), EFFECTS)
    assert done.output.strip() == "['', '', '']"
