"""A line of Markdown as plain text, and what is stressed in it."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import TypeAlias

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from activities.contracts.evidence import Emphasis, Stress
from activities.documents.blocks import script
from activities.text.layout import ENDS

LABELS = re.compile(
    r"(?:(?<!\s)[ \t]+)?\[ ?((?:K|E\d{1,3})"
    r"(?:\s*(?:[,;&]\s*K|(?:[-\u2010-\u2015,;&]\s*E?|[^\W\d_]{1,3}\s+E)\d{1,3}))*)\s*\]",
    re.IGNORECASE,
)
"""Labels in square brackets, between them a sign or a short word of any language; `(E951)` is an additive."""
LINE = "\u2028"
"""Between lines that stay apart."""
_PRODUCT = re.compile(r"(?<=\d)\*+(?=\d)")
_BREAK = re.compile(r"<br ?/?>(\()?", re.IGNORECASE)
_SCRIPT = re.compile(r"<(su[bp])>([^<>]{1,20})</\1>")
_BOLD = re.compile(r"(?<!\*)\*\*([^*\n]{1,200})\*\*(?!\*)")
_OPENING = "\"'(\u201c\u2018\u300a\u300c\u300e\uff08"
_CLOSING = "\"'.,:;!?)\u201d\u2019\u3001\u3002\u300b\u300d\u300f\uff01\uff09\uff0c\uff1a\uff1b\uff1f"
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
"""Kana, Han and Hangul."""
_WORD = re.compile(r"[a-z\d]+(?:[-\u2010-\u2015.,:/'\u2019][a-z\d]+)*", re.IGNORECASE)
"""A figure, a date or a coded name, where it has a digit: `1,234.5`, `GLP-1`."""
_QUOTATION = re.compile(
    r"[\"\u201c\u201e\u00ab\u300c]([^\"\u201c-\u201e\u00ab\u00bb\u300c\u300d]+)[\"\u201c\u201d\u00bb\u300d]"
)
_STYLES: tuple[Stress, ...] = ("strong", "em", "code")
Styled: TypeAlias = Iterator[tuple[str, frozenset[str]]]
"""Characters, each with the styles that it has."""


@cache
def parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.core.ruler.after("normalize", "signs", _part_signs)
    parser.inline.ruler.before("emphasis", "product", _read_product)
    return parser


def _read_product(state: StateInline, silent: bool) -> bool:
    """Read stars between digits as signs of a product: `2*3*4`."""
    match = _PRODUCT.match(state.src, state.pos)
    if match is None:
        return False
    state.pending += "" if silent else match[0]
    state.pos = match.end()
    return True


def _part_signs(state: StateCore) -> None:
    """Put signs at the edges of bold words out of them where a word without blanks stands beside them.

    CommonMark reads no marks between a sign and a letter, which such scripts do not part by a blank."""

    def without_signs(match: re.Match[str]) -> str:
        beside = (
            state.src[max(match.start() - 1, 0) : match.start()] + state.src[match.end() : match.end() + 1]
        )
        words = match[1].lstrip(_OPENING).rstrip(_CLOSING)
        if not words or not _DENSE.search(beside):
            return match[0]
        before, after = match[1].split(words, 1)
        return f"{before}**{words}**{after}"

    state.src = _BOLD.sub(without_signs, state.src)


def with_signs(token: Token) -> Token:
    """Let signs part what `<br>` parts in a field of a table, which is one line."""
    for child in token.children or ():
        child.content = _BREAK.sub(lambda m: " (" if m[1] else "; ", child.content)
    return token


def pieces(token: Token, soft_break: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the texts of an inline token, each with the names of the HTML elements that it would be in."""
    breaks, tags = {"softbreak": soft_break, "hardbreak": LINE}, list[str]()
    for child in token.children or ():
        if child.nesting > 0:
            tags.append(child.tag)
        elif child.nesting < 0:
            tags.pop()
        else:
            text = _SCRIPT.sub(lambda m: script(m[2], m[1]), child.content or breaks.get(child.type, ""))
            text = _BREAK.sub(lambda m: LINE + (m[1] or ""), text)
            yield text, frozenset((*tags, child.tag))


def _runs(style: str, styles: Sequence[Collection[str]], start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield beginning and end of each run of characters that have a style."""
    flags = "".join("x" if style in each else "-" for each in styles)
    return (match.span() for match in re.compile("x+").finditer(flags, start, stop))


def styled_text(token: Token) -> Styled:
    """Yield the characters of an inline token but for labels, each with what it is set in.

    A style that begins or ends within a label, a figure or a coded name, or is of words within a quotation,
    is none."""
    parts = [*pieces(token, LINE)]
    text = "".join(part for part, _ in parts)
    tags = [tags for part, tags in parts for _ in part]
    labels = [match.span() for match in LABELS.finditer(text)]
    words = (match.span() for match in _WORD.finditer(text) if any(map(str.isdigit, match[0])))
    cut = {place for start, end in (*labels, *words) for place in range(start + 1, end)}
    quotations = [match.span(1) for match in _QUOTATION.finditer(text)]
    in_label = {place for start, end in labels for place in range(start, end)}
    styles: dict[str, set[int]] = {}
    for style in _STYLES:
        for run in _runs(style, tags, 0, len(text)):
            is_in_quotation = any(a <= run[0] and run[1] <= b and run != (a, b) for a, b in quotations)
            if cut.isdisjoint(run) and not is_in_quotation:
                styles.setdefault(style, set()).update(range(*run))
    for at, char in enumerate(text):
        if at not in in_label:
            yield char, frozenset(style for style, places in styles.items() if at in places)


def emphasis_of(styled: Styled, text: str, cuts: Iterable[int] = (), field: int = 0) -> Iterator[Emphasis]:
    """Yield what is stressed in a text, which has the next of these characters but for some of them.

    `cuts`: where a style begins anew."""
    styles = [
        next((s for other, s in styled if other == char or (char + other).isspace()), ()) for char in text
    ]
    end = len(text.rstrip("".join(ENDS)))  # a citation may come to stand before the stop
    for style in _STYLES:
        for start, stop in pairwise(sorted({0, end, *(cut for cut in cuts if cut < end)})):
            for first, last in _runs(style, styles, start, stop):
                if words := text[first:last].strip():
                    yield Emphasis(words=words, at=text.index(words, first), style=style, field=field)
