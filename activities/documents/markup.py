"""Text with the tags and entities of HTML, JATS and MathML in it, as titles and abstracts of records have it.

Only what is a tag is taken for one: in `TSH <LLN in 5 patients and >ULN in 7` nothing is. Entities that were
escaped twice are resolved twice.
"""

import html
import re

from lxml import etree
from lxml import html as html_parser

from activities.documents.blocks import HEADINGS, lines_of

_BLOCKS = frozenset(
    {"p", "sec", "section", "abstract", "list", "list-item", "ul", "ol", "li", "div", "br", "break"}
)
_INLINE = (
    "i|b|u|s|q|a|em|strong|small|big|span|font|sup|sub|tt|code|italic|bold|sc|roman|underline|monospace|"
    "styled-content|ext-link|xref|inf|inline-formula|disp-formula|tex-math|alternatives|label|named-content|"
    "uri|email|dl|dt|dd|table|tbody|thead|tr|td|th|blockquote|pre|center|scp|inline-graphic|graphic|img|"
    "def-list|def-item|def|term|disp-quote|sans-serif"
)
_NAMES = "|".join(sorted({*HEADINGS, *_BLOCKS, *_INLINE.split("|")}, key=len, reverse=True))
_TAG = re.compile(
    rf"<(/?)((?:jats:)?(?:{_NAMES})|(?:mml:)?(?:math|semantics|annotation(?:-xml)?|m[a-z]+))"
    r"((?:(?:\s++[\w:.-]++\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s\"'<>]++))++\s*+)?+(?:\s*+/)?+)>",
    re.IGNORECASE,
)
_STRAY = re.compile(r"<!--.*?-->|<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_ENTITY = re.compile(r"&(?:#\d{1,6}|#x[0-9a-f]{1,5}|[a-z][a-z0-9]{1,31});", re.IGNORECASE)
_WITHOUT_END = frozenset({"p", "br", "li", "break", "hr", "img", "td", "th", "tr", "dt", "dd"})
MAX_TIMES = 2
"""How often a text may have been escaped."""
_OPEN, _CLOSE = "\ue000", "\ue001"
"""Stand for brackets that are no tag's while tags are read."""


def plain(text: str) -> str:
    """Return a text on one line, without tags and with its entities resolved."""
    return " ".join(" ".join(lines(text)).split())


def lines(text: str) -> list[str]:
    """Return the same with each block on a line of its own, and headings as a label before what follows."""
    text = " ".join(text.split())
    for _ in range(MAX_TIMES):
        if "<" not in text and not _ENTITY.search(text):
            break
        text = "\n".join(_lines(text))
    return [block for line in text.split("\n") if (block := " ".join(line.split()))]


def without_tags(text: str) -> str:
    """Return a text without its tags, a line for each of its blocks."""
    blocks = lines(text) if "<" in text or "&" in text else []
    return "\n".join(blocks) if blocks and " ".join(blocks) != " ".join(text.split()) else text


def _lines(text: str) -> list[str]:
    text = _STRAY.sub(lambda match: match[1] or "", text)
    names = [(match[1], match[2].casefold(), match[3].endswith("/")) for match in _TAG.finditer(text)]
    starts = {name for slash, name, empty in names if not slash}
    ends = {name for slash, name, empty in names if slash} | {name for _, name, empty in names if empty}

    def is_tag(match: re.Match[str]) -> bool:
        name = match[2].casefold()
        return name in (starts if match[1] else ends) or name.rpartition(":")[2] in _WITHOUT_END

    if not any(map(is_tag, _TAG.finditer(text))):
        return [html.unescape(line) for line in text.split("\n")]
    pieces, end = [], 0
    for match in filter(is_tag, _TAG.finditer(text)):
        pieces += [_escape_brackets(text[end : match.start()]), match.group()]
        end = match.end()
    pieces.append(_escape_brackets(text[end:]))
    try:
        root = html_parser.fragment_fromstring("".join(pieces), create_parent="div")
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return [html.unescape(_TAG.sub(" ", text))]
    return [line.replace(_OPEN, "<").replace(_CLOSE, ">") for line in lines_of(root)]


def _escape_brackets(text: str) -> str:
    """Return what stands between tags: its brackets are text, its entities are the parser's."""
    return text.replace("<", _OPEN).replace(">", _CLOSE)
