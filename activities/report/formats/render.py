"""The entry point of every format. A format's module, and its library, is imported when the format is
requested."""

from collections.abc import Callable, Mapping

from activities.errors import DeterminatorError
from activities.report.schema import Report
from activities.types import Evidence

Writer = Callable[[Report, Mapping[str, Evidence]], bytes]


class UnknownFormat(DeterminatorError):
    """There is no such format."""


def render(report: Report, fmt: str, evidence: Mapping[str, Evidence] | None = None) -> bytes:
    """The report as a file of a format.

    `evidence` (the cited items by id) adds abstracts to the bibliographies. Raises UnknownFormat, and
    MissingExtra when the format's library is not installed.
    """
    writer = _WRITERS.get(fmt.strip().lower())
    if writer is None:
        raise UnknownFormat(f"there is no format {fmt!r}; choose one of {', '.join(FORMATS)}")
    return writer(report, evidence or {})


def _json(report: Report, evidence: Mapping[str, Evidence]) -> bytes:
    return report.model_dump_json(indent=2).encode()


def _markdown(report: Report, evidence: Mapping[str, Evidence]) -> bytes:
    from activities.report.formats.markdown import markdown

    return markdown(report).encode()


def _html(report: Report, evidence: Mapping[str, Evidence]) -> bytes:
    from activities.report.formats.html import html

    return html(report)


def _bibtex(report: Report, evidence: Mapping[str, Evidence]) -> bytes:
    from activities.report.formats.bibliography import bibtex

    return bibtex(report, evidence)


def _ris(report: Report, evidence: Mapping[str, Evidence]) -> bytes:
    from activities.report.formats.bibliography import ris

    return ris(report, evidence)


def _csl(report: Report, evidence: Mapping[str, Evidence]) -> bytes:
    from activities.report.formats.bibliography import csl

    return csl(report, evidence)


def _docx(report: Report, evidence: Mapping[str, Evidence]) -> bytes:
    from activities.report.formats.docx import docx

    return docx(report)


def _pdf(report: Report, evidence: Mapping[str, Evidence]) -> bytes:
    from activities.report.formats.pdf import pdf

    return pdf(report)


_WRITERS: Mapping[str, Writer] = {
    "md": _markdown,
    "html": _html,
    "json": _json,
    "bibtex": _bibtex,
    "ris": _ris,
    "csl": _csl,
    "docx": _docx,
    "pdf": _pdf,
}
FORMATS = tuple(_WRITERS)
"""What `render` knows."""
