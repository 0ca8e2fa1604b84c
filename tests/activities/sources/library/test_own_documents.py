"""Word, slides, workbooks, books, LaTeX, tables and exports of reference managers as a library."""

import io
import json
import zipfile
from bisect import bisect_right
from datetime import datetime
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
import typst

from activities.contracts.evidence import Evidence
from activities.documents.office import read_epub
from activities.documents.text import Unreadable
from activities.sources.library import files, reading
from activities.sources.library.reading import MAX_PART_CHARS, SetAside, _parts, read_file
from tests.libraries import Collection, read_folder
from tests.security.test_reading import shared_stream_pdf

SENTENCE = "Aspirin lowered the risk of colorectal cancer in this cohort of nurses."


def read(folder: Path) -> dict[str, Evidence]:
    """The documents by file name; nothing is set aside."""
    collection: Collection = read_folder(folder)
    assert not collection.set_aside
    return {document.facts["file"]: document for document in collection.documents}


def test_a_word_document_is_read_in_its_order(tmp_path: Path) -> None:
    made = docx.Document()
    made.core_properties.title = "Aspirin and cancer"
    made.core_properties.author = "Jane Doe; Juan Roe"
    made.add_heading("Results", 1)
    made.add_paragraph(SENTENCE)
    table = made.add_table(1, 3)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "Cases"
    table.cell(0, 2).text = "17"
    made.add_paragraph("After the table.")
    made.save(str(tmp_path / "a.docx"))
    document = read(tmp_path)["a.docx"]
    assert document.title == "Aspirin and cancer"
    assert document.authors == ("Jane Doe", "Juan Roe")
    assert document.text == f"Results\n\n{SENTENCE}\n\nCases | 17\n\nAfter the table."
    assert document.url == (tmp_path / "a.docx").as_uri()


def test_a_presentation_has_a_page_for_each_slide(tmp_path: Path) -> None:
    made = pptx.Presentation()
    for title, body in (("First", "Words of the first slide."), ("Second", SENTENCE)):
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = body
    slide.notes_slide.notes_text_frame.text = "What is said to it."
    made.save(str(tmp_path / "talk.pptx"))
    document = read(tmp_path)["talk.pptx"]
    assert document.title == "First"
    first, second = document.pages
    assert document.text[first:second].startswith("First")
    assert document.text[second:] == f"Second\n\n{SENTENCE}\n\nWhat is said to it."


