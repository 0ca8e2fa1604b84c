"""One large file does not take the places of the others."""

import json
from pathlib import Path

import pytest

from activities.sources.library import store
from activities.sources.library.files import shares
from activities.sources.library.index import Libraries


@pytest.mark.parametrize(
    ("wanted", "places", "given"),
    [
        ([150, 3, 5], 100, [92, 3, 5]),
        ([80, 80], 100, [50, 50]),
        ([3, 5], 100, [3, 5]),
        ([], 100, []),
        ([9, 9, 9], 2, [0, 1, 1]),
    ],
)
def test_small_files_have_all_their_places_and_large_ones_share_the_rest(
    wanted: list[int], places: int, given: list[int]
) -> None:
    assert shares(wanted, places) == given


def test_a_later_file_is_searched_beside_one_that_is_larger_than_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MAX_DOCUMENTS", 20)
    folder = tmp_path / "papers"
    folder.mkdir()
    rows = [{"title": f"Record {n}", "text": f"Sentence number {n} about aspirin."} for n in range(30)]
    (folder / "a-large.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "z-later.txt").write_text("Colchicine lowered the number of attacks of gout in adults.")
    index = Libraries(tmp_path / "cache").open(folder)
    assert len(index.numbers) == 20
    names = [document.title for document in index.store.documents(index.numbers)]
    assert sum(name.startswith("Record") for name in names) == 19
    (left_out,) = index.set_aside
    assert left_out.name == "a-large.jsonl"
