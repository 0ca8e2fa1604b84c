"""Readable text of an XML element: white space folded, super- and subscript digits kept apart.

`10<sup>3</sup>` must not become `103`: digits and signs become their Unicode super- or subscripts, which the
quote check (NFKC) reads as the plain ones.
"""

from collections.abc import Callable

from lxml import etree

_SUPERSCRIPT = str.maketrans("0123456789+-−()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾ⁿ")  # noqa: RUF001 - the minus sign is meant
_SUBSCRIPT = str.maketrans("0123456789+-−()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₍₎")  # noqa: RUF001

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
            if name == "sup":
                inner = _script(inner, _SUPERSCRIPT)
            elif name == "sub":
                inner = _script(inner, _SUBSCRIPT)
            elif name == "break":
                inner = " "
            pieces.append(inner)
        pieces.append(child.tail or "")
    return "".join(pieces)


def _script(text: str, table: dict[int, int]) -> str:
    """The text in super- or subscript where every character has such a form, else as it is."""
    return text.translate(table) if text and all(ord(c) in table for c in text) else text
