"""Reports that tests build and render, and readers of what was built and rendered."""

import io
import re
import zipfile
from collections.abc import Mapping
from typing import Any

import pypdf
from lxml import html as lxml_html

from activities.contracts.evidence import Evidence, Identifiers, SearchRecord, Statement
from activities.contracts.publish import PublishInput
from activities.report.assemble import build_report
from activities.report.audit import examine
from activities.report.evidence_lines import evidence_line
from activities.report.formats import render
from activities.report.schema import Report
from tests.activities.cases import DOCUMENTS, FULL, REDUCED, TRIAL, planned, publish_input, quoting, ref_of

EVIL = (
    "<script>alert(1)</script> ![x](http://evil.example/p.png) [y](javascript:alert(1)) # Head | cell "
    "`code` *bold* www.evil.example <https://evil.example> &lt;b&gt; \u202egnp.exe $x$ {brace \\input"
)


REPORT = build_report(
    FULL.replace(searches=(SearchRecord(source="pubmed", query="a | b", status="unavailable"),)), DOCUMENTS
)


def built(step: PublishInput) -> Report:
    return build_report(step, DOCUMENTS)


def codes(report: Report) -> list[str]:
    """The codes of the limitations."""
    return [statement.code for statement in report.statements]


def stated(report: Report, code: str) -> list[Statement]:
    return [statement for statement in report.statements if statement.code == code]


def faults(report: Report, documents: Mapping[str, Evidence] = DOCUMENTS) -> list[str]:
    """What an outsider finds wrong with a report."""
    return examine(report, [evidence_line(ref_of(item), item) for item in documents.values()]).faults()


def page_of(data: bytes | str) -> Any:
    return lxml_html.fromstring(data)


def hostile() -> Report:
    item = TRIAL.replace(
        title=EVIL,
        authors=(EVIL, "Roe B"),
        venue=EVIL,
        url="javascript:alert(1)",
        text=f"{REDUCED}. {EVIL} and so on.",
        identifiers=Identifiers(doi="10.1000/x)](http://evil.example", nct='NCT1"><b>'),
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


EVERY_FORMAT = ("md", "html", "docx", "pdf")


def words_of(report: Report, name: str = "md") -> str:
    """What a reader sees who opens no quote, on one line."""
    data = render(report, name)
    if name == "html":
        page = page_of(data)
        for hidden in page.xpath(
            "//head | //script | //nav | //details[@name='quote']/*[not(self::summary)]"
        ):
            hidden.drop_tree()
        text = page.text_content()
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


_CITATION = re.compile(r"(?<!\\)\[(\d+[a-z]*(?:, \d+[a-z]*)*)\](?!\()")
_ENTRY = re.compile(r"^(\d+)\. ", re.MULTILINE)


def citation_faults(markdown: str) -> list[str]:
    """Name references that are never cited, citations without a reference, and gaps in the numbering."""
    body, _, rest = markdown.partition("\n## References\n")
    entries, marker, after = rest.partition("\n## ")
    listed = [int(number) for number in _ENTRY.findall(entries)]
    marks = _CITATION.findall(body + marker + after)
    cited = {int(number) for mark in marks for number in re.findall(r"\d+", mark)}
    faults = [f"reference {number} is never cited" for number in listed if number not in cited]
    faults += [f"[{number}] has no reference" for number in sorted(cited.difference(listed))]
    if listed != list(range(1, len(listed) + 1)):
        faults.append(f"the references are numbered {listed}")
    return faults
