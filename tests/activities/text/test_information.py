"""How much a word says in general English."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from activities.text import information as module
from activities.text.information import information


@pytest.fixture
def unread() -> Iterator[None]:
    """The counts as if nobody had asked for them yet."""
    module._read.cache_clear()
    information.cache_clear()
    yield
    module._read.cache_clear()
    information.cache_clear()


def test_a_rarer_word_says_more_and_a_compound_as_much_as_its_rarest_part() -> None:
    assert information("time") < information("kidney") < information("villein") <= 1.0
    assert information("kidney-time") == information("kidney")


@pytest.mark.usefixtures("unread")
def test_the_counts_of_words_are_read_once_however_many_threads_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[int] = []

    def slowly() -> dict[str, int]:
        reads.append(1)
        time.sleep(0.05)
        return {"kidney": 1_000_000}

    monkeypatch.setattr(module, "word_counts", slowly)
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(information, ("kidney", "time", "villein", "heart", "liver")))
    assert len(reads) == 1