def test_a_workbook_is_read_sheet_by_sheet_and_a_day_has_no_time(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    doses = book.active
    assert doses is not None
    doses.title = "Doses"
    for row in (("drug", "dose in mg"), ("aspirin", 81), ("metformin", 500.0)):
        doses.append(row)
    book.create_sheet("Empty")
    fleet = book.create_sheet("Fleet")
    fleet.append(["plate", "driver", "inspection"])
    fleet.append(["HH-A 12", "Keller", datetime(2026, 9, 1)])  # noqa: DTZ001 - a workbook knows no zones
    fleet.merge_cells("B2:B3")
    fleet.append(["HH-B 7", None, "none"])
    book.save(tmp_path / "a.xlsx")
    assert read(tmp_path)["a.xlsx"].text.splitlines() == [
        *("Doses", "", "drug: aspirin; dose in mg: 81", "drug: metformin; dose in mg: 500", "", "Fleet", ""),
        "plate: HH-A 12; driver: Keller; inspection: 2026-09-01",
        "plate: HH-B 7; driver: Keller; inspection: none",
    ]


OPF = """<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
<metadata><dc:title>A book</dc:title><dc:creator>Jane Doe</dc:creator><dc:date>2019-05-01</dc:date></metadata>
<manifest><item id="b" href="b%20c.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="b"/><itemref idref="a"/><itemref idref="gone"/></spine></package>"""
CONTAINER = """<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="text/book.opf"/></rootfiles></container>"""


def test_an_e_book_is_read_in_reading_order(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "book.epub", "w") as book:
        book.writestr("META-INF/container.xml", CONTAINER)
        book.writestr("text/book.opf", OPF)
        book.writestr("text/a.xhtml", f"<html><body><p>{SENTENCE}</p></body></html>")
        book.writestr(
            "text/b c.xhtml",
            "<html><body><h1>One</h1><p>A <i>slanted</i>\n word.</p><script>x</script></body></html>",
        )
    document = read(tmp_path)["book.epub"]
    assert document.text == f"One\n\nA slanted word.\n\n{SENTENCE}"
    assert (document.title, document.authors, document.year) == ("A book", ("Jane Doe",), 2019)
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    with pytest.raises(Unreadable):
        read_epub(empty.getvalue())


def test_a_table_is_a_text_or_records(tmp_path: Path) -> None:
    (tmp_path / "doses.csv").write_text('drug;dose;form\n"aspirin; coated";81;tablet\n')
    (tmp_path / "export.csv").write_text(
        '"Title","Author","Publication Year","DOI","Abstract Note","Publication Title"\n'
        f'"On aspirin","Doe, Jane; Roe, Juan","2019","10.1000/x","{SENTENCE}","The Journal"\n'
    )
    documents = read(tmp_path)
    assert documents["doses.csv"].text == "drug: aspirin; coated; dose: 81; form: tablet"
    record = documents["export.csv"]
    assert (record.evidence_id, record.title, record.text) == ("doi:10.1000/x", "On aspirin", SENTENCE)
    assert (record.year, record.venue, record.full_text) == (2019, "The Journal", False)


def test_records_without_a_text_are_rows_of_one_text(tmp_path: Path) -> None:
    orders = [{"name": "Ann", "paid": True, "sum": 12.5}, {"name": "Bert", "paid": False, "sum": 3}]
    (tmp_path / "orders.jsonl").write_text("\n".join(map(json.dumps, orders)))
    (tmp_path / "orders.json").write_text(json.dumps([{**order, "title": "Rent"} for order in orders]))
    documents = read(tmp_path)
    assert (
        documents["orders.jsonl"].text == "name: Ann; paid: true; sum: 12.5\nname: Bert; paid: false; sum: 3"
    )
    assert documents["orders.json"].text.splitlines()[1] == "name: Bert; paid: false; sum: 3; title: Rent"
    works = [{"title": "Aspirin", "doi": "10.1000/x"}, {"title": "Statins", "doi": "10.1000/y"}]
    (tmp_path / "works.json").write_text(json.dumps(works))
    assert len(read_folder(tmp_path).set_aside) == len(works), "their texts are missing"


def test_a_long_file_is_as_many_documents_as_it_has_parts_and_no_line_is_lost(tmp_path: Path) -> None:
    rows = [f"{number},bolt of size {number % 9},{number * 3}" for number in range(20_000)]
    (tmp_path / "orders.csv").write_text("\n".join(("order,article,price", *rows)))
    (tmp_path / "diary.txt").write_text("\n".join(f"On day {number} it rained." for number in range(20_000)))
    collection = read_folder(tmp_path)
    assert not collection.set_aside
    table = [document for document in collection.documents if document.facts["file"] == "orders.csv"]
    diary = [document for document in collection.documents if document.facts["file"] == "diary.txt"]
    assert [part.title for part in table[:2]] == [
        f"orders (part 1 of {len(table)})",
        f"orders (part 2 of {len(table)})",
    ]
    lines = [line for part in table for line in part.text.splitlines()]
    assert lines[0] == "order: 0; article: bolt of size 0; price: 0", "a row has its headings in every part"
    assert len(lines) == len(rows)
    assert "".join(part.text for part in diary) == (tmp_path / "diary.txt").read_text()
    assert max(len(part.text) for part in (*table, *diary)) <= MAX_PART_CHARS
    assert len({document.evidence_id for document in collection.documents}) == len(collection.documents)


def test_a_page_keeps_its_number_in_a_later_part() -> None:
    text = "".join(f"{'word ' * 20_000}\n" for _ in range(5))
    whole = Evidence(
        evidence_id="a", source="library", title="Book", text=text, pages=tuple(range(0, len(text), 100_001))
    )
    parts = list(_parts(whole))
    assert [len(part.text) for part in parts] == [100_001] * 5
    assert [bisect_right(part.pages, 50) for part in parts] == [1, 2, 3, 4, 5]


BIB = """@article{doe,
  title = {On {Aspirin}: caf{\\'e}}, author = {Doe, Jane and Roe, Juan}, date = {2019-05},
  journaltitle = {The Journal},
  doi = {10.1000/x}, abstract = {%s}, file = {Full Text:files/1/doe.pdf:application/pdf;../outside.pdf}
}
@article{bare, title = {Nothing to quote}, year = 2020}
@book{gone, title = {Its file is gone}, abstract = {%s}, file = {files/2/gone.pdf}}
"""


def test_an_entry_of_a_bibliography_has_the_text_of_its_attachment(tmp_path: Path) -> None:
    library = tmp_path / "library"
    (library / "files" / "1").mkdir(parents=True)
    (library / "files" / "1" / "doe.pdf").write_bytes(shared_stream_pdf(3, 2))
    (tmp_path / "outside.pdf").write_bytes(shared_stream_pdf(1, 1))
    (library / "zotero.bib").write_text(BIB % (SENTENCE, SENTENCE))
    collection = read_folder(library)
    (bare,) = collection.set_aside
    assert bare.name == "zotero.bib, record 2"
    whole, gone = sorted(collection.documents, key=lambda document: document.title, reverse=True)
    assert (whole.evidence_id, whole.title) == ("doi:10.1000/x", "On Aspirin: café")
    assert (whole.authors, whole.year, whole.venue) == (("Jane Doe", "Juan Roe"), 2019, "The Journal")
    assert (whole.full_text, len(whole.pages), whole.facts["file"]) == (True, 3, "files/1/doe.pdf")
    assert "the same words again" in whole.text
    assert (gone.full_text, gone.text) == (False, SENTENCE)


def test_csl_is_a_record(tmp_path: Path) -> None:
    csl: dict[str, object] = {"title": "In CSL", "DOI": "10.1000/y", "abstract": SENTENCE}
    csl |= {"issued": {"date-parts": [[2018, 4]]}, "container-title": "The Journal"}
    csl |= {"author": [{"family": "Doe", "given": "Jane"}]}
    (tmp_path / "b.json").write_text(json.dumps([csl]))
    work = read(tmp_path)["b.json"]
    assert (work.evidence_id, work.year, work.authors, work.text) == (
        *("doi:10.1000/y", 2018, ("Jane Doe",)),
        SENTENCE,
    )


def test_a_document_that_unpacks_without_end_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "READ_SECONDS", 1.0)
    path = tmp_path / "bomb.docx"
    docx.Document().save(str(path))
    with zipfile.ZipFile(path) as before:
        parts = {name: before.read(name) for name in before.namelist()}
    parts["word/document.xml"] = parts["word/document.xml"].replace(
        b"<w:body>", b"<w:body>" + b"<w:p/>" * 4_000_000
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bomb:
        for name, data in parts.items():
            bomb.writestr(name, data)
    assert [item.name for item in read_folder(tmp_path).set_aside] == ["bomb.docx"]
    monkeypatch.setattr(reading, "MAX_UNPACKED_BYTES", 1 << 20)
    (aside,) = read_file(b"", str(path), path.name)
    assert isinstance(aside, SetAside)
    assert aside.reason == "it unpacks to more than 1 MiB"


def test_a_pdf_without_a_named_title_has_the_one_it_prints(tmp_path: Path) -> None:
    body = "Compound 22 reduced tumour growth by 40 percent in mice. " * 12
    title = "Compound 22 in mice: a study of its dose"
    for name, source in {
        "printed": f"#text(size: 18pt)[{title}]\n\n#text(size: 12pt)[Ada Lovelace]\n\n{body}",
        "plain": body,
        "named": f'#set document(title: "As named")\n#text(size: 18pt)[{title}]\n\n{body}',
    }.items():
        (tmp_path / f"{name}.pdf").write_bytes(typst.compile(f"// {name}\n{source} In {name}.".encode()))
    found = {d.facts["file"]: d.title for d in read_folder(tmp_path).documents}
    assert found == {"printed.pdf": title, "plain.pdf": "plain", "named.pdf": "As named"}


def test_a_saved_abstract_has_the_title_and_the_identifiers_of_its_head(tmp_path: Path) -> None:
    head = "Title: Surgery or chemoradiation\n in responders: a trial.\nYear: 2007\nPMID: 17401004\n"
    (tmp_path / "17401004.txt").write_text(f"{head}\nAbstract\nTwo-year survival was 34%.\n")
    (document,) = read(tmp_path).values()
    assert document.title == "Surgery or chemoradiation in responders: a trial."
    assert (document.identifiers.pmid, document.year) == ("17401004", 2007)


def test_a_letter_has_its_sender_its_date_and_its_subject(tmp_path: Path) -> None:
    message = (
        "From: Lukas Brenner <lukas@firm.example>\nTo: all@firm.example\n"
        "Date: Mon, 17 Feb 2025 09:12:00 +0100\n"
        "Subject: Trip to Lisbon\n\nWe fly on Tuesday at 06:40 from terminal two.\n"
    )
    for name in ("trip.eml", "trip.txt"):
        (tmp_path / name).write_text(message)
    (tmp_path / "talk.txt").write_text("From: the harbour we sailed on.\n\nThe wind was from the west.")
    documents = read(tmp_path)
    letters = [documents[name] for name in ("trip.eml", "trip.txt") if name in documents]
    assert letters
    for letter in letters:
        assert (letter.title, letter.authors, letter.year) == ("Trip to Lisbon", ("Lukas Brenner",), 2025)
        assert letter.facts["date"] == "2025-02-17"
        assert "We fly on Tuesday at 06:40" in letter.text
    assert documents["talk.txt"].authors == ()


def test_a_mailbox_has_a_document_for_each_message_and_a_notebook_what_was_printed(tmp_path: Path) -> None:
    head = "From ann@a.example Fri Feb  7 20:01:00 2025\nFrom: Ann <ann@a.example>\nSubject: {}\n\n"
    letters = (
        head.format("Car")
        + "It is mended.\n>From Monday on it is ready.\n\n"
        + head.format("Cello")
        + "Rent it."
    )
    (tmp_path / "old.mbox").write_text(letters)
    car, cello = read_folder(tmp_path).documents
    assert (car.title, cello.title, car.authors) == ("Car", "Cello", ("Ann",))
    assert "\nFrom Monday on it is ready." in car.text
    (tmp_path / "old.mbox").write_text("nothing")
    assert [aside.reason for aside in read_folder(tmp_path).set_aside] == ["it is no mailbox"]
    (tmp_path / "old.mbox").unlink()
    output = [{"text": ["p = 0.63\n"]}, {"data": {"text/plain": "0.21", "image/png": "iVBO"}}]
    cells = [{"source": ["# Pots\n", "Pot 8 fell over."]}, {"source": "fit(data)", "outputs": output}]
    (tmp_path / "pots.ipynb").write_text(json.dumps({"nbformat": 4, "cells": cells}))
    notebook = read(tmp_path)["pots.ipynb"]
    assert (notebook.title, notebook.text.split("\n\n")[-3:]) == ("Pots", ["fit(data)", "p = 0.63", "0.21"])
    odd = {"cells": [{"source": "fit(data)", "outputs": [{"data": {"text/plain": 5}}]}]}
    (tmp_path / "pots.ipynb").write_text(json.dumps(odd))
    assert [aside.reason for aside in read_folder(tmp_path).set_aside] == [
        "it is no notebook of the format 4"
    ]


def test_a_letter_without_an_address_has_its_sender_and_its_file_a_date(tmp_path: Path) -> None:
    name = "2025-03-09_brenner_to_house.txt"
    headers = "From: Lukas Brenner\nTo: the house\nSubject: Heating"
    (tmp_path / name).write_text(f"{headers}\n\nIt is cold upstairs.\n")
    (tmp_path / "reply.txt").write_text(f"{headers}\nDate: 11 March 2025\n\nIt is warm upstairs now.\n")
    letters = read(tmp_path)
    letter = letters[name]
    assert (letter.title, letter.authors, letter.year) == ("Heating", ("Lukas Brenner",), 2025)
    assert (letter.facts["date"], letters["reply.txt"].facts["date"]) == ("2025-03-09", "2025-03-11")


def test_the_head_of_a_document_dates_it_before_its_file_does(tmp_path: Path) -> None:
    text = "The roof was mended by Harrow and Sons for 1,890 pounds, as was agreed."
    (tmp_path / "2023-01-01 minutes.txt").write_text(f"Minutes of the committee, 16 April 2024\n\n{text}")
    (tmp_path / "2023-01-02 note.txt").write_text(f"On the roof\n\n{text} Nobody objected to it.")
    (tmp_path / "mail.txt").write_text(
        f"From: ann@x.example\nTo: b@x.example\nDate: Mon, 13 May 2024\nSubject: Roof\n\n{text}"
    )
    documents = read(tmp_path)
    dated = {
        name: (document.facts["date"], document.facts["date_from"], document.year)
        for name, document in documents.items()
    }
    assert dated == {
        "2023-01-01 minutes.txt": ("2024-04-16", "text", 2024),
        "2023-01-02 note.txt": ("2023-01-02", "file_name", 2023),
        "mail.txt": ("2024-05-13", "header", 2024),
    }
