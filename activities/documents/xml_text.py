"""Readable text of an XML element: white space folded, super- and subscript digits kept apart.

`10<sup>3</sup>` must not become `103`: digits and signs become their Unicode super- or subscripts, which the
quote check (NFKC) reads as the plain ones.
"""

import re
from collections.abc import Callable, Sequence

from lxml import etree

_SUPERSCRIPT = str.maketrans("0123456789+-−()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾ⁿ")  # noqa: RUF001 - the minus sign is meant
_SUBSCRIPT = str.maketrans("0123456789+-−()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₍₎")  # noqa: RUF001

_BETWEEN = ",; \u2013[]"
"""Characters between the numbers of several notes or works."""
_DIGIT = re.compile(r"[-\u2212+]?\d")

FORMULA_PARTS = frozenset(
    {*("msup", "msub", "msubsup", "mfrac", "msqrt", "mroot"), *("mover", "munder", "munderover")}
)
"""Elements of MathML whose children do not stand on one line."""
Skip = Callable[[etree._Element], bool]  # noqa: SLF001 - the only name lxml has for it


def text_of(element: etree._Element | None, skip: Skip | None = None) -> str:
    """All text below an element on one line. `skip` leaves elements out (the text after them stays)."""
    if element is None:
        return ""
    return " ".join(raw_text(element, skip).split())


def raw_text(element: etree._Element, skip: Skip | None = None) -> str:
    """Return the same with white space unchanged."""
    pieces = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str) and not (skip and skip(child)):
            name = local_name(child)
            if name in FORMULA_PARTS:
                inner = _formula_part(name, [raw_text(part, skip).strip() for part in child])
            else:
                inner = raw_text(child, skip)
            if name in ("sup", "sub"):
                inner = script(inner, name)
            elif name == "break":
                inner = " "
            pieces.append(inner)
        pieces.append(child.tail or "")
    return "".join(pieces)


def local_name(element: etree._Element | str) -> str:
    """Return the name of an element or an attribute without its namespace, also where it kept its prefix."""
    name = element if isinstance(element, str) else str(element.tag)
    return name.rpartition("}")[2].rpartition(":")[2]


def _formula_part(name: str, parts: Sequence[str]) -> str:
    """Return a part of a formula in MathML on one line: `10³`, `x₁`, `a/b`, `√(x)`."""
    base, *others = parts or [""]
    if name == "mfrac":
        return "/".join(f"({part})" if re.search(r"[^\w.]", part) else part for part in parts)
    if name in ("msqrt", "mroot"):
        return f"√({base if name == 'mroot' else ''.join(parts)})"
    kinds = {"msup": ("sup",), "msub": ("sub",), "mover": ("sup",), "munder": ("sub",)}
    scripts = kinds.get(name, ("sub", "sup"))
    return base + "".join(_raised(part, kind) for part, kind in zip(others, scripts, strict=False) if part)


def _raised(part: str, kind: str) -> str:
    text = script(part, kind)
    return text if text != part else f"{'^' if kind == 'sup' else '_'}{part}"


def raise_scripts(root: etree._Element) -> None:
    """Put characters in place of the elements for super- and subscripts below an element of HTML."""
    for element in reversed(list(root.iter("sup", "sub"))):
        text = script("".join(map(str, element.itertext())), str(element.tag))
        for child in list(element):
            element.remove(child)
        element.text, element.tag = text, "span"


def script(text: str, name: str) -> str:
    """Return the text in superscript (`sup`) or subscript (`sub`), a number that has no such form marked."""
    table = _SUPERSCRIPT if name == "sup" else _SUBSCRIPT
    plain = text.strip()
    if plain and all(ord(character) in table or character in _BETWEEN for character in plain):
        return text.translate(table).strip("[]")
    return f"^{plain}" if name == "sup" and _DIGIT.match(plain) else text
