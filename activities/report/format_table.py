"""The formats of a report: one table, read by the publisher, the commands, the bundle and the documents.

An installed package adds one by an entry point of the group `determinator.formats` that names a `Format`.
Importing it loads nothing else but these: a format's module, and its library, is imported when it is
rendered.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from activities.plugins import load

if TYPE_CHECKING:
    from activities.report.schema import Report
    from activities.types import Evidence

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
        """Whether it is UTF-8 text."""
        return self.media_type.startswith("text/") or self.media_type.endswith(("json", "bibtex", "systems"))

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The endings by which `--output` asks for it: `.csl` for `references.csl.json`."""
        return (f".{self.file.split('.')[1]}", *self.other_suffixes)


def _json(report: "Report", evidence: "Mapping[str, Evidence]") -> bytes:
    return report.model_dump_json(indent=2).encode()


def _markdown(report: "Report", evidence: "Mapping[str, Evidence]") -> bytes:
    from activities.report.formats.markdown import markdown

    return markdown(report).encode()


def _html(report: "Report", evidence: "Mapping[str, Evidence]") -> bytes:
    from activities.report.formats.html import html

    return html(report)


def _csv(report: "Report", evidence: "Mapping[str, Evidence]") -> bytes:
    from activities.report.formats.table import table_csv

    return table_csv(report)


def _bibtex(report: "Report", evidence: "Mapping[str, Evidence]") -> bytes:
    from activities.report.formats.bibliography import bibtex

    return bibtex(report, evidence)


def _ris(report: "Report", evidence: "Mapping[str, Evidence]") -> bytes:
    from activities.report.formats.bibliography import ris

    return ris(report, evidence)


def _csl(report: "Report", evidence: "Mapping[str, Evidence]") -> bytes:
    from activities.report.formats.bibliography import csl

    return csl(report, evidence)


def _docx(report: "Report", evidence: "Mapping[str, Evidence]") -> bytes:
    from activities.report.formats.docx import docx

    return docx(report)


def _pdf(report: "Report", evidence: "Mapping[str, Evidence]") -> bytes:
    from activities.report.formats.pdf import pdf

    return pdf(report)


_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_BUILT_IN: Mapping[str, Format] = {
    one.name: one
    for one in (
        Format("md", "report.md", "text/markdown", _markdown, "the report, to read", (".markdown",)),
        Format("html", "report.html", "text/html", _html, "the same for a browser", (".htm",)),
        Format(
            "json",
            "report.json",
            "application/json",
            _json,
            "the same for programs: every claim with its quotes",
        ),
        Format("docx", "report.docx", _WORD, _docx, "the same for a word processor"),
        Format("pdf", "report.pdf", "application/pdf", _pdf, "the same to print"),
        Format("csv", "works.csv", "text/csv", _csv, "the table of works, for a spreadsheet"),
        Format("bibtex", "references.bib", "application/x-bibtex", _bibtex, "the references for BibTeX"),
        Format(
            "ris",
            "references.ris",
            "application/x-research-info-systems",
            _ris,
            "the references for a reference manager",
        ),
        Format(
            "csl",
            "references.csl.json",
            "application/vnd.citationstyles.csl+json",
            _csl,
            "the references as CSL-JSON",
        ),
    )
}
FORMATS: Mapping[str, Format] = {
    **_BUILT_IN,
    **load("determinator.formats", Format, taken=_BUILT_IN),
}
"""Every format by its name, those of installed packages last. All of them are in a bundle."""


def format_of(ending: str) -> str:
    """The format that a file's ending (`.bib`) stands for; empty for one that stands for none."""
    return next((one.name for one in FORMATS.values() if ending.lower() in one.suffixes), "")
