"""The report as PDF, set by Typst: Greek letters, signs and links are rendered correctly without any system
font.

The text goes in as data, never as Typst markup; the figures are those of the HTML page.
"""

import json
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path

from activities.report.formats.figures import drawings
from activities.report.formats.layout import layout
from activities.report.formats.model import LONG, ClaimView, ReferenceView
from activities.report.formats.render import MissingExtra
from activities.report.formats.view import view_of
from activities.report.schema import Report

TEMPLATE = Path(__file__).with_name("report.typ")


def pdf(report: Report) -> bytes:
    """The whole report. Raises MissingExtra without the `pdf` extra."""
    try:
        import typst
    except ImportError as error:
        raise MissingExtra("pdf") from error
    view = view_of(report)
    blocks = [_data(block) for block in layout(view, report.analysis, drawings(view))]
    data = {"title": view.title, "long": sorted(LONG), "blocks": blocks}
    made = typst.compile(TEMPLATE.read_bytes(), sys_inputs={"report": json.dumps(data)})
    assert isinstance(made, bytes)
    return made


def _data(value: object) -> object:
    """Blocks and their parts as JSON, each with its kind under `is`."""
    if isinstance(value, ClaimView):
        pmids = [cite.pmid for cite in value.cites if cite.pmid]
        numbers = [cite.number for cite in value.cites]
        return {"is": "claim", "text": value.text, "numbers": numbers, "pmids": pmids, "basis": value.basis}
    if isinstance(value, ReferenceView):
        return asdict(value) | {"notes": value.notes}
    if is_dataclass(value):
        kind = {"is": type(value).__name__.lower()}
        return kind | {field.name: _data(getattr(value, field.name)) for field in fields(value)}
    return [_data(one) for one in value] if isinstance(value, tuple) else value
