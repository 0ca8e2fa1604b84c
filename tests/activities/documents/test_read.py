"""Text files as quotable text."""

import pytest

from activities.documents.read import read_plain


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("The password is tulip-47.\n\nThe cleaner comes on Fridays.", ""),
        ("Bins go out on Monday.\n\nThe cleaner comes on Fridays.", ""),
        ("House rules\n\nBins go out on Monday.", "House rules"),
        (
            "Effect of aspirin on cancer.\n\n" + "Aspirin lowered the risk. " * 40,
            "Effect of aspirin on cancer.",
        ),
    ],
)
def test_the_first_sentence_of_a_note_is_not_its_title(text: str, title: str) -> None:
    assert read_plain(text.encode()).title == title
