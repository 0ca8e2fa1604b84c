"""The report in the formats people ask for: `render(report, "md")`."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from activities.contracts.errors import DeterminatorError
from activities.extras import install
from activities.report.format_table import FORMATS as FORMATS
from activities.report.format_table import Format as Format
from activities.report.format_table import format_of as format_of

if TYPE_CHECKING:
    from activities.contracts.evidence import Evidence
    from activities.report.formats.blocks import Document
    from activities.report.schema import Report


class MissingExtra(DeterminatorError):
    """The library behind a format is not installed."""

    def __init__(
        self, extra: str, others: str = "md, html, docx, json, csl, ris and csv need nothing"
    ) -> None:
        super().__init__(f"this format needs an extra: {install(extra)}; {others}")


class UnknownFormat(DeterminatorError):
    """There is no such format."""


def render(report: "Report", name: str, evidence: "Mapping[str, Evidence] | None" = None) -> bytes:
    """Write the report as a file of a format.

    `evidence` (the cited items by id) adds abstracts to the bibliographies. Raises UnknownFormat, and
    MissingExtra when the format's library is not installed.
    """
    form = FORMATS.get(name.strip().lower())
    if form is None:
        raise UnknownFormat(f"there is no format {name!r}; choose one of {', '.join(FORMATS)}")
    return form.renderer(report, evidence or {})


WRITTEN = ("md", "html", "docx", "pdf")
"""Formats in which a tree of blocks can be written."""


def render_document(document: "Document", name: str) -> bytes:
    """Write a tree of blocks as a file of a format. Raises UnknownFormat and MissingExtra."""
    modules = {"md": "markdown"}
    if name not in WRITTEN:
        raise UnknownFormat(f"there is no format {name!r}; choose one of {', '.join(WRITTEN)}")
    written: Callable[[Document], bytes] = import_module(f"{__name__}.{modules.get(name, name)}").written
    return written(document)
