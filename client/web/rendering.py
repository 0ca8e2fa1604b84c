"""The page's own pieces of HTML. Autoescaped: no text of a question, a title or a claim can become markup."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from activities.contracts.evidence import Evidence
from activities.report.formats.blocks import Quote
from activities.report.schema import Report
from activities.text.normal_form import normalise
from workflows.event_types import AgentEvent, Streaming
from workflows.progress_rows import SECTION_HEAD, progress_rows, section_rows
from workflows.types import Progress

EVENTS_SHOWN = 30
"""Events that the page lists while a run goes on, the latest: the list changes every second."""
EVENTS_SHOWN_AT_END = 300
MAX_CHARS = 400_000
"""Characters of a stored text that a page shows, around the quote."""


@cache
def environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def progress_html(seen: Progress, events: Sequence[AgentEvent]) -> str:
    """How a run goes: phase, budget, sections side by side, what is being written."""
    titles = {section.id: section.title for section in seen.sections}
    return rendered(
        "progress",
        seen=seen,
        rows=progress_rows(seen),
        sections=section_rows(seen),
        head=SECTION_HEAD,
        drafts=[] if seen.stop_reason else drafts_of(events, titles),
    )


def events_html(seen: Progress, events: Sequence[AgentEvent]) -> str:
    """The latest events of a run; more of them once it is over and the list stands still."""
    shown = EVENTS_SHOWN_AT_END if seen.stop_reason else EVENTS_SHOWN
    listed = [event for event in reversed(events) if event.type != "streaming"]
    return rendered("events", events=listed[:shown], last_seq=seen.last_seq)


def rendered(name: str, **values: object) -> str:
    return environment().get_template(f"{name}.html.jinja").render(values)


def drafts_of(events: Sequence[AgentEvent], titles: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """The paragraphs that are being written, by section: of each paragraph the latest event counts."""
    drafts: dict[str, dict[int, str]] = {}
    for event in events:
        if isinstance(streamed := event.details, Streaming):
            drafts.setdefault(streamed.section_id, {})[streamed.paragraph] = streamed.text
    return [
        (titles.get(section, "Report"), [text for _, text in sorted(paragraphs.items()) if text])
        for section, paragraphs in drafts.items()
        if any(paragraphs.values())
    ]


def reading_html(report: Report, run_id: str) -> str:
    """The report for reading beside its evidence: each citation opens its quote in the other frame."""
    from activities.report.formats.html import page_of

    def address(shown: Quote) -> str:
        item, words = quote(shown.evidence_id, safe=""), quote(shown.text, safe="")
        return f"/runs/{quote(run_id)}/evidence/{item}?quote={words}#quote"

    return page_of(report, address)


def evidence_html(item: Evidence, quote: str, link: str | None) -> str:
    """The stored text of a work, with a quote marked in its place."""
    parts, marked = parts_of(item.text, quote)
    return rendered("evidence", item=item, quote=quote, parts=parts, marked=marked, link=link)


def parts_of(text: str, quote: str) -> tuple[list[tuple[str, bool]], bool]:
    """The text in pieces, each with whether it is the quote, and whether the quote was found.

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
