import io
import json
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

import docx
import pypdf
import pytest
import rispy
from bibtexparser.entrypoint import parse_string
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html
from markdown_it import MarkdownIt

from activities.report.assemble import build_report
from activities.report.audit import evidence_line, verify
from activities.report.formats import FORMATS, MissingExtra, UnknownFormat, render
from activities.report.formats.bibliography import keys
from activities.report.formats.text import clean, escape_markdown, safe_url
from activities.report.schema import Reference, Report
from activities.types import Identifiers, SearchRecord, WorkRow
from tests.activities.cases import (
    DOCUMENTS,
    FULL,
    INCREASED,
    REDUCED,
    TRIAL,
    planned,
    publish_input,
    quoting,
    ref_of,
)
from tests.activities.report.wide import RICH

STORED = Path(__file__).parent / "stored" / "report-0.1.0.json"
"""A report as the version before coded statements stored it."""
EVIL = (
    "<script>alert(1)</script> ![x](http://evil.example/p.png) [y](javascript:alert(1)) # Head | cell "
    "`code` *bold* www.evil.example <https://evil.example> &lt;b&gt; \u202egnp.exe $x$ {brace \\input"
)
REPORT = build_report(
    FULL.model_copy(
        update={"searches": (SearchRecord(source="pubmed", query="a | b", status="unavailable"),)}
    ),
    DOCUMENTS,
)


def page_of(data: bytes | str) -> Any:
    return lxml_html.fromstring(data)


def hostile() -> Report:
    item = TRIAL.model_copy(
        update={
            "title": EVIL,
            "authors": (EVIL, "Roe B"),
            "venue": EVIL,
            "url": "javascript:alert(1)",
            "text": f"{REDUCED}. {EVIL} and so on.",
            "identifiers": Identifiers(doi="10.1000/x)](http://evil.example", nct='NCT1"><b>'),
        }
    )
    claim = quoting(f"Mortality fell. {EVIL}", ("pmid:1", f"{REDUCED}. {EVIL}"))
    step = publish_input(
        planned("s1", claim, title=EVIL, status="partial", note=EVIL),
        title=EVIL,
        question=EVIL,
        limitations=(EVIL,),
        searches=(SearchRecord(source=EVIL, query=EVIL, status="refused", detail=EVIL),),
    )
    return build_report(step, {"pmid:1": item})


def test_a_claim_that_code_added_is_marked() -> None:
    own = quoting("Metformin reduced all-cause mortality by 30%.", ("pmid:1", REDUCED))
    added = quoting("Metformin increased all-cause mortality.", ("pmid:2", INCREASED))
    added = added.model_copy(update={"added_by_code": True})
    report = build_report(publish_input(planned("s1", own, added)), DOCUMENTS)
    assert [claim.added_by_code for claim in report.sections[0].claims] == [False, True]
    text = str(render(report, "md"), "utf-8")
    assert re.search(r"increased all-cause mortality[^*]*\*\([^)]*added by code\)", text)
    assert not re.search(r"by 30%[^*]*\*\([^)]*added by code\)", text)
    assert "added by code" in str(render(report, "html"), "utf-8")


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=400)
def test_escaped_text_shows_itself_and_does_nothing_else(text: str) -> None:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(f"before {escape_markdown(text)}")
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    children = tokens[1].children or []
    assert {child.type for child in children} <= {"text", "text_special"}
    assert "".join(child.content for child in children) == f"before {clean(text)}".strip()


@given(st.text("#>-+*=_~`|[](){}<>!&;:.0123456789ab \\$\n\t", max_size=30))
@settings(max_examples=400)
def test_escaped_text_starts_no_block(text: str) -> None:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(escape_markdown(text))
    assert [token.type for token in tokens] in ([], ["paragraph_open", "inline", "paragraph_close"])


def test_nothing_hostile_becomes_markup_in_markdown() -> None:
    rendered = MarkdownIt("gfm-like", {"linkify": False}).render(render(hostile(), "md").decode())
    page = page_of(rendered)
    assert not page.xpath("//script | //img | //code | //b")
    assert all(
        href.startswith(("https://doi.org/", "https://clinicaltrials.gov/"))
        for href in page.xpath("//a/@href")
    )


