"""The rows of a table in a PDF are read as rows where that is sure; else its text stays as it was."""

import io
import time

import pytest
import typst
from pypdf import PdfReader

from activities.documents import pdf_tables
from activities.documents.pdf import read_pdf

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


def test_tables_between_text_without_lines_and_of_one_page_are_read() -> None:
    said = read(f"{PROSE}\n{BOATS}\nFees are due in May.")
    assert said[0].startswith("The harbour has been open")
    assert said[-4:] == [
        f"Boat: Alma; Berth: A4; Length (m): 9.5; Fee (EUR): 1,150; Remarks: {REMARK}",
        "Boat: Brise; Berth: B12; Fee (EUR): 780",
        "Boat: Cormoran; Berth: A9; Length (m): 12.1; Fee (EUR): 1,420; Remarks: sold",
        "Fees are due in May.",
    ]
    bare = "#table(columns: (1fr, 1fr), stroke: none, [Tide], [Height], [first], [4.2 m], [second], [3.9 m])"
    said = read(f"{BOATS}\n{PROSE}\n{bare}\n#columns(2)[{PROSE * 6}]")
    assert "Boat: Brise; Berth: B12; Fee (EUR): 780" in said
    assert "Tide: second; Height: 3.9 m" in said


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
    assert "Boat: Alma; Fee: 12" in pdf_tables.replaced("Boat Fee\nAlma 12\nBrise 14", layout)
    for other in ("Boat Alma Brise\nFee 12 14", "Boat Fee\nAlma 12\nBrise 14\nBoat Fee\nAlma 12\nBrise 14"):
        assert pdf_tables.replaced(other, layout) == other


def test_when_the_time_is_over_no_page_is_laid_out() -> None:
    pages = PdfReader(io.BytesIO(pdf(BOATS))).pages
    texts = [pages[0].extract_text()]
    pdf_tables.read_rows(pages, texts, time.monotonic() - 1)
    assert texts == [pages[0].extract_text()]


def test_a_page_that_cannot_be_laid_out_keeps_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise KeyError("/Font")

    monkeypatch.setattr(pdf_tables, "replaced", fail)
    assert "Alma A4 9.5" in read_pdf(pdf(BOATS)).text
