import io
import sys

import docx
import pypdf
import pytest

from activities.analysis.meta_analysis import analyse_effects, with_generated
from activities.contracts.effects import Effect, GeneratedAnalysis
from activities.report.assemble import build_report
from activities.report.formats import MissingExtra, render
from tests.activities.analysis.studies import bcg
from tests.activities.cases import DOCUMENTS, planned, publish_input, quoting
from tests.activities.report.rendered import REPORT
from tests.activities.report.wide import RICH

FULL = RICH.replace(length="full")


def test_a_word_document_is_written_in_words_own_styles_with_links_and_metadata() -> None:
    document = docx.Document(io.BytesIO(render(RICH, "docx")))
    styles = {p.style.name: p.text for p in document.paragraphs if p.style is not None}
    assert {"Title", "Heading 1", "List Bullet", "Caption"} <= set(styles)
    links = {link.address for p in document.paragraphs for link in p.hyperlinks}
    assert "https://pubmed.ncbi.nlm.nih.gov/1/" in links
    properties = document.core_properties
    assert (properties.title, properties.author) == ("Metformin and mortality", "Determinator")
    assert properties.subject == RICH.question
    assert properties.created is not None
    assert properties.created.year == 2026


def test_the_tables_of_a_word_document_fit_its_page_and_repeat_their_heads() -> None:
    document = docx.Document(io.BytesIO(render(RICH, "docx")))
    page = document.sections[0]
    room = (page.page_width or 0) - (page.left_margin or 0) - (page.right_margin or 0)
    assert len(document.tables) == 2
    for table in document.tables:
        assert sum(cell.width or 0 for cell in table.rows[0].cells) <= room
        assert table.rows[0]._tr.xpath("w:trPr/w:tblHeader")


def test_without_what_draws_pictures_a_word_document_has_the_figures_as_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    document = docx.Document(io.BytesIO(render(FULL, "docx")))
    assert len(document.tables) == 6
    assert not document.inline_shapes


def test_a_pdf_has_the_claims_and_greek_letters() -> None:
    greek = quoting("TNF-\u03b1 fell.", ("pmid:1", 'TNF-\u03b1 fell, and the "drug" was inactive'))
    report = build_report(publish_input(planned("s1", greek)), DOCUMENTS)
    pages = pypdf.PdfReader(io.BytesIO(render(report, "pdf"))).pages
    text = " ".join("".join(page.extract_text() for page in pages).split())
    assert "TNF-\u03b1 fell.[1]" in text
    assert "Metformin and mortality" in text


@pytest.mark.parametrize(
    ("fmt", "module", "extra"),
    [("pdf", "typst", "pdf"), ("bibtex", "pylatexenc.latexencode", "bibliography")],
)
def test_a_missing_extra_is_one_clear_line(
    fmt: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"pip install 'determinator\[{extra}\]'"):
        render(REPORT, fmt)


def test_word_and_pdf_have_the_statistics_with_their_forest_plot_and_the_program() -> None:
    effects = [*bcg("RR"), Effect(study="Alone", outcome="fever", measure="MD", estimate=1)]
    program = GeneratedAnalysis(code="x = 1\nresult = x", output="done", method="A sum", failed="no dict")
    pooled = REPORT.replace(analysis=with_generated(analyse_effects(effects), program))
    document = docx.Document(io.BytesIO(render(pooled, "docx")))
    rows = [p.text for p in document.paragraphs]
    assert {"Statistics", "x = 1"} <= set(rows)
    assert any(row.startswith("Alone (fever)") for row in rows)
    lines = [shape._inline.docPr.get("descr") for shape in document.inline_shapes]
    assert any(
        text.startswith("tuberculosis: risk ratio: Aronson 1948 0.41 (0.13 to 1.26)") for text in lines
    )
    cells = [[cell.text for cell in row.cells] for table in document.tables for row in table.rows]
    assert sum(row[0] == "Aronson 1948" for row in cells) == 1
    assert any(row[0].startswith("Random effects") for row in cells)
    pages = pypdf.PdfReader(io.BytesIO(render(pooled, "pdf"))).pages
    text = " ".join(" ".join(page.extract_text().split()) for page in pages)
    for part in ("Statistics", "Aronson 1948", "Random effects", "Alone (fever)", "result = x"):
        assert part in text
    assert text.count("Prediction interval") == 2  # in the plot and in the table
    for form in ("md", "html"):
        shown = render(pooled, form).decode()
        assert "x = 1" in shown
        assert "no dict" in shown
