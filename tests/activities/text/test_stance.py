"""What contradicts what."""

import pytest

from activities.text.stance import contradicts

FOUND = "Vitamin D deficiency is significantly associated with autoimmune diseases in children."


@pytest.mark.parametrize(
    ("other", "opposite"),
    [
        ("Vitamin D deficiency is not associated with autoimmune diseases in children.", True),
        ("Whether vitamin D deficiency is not associated with autoimmune diseases remains unclear.", False),
        ("Vitamin D deficiency in autoimmune diseases of children has not been adequately studied.", False),
    ],
)
def test_what_was_not_studied_contradicts_nothing(other: str, *, opposite: bool) -> None:
    assert contradicts(FOUND, other) is opposite
    assert contradicts(other, FOUND) is opposite