def test_nothing_hostile_becomes_markup_in_html() -> None:
    page = page_of(render(hostile(), "html"))
    assert not page.xpath(
        "//img | //iframe | //link | //object | //@onclick | //main//script | //a[not(@href)]"
    )
    assert len(page.xpath("//script")) == 1
    assert "evil" not in page.xpath("string(//script)")
    assert all(
        h.startswith(("#", "https://doi.org/", "https://clinicaltrials.gov/"))
        for h in page.xpath("//a/@href")
    )
    policy = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "http://",
        "https://a b/",
        "http://u:p@evil/",
        "//x",
        "",
        None,
    ],
)
def test_only_plain_addresses_become_links(url: str | None) -> None:
    assert safe_url(url) is None


def test_a_markdown_report_has_what_a_researcher_looks_for() -> None:
    text = render(REPORT, "md").decode()
    heads = [line for line in text.splitlines() if line.startswith("#")]
    assert heads == [
        "# Metformin and mortality",
        "## Summary",
        "## Benefit",
        "## Harm",
        "## Candidates",
        "### Metformin",
        "## Works",
        "## Contradictions",
        "## Limitations",
        "## Method",
        "### Searches",
        "### Verification",
        "## References",
        "## Quotes",
    ]
    assert "1. Doe JA, Roe B. [Metformin and mortality: a randomized trial.](https://pubmed" in text
    assert "EXPRESSION OF CONCERN" in text
    assert f"> {REDUCED}" in text
    assert r"| pubmed | a \| b | unavailable |" in text
    assert r"AMPK \| activation" in text


def test_html_stands_alone_and_each_citation_opens_its_quote_in_context() -> None:
    page = page_of(render(REPORT, "html"))
    assert page.xpath("//html/@lang") == ["en"]
    (cite,) = page.xpath("//p[*[@id='s1c1']]//a[starts-with(@href, '#s1c1')]/@href")
    quote = page.get_element_by_id(cite[1:])
    assert quote.xpath("string(.//mark)") == REDUCED
    assert "Metformin is a first-line drug" in quote.text_content()
    assert "#ref-1" in quote.xpath(".//a/@href")
    targets = {href[1:] for href in page.xpath("//a/@href") if href.startswith("#")}
    assert targets <= set(page.xpath("//@id"))
    assert len(page.xpath("//@id")) == len(set(page.xpath("//@id")))
    assert not page.xpath("//*[@src] | //link")
    assert "url(" not in page.xpath("string(//style)")


def test_a_report_without_evidence_is_rendered_in_every_format() -> None:
    report = build_report(publish_input(stop_reason="all_sources_failed"), {})
    assert all(render(report, fmt) is not None for fmt in FORMATS)


@pytest.mark.parametrize("fmt", FORMATS)
def test_a_hostile_report_is_rendered_in_every_format(fmt: str) -> None:
    assert render(hostile(), fmt, {"pmid:1": TRIAL})


def test_json_is_the_report() -> None:
    assert Report.model_validate_json(render(REPORT, "json")) == REPORT


def test_bibtex_is_read_back_with_every_reference() -> None:
    library = parse_string(render(REPORT, "bibtex", DOCUMENTS).decode())
    assert not library.failed_blocks
    entry = library.entries[0]
    assert entry["title"] == TRIAL.title
    assert entry["author"] == "Doe, J. A. and Roe, B."
    assert entry["doi"] == "10.1016/s0140-6736(20)1234-5"
    assert "M\\" in library.entries[1]["author"]
    assert len(library.entries) == 2


def test_citation_keys_are_what_people_write() -> None:
    def reference(
        number: int, *authors: str, year: int | None = 2009, title: str = "", pmid: str | None = None
    ) -> Reference:
        return Reference(
            number=number,
            evidence_id=f"x:{number}",
            source="pubmed",
            title=title,
            authors=authors,
            year=year,
            identifiers=Identifiers(pmid=pmid),
        )

    references = [
        reference(1, "Smith JA", "Roe B"),
        reference(2, "Smith P"),
        reference(3, "M\u00fcller K", year=2021),
        reference(4, "\u0141ukasz S\u00f8rensen"),
        reference(5, title="On the use of aspirin", year=None),
        reference(6, "\u738b\u5c0f\u660e"),
        reference(7, title="On the use of aspirin", pmid="16827975"),
        reference(8, "Smith P", pmid="16968876", year=2006),
    ]
    assert list(keys(references).values()) == [
        "Smith2009a",
        "Smith2009b",
        "Muller2021",
        "Sorensen2009",
        "Aspirin",
        "Pubmed2009",
        "PMID16827975-2009",
        "Smith2006",
    ]
    many = keys([reference(n, "Doe J") for n in range(30)])
    assert len(set(many.values())) == 30
    assert many[29] == "Doe2009ad"


