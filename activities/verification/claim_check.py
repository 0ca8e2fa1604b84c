"""Does a claim say what its quote says? What code decides: its numbers, and a word turned round in the words
of its quote. Texts are expected in the normal form of `activities.text.normal_form.normalise`.

What code only suspects is a warning (`activities.verification.warnings`).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from activities.text import thesaurus
from activities.text.negation import NEGATORS, NO_DENIAL
from activities.text.numerals import SCALES, SPELLED, number_of
from activities.verification.reading import clauses, nearest

_UNITS = {
    **dict.fromkeys(("mg", "milligram", "milligrams"), "mg"),
    **dict.fromkeys(("g", "gram", "grams"), "g"),
    **dict.fromkeys(("kg", "kilogram", "kilograms"), "kg"),
    **dict.fromkeys(("\u03bcg", "ug", "mcg", "microgram", "micrograms"), "ug"),
    **dict.fromkeys(("ml", "mL"), "ml"),
    **dict.fromkeys(("nM", "nm"), "nm"),
    **dict.fromkeys(("\u03bcM", "uM"), "um"),
    **dict.fromkeys(("mM", "mm"), "mm"),
    **dict.fromkeys(("h", "hour", "hours", "hr", "hrs"), "hour"),
    **dict.fromkeys(("d", "day", "days"), "day"),
    **dict.fromkeys(("wk", "week", "weeks"), "week"),
    **dict.fromkeys(("month", "months"), "month"),
    **dict.fromkeys(("y", "yr", "yrs", "year", "years"), "year"),
    **dict.fromkeys(("fold", "times"), "fold"),
}
_ORDINAL_ENDINGS = ("st", "nd", "rd", "th")
_ROMAN = {"I": "1", "II": "2", "III": "3", "IV": "4", "V": "5"}
_ROMAN_AFTER = re.compile(r"\b((?:[Pp]hase|[Ss]tage|[Gg]rade|[Tt]ype|[Cc]lass)s?)[ -](IV|V|I{1,3})\b")
"""A phase III is no phase II."""
_SPELLED = re.compile(SPELLED, re.IGNORECASE)
_LESS = r"(?:less|lower|fewer|smaller|shorter)"
_MORE = r"(?:more|greater|higher|larger|longer)"
_AT_MOST = (
    rf"\bat most|\bup to|\b(?:no|not) {_MORE} than|\bas (?:high|much|many|long) as|\bmax(?:imum|\.)?(?: of)?"
)
_AT_LEAST = rf"\bat least|\b(?:no|not) {_LESS} than|\bas (?:low|little|few) as|\bmin(?:imum|\.)?(?: of)?"
_BEFORE = tuple(
    (sign, re.compile(rf"(?:{words})\s*$", re.IGNORECASE))
    for sign, words in (
        ("<=", rf"{_AT_MOST}|\u2264|<="),
        (">=", rf"{_AT_LEAST}|\u2265|>="),
        ("<", rf"\b{_LESS} than|\bbelow|\bunder|<"),
        (">", rf"\b{_MORE} than|\babove|\bover|\bexceeding|>"),
    )
)
_BEHIND = tuple(
    (sign, re.compile(rf"(?:%|\s?[^\W\d_]{{1,20}})?,?\s(?:or|and)\s(?:{words})\b", re.IGNORECASE))
    for sign, words in (
        (">=", "more|older|above|over|greater|longer|higher|later|upwards?|beyond"),
        ("<=", "less|fewer|younger|below|under|shorter|lower|earlier"),
    )
)
_FROM = re.compile(r"\bfrom\s*$", re.IGNORECASE)
_ON = re.compile(r"(?:\s[^\W\d_]{1,20})?\son(?:wards?)?\b(?!\s+(?:the|a|an)\b)", re.IGNORECASE)
"""`from 34 weeks on` is at least: else true sentences are read with a warning."""
_CITED = re.compile(r"\[\d{1,3}\]")
"""A mark of a citation, which states no number."""
_YEARS = re.compile(r"\b((?:19|20))(\d\d)-(\d\d)\b(?![-.,]?\d)")
"""2018-19."""
_WITHIN = re.compile(r"(?<=[^\W\d_])-?(\d{1,3})(?!\d)|(?<![\d.,])(\d{1,3})(?=[^\W\d_])")
_POINT_OF_THOUSANDS = re.compile(r"\d{1,3}\.\d{3}")
MAX_ROUNDED = Decimal("0.05")
"""Share of itself by which a number may differ from what it is rounded to."""
_TOKEN = re.compile(
    r"""(?<![\w.])(?:(?<![^\W\d_]-)|(?<=[a-z]{4}-)(?=\d+[.,]\d|\d+\s?%))  # not in a name: IL-6, CYP3A4
        (?P<sign>(?<![\w%)\]])-)?
        (?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)
        (?P<percent>\s?%|[\s-]per\s?cent(?:age)?\b)?
        (?:[\s-]?(?P<unit>[^\W\d_]+))?""",
    re.VERBOSE,
)
_RANGE_TO_PERCENT = re.compile(
    r"(?<!\d)(\d+(?:\.\d+)?)(\s?(?:-|to|and|or|vs\.?|versus|against|,)\s?)(?=-?\d+(?:\.\d+)?\s?(?:%|per\s?cent))"
)


@dataclass(frozen=True, slots=True)
class Number:
    value: Decimal
    percent: bool
    either: bool
    """The first half of `20-30%`: may be repeated with or without the sign."""
    comparator: str
    unit: str
    shown: str

    def says(self, quoted: "Number", *, falling: bool) -> bool:
        """Whether a quote's number supports this one. `falling`: the claim states a decrease, so that the
        word may stand for a quoted minus."""
        same_value = self.value == quoted.value or (
            falling and self.value > 0 and self.value == -quoted.value
        )
        same_kind = self.percent == quoted.percent or self.either or quoted.either
        same_unit = not self.unit or not quoted.unit or self.unit == quoted.unit
        opposed = {self.comparator[:1], quoted.comparator[:1]} == {"<", ">"}
        return same_value and same_kind and same_unit and not opposed

    @property
    def is_count(self) -> bool:
        """Whether it is a whole number of things: no share, no measure."""
        return not self.percent and not self.unit and self.value == int(self.value) and "." not in self.shown

    @property
    def is_year(self) -> bool:
        """Whether it may be a year of our time."""
        return self.is_count and self.shown.isdecimal() and 1900 <= self.value < 2100 and not self.comparator

    def resembles(self, quoted: "Number") -> bool:
        """Whether this is a quoted number whose point may set off thousands (`5.400 patients`), an entry of
        an account without its sign and its zeros (-640.00), one of which a table leaves out the percent sign
        (46.2), or one with more digits."""
        if self.is_count and not quoted.percent and self.value == -quoted.value > 0:
            return True
        grouped = _POINT_OF_THOUSANDS.fullmatch(quoted.shown) is not None
        if self.is_count and grouped and self.value == quoted.value * 1_000:
            return True
        share = self.percent and not quoted.unit and self.value % 1 != 0
        return (share and self.value == quoted.value) or self.shortens(quoted)

    def shortens(self, quoted: "Number") -> bool:
        """Whether this is a quoted number with fewer digits: rounded, or a year without its century."""
        if quoted.is_year and self.is_count and self.value == quoted.value % 100:
            return True
        own, exact = self.value.normalize(), quoted.value.normalize()
        return (
            self.percent == quoted.percent
            and len(own.as_tuple().digits) < len(exact.as_tuple().digits)
            and abs(exact - own) <= MAX_ROUNDED * abs(exact)
            and round(exact, -int(own.as_tuple().exponent)) == own
        )


@lru_cache(maxsize=1_024)  # a sentence and its quotes are looked at for several things
def numbers(text: str) -> tuple[Number, ...]:
    """The numbers a text states, spelled-out ones from two on included. Digits inside names (IL-6,
    COVID-19, CYP3A4) are not numbers."""
    text = _in_digits(text)
    shared = {m.start(1) for m in _RANGE_TO_PERCENT.finditer(text)}
    return tuple(
        Number(
            value=value,
            percent=bool(match["percent"]),
            either=match.start("number") in shared,
            comparator=_comparator(
                text[max(match.start() - 48, 0) : match.start()],
                text[match.end("number") : match.end("number") + 48],
            ),
            unit=_UNITS.get(match["unit"] or "", ""),
            shown=text[match.start() : match.end("percent") if match["percent"] else match.end("number")],
        )
        for match, value in _values(text)
    )


def counts(text: str) -> set[Decimal]:
    """The values of the numbers that a text states, without percentages."""
    return {value for match, value in _values(_in_digits(text)) if not match["percent"]}


def _in_digits(text: str) -> str:
    text = _CITED.sub(" ", re.sub(r"(?<=\d)\u00b7(?=\d)", ".", text))
    text = _YEARS.sub(r"\1\2-\1\3", text)
    text = _ROMAN_AFTER.sub(lambda m: f"{m[1]} {_ROMAN[m[2]]}", text)
    return _SPELLED.sub(lambda m: str(number_of(m[0])), text)


def _values(text: str) -> Iterator[tuple[re.Match[str], Decimal]]:
    for match in _TOKEN.finditer(text):
        unit = match["unit"] or ""
        glued = bool(unit) and text[match.start("unit") - 1].isdigit()
        if (
            glued
            and unit not in _UNITS
            and unit not in SCALES
            and unit != "k"
            and (len(unit) == 1 or unit in _ORDINAL_ENDINGS)
        ):
            continue  # a name such as 2a or 3D
        scale = 1_000 if glued and unit == "k" else SCALES.get(unit.lower(), 1)
        value = Decimal(match["number"].replace(",", "")) * scale
        yield match, -value if match["sign"] else value


def _comparator(before: str, behind: str) -> str:
    """`<`, `<=`, `>` or `>=` by the words around a number, with the 48 characters before it; empty for
    none."""
    for sign, pattern in _BEFORE:
        if pattern.search(before):
            return sign
    if _FROM.search(before) and _ON.match(behind):
        return ">="
    return next((sign for sign, pattern in _BEHIND if pattern.match(behind)), "")


MAX_COUNT = 10
"""Up to which a sentence may count what its work lists: three groups for groups I to III."""


def missing_number(
    claim: str, quotes: Sequence[str], years: Sequence[int], items: int, *, counts: bool = False
) -> str:
    """The first number of the claim that none of its quotes has, or an empty string.

    `years` are the cited items' own years of publication, which a claim may name; `items` is how many items
    it cites, all or some of which it may count in words ("two trials"). `counts`: whole numbers up to ten,
    rounded numbers, a point that may set off thousands, percentages quoted without their sign, and years,
    which a text leaves to its date ("this year"), are left to a second reader.
    """
    quoted = [number for quote in quotes for number in numbers(quote)]
    falling = _direction_of(claim, _DIRECTIONS[0]) == -1
    spelled = {number_of(match[0]) for match in _SPELLED.finditer(claim)}
    for number in numbers(claim):
        if any(number.says(other, falling=falling) for other in quoted):
            continue
        if number.value in years and not number.percent:
            continue
        if number.value <= items and number.value in spelled:
            continue
        if counts and number.value <= MAX_COUNT and (number.value in spelled or number.is_count):
            continue
        if counts and (number.is_year or any(number.resembles(q) for q in quoted)):
            continue
        # inside a name or an ordinal of the quotes, which a wording may write out (T2DM, 9th)
        within = (one or other for quote in quotes for one, other in _WITHIN.findall(quote))
        if number.percent or number.value not in map(Decimal, within):
            return number.shown
    return ""


def _words(stems: str) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + "|".join(stems.split()) + r")", re.IGNORECASE)


_DIRECTIONS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        _words(r"increas rais(?:e|ed|es|ing)\b elevat higher\b greater\b ris(?:e|es|ing|en)\b rose\b "
               r"up-?regulat grew\b"),
        _words(r"decreas reduc lower declin diminish fell\b fall(?:s|ing|en)?\b less\b fewer\b down-?regulat "
               r"drop(?:s|ped|ping)?\b"),
    ),
    (_words(r"activat stimulat agonis[mt]"), _words(r"inhibit suppress antagonis[mt] block inactivat")),
    (_words(r"improv better\b beneficial ameliorat"), _words(r"worse deteriorat harmful detriment aggravat")),
    (_words(r"effective\b efficac"), _words(r"ineffective inefficac")),
    (_words(r"safe\b safely\b"), _words(r"unsafe\b")),
    (_words(r"sensitive\b"), _words(r"resistant\b insensitive\b")),
    (_words(r"superior"), _words(r"inferior")),
)  # fmt: skip


_AMOUNTS = (_words(r"more\b"), _words(r"less\b fewer\b"))
"""Too common to compare but in sentences that are otherwise the same."""
_EXTREMES = (
    _words(r"highest\b greatest\b largest\b longe(?:r|st)\b"),
    _words(r"lowest\b smallest\b fewest\b shorte(?:r|st)\b"),
)
"""The same: `highest with open surgery` may be worded as `lower with the other one`."""


def is_directed(text: str) -> bool:
    """Whether a text has a word that points one way or denies."""
    pairs = (*_DIRECTIONS, _AMOUNTS, _EXTREMES)
    return bool(NEGATORS.search(text)) or any(one.search(text) for pair in pairs for one in pair)


def _direction_of(text: str, pair: tuple[re.Pattern[str], re.Pattern[str]]) -> int:
    """1 when the text only points up, -1 when only down, 0 when neither or both."""
    up, down = pair
    return bool(up.search(text)) - bool(down.search(text))


MIN_CLAUSE = 3
"""Content words that a clause shares with one of the quote that it may be in the words of."""
MIN_OF_CLAUSE, MIN_OF_DIRECTED = 0.6, 0.4
"""Share of the content words of that clause: where a denial was put in or left out (it may be of the rest),
and where a direction was turned."""
_WORD = re.compile(r"[^\W\d_]+")
_AUXILIARY = re.compile(
    r"\b(?:am|is|are|was|were|be|been|has|have|had|do|does|did|can|could|may|might|will|would|should|must)\b",
    re.IGNORECASE,
)


def turned_round(claim: str, quote: str) -> str:
    """Why a claim in the words of its quote says the opposite; empty when it does not, or has other words.
    Each clause is compared with the clause of the quote that is nearest to it."""
    theirs = clauses(quote)
    for clause in clauses(claim):
        match = nearest(clause, theirs, MIN_CLAUSE)
        if match is None:
            continue
        share = len(clause.content & match.content) / len(match.content)
        own = [token.shown for token in clause.tokens if token.stem not in match.stems and not token.light]
        if not all(map(is_directed, own)):
            continue
        denies = share >= MIN_OF_CLAUSE and _denials(clause.text) != _denials(match.text)
        if denies or (share >= MIN_OF_DIRECTED and _points_away(clause.text, match.text)):
            return "it says its quote's words, one of them turned round"
    return ""


def reversal(cell: str, quote: str) -> str:
    """Why a field says the opposite of its quote; empty when it does not. A noun phrase points one way only
    by a word of direction: it neither affirms nor denies."""
    if turned := turned_round(cell, quote):
        return turned
    for pair in _DIRECTIONS:
        if _direction_of(cell, pair) * _direction_of(quote, pair) == -1:
            return "its quote points the other way"
    if not NEGATORS.search(quote) or NEGATORS.search(cell):
        return ""
    is_clause = _AUXILIARY.search(cell) or any(
        thesaurus.parts_of_speech(word) == {"v"} for word in _WORD.findall(cell)
    )
    return "it affirms what its quote denies" if is_clause else ""


def _denials(text: str) -> int:
    return len(NEGATORS.findall(NO_DENIAL.sub(" ", text)))


def _points_away(claim: str, quote: str) -> bool:
    """Whether a claim in the words of its quote has a direction in place of its opposite."""
    changes = (
        [len(words.findall(claim)) - len(words.findall(quote)) for words in pair]
        for pair in (*_DIRECTIONS, _AMOUNTS, _EXTREMES)
    )
    return any(more * fewer < 0 for more, fewer in changes)
