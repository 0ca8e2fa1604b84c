"""A reference as every format shows it: its address, where it appeared, what to know before believing it."""

from activities.report.formats.names import STANDINGS
from activities.report.formats.text import clean, identifier_links, safe_url
from activities.report.schema import Reference
from activities.text.evidence_strength import TYPE_NAMES

ALARMING = frozenset({"retracted", "concern"})
"""Standings that are shown as a warning."""


def best_url(reference: Reference) -> str | None:
    """Where a reader goes first: the source's own page, else the first identifier that resolves."""
    own = safe_url(reference.url) or safe_url(reference.identifiers.url)
    return own or next((url for _, _, url in identifier_links(reference.identifiers) if url), None)


def place(reference: Reference) -> str:
    """`Lancet, 2020`; empty when neither is known."""
    return ", ".join(x for x in (clean(reference.venue or ""), str(reference.year or "")) if x)


def badges(reference: Reference) -> list[str]:
    """What a reader should know before believing a reference."""
    words = [TYPE_NAMES[reference.evidence_type]]
    if reference.evidence_type == "preprint":
        words.append("not peer reviewed")
    if STANDINGS[reference.standing]:
        words.append(STANDINGS[reference.standing])
    words.append("full text read" if reference.full_text else "abstract or summary only")
    return words