def test_hostile_bibtex_breaks_no_entry() -> None:
    library = parse_string(render(hostile(), "bibtex").decode())
    assert not library.failed_blocks
    assert len(library.entries) == 1


def test_ris_is_read_back_with_every_reference() -> None:
    records = rispy.loads(render(REPORT, "ris", DOCUMENTS).decode())
    assert [r["title"] for r in records] == [r.title for r in REPORT.references]
    assert records[0]["authors"] == ["Doe, J. A.", "Roe, B."]
    assert records[0]["abstract"].startswith("BACKGROUND")
    assert "EXPRESSION OF CONCERN" in records[1]["notes"][0]


def ris_records(text: str) -> list[dict[str, list[str]]]:
    """RIS by its own rule: a tag of two characters, two spaces, a hyphen, a space; `TY` begins a record and
    `ER` ends it. Written apart from the library that writes the file."""
    records: list[dict[str, list[str]]] = []
    current: dict[str, list[str]] | None = None
    for line in filter(None, text.splitlines()):
        assert re.match(r"[A-Z][A-Z0-9]  - ?", line), line
        tag, value = line[:2], line[6:]
        if tag == "TY":
            assert current is None
            current = {}
        assert current is not None
        current.setdefault(tag, []).append(value)
        if tag == "ER":
            records.append(current)
            current = None
    assert current is None
    return records


def test_an_independent_reader_reads_the_ris_file() -> None:
    first, second = ris_records(render(REPORT, "ris", DOCUMENTS).decode())
    assert first["TY"] == ["JOUR"]
    assert first["AU"] == ["Doe, J. A.", "Roe, B."]
    assert first["DO"] == ["10.1016/s0140-6736(20)1234-5"]
    assert first["PY"] == ["2020"]
    assert first["ID"] == ["Doe2020"]
    assert second["AU"] == ["M\u00fcller, K."]
    assert len(ris_records(render(hostile(), "ris").decode())) == 1


def test_csl_has_what_a_citation_processor_needs() -> None:
    first = json.loads(render(REPORT, "csl"))[0]
    assert first["author"] == [{"family": "Doe", "given": "J. A."}, {"family": "Roe", "given": "B."}]
    assert first["issued"] == {"date-parts": [[2020]]}
    assert (first["type"], first["PMID"]) == ("article-journal", "1")


def test_a_word_document_is_written_in_words_own_styles_with_links_and_metadata() -> None:
    document = docx.Document(io.BytesIO(render(RICH, "docx")))
    styles = {p.style.name: p.text for p in document.paragraphs if p.style is not None}
    assert {"Title", "Subtitle", "Heading 1", "List Bullet", "Quote", "Caption"} <= set(styles)
    heads = [p.text for p in document.paragraphs if p.style is not None and p.style.name == "Heading 1"]
    assert heads == [
        *("Summary", "Background", "Benefit", "Harm", "Candidates", "Works", "Contradictions", "Gaps"),
        *("Limitations", "Method", "References"),
    ]
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
    assert len(document.tables) == 4
    for table in document.tables:
        assert sum(cell.width or 0 for cell in table.rows[0].cells) <= room
        assert table.rows[0]._tr.xpath("w:trPr/w:tblHeader")


def test_a_word_document_shows_the_figures_as_pictures_with_their_numbers_in_words() -> None:
    document = docx.Document(io.BytesIO(render(RICH, "docx")))
    said = [shape._inline.docPr.get("descr") for shape in document.inline_shapes]
    assert len(said) == 3
    assert f"{RICH.methodology.counts.identified} identified" in said[0]
    assert all(shape.width for shape in document.inline_shapes)


