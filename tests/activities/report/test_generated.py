"""The report of any run is valid in every format."""

import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping

import pytest
import rispy
from bibtexparser.entrypoint import parse_string
from docx import Document
from lxml import html as lxml_html

from activities.contracts.evidence import Evidence
from activities.report.formats import render
from activities.report.formats.references import words_of
from activities.report.schema import Report
from tests.activities.report.generated import generated
from tests.activities.report.rendered import citation_faults, faults


def _strings(page: lxml_html.HtmlElement, path: str) -> list[str]:
    """The values of attributes that a path finds."""
    elements = page.xpath(path)
    assert isinstance(elements, list)
    return [str(value) for value in elements if isinstance(value, str)]


def defects(report: Report, documents: Mapping[str, Evidence], *, pdf: bool) -> Iterator[str]:
    """Name what is wrong with a report in any of its formats."""
    yield from (f"audit: {problem}" for problem in faults(report, documents))
    if not report.title:
        yield "no title"
    if Report.model_validate_json(render(report, "json")) != report:
        yield "json: not read back as it was"
    text = render(report, "md").decode()
    yield from (f"md: {fault}" for fault in citation_faults(text))
    page = lxml_html.fromstring(render(report, "html"))
    names = _strings(page, "//@id")
    yield from (f"html: id {name} twice" for name, count in Counter(names).items() if count > 1)
    links = _strings(page, "//a/@href")
    targets = {href[1:] for href in links if href.startswith("#")}
    yield from (f"html: no target {name}" for name in sorted(targets - set(names)))
    if page.xpath("//img | //iframe | //main//script | //*[@src] | //*[@srcset] | //*[@onclick] | //@style"):
        yield "html: text has become markup"
    if page.xpath("//link | //object | //use") or re.search(
        r"url\(|@import", str(page.xpath("string(//style)"))
    ):
        yield "html: something is loaded"
    if not {*_strings(page, "//@aria-labelledby")} <= set(names):
        yield "html: a label is of nothing"
    outside = [h for h in links if not re.match(r"#|https?://", h)]
    yield from (f"html: link to {href}" for href in outside)
    shown = {words_of(claim.text) for claim in (*report.answer, *report.mechanism, *report.claims())}
    passages = any(section.passages for section in report.sections)
    if not passages and page.xpath("count(//*[@class='claim'])") != len(shown):
        yield "html: not every claim is printed once"
    library = parse_string(render(report, "bibtex").decode())
    if library.failed_blocks or len(library.entries) != len(report.references):
        yield "bibtex: not read back with every reference"
    if len(rispy.loads(render(report, "ris").decode())) != len(report.references):
        yield "ris: not read back with every reference"
    if not Document(io.BytesIO(render(report, "docx"))).paragraphs:
        yield "docx: empty"
    if pdf and not render(report, "pdf").startswith(b"%PDF"):
        yield "pdf: none"


@pytest.mark.parametrize("seed", range(8))
def test_a_generated_report_has_no_structural_defect(seed: int) -> None:
    assert [*defects(*generated(seed), pdf=seed % 4 == 0)] == []
