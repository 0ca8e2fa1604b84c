"""The rows of a table in a PDF are read as rows where that is sure; else its text stays as it was."""

import io
import time

import pytest
import typst
from pypdf import PageObject, PdfReader

from activities.documents import pdf_tables
from activities.documents.read import read_pdf

REMARK = "new mooring lines are needed before the storms of the autumn begin"
BOATS = """
#table(columns: 5,
  [Boat], [Berth], [Length (m)], [Fee (EUR)], [Remarks],
  [Alma], [A4], [9.5], [1,150], [REMARK],
  [Brise], [B12], [], [780], [],
  [Cormoran], [A9], [12.1], [1,420], [sold])
""".replace("REMARK", REMARK)
PROSE = "The harbour has been open since spring. It is closed at night, and the keeper has the key. "


def pdf(source: str) -> bytes:
    return bytes(typst.compile(f"#set page(width: 16cm, height: 22cm)\n{source}".encode()))


def read(source: str) -> list[str]:
    """The lines of a PDF."""
    return [line for line in read_pdf(pdf(source)).text.split("\n") if line]


def test_each_row_of_a_table_is_a_line_between_the_text_around_it() -> None:
    said = read(f"{PROSE}\n{BOATS}\nFees are due in May.")
    assert said[0].startswith("The harbour has been open")
    assert said[-5:] == [
        "Boat | Berth | Length (m) | Fee (EUR) | Remarks",
        f"Alma | A4 | 9.5 | 1,150 | {REMARK}",
        "Brise | B12 |  | 780",
        "Cormoran | A9 | 12.1 | 1,420 | sold",
        "Fees are due in May.",
    ]


def test_a_table_without_lines_and_two_tables_of_a_page_are_read() -> None:
    bare = "#table(columns: (1fr, 1fr), stroke: none, [Tide], [Height], [first], [4.2 m], [second], [3.9 m])"
    said = read(f"{BOATS}\n{PROSE}\n{bare}\n#columns(2)[{PROSE * 6}]")
    assert "Brise | B12 |  | 780" in said
    assert "second | 3.9 m" in said


@pytest.mark.parametrize(
    "source",
    [
        f"#columns(2)[{PROSE * 12}]",
        f"#columns(2)[{'In 2019 there were 40 boats, and in 2021 there were 55 of them at 3 berths. ' * 12}]",
        "#table(columns: 2, [Boat], [Berth], [Alma], [north], [Brise], [south], [Cormoran], [north])",
        "#table(columns: 3, [4], [5], [6], [7], [8], [9], [10], [11], [12])",
        "1. Ann Lee. 2019. Tides.\n\n2. Bo Kim. 2020. Winds.\n\n3. Cy Roe. 2021. Waves.",
    ],
    ids=["columns of text", "columns of text with numbers", "no values", "no headings", "references"],
)
def test_what_is_not_surely_a_table_stays_as_it_was(source: str) -> None:
    plain = PdfReader(io.BytesIO(pdf(source))).pages[0].extract_text()
    assert "".join(read_pdf(pdf(source)).text.split()) == "".join(plain.replace("-\n", "").split())
    assert ": " not in read_pdf(pdf(source)).text


def test_words_in_another_order_than_on_the_page_are_not_touched() -> None:
    layout = "Boat    Fee\nAlma    12\nBrise   14\n"
    assert "Alma | 12" in pdf_tables.replaced("Boat Fee\nAlma 12\nBrise 14", layout)
    for other in ("Boat Alma Brise\nFee 12 14", "Boat Fee\nAlma 12\nBrise 14\nBoat Fee\nAlma 12\nBrise 14"):
        assert pdf_tables.replaced(other, layout) == other


def test_the_pages_of_a_pdf_begin_where_they_did() -> None:
    text = read_pdf(pdf(f"{BOATS}\n#pagebreak()\n{PROSE}"))
    assert text.text[text.pages[1] :].startswith("The harbour")


class Laid(list[PageObject]):
    """Pages that count how often one is laid out."""

    def __init__(self, pages: list[PageObject]) -> None:
        super().__init__(pages)
        self.asked = 0

    def __getitem__(self, place: object) -> PageObject:  # type: ignore[override]
        self.asked += 1
        return super().__getitem__(0)


def test_only_pages_with_values_are_laid_out_and_of_a_long_document_a_part() -> None:
    pages = Laid([PdfReader(io.BytesIO(pdf(BOATS))).pages[0]])
    text = pages.copy()[0].extract_text()
    count = pdf_tables.MOST_PAGES
    texts = [PROSE, *([text] * (count + 3))]
    pdf_tables.read_rows(pages, texts, time.monotonic() + 600)
    assert pages.asked == count
    assert texts == [PROSE, *([texts[1]] * count), text, text, text]
    assert texts[1] != text


def test_when_the_time_is_over_no_page_is_laid_out() -> None:
    pages = Laid([PdfReader(io.BytesIO(pdf(BOATS))).pages[0]])
    texts = [pages.copy()[0].extract_text()]
    pdf_tables.read_rows(pages, texts, time.monotonic() - 1)
    assert pages.asked == 0


def test_a_page_that_cannot_be_laid_out_keeps_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise KeyError("/Font")

    monkeypatch.setattr(pdf_tables, "with_rows", fail)
    assert "Alma A4 9.5" in read_pdf(pdf(BOATS)).text
