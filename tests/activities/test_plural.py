"""Counts as people read them."""

import pytest

from activities.plural import plural


@pytest.mark.parametrize(
    ("count", "thing", "printed"),
    [
        (1, "quote", "1 quote"),
        (0, "quote", "0 quotes"),
        (2, "search", "2 searches"),
        (1, "study", "1 study"),
        (3, "study", "3 studies"),
        (2, "new item", "2 new items"),
    ],
)
def test_one_thing_is_no_plural(count: int, thing: str, printed: str) -> None:
    assert plural(count, thing) == printed
