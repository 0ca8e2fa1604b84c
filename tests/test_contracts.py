"""What scripts and other people's programs depend on is neither removed nor renamed."""

from pathlib import Path

import pytest

from tests.contracts import contracts, frozen, missing

pytestmark = pytest.mark.invariant


async def test_no_public_name_is_removed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To write the file with the names of today: `python -m tests.contracts`."""
    assert missing(frozen(), await contracts(home, monkeypatch)) == {}


@pytest.mark.parametrize("kind", frozen())
def test_a_renamed_name_is_noticed_and_an_added_one_allowed(kind: str) -> None:
    held = frozen()
    first, *others = held[kind]
    assert missing(held, {**held, kind: [*others, f"{first}_renamed"]}) == {kind: [first]}
    assert missing(held, {**held, kind: [*held[kind], "added"], "another": ["kind"]}) == {}
