"""Reports that tests of formats render, and readers of what was rendered."""

import io
import zipfile
from typing import Any

import pypdf
from lxml import html as lxml_html

from activities.contracts.evidence import Identifiers, SearchRecord
from activities.report.assemble import build_report
from activities.report.formats import render
from activities.report.schema import Report
from tests.activities.cases import (
    DOCUMENTS,
    FULL,
    REDUCED,
    TRIAL,
    planned,
    publish_input,
    quoting,
)

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


EVERY_FORMAT = ("md", "html", "docx", "pdf")


def words_of(report: Report, name: str) -> str:
    """What a reader sees who opens no quote, on one line; of HTML as it is printed."""
    data = render(report, name)
    if name == "html":
        page = page_of(data)
        for hidden in page.xpath("//head | //script | //nav | //details/*[not(self::summary)]"):
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
