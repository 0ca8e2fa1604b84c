"""What `documents` says became of each file of a folder."""

import random
from pathlib import Path

from activities.sources.library.index import Libraries
from activities.sources.library.overview import FileState, files_of


def states(folder: Path, home: Path) -> dict[str, FileState]:
    return {file.name: file for file in files_of(folder, Libraries(home).open(folder))}


def test_the_encoding_that_was_guessed_and_the_bad_bytes_are_listed(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "plain.txt").write_text("Das Ölbad verkürzte die Müdigkeit.", encoding="utf-8")
    (folder / "mac.txt").write_bytes("Das Ölbad verkürzte die Müdigkeit um drei Tage.".encode("mac-roman"))
    (folder / "broken.txt").write_bytes("Das Ölbad verkürzte ".encode() + b"\xff .")
    (folder / "noise.txt").write_bytes(random.Random(1).randbytes(600).replace(b"\0", b""))
    files = states(folder, tmp_path / "home")
    assert files["plain.txt"].problems == ()
    assert "Mac Roman" in files["mac.txt"].problems[0]
    assert "1 place is not valid text" in files["broken.txt"].problems[0]
    assert files["noise.txt"].status == "unreadable"
    assert "save it as UTF-8" in files["noise.txt"].problems[0]
