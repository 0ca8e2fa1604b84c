"""A quote in its place in the stored text of its work."""

from activities.verification.quote_check import normalise

MAX_CHARS = 400_000
"""Characters of a stored text that a page shows, around the quote."""


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
