"""What is said of the expected cost before a run begins."""

import pytest

from activities.contracts.publish import Estimate
from client.runs.estimating import estimate_lines
from tests.workflows.conftest import a_request


@pytest.mark.parametrize(
    ("most", "expected", "said"),
    [
        (None, None, ""),
        (100_000, None, "price"),
        (100_000, 200_000, "below"),
        (200_000, 100_000, ""),
    ],
)
def test_a_money_limit_that_cannot_hold_or_will_cut_the_run_short_is_told(
    most: int | None, expected: int | None, said: str
) -> None:
    lines = [
        *estimate_lines(Estimate(cost_microusd=expected), a_request(limits={"max_cost_microusd": most}))
    ][1:]
    assert len(lines) == bool(said)
    assert said in "".join(lines)
