"""What is said of the expected cost before a run begins."""

from pathlib import Path

import pytest

from activities.contracts.publish import Amount, Estimate
from client.runs.estimating import limit_doubts, works_in
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
    request = a_request(limits={"max_cost_microusd": most})
    lines = [*limit_doubts(Estimate(cost_microusd=expected), request)]
    assert len(lines) == bool(said)
    assert said in "".join(lines)


@pytest.mark.parametrize(
    ("least", "most", "said"),
    [
        (
            Amount(calls=6, tokens=8_186, seconds=19),
            Amount(calls=11, tokens=46_618, seconds=311),
            (
                "6 to 11 model calls, 8,200 to 47,000 tokens, at a price not known, 19 s to 5 minutes "
                "(from the plan)"
            ),
        ),
        (
            Amount(calls=6, tokens=90, cost_microusd=4_000, seconds=100),
            Amount(calls=6, tokens=90, cost_microusd=61_000, seconds=130),
            "6 model calls, 90 tokens, $0.00 to $0.06, 2 minutes (from the plan)",
        ),
        (
            Amount(calls=1, tokens=1, cost_microusd=0, seconds=2),
            Amount(calls=1, tokens=1, cost_microusd=0, seconds=119),
            "1 model call, 1 tokens, $0.00, 2 s to 2 minutes (from the plan)",
        ),
    ],
)
def test_the_bounds_are_said_once_where_they_are_the_same(least: Amount, most: Amount, said: str) -> None:
    assert Estimate(least=least, most=most).text == said


def test_a_folder_has_as_many_works_as_documents_and_as_long_as_they_are_read(tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("a" * 300)
    (tmp_path / "long.md").write_text("a" * 9_000)
    (tmp_path / ".hidden.txt").write_text("a")
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    found = works_in(str(tmp_path))
    assert (found.most, found.chars) == (2, 1_150)
    (tmp_path / "many.ris").write_text("")
    assert works_in(str(tmp_path)).most is None, "how many works a file of records has is not known"
