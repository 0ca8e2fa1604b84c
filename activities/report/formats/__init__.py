"""The formats of a report, `render(report, "md")`: one table, read by everything that offers them.

An installed package adds one by an entry point of the group `determinator.formats` that names a `Format`.
Importing it loads nothing else but these, since the help of a command reads it: a format's module, and its
library, is imported when it is rendered.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from activities.contracts.errors import DeterminatorError, install
from activities.plugins import load, no_exit

if TYPE_CHECKING:
    from activities.contracts.evidence import Evidence
    from activities.report.formats.blocks import Document
    from activities.report.schema import Report

Renderer = Callable[["Report", "Mapping[str, Evidence]"], bytes]


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write a report."""

    name: str
    file: str
    """Its file in a bundle; the ending is that of the file that `report --output` writes."""
    media_type: str
    renderer: Renderer
    about: str
    """What the file is, for the bundle's README."""
    other_suffixes: tuple[str, ...] = ()
    """Further endings by which it is asked for."""

    @property
    def is_text(self) -> bool:
        return self.media_type.startswith("text/") or self.media_type.endswith(("json", "bibtex", "systems"))

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The endings by which `--output` asks for it: `.csl` for `references.csl.json`."""
        return (f".{self.file.split('.')[1]}", *self.other_suffixes)


def _render(place: str, report: "Report", evidence: "Mapping[str, Evidence]") -> bytes:
    """Render a report by a function of `activities.report.formats`, such as `docx.docx`."""
    if not place:
        return report.model_dump_json(indent=2).encode()
    module, _, name = place.partition(".")
    renderer = getattr(import_module(f"{__name__}.{module}"), name)
    data: bytes = renderer(report, evidence) if module in _WITH_EVIDENCE else renderer(report)
    return data


_WITH_EVIDENCE = ("bibliography",)
"""Modules whose renderers are given the cited items as well."""
_BIBTEX = "application/x-bibtex"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_RIS = "application/x-research-info-systems"
_CSL = "application/vnd.citationstyles.csl+json"
_ROWS: tuple[tuple[str, str, str, str, str, tuple[str, ...]], ...] = (
    ("md", "report.md", "text/markdown", "markdown.markdown", "the report, to read", (".markdown",)),
    ("html", "report.html", "text/html", "html.html", "the same for a browser", (".htm",)),
    ("json", "report.json", "application/json", "", "the same for programs: every claim with its quotes", ()),
    ("docx", "report.docx", _WORD, "docx.docx", "the same for a word processor", ()),
    ("pdf", "report.pdf", "application/pdf", "pdf.pdf", "the same to print", ()),
    ("csv", "works.csv", "text/csv", "works_table.table_csv", "the table of works, for a spreadsheet", ()),
    ("bibtex", "references.bib", _BIBTEX, "bibliography.bibtex", "the references for BibTeX", ()),
    ("ris", "references.ris", _RIS, "bibliography.ris", "the references for a reference manager", ()),
    ("csl", "references.csl.json", _CSL, "bibliography.csl", "the references as CSL-JSON", ()),
)
_BUILT_IN: Mapping[str, Format] = {
    name: Format(name, file, media_type, partial(_render, place), about, suffixes)
    for name, file, media_type, place, about, suffixes in _ROWS
}
FORMATS: Mapping[str, Format] = {
    **_BUILT_IN,
    **load("determinator.formats", Format, taken_names=_BUILT_IN),
}
"""Every format by its name, those of installed packages last. All of them are in a bundle."""


def format_of(ending: str) -> str:
    """Return the format that a file's ending (`.bib`) stands for; empty for none."""
    return next((entry.name for entry in FORMATS.values() if ending.lower() in entry.suffixes), "")


CHARTS: Mapping[str, str] = {
    "effects": "effects by outcome that were not pooled",
    "pooled": "forest plots of what was pooled",
}
"""The charts of a report (`activities.report.formats.figures`) with what each shows."""
CHART_FORMATS: Mapping[str, str] = {"svg": "image/svg+xml", "png": "image/png", "md": "text/markdown"}
"""The formats of a chart with their media types."""


class MissingExtra(DeterminatorError):
    """The library behind a format is not installed."""

    def __init__(self, extra: str, hint: str = "md, html, docx, json, csl, ris and csv need nothing") -> None:
        super().__init__(f"this format needs an extra: {install(extra)}; {hint}")


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
    with no_exit():
        return form.renderer(report, evidence or {})


WRITTEN = ("md", "html", "docx", "pdf")
"""Formats in which a tree of blocks can be written."""


def render_document(document: "Document", name: str) -> bytes:
    """Write a tree of blocks as a file of a format. Raises UnknownFormat and MissingExtra."""
    modules = {"md": "markdown"}
    if name not in WRITTEN:
        raise UnknownFormat(f"there is no format {name!r}; choose one of {', '.join(WRITTEN)}")
    renderer: Callable[[Document], bytes] = import_module(f"{__name__}.{modules.get(name, name)}").write
    return renderer(document)
