import io
import json
import sys
import zipfile
from typing import Any

import pypdf
import pytest
import rispy  # type: ignore[import-untyped]
from bibtexparser.entrypoint import parse_string
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html
from markdown_it import MarkdownIt

from activities.report.assemble import build_report
from activities.report.formats import FORMATS, MissingExtra, UnknownFormat, render
from activities.report.formats.text import clean, escape_markdown, safe_url
from activities.report.schema import Report
from activities.types import Identifiers, SearchRecord
from tests.activities.cases import DOCUMENTS, FULL, INCREASED, REDUCED, TRIAL, planned, publish_input, quoting

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
    assert not page.xpath("//script | //img | //b | //iframe | //link | //@onclick")
    assert all(
        h.startswith(("#", "https://doi.org/", "https://clinicaltrials.gov/"))
        for h in page.xpath("//a/@href")
    )
    assert "default-src 'none'" in page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]


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
        "## Limitations",
        "## References",
        "## Method",
        "## Quotes",
        "## Left out",
    ]
    assert "1. Doe JA, Roe B. [Metformin and mortality: a randomized trial.](https://pubmed" in text
    assert "EXPRESSION OF CONCERN" in text
    assert f"> {REDUCED}" in text
    assert r"| pubmed | a \| b | unavailable |" in text
    assert r"AMPK \| activation" in text


def test_html_stands_alone_and_shows_quotes_beneath_their_claims() -> None:
    page = page_of(render(REPORT, "html"))
    assert page.xpath("//html/@lang") == ["en"]
    claim = page.get_element_by_id("s1c1")
    assert [q.text_content() for q in claim.xpath(".//details/blockquote")] == [REDUCED]
    assert claim.xpath(".//a/@href")[0] == "#ref-1"
    targets = {href[1:] for href in page.xpath("//a/@href") if href.startswith("#")}
    assert targets <= set(page.xpath("//@id"))
    assert len(page.xpath("//@id")) == len(set(page.xpath("//@id")))
    assert not page.xpath("//*[@src] | //link")


def test_a_report_without_evidence_comes_out_in_every_format() -> None:
    report = build_report(publish_input(stop_reason="all_sources_failed"), {})
    assert all(render(report, fmt) is not None for fmt in FORMATS)


@pytest.mark.parametrize("fmt", FORMATS)
def test_a_hostile_report_comes_out_in_every_format(fmt: str) -> None:
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


def test_csl_has_what_a_citation_processor_needs() -> None:
    first = json.loads(render(REPORT, "csl"))[0]
    assert first["author"] == [{"family": "Doe", "given": "J. A."}, {"family": "Roe", "given": "B."}]
    assert first["issued"] == {"date-parts": [[2020]]}
    assert (first["type"], first["PMID"]) == ("article-journal", "1")


def test_a_word_document_has_the_claims_and_their_quotes() -> None:
    with zipfile.ZipFile(io.BytesIO(render(REPORT, "docx"))) as archive:
        text = archive.read("word/document.xml").decode()
    assert REDUCED in text
    assert "Metformin reduced mortality by 30% [1]." in text


def test_a_pdf_has_the_claims_and_greek_letters() -> None:
    greek = quoting("TNF-\u03b1 fell.", ("pmid:1", 'TNF-\u03b1 fell, and the "drug" was inactive'))
    report = build_report(publish_input(planned("s1", greek)), DOCUMENTS)
    pages = pypdf.PdfReader(io.BytesIO(render(report, "pdf"))).pages
    text = " ".join("".join(page.extract_text() for page in pages).split())
    assert "TNF-\u03b1 fell. [1]" in text
    assert "Metformin and mortality" in text


@pytest.mark.parametrize(("fmt", "module"), [("docx", "docx"), ("pdf", "typst")])
def test_a_missing_extra_is_one_clear_line(fmt: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"pip install 'determinator\[{fmt}\]'"):
        render(REPORT, fmt)


def test_an_unknown_format_names_those_there_are() -> None:
    with pytest.raises(UnknownFormat, match="choose one of md, html, json"):
        render(REPORT, "odt")


def test_a_quote_of_the_other_side_stands_by_its_own_claim() -> None:
    page = page_of(render(REPORT, "html"))
    assert INCREASED in page.get_element_by_id("s2c1").text_content()


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
def test_every_format_says_which_way_the_works_point(name: str) -> None:
    text = words_of(REPORT, name)
    assert "Which way it points" in text
    assert "affirmed by [1], [2]" in text
    assert "contradict one another" in text
    open_question = REPORT.model_copy(update={"question": "What is known about metformin?"})
    assert "Which way it points" not in words_of(open_question, name)


def test_a_work_that_denies_is_told_from_one_that_affirms() -> None:
    item = TRIAL.model_copy(update={"evidence_id": "pmid:9", "text": "Metformin did not reduce mortality."})
    step = publish_input(
        planned(
            "s1",
            quoting("Metformin reduced mortality by 30%.", ("pmid:1", REDUCED)),
            quoting("Metformin did not reduce mortality.", ("pmid:9", "Metformin did not reduce mortality")),
        )
    )
    text = render(build_report(step, {**DOCUMENTS, "pmid:9": item}), "md").decode()
    assert "is affirmed by [1]; denied by [2]." in text


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_sections_without_a_claim_are_told_together_and_never_as_chapters(name: str) -> None:
    step = publish_input(
        planned("s1", quoting("Metformin reduced mortality by 30%.", ("pmid:1", REDUCED)), title="Benefit"),
        planned("s2", title="Mechanism", status="partial", note="no new evidence"),
        planned("s3", title="Safety", status="failed", note="its worker died"),
    )
    text = words_of(build_report(step, DOCUMENTS), name)
    assert "Without findings" in text
    assert "Mechanism: No claim is made here: nothing that was found bears on it." in text
    assert "Safety (failed): No claim is made here: its worker died." in text
    assert "What of s2?" not in text


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_the_question_is_not_told_again_where_it_is_the_title(name: str) -> None:
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


def test_a_quote_is_told_with_the_claim_only_where_the_claim_is_in_other_words() -> None:
    step = publish_input(
        planned(
            "s1",
            quoting(f"{REDUCED}.", ("pmid:1", REDUCED)),
            quoting("A registry saw more deaths under the drug.", ("pmid:2", INCREASED)),
        )
    )
    text = render(build_report(step, DOCUMENTS), "md").decode()
    assert f"[1]:\n\n> {REDUCED}" in text
    assert f'[2], for "A registry saw more deaths under the drug.":\n\n> {INCREASED}' in text
