"""A quote from a document with pages names its page, in every format, with a link that opens it there."""

import pytest
from pydantic import JsonValue

from activities.contracts.evidence import Evidence
from activities.documents.text import from_pages
from activities.report.assemble import build_report
from activities.report.formats import render
from activities.report.formats.references import best_url, quote_url
from activities.report.schema import Report
from activities.sources.library.records import read_record
from tests.activities.cases import planned, publish_input, quoting

PAGES = (
    "Aspirin was given to 1,200 nurses.\n",
    "  ",
    "Aspirin lowered the risk\nof colorectal   cancer by 17% in these nurses.",
    "No bleeding was seen in the nurses who took aspirin.",
)
READ = from_pages(PAGES)


def report(url: str, source: str = "library") -> Report:
    item = Evidence(
        evidence_id="x",
        source=source,
        title="Aspirin",
        text=READ.text,
        pages=READ.pages,
        url=url,
        full_text=True,
    )
    step = publish_input(
        planned(
            "s1",
            quoting("Aspirin lowered the risk by 17%.", ("x", "the risk of colorectal cancer by 17%")),
            quoting("No bleeding was seen.", ("x", "No bleeding was seen in the nurses")),
        )
    )
    return build_report(step, {"x": item})


@pytest.mark.parametrize("form", ["md", "html"])
def test_a_page_is_a_link_into_the_document(form: str) -> None:
    shown = render(report("file:///home/me/papers/aspirin%201.pdf"), form).decode()
    assert ("file:///home/me/papers/aspirin%201.pdf#page=3" in shown) is (form == "html")
    assert "aspirin 1.pdf" in shown, "what cannot be opened elsewhere is named"
    assert "p. 3" in shown
    assert shown.count("#page=4") == (1 if form == "html" else 0)


def test_only_pdfs_of_the_library_open_at_a_page() -> None:
    (reference,) = report("file:///home/me/talk.pptx").references
    assert best_url(reference) == "file:///home/me/talk.pptx"
    made = report("https://example.org/a?b=1", "web")
    reference = made.references[0].replace(evidence_type="web_page")
    short, long = "a 5-year follow-up, it says", "one two three four five and then six seven eight nine ten"
    assert quote_url(reference, short, 0) == (
        "https://example.org/a?b=1#:~:text=a%205%2Dyear%20follow%2Dup%2C%20it%20says"
    )
    assert quote_url(reference, long, 0) == (
        "https://example.org/a?b=1#:~:text=one%20two%20three%20four%20five,six%20seven%20eight%20nine%20ten"
    )
    article = reference.replace(evidence_type="article")
    assert quote_url(article, short, 0) is None, "the page of an article is not where its text was read"


@pytest.mark.parametrize(
    ("url", "source"),
    [
        ("file:///etc/passwd", "web"),
        ("file://host/share/x.pdf", "library"),
        ("javascript:alert(1)", "library"),
        ("file:////host/share/x.pdf", "library"),
        ("file:///a\nb.pdf", "library"),
    ],
)
def test_only_a_document_of_the_library_opens_a_file(url: str, source: str) -> None:
    (reference,) = report(url, source).references
    assert best_url(reference) is None


@pytest.mark.parametrize("url", ["file:///etc/passwd", "file://host/share/x.pdf", "javascript:alert(1)", "x"])
def test_a_record_of_others_names_no_file_of_this_machine(url: str) -> None:
    """A bibliography in the library may be somebody else's: only the file it is in, or beside, is a file."""
    record: dict[str, JsonValue] = {
        "title": "Aspirin and stroke",
        "abstract": "It lowered the risk of stroke.",
    }
    assert read_record({**record, "url": url}, "others.json").url is None
    assert read_record({**record, "url": "HTTPS://a.example/1"}, "others.json").url == "HTTPS://a.example/1"
