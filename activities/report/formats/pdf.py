"""The report as PDF, set by Typst, which needs no system font.

The text goes in as data, never as Typst markup; the figures are those of the HTML page.
"""

import json
from dataclasses import fields, is_dataclass
from pathlib import Path

from activities.messages import in_its_language, language
from activities.report.formats import MissingExtra
from activities.report.formats import blocks as page
from activities.report.formats.page import document
from activities.report.formats.text import sent_url
from activities.report.schema import Report

TEMPLATE = Path(__file__).with_name("report.typ")


def pdf(report: Report) -> bytes:
    """Write the whole report. Raises MissingExtra without the `pdf` extra."""
    return write(document(report))


@in_its_language
def write(tree: page.Document) -> bytes:
    """Write a tree of blocks as PDF. Raises MissingExtra without the `pdf` extra."""
    try:
        import typst
    except ImportError as error:
        raise MissingExtra("pdf") from error
    head, chapters = _data(tree.head), _data(tuple(page.on_paper(tree)))
    data = {
        "title": tree.title,
        "head": head,
        "chapters": chapters,
        "language": language(),
        "made": tree.about.get("made", ""),
    }
    document = typst.compile(TEMPLATE.read_bytes(), sys_inputs={"report": json.dumps(data)})
    assert isinstance(document, bytes)
    return document


def _data(value: object) -> object:
    """Blocks and their parts as JSON, each with its kind under `is`."""
    if isinstance(value, page.Cite):
        marks = [{"number": number, "text": text} for number, text in value.spans]
        return {"is": "cite", "marks": marks, "space": page.space_before(value)}
    if is_dataclass(value):
        values = {field.name: _data(getattr(value, field.name)) for field in fields(value)}
        if isinstance(value, page.Quote):
            values["behind"] = value.behind
        if isinstance(value, page.Run | page.Sentence):
            values["space"] = page.space_before(value)
        if isinstance(value, page.Run):
            values["url"] = sent_url(value.url)
        if isinstance(value, page.Sentence):
            last = value.text.rfind(" ") + 1  # beside which its sign stands
            values |= {"runs": value.runs(0, last), "last": value.runs(last), "emphasis": None}
        if isinstance(value, page.Table):
            values |= {"shares": value.shares, "columns": value.columns, "small": value.small}
        return {"is": type(value).__name__.lower()} | values
    return [_data(item) for item in value] if isinstance(value, tuple) else value
