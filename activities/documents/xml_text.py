"""Readable text of an XML element: white space folded, super- and subscript digits kept apart.

`10<sup>3</sup>` must not become `103`: digits and signs become their Unicode super- or subscripts, which the
quote check (NFKC) reads as the plain ones.
"""

import re
from collections.abc import Callable, Collection

from lxml import etree, html

_SUPERSCRIPT = str.maketrans("0123456789+-−()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾ⁿ")  # noqa: RUF001 - the minus sign is meant
_SUBSCRIPT = str.maketrans("0123456789+-−()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₍₎")  # noqa: RUF001

_BETWEEN = ",; \u2013[]"
"""Characters between the numbers of several notes or works."""
_DIGIT = re.compile(r"[-\u2212+]?\d")

Skip = Callable[[etree._Element], bool]  # noqa: SLF001 - the only name lxml has for it


def text_of(element: etree._Element | None, skip: Skip | None = None) -> str:
    """All text below an element on one line. `skip` leaves elements out (the text after them stays)."""
    if element is None:
        return ""
    return " ".join(raw_text(element, skip).split())


def raw_text(element: etree._Element, skip: Skip | None = None) -> str:
    """The same with white space unchanged."""
    pieces = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str) and not (skip and skip(child)):
            inner = raw_text(child, skip)
            name = etree.QName(child).localname
            if name in ("sup", "sub"):
                inner = script(inner, name)
            elif name == "break":
                inner = " "
            pieces.append(inner)
        pieces.append(child.tail or "")
    return "".join(pieces)


def fragment_lines(
    markup: str, blocks: Collection[str], headings: Collection[str] = (), skip: Skip | None = None
) -> list[str]:
    """The lines of a fragment of HTML: elements of `blocks` stand on lines of their own, those of `headings`
    as a label before what follows. Raises ValueError for what cannot be read as one."""
    try:
        root = html.fragment_fromstring(markup, create_parent="div")
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        raise ValueError(f"markup cannot be read: {error}") from error
    for element in list(root.iterdescendants(*blocks, *headings)):
        if element.tag in headings:
            label = text_of(element).rstrip(":")
            element[:] = ()
            element.text = f"\n{label}: "
        else:
            element.text = f"\n{element.text or ''}"
            element.tail = f"\n{element.tail or ''}"
    try:
        text = raw_text(root, skip)
    except ValueError:  # a stray "<" made a tag that has no name
        text = str(root.text_content())
    return [folded for line in text.split("\n") if (folded := " ".join(line.split()))]


def raise_scripts(root: etree._Element) -> None:
    """Put characters in place of the elements for super- and subscripts below an element of HTML."""
    for element in reversed(list(root.iter("sup", "sub"))):
        text = script("".join(map(str, element.itertext())), str(element.tag))
        for child in list(element):
            element.remove(child)
        element.text, element.tag = text, "span"


def script(text: str, name: str) -> str:
    """The text in superscript (`sup`) or subscript (`sub`) where every character has such a form. A number
    above the line with another character is marked, so that it is not read as digits of the number before."""
    table = _SUPERSCRIPT if name == "sup" else _SUBSCRIPT
    plain = text.strip()
    if plain and all(ord(character) in table or character in _BETWEEN for character in plain):
        return text.translate(table).strip("[]")
    return f"^{plain}" if name == "sup" and _DIGIT.match(plain) else text
