"""The text that may be quoted, as every reader of a document returns it; and what a reader raises.

What comes out is what a person sees, in reading order; nothing is summarised or rewritten.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from activities.contracts.errors import install

MAX_CHARS = 4_000_000
"""Characters of one document that are kept: about ten thick books."""
TITLE_CHARS = 300
HEAD_CHARS = 6_000
"""Characters within which the title of a work stands in its full text."""
MIN_TITLE_SHARE = 0.8
"""Share of the words of a title that must stand there."""
_WORD = re.compile(r"[^\W_]{3,}")


class Unreadable(Exception):
    """A document that cannot be read, and why."""


class Lacking(Unreadable):
    """A document that could be read with a library or a model that is not installed; how to install it."""


@contextmanager
def behind_extra(document: str, extra: str) -> Iterator[None]:
    """Around the import of a library that an extra brings. Raises Lacking where it is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise Lacking(f"it is {document}; to read it: {install(extra)}") from error


class NoText(Unreadable):
    """A PDF without text: a scan, which may be recognised (`activities.documents.ocr`)."""


@dataclass(frozen=True, slots=True)
class Text:
    """What was read; `meta` has its own `doi`, `pmid`, `date`, `url`, `venue`."""

    text: str
    title: str = ""
    authors: tuple[str, ...] = ()
    meta: Mapping[str, str] = field(default_factory=dict)
    cut: str = ""
    """What was left out, where a limit was reached: `the first 12 of 2,000 pages`."""
    pages: tuple[int, ...] = ()
    """Where in `text` each page begins, the first one first; empty where there are no pages."""
    times: tuple[float, ...] = ()
    """Seconds at which each part of `pages` of a recording begins; empty for every other document."""
    apart: Mapping[str, str] = field(default_factory=dict)
    """What stands in the document and is no running text, by its kind: `references`, `page numbers`."""


def new_text(
    text: str,
    title: str = "",
    authors: Iterable[str] = (),
    meta: Mapping[str, str] | None = None,
    cut: str = "",
) -> Text:
    """Return a text as it is kept, with what is known of it. Raises Unreadable where there is none."""
    text, too_long = tidy(text)
    if not text:
        raise Unreadable("there is no text in it")
    return Text(
        text,
        " ".join(title.split())[:TITLE_CHARS],
        tuple(filter(None, map(str.strip, authors))),
        {key: value for key, value in (meta or {}).items() if value},
        "; ".join(filter(None, (cut, too_long))),
    )


def from_pages(
    pages: Iterable[str], title: str = "", authors: Iterable[str] = (), meta: Mapping[str, str] | None = None
) -> Text:
    """Return a text of pages that knows where each begins. Raises Unreadable where there is none."""
    pieces: list[str] = []
    starts: list[int] = []
    length = 0
    for page in pages:
        piece, _ = tidy(page)
        # an empty page begins where the next one does
        starts.append(length)
        if piece:
            pieces.append(piece)
            length += len(piece) + 2
    result = new_text("\n\n".join(pieces), title, authors, meta)
    return replace(result, pages=tuple(min(start, len(result.text)) for start in starts))


def tidy(text: str) -> tuple[str, str]:
    """Return the text as it is kept, and what was left out of it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    # Lone surrogates (broken PDFs, JSON escapes) cannot be stored as UTF-8.
    text = text.encode("utf-8", errors="replace").decode("utf-8")
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    if len(text) <= MAX_CHARS:
        return text, ""
    return text[:MAX_CHARS], f"only the first {MAX_CHARS:,} of {len(text):,} characters were kept"


def has_title(text: str, title: str) -> bool:
    """Tell whether a title stands near the beginning of a text."""
    head, words = (set(_WORD.findall(part.casefold())) for part in (text[:HEAD_CHARS], title))
    return bool(words) and len(words & head) >= MIN_TITLE_SHARE * len(words)
