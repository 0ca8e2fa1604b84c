"""Trees of markup as text: HTML and what becomes HTML, JATS, and the tags in records.

Word, OpenDocument, e-books and mail become HTML. What a program shows on lines of their own are blocks.
`10<sup>3</sup>` must not become `103`: digits and signs become their Unicode super- or subscripts, which the
quote check (NFKC) reads as the plain ones.
"""

import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from lxml import etree

from activities.documents import tables

_SUPERSCRIPT = str.maketrans("0123456789+-−()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾ⁿ")  # noqa: RUF001 - the minus sign is meant
_SUBSCRIPT = str.maketrans("0123456789+-−()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₍₎")  # noqa: RUF001
_BETWEEN = ",; \u2013[]"
"""Characters between the numbers of several notes or works."""
_DIGIT = re.compile(r"[-\u2212+]?\d")
_FORMULA_PARTS = frozenset(
    {"msup", "msub", "msubsup", "mfrac", "msqrt", "mroot", "mover", "munder", "munderover"}
)
"""Elements of MathML whose children do not stand on one line."""
_FORMULA_SOURCES = frozenset({"tex-math", "annotation", "annotation-xml"})
"""A formula a second time, as its source."""
HEADINGS = frozenset({"title", "h1", "h2", "h3", "h4", "h5", "h6"})
TERMS = frozenset({"dt", "term"})
"""Elements that name what follows them."""
_BLOCK_NAMES = (
    "address article aside blockquote body caption dd details div dl fieldset figcaption figure footer form "
    "header hr legend li main nav ol option p pre section summary table tbody td tfoot th thead tr ul "
    "abstract boxed-text def def-item def-list disp-quote list list-item sec"
)
_BLOCKS = HEADINGS.union(_BLOCK_NAMES.split())
MAX_ROWS = 200_000
"""Rows of one table that are read."""
_BLOCK = "\x1e"
"""Stands between blocks; it is white space."""
GLUE = "\ue002"
"""Stands between the number or name of something and its first block."""
_GLUED, _BLANKS = re.compile(rf"{GLUE}\s*"), re.compile(r"\s+")

Skip = Callable[[etree._Element], bool]  # noqa: SLF001 - the only name lxml has for it


def blocks_of(root: etree._Element, skip: Skip | None = None) -> list[str]:
    """Return the texts of the blocks below an element, the rows of a table of facts in one.

    `skip` leaves elements out; the text after them stays.
    """
    blocks = render(root, skip).split(_BLOCK)
    texts = ("\n".join(line.strip(" ") for line in block.split("\n")).strip() for block in blocks)
    return [block for block in texts if block]


def text_of(element: etree._Element | None, skip: Skip | None = None) -> str:
    """Return all text below an element on one line."""
    return "" if element is None else " ".join(render(element, skip).split())


def lines_of(root: etree._Element) -> list[str]:
    """Return the lines and blocks below an element of a record; headings stand before what they name."""
    return render(root, labels=TERMS | HEADINGS, as_is=True).replace(_BLOCK, "\n").split("\n")


def render(
    root: etree._Element,
    skip: Skip | None = None,
    labels: Collection[str] = TERMS,
    *,
    as_is: bool = False,
    outer: bool = False,
) -> str:
    """Return the text below an element, or with `outer` of all of it. `as_is` keeps its white space."""
    pieces: list[str] = []

    def put(text: str | None, *, as_is: bool) -> None:
        if text and not as_is:
            text = _BLANKS.sub(" ", text)
            if pieces and pieces[-1][-1:].isspace():
                text = text.lstrip(" ")
        if text:
            pieces.append(text)

    def inside(element: etree._Element, *, as_is: bool) -> None:
        put(element.text, as_is=as_is)
        for child in element:
            if isinstance(child.tag, str) and not (skip and skip(child)):
                add(child, as_is=as_is)
            put(child.tail, as_is=as_is)

    def add(element: etree._Element, *, as_is: bool) -> None:
        name = local_name(element.tag)
        if name in _FORMULA_SOURCES:
            return
        if name in ("br", "break"):
            pieces.append("\n")
        elif name == "mtd":  # a cell of a matrix
            pieces.append(f" {render(element, skip).strip()}")
        elif name in ("sup", "sub"):
            pieces.append(script(render(element, skip, labels, as_is=as_is), name))
        elif name in _FORMULA_PARTS:
            parts = [render(part, skip, outer=True).strip() for part in element if isinstance(part.tag, str)]
            pieces.append(_formula_part(name, parts))
        elif name in labels:
            label = text_of(element, skip).rstrip(":")
            pieces.append(f"{_BLOCK}{label}: {GLUE}" if label.casefold() not in ("", "abstract") else _BLOCK)
        elif name == "table" and not tables.lays_out(element, cell_text):
            captions = (cell_text(caption) for caption in element.iterfind("caption"))
            rows = "\n".join(tables.from_element(element, cell_text, MAX_ROWS).lines())
            pieces.extend(f"{_BLOCK}{part}" for part in (*captions, rows, ""))
        else:
            edge = [_BLOCK] if name in _BLOCKS else []
            pieces.extend(edge)
            inside(element, as_is=as_is or name == "pre")
            pieces.extend(edge)

    def cell_text(cell: etree._Element) -> str:
        return text_of(cell, skip)

    (add if outer else inside)(root, as_is=as_is)
    return _GLUED.sub("", "".join(pieces))


@lru_cache(1024)
def local_name(name: str) -> str:
    """Return the name of an element or an attribute without its namespace, also where it kept its prefix."""
    return name.rpartition("}")[2].rpartition(":")[2]


def _formula_part(name: str, parts: Sequence[str]) -> str:
    """Return a part of a formula in MathML on one line: `10³`, `x₁`, `a/b`, `√(x)`."""
    base, *rest = parts or [""]
    if name == "mfrac":
        return "/".join(f"({part})" if re.search(r"[^\w.]", part) else part for part in parts)
    if name in ("msqrt", "mroot"):
        return f"√({base if name == 'mroot' else ''.join(parts)})"
    kinds = {"msup": ("sup",), "msub": ("sub",), "mover": ("sup",), "munder": ("sub",)}
    scripts = kinds.get(name, ("sub", "sup"))
    return base + "".join(_script_text(part, kind) for part, kind in zip(rest, scripts, strict=False) if part)


def _script_text(part: str, kind: str) -> str:
    text = script(part, kind)
    return text if text != part else f"{'^' if kind == 'sup' else '_'}{part}"


def script(text: str, name: str) -> str:
    """Return the text in superscript (`sup`) or subscript (`sub`), a number that has no such form marked."""
    table = _SUPERSCRIPT if name == "sup" else _SUBSCRIPT
    plain = text.strip()
    if plain and all(ord(character) in table or character in _BETWEEN for character in plain):
        return text.translate(table).strip("[]")
    return f"^{plain}" if name == "sup" and _DIGIT.match(plain) else text
