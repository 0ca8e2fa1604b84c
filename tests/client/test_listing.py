"""What a list of runs is narrowed by, read alike for every surface."""

import pytest

from client.failures import BadInput
from client.listing import Listing


def test_a_state_and_a_text_are_read_as_people_write_them() -> None:
    asked = Listing.read({"state": None, "text": " aspirin "})
    assert (asked.state, asked.text, asked.limit) == (None, "aspirin", 20)
    assert asked.is_narrow
    assert not Listing.read({"limit": 3, "text": None}).is_narrow
    assert "ExecutionStatus = 'Running'" in Listing(state="waiting").query()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"state": "lost"}, "state: 'lost' is not known. There are: cancelled"),
        ({"user": "eve"}, "user: there is no such key"),
        ({"limit": 0}, "limit: 0 is too small; the least is 1"),
    ],
)
def test_what_lists_nothing_is_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Listing.read(values)