def test_without_what_draws_pictures_a_word_document_has_the_figures_as_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    document = docx.Document(io.BytesIO(render(RICH, "docx")))
    assert len(document.tables) == 7
    assert not document.inline_shapes


def test_a_word_document_has_the_claims_and_each_quote_that_differs_once() -> None:
    document = docx.Document(io.BytesIO(render(RICH, "docx")))
    quotes = [p.text for p in document.paragraphs if p.style is not None and p.style.name == "Quote"]
    assert quotes == [f"\u201c{REDUCED}\u201d [2]", f"\u201c{INCREASED}\u201d [4]"]
    points = [p.text for p in document.paragraphs if p.style is not None and p.style.name == "List Bullet"]
    assert points[0].startswith(
        "Long-term mortality stayed lower under metformin. [1, 2] [PMID: 4, 1] (strong"
    )


@pytest.mark.parametrize("name", ["html", "docx", "pdf", "md"])
def test_every_format_keeps_the_order_of_the_summary(name: str) -> None:
    text = words_of(RICH, name)
    claims = {c.id: c.text.rstrip(".") for section in RICH.sections for c in section.claims}
    places = [text.index(claims[claim]) for claim in RICH.summary_claims]
    assert places == sorted(places)
    assert len(places) > 1


def test_a_pdf_has_the_claims_and_greek_letters() -> None:
    greek = quoting("TNF-\u03b1 fell.", ("pmid:1", 'TNF-\u03b1 fell, and the "drug" was inactive'))
    report = build_report(publish_input(planned("s1", greek)), DOCUMENTS)
    pages = pypdf.PdfReader(io.BytesIO(render(report, "pdf"))).pages
    text = " ".join("".join(page.extract_text() for page in pages).split())
    assert "TNF-\u03b1 fell. [1]" in text
    assert "Metformin and mortality" in text


@pytest.mark.parametrize(
    ("fmt", "module", "extra"),
    [
        ("docx", "docx", "docx"),
        ("pdf", "typst", "pdf"),
        ("ris", "rispy", "bibliography"),
        ("bibtex", "bibtexparser.entrypoint", "bibliography"),
    ],
)
def test_a_missing_extra_is_one_clear_line(
    fmt: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"pip install 'determinator\[{extra}\]'"):
        render(REPORT, fmt)


def test_an_unknown_format_names_those_there_are() -> None:
    with pytest.raises(UnknownFormat, match="choose one of md, html, json"):
        render(REPORT, "odt")


def test_a_quote_of_the_other_side_stands_by_its_own_claim() -> None:
    page = page_of(render(REPORT, "html"))
    assert page.xpath("string(//*[@id='s2c1-q1']//mark)") == INCREASED


EVERY_FORMAT = ("md", "html", "docx", "pdf")


def words_of(report: Report, name: str) -> str:
    """What a reader sees, on one line."""
    data = render(report, name)
    if name == "html":
        text = page_of(data).text_content()
    elif name == "docx":
        text = docx_text(data)
    elif name == "pdf":
        text = " ".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages)
    else:
        text = data.decode()
    return " ".join(text.split())


