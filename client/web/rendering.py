"""The templates of the page. Autoescaped: no text of a question, a title or a claim can become markup."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from activities.report.formats.blocks import Quote
from activities.report.formats.html import body, style
from activities.report.formats.references import anchor_of
from activities.report.schema import Report
from activities.text.normal_form import normalise
from workflows.event_types import AgentEvent

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"
MAX_CHARS = 400_000
"""Characters of a stored text that a page shows, around the quote."""


@cache
def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(version=_version(), run_url=run_url, anchor_of=anchor_of)
    return made


def rendered(name: str, **values: object) -> str:
    return environment().get_template(f"{name}.html.jinja").render(values)


@cache
def stylesheet() -> str:
    """Return the style of reports, and what the page around them has beyond it."""
    return f"{style()}\n{(FOLDER / 'page.css').read_text(encoding='utf-8')}"


def _version() -> str:
    """Return a text that changes with the files, by which a browser takes them anew after an update."""
    files = (*sorted(STATIC.iterdir()), FOLDER / "page.css")
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def run_url(run_id: str, *parts: str, **query: str) -> str:
    """Return the address of a run, or of something of it."""
    path = "/".join(quote(part, safe="") for part in ("run", run_id, *parts))
    return f"/{path}?{urlencode(query)}" if query else f"/{path}"


def report_body(report: Report, at: str) -> Markup:
    """Return the report at an address; each citation leads to its quote in the stored text of its work."""

    def address(shown: Quote) -> str:
        return f"{at}/source/{quote(shown.evidence_id, safe='')}?{urlencode({'quote': shown.text})}#quote"

    return body(report, address)


def drafts_of(events: Sequence[AgentEvent], titles: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """Return the paragraphs that are being written, by section: of each paragraph the latest event counts."""
    drafts: dict[str, dict[int, str]] = {}
    for event in events:
        if event.type == "streaming":
            drafts.setdefault(event.text("section_id"), {})[event.number("paragraph")] = event.text("text")
    return [
        (titles.get(section, "Report"), [text for _, text in sorted(paragraphs.items()) if text])
        for section, paragraphs in drafts.items()
        if any(paragraphs.values())
    ]


def parts_of(text: str, quote: str) -> tuple[list[tuple[str, bool]], bool]:
    """Return the text in pieces, each with whether it is the quote, and whether the quote was found.

    A quote that differs from the text in white space or in the form of characters is found in the normal form
    of both, in which the text is then shown.
    """
    start = text.find(quote) if quote else -1
    if quote and start < 0:
        folded, wanted = normalise(text), normalise(quote)
        if (start := folded.find(wanted)) >= 0:
            text, quote = folded, wanted
    if start < 0:
        return [(text[:MAX_CHARS], False)], False
    end = start + len(quote)
    first = max(0, start - MAX_CHARS // 2)
    pieces = [(text[first:start], False), (quote, True), (text[end : first + MAX_CHARS], False)]
    return [piece for piece in pieces if piece[0]], True
