"""Text of pictures and scans, in a reading process as the library reads them."""

import sys
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from activities.documents import ocr
from activities.documents.ocr import DOTS_PER_INCH, _pad, even_sizes
from activities.documents.pdf import lay_out
from activities.documents.pdf_page import Page, Run
from activities.documents.readers import MEMORY_BYTES, readers
from activities.documents.text import Unreadable
from activities.sources.library import files
from activities.sources.library.index import Libraries
from activities.text.normal_form import verbatim
from tests.libraries import read_folder

LINES = (
    "Metformin and colorectal adenoma",
    "In this trial, metformin reduced the recurrence of adenomas",
    "in 151 patients who were followed for one year.",
)
QUOTE = "In this trial, metformin reduced the recurrence of adenomas in 151 patients"


def page(*lines: str) -> Image.Image:
    """A printed page, drawn. The engine enlarges one of which a side is shorter than 736 pixels."""
    picture = Image.new("RGB", (800, 740), "white")
    for place, line in enumerate(lines):
        ImageDraw.Draw(picture).text(
            (26, 26 + 40 * place), line, fill="black", font=ImageFont.load_default(24)
        )
    return picture


@pytest.mark.timeout(600)
def test_a_drawn_page_comes_back_and_its_quotes_verify(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a reader may have to wait for a core: how long a file may take is not what is tested here
    monkeypatch.setattr(files, "READ_SECONDS", files.SCAN_SECONDS)
    first, second = page(*LINES), page("The second page is about another trial of aspirin.")
    first.save(tmp_path / "pages.tiff", save_all=True, append_images=[second])
    first.save(tmp_path / "scan.pdf", resolution=DOTS_PER_INCH)  # it is drawn again at that, and no larger
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    Image.new("1", (7_000, 7_000)).save(tmp_path / "bomb.png")
    Image.new("RGB", (500, 500), "white").save(tmp_path / "empty.jpg")
    collection = read_folder(tmp_path)
    for document in collection.documents:
        assert verbatim(QUOTE, document.text), document.text
        assert (document.facts["text_from"], document.times) == ("ocr", ())
    of_two, _ = sorted(collection.documents, key=lambda document: -len(document.pages))
    assert of_two.text[of_two.pages[1] :].startswith("The second page")
    reasons = {item.name: item.reason for item in collection.set_aside}
    assert reasons.keys() == {"broken.png", "bomb.png", "empty.jpg"}
    assert "pixels" in reasons["bomb.png"]
    assert "no text" in reasons["empty.jpg"]


def test_lines_are_read_in_the_order_of_columns_and_words() -> None:
    def line(words: str, left: float, place: float) -> Run:
        return Run(words, left, left + 9 * len(words), 900 - 30 * place, 20 + 5 * (len(words) % 2))

    title = line("Of the boats in the harbour", 300, -4)
    left = [line(f"left line {n} of the boats that lie here", 100, n) for n in range(9)]
    right = [line(f"right line {n} of the boats that sail", 540, n + 0.1) for n in range(9)]
    words = [line("of", 140, -8.1), line("Risk", 100, -8), line("boats.", 162, -8.2)]
    mixed = sorted([title, *left, *right, *words], key=lambda run: (-run.base, run.left))
    text = lay_out([Page(even_sizes(mixed), [], 1_200)]).text
    assert text.split() == " ".join(["Risk of boats.", *(run.text for run in (title, *left, *right))]).split()


@pytest.mark.security
def test_a_picture_that_would_take_gigabytes_is_read_within_the_limits_of_a_document(tmp_path: Path) -> None:
    import resource

    def seconds() -> float:
        """Of processors: a reader may have to wait for one."""
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    Image.new("RGB", (6_300, 6_300), "white").save(tmp_path / "empty.jpg")
    began = seconds()
    assert read_folder(tmp_path).documents == ()
    readers().close()
    assert seconds() - began < files.READ_SECONDS
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 < MEMORY_BYTES


def test_pages_without_text_are_not_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(ocr, "_lines", lambda _: [])
    pages = iter([Image.new("1", (9, 9))] * 150)
    with pytest.raises(Unreadable, match="no text"):
        ocr._recognise(pages, 150)
    assert len(list(pages)) == 149


@pytest.mark.parametrize("size", [(12_000, 3), (1, 3_000), (3_000, 3_000), (800, 20)])
def test_no_picture_is_enlarged_to_more_than_a_page(size: tuple[int, int]) -> None:
    widened = _pad(Image.new("RGB", size))
    assert max(widened.size) <= 4 * min(widened.size)
    assert max(widened.size) == max(size)


def test_without_the_extra_it_says_what_to_install_and_reads_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from activities.sources.library import reading

    folder = tmp_path / "library"
    folder.mkdir()
    Image.new("RGB", (9, 9)).save(folder / "page.png")

    def here(file: files.FileStamp, _seconds: float, speech_model: str) -> object:
        return reading.read_file(b"", str(file.path), file.name, speech_model)

    monkeypatch.setattr(files, "_read", here)
    ocr._engine.cache_clear()
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    index = Libraries(tmp_path / "cache").open(folder)
    assert index.count == 0
    assert "determinator[scans]" in index.set_aside[0].reason
    monkeypatch.setattr(ocr, "_engine", lambda: None)
    monkeypatch.setattr(ocr, "_lines", lambda _: [(Run("Metformin", 0, 50, 9, 9), 0.9)])
    assert Libraries(tmp_path / "cache").open(folder).count == 1
