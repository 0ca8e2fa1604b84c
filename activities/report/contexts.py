"""Each quote with the text around it, so that a reader can judge it without leaving the report."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from itertools import pairwise

from activities.report.formats.text import clean
from activities.report.schema import QuoteContext
from activities.types import Evidence, Support
from activities.verification.quote_check import normalise

MAX_AROUND_CHARS = 240
"""Characters shown on each side of a quote at most."""
_EDGE = re.compile(r"\A\S*\s")


def contexts(quotes: Iterable[Support], documents: Mapping[str, Evidence]) -> tuple[QuoteContext, ...]:
    """The surroundings of every quote, each once, in order of appearance. A quote that cannot be located has
    none."""
    texts = {name: normalise(item.text) for name, item in documents.items()}
    pages = {name: _page_starts(item) for name, item in documents.items() if item.pages}
    found: dict[tuple[str, str], QuoteContext] = {}
    for support in quotes:
        key = (support.evidence_id, support.quote)
        text, quote = texts.get(support.evidence_id, ""), normalise(support.quote)
        start = text.find(quote) if quote else -1
        if key in found or start < 0:
            continue
        end = start + len(quote)
        found[key] = QuoteContext(
            evidence_id=support.evidence_id,
            quote=support.quote,
            before=_before(text[:start]),
            after=_after(text[end:]),
            page=bisect_right(pages.get(support.evidence_id, ()), start),
        )
    return tuple(found.values())


def _page_starts(item: Evidence) -> list[int]:
    """Where each page begins in the normal form of a text."""
    starts: list[int] = []
    length = 0
    for start, end in pairwise((*item.pages, len(item.text))):
        starts.append(length)
        if words := normalise(item.text[start:end]):
            length += len(words) + 1
    return starts


def _before(text: str) -> str:
    """The end of a text, with the space before the quote where there is one."""
    space = " " if text.endswith(" ") else ""
    if len(text) > MAX_AROUND_CHARS:
        text = "\u2026 " + _EDGE.sub("", text[-MAX_AROUND_CHARS:], count=1)
    return clean(text) + space


def _after(text: str) -> str:
    """The beginning of a text, with the space after the quote where there is one."""
    space = " " if text.startswith(" ") else ""
    if len(text) > MAX_AROUND_CHARS:
        text = text[:MAX_AROUND_CHARS].rsplit(" ", 1)[0] + " \u2026"
    return space + clean(text)
