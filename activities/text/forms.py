"""Whether a text has a word in any form, and the words of a name close together; all by comparison forms."""

from collections.abc import Iterable, Sequence

_SHARED = 6
_DIFFERENT = 3
"""Letters that two forms of one word share at their beginning at least, and in which they differ at most."""
OPPOSED = frozenset({"non", "un", "anti", "dis"})
"""Prefixes that make of a word its opposite or what acts against it."""


class Held:
    """The comparison forms of a text: a set, and one text in which beginnings and ends of forms are found."""

    __slots__ = ("forms", "lines")

    def __init__(self, forms: Iterable[str]) -> None:
        self.forms = frozenset(forms)
        self.lines = "\n".join(("", *self.forms, ""))


def has_form(term: str, held: Held, *, exact: bool, opposed: bool = False) -> bool:
    """Whether a text has a word in any form: a longer word that ends or begins with it (statin, atorvastatin;
    tonsil, tonsillectomy) or one with the same beginning and another ending (cirrhosis, cirrhotic).
    `opposed`: also with a prefix that makes it its opposite (orthopaedic, nonorthopaedic)."""
    if term in held.forms:
        return True
    if len(term) < _SHARED:
        return False
    if f"{term}\n" in held.lines and (opposed or any(_ends_with(form, term) for form in held.forms)):
        return True
    if exact or f"\n{term[:_SHARED]}" not in held.lines:
        return False
    return f"\n{term}" in held.lines or any(_akin(term, other) for other in held.forms)


def _ends_with(form: str, term: str) -> bool:
    """Whether a word is a kind of what it ends with (atorvastatin) and not its opposite (nonenhanced)."""
    return form.endswith(term) and form.removesuffix(term) not in OPPOSED


def _akin(one: str, other: str) -> bool:
    if one[:_SHARED] != other[:_SHARED]:
        return False
    shared = _SHARED
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return max(len(one), len(other)) - shared <= _DIFFERENT


def possible(variant: Sequence[str], held: Held) -> bool:
    if len(variant) == 1:
        return has_form(variant[0], held, exact=True)
    return held.forms.issuperset(variant)


def said(variant: Sequence[str], row: Sequence[str], held: Held) -> bool:
    """Whether a sentence has a variant, its words close together."""
    return possible(variant, held) and (len(variant) == 1 or together(variant, row))


def together(variant: Sequence[str], row: Sequence[str], within: int = 0) -> bool:
    """All the forms within a run of so many words, by default twice as many as they are."""
    wanted = set(variant)
    span = within or 2 * len(variant)
    places = [n for n, form in enumerate(row) if form in wanted]
    return any(wanted <= {row[n] for n in places if start <= n < start + span} for start in places)
