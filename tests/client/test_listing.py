"""What a list of runs is narrowed by, read alike for every surface."""

from datetime import datetime, timedelta

import pytest

from client.failures import BadInput
from client.listing import Filter, Listing


def test_a_day_a_mode_and_a_text_are_read_as_people_write_them() -> None:
    asked = Listing.read(
        {"since": "today", "until": "yesterday", "mode": "simple", "text": " aspirin ", "state": None}
    )
    assert asked.since is not None
    assert asked.until is not None
    assert asked.since - asked.until == timedelta(days=1)
    assert (asked.mode, asked.text, asked.limit) == ("simple", "aspirin", 20)
    assert asked.is_narrow
    assert not Listing.read({"limit": 3, "text": None}).is_narrow


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"since": "2026-13-01"}, "is not a date; write 2026-03-01, today or yesterday"),
        ({"mode": "simpel"}, "did you mean simple"),
        ({"user": "eve"}, "user: Extra inputs are not permitted"),
        ({"limit": 0}, "limit: "),
    ],
)
def test_what_lists_nothing_is_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Listing.read(values)


def test_a_list_until_a_day_has_the_runs_of_that_day() -> None:
    query = Filter(until=datetime(2026, 3, 1).astimezone(), state="waiting").query()
    assert "StartTime < '2026-03-02" in query
    assert "ExecutionStatus = 'Running'" in query