def docx_text(data: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        return " ".join(map(str, lxml_html.fromstring(parts.read("word/document.xml")).itertext()))


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_which_way_the_works_point_is_printed_only_where_it_is_certain(name: str) -> None:
    rows = (
        WorkRow(evidence_id="pmid:1", direction="affirms", finding=REDUCED),
        WorkRow(evidence_id="pmid:2", direction="denies", finding=INCREASED),
    )
    first, *others = FULL.sections
    draft = first.draft.model_copy(update={"works": rows})
    report = build_report(
        FULL.model_copy(update={"sections": (first.model_copy(update={"draft": draft}), *others)}), DOCUMENTS
    )
    assert "affirmed by [1]; denied by [2]" in words_of(report, name)
    assert "affirmed by" not in words_of(REPORT, name)


def test_a_direction_falls_with_the_finding_that_its_work_does_not_say() -> None:
    row = WorkRow(
        evidence_id="pmid:1", direction="affirms", finding="Metformin cured everyone of everything."
    )
    section = FULL.sections[0]
    draft = section.draft.model_copy(update={"works": (row,)})
    step = publish_input(section.model_copy(update={"draft": draft}))
    (work,) = build_report(step, DOCUMENTS).works
    assert (work.finding, work.direction) == ("", None)
    assert (work.design, work.year, work.n) == ("randomized trial", 2020, 1204)


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_sections_without_a_claim_are_listed_together_and_never_as_chapters(name: str) -> None:
    step = publish_input(
        planned("s1", quoting("Metformin reduced mortality by 30%.", ("pmid:1", REDUCED)), title="Benefit"),
        planned("s2", title="Mechanism", status="partial", note="no new evidence"),
        planned("s3", title="Safety", status="failed", note="its worker died"),
    )
    text = words_of(build_report(step, DOCUMENTS), name)
    assert "Gaps" in text
    assert "Mechanism: No claim is made here: nothing that was found answers it." in text
    assert "Safety (failed): No claim is made here: its worker died." in text
    assert "What of s2?" not in text


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_the_question_is_not_repeated_where_it_is_the_title(name: str) -> None:
    question = "Does metformin reduce mortality?"
    section = planned("s1", quoting("Metformin reduced mortality by 30%.", ("pmid:1", REDUCED)))
    own = section.section.model_copy(update={"key_question": question})
    step = publish_input(section.model_copy(update={"section": own}), title=question)
    report = build_report(step, DOCUMENTS)
    assert words_of(report, name).count(question) == (2 if name == "html" else 1)  # HTML has it in its head


def test_a_search_that_several_sections_made_is_one_row() -> None:
    search = SearchRecord(source="library", query="metformin", status="ok", hits=9, kept=5, seconds=0.5)
    empty = search.model_copy(update={"status": "empty", "hits": 0, "kept": 0})
    report = build_report(
        FULL.model_copy(update={"searches": (search, search.model_copy(update={"section": "s2"}), empty)}),
        DOCUMENTS,
    )
    rows = [line for line in render(report, "md").decode().splitlines() if line.startswith("| library")]
    assert rows == [
        "| library | metformin | ok | 9 | 5 | 2 | 1.0 | 2 |",
        "| library | metformin | empty | 0 | 0 | 1 | 0.5 | 1 |",
    ]


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_every_format_shows_what_each_claim_stands_on(name: str) -> None:
    text = words_of(RICH, name)
    assert len(re.findall(r"strong(?: evidence)?, 2 (?:independent )?studies", text)) >= 2
    assert re.search(r"weak(?: evidence)?, 1 (?:independent )?study", text)


def test_a_claim_that_is_its_quote_is_printed_once() -> None:
    step = publish_input(
        planned(
            "s1",
            quoting(f"{REDUCED}.", ("pmid:1", REDUCED)),
            quoting("A registry saw more deaths under the drug.", ("pmid:2", INCREASED)),
        )
    )
    text = render(build_report(step, DOCUMENTS), "md").decode()
    body = text[text.index("## Section s1") :]
    assert body.count(REDUCED) == 1
    assert f'[2], for "A registry saw more deaths under the drug.":\n\n> {INCREASED}' in body


def test_a_report_stored_by_an_earlier_version_loads_and_renders() -> None:
    stored = Report.model_validate_json(STORED.read_bytes())
    assert not stored.structured
    assert stored.statements == ()
    for name in EVERY_FORMAT:
        text = words_of(stored, name)
        assert "Metformin reduced mortality by 30%" in text
        assert "The reviewer was in a hurry." in text
    lines = [evidence_line(ref_of(item), item) for item in DOCUMENTS.values()]
    assert verify(stored, lines) == []
    tampered = stored.model_copy(update={"executive_summary": f"Take it daily. {stored.executive_summary}"})
    assert len(verify(tampered, lines)) == 1


def test_addresses_and_years_carry_no_escapes_in_markdown() -> None:
    item = TRIAL.model_copy(
        update={"title": "www.example.org on metformin", "venue": None, "url": "https://www.example.org/a_b"}
    )
    step = publish_input(planned("s1", quoting(f"{REDUCED}.", ("pmid:1", REDUCED))))
    text = render(build_report(step, {"pmid:1": item}), "md").decode()
    references = text[text.index("## References") :]
    assert "[www.example.org on metformin.](https://www.example.org/a_b) 2020." in references
