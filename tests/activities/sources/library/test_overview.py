"""What `documents` says became of each file of a folder."""

import random
from pathlib import Path

import pytest
import typst

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


RECORD = (
    "TY  - JOUR\nAU  - Ott, Ann\nTI  - Samvoxil and noise in halls: a trial\nPY  - 2020\n"
    "DO  - 10.5555/SAM.1\nT2  - Journal of Noise\nAB  - Samvoxil cut noise in halls by 9 percent.\nER  - \n"
)
PAGE = (
    '<html><head><meta name="citation_doi" content="10.5555/sam.1"></head><body><p>Samvoxil cut noise in '
    "halls by 9 percent in twelve weeks of use, and it cost 5 euros in the year 2020.</p></body></html>"
)


@pytest.mark.parametrize(("record", "page"), [("a.ris", "b.html"), ("b.ris", "a.html")])
def test_the_fullest_text_of_a_work_is_searched_whatever_the_names(
    tmp_path: Path, record: str, page: str
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / record).write_text(RECORD)
    (folder / page).write_text(PAGE)
    index = Libraries(tmp_path / "home").open(folder)
    (work,) = index.documents
    assert "5 euros" in work.text
    assert (work.title, work.authors, work.year, work.venue) == (
        "Samvoxil and noise in halls: a trial",
        ("Ann Ott",),
        2020,
        "Journal of Noise",
    )
    files = {file.name: file for file in files_of(folder, index)}
    assert (files[page].status, files[record].status) == ("indexed", "repeats")


@pytest.mark.parametrize("link", ["aalias.txt", "zalias.txt"])
def test_a_link_beside_its_file_repeats_it(tmp_path: Path, link: str) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "areal.txt").write_text("A note.\n\nThe noise was cut by 9 percent.")
    (folder / link).symlink_to("areal.txt")
    files = states(folder, tmp_path / "home")
    assert files["areal.txt"].status == "indexed"
    assert files[link].status == "repeats"
    assert files[link].evidence_ids == files["areal.txt"].evidence_ids


def test_the_characters_of_a_file_and_what_is_not_quoted_are_listed(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "note.txt").write_text("The harbour is open.")
    source = '#set par.line(numbering: "1")\n' + "The harbour has been open since spring. " * 20
    (folder / "paper.pdf").write_bytes(typst.compile(source.encode()))
    files = states(folder, tmp_path / "home")
    assert files["note.txt"].characters == len("The harbour is open.")
    assert files["note.txt"].apart == ""
    assert files["paper.pdf"].characters == len("The harbour has been open since spring. ") * 20 - 1
    assert files["paper.pdf"].apart.startswith("line numbers (")
