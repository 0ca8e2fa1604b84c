"""Does a claim say what its quote says? Numbers, direction and negation, decided by code.

Both checks err on the side of dropping: a lost claim costs a sentence, a claim that inverts its source costs
the reader's trust. Texts are expected in the normal form of `activities.verification.quote_check.normalise`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from rapidfuzz import fuzz

from activities.text.negation import ABSENCE, DENYING_WORD, NEGATORS, NO_DENIAL
from activities.text.numerals import SCALES, SPELLED, number_of

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
_SPELLED = re.compile(SPELLED, re.IGNORECASE)
_THRESHOLD = r"(?:\s+an?(?:\s+\S+)?\s+(?:threshold|cut-?off|level|value)s?\s+of)?"
"""Between a comparison and its number: `below a PSA threshold of 4 ng/mL`."""
_BELOW = re.compile(rf"(?:\b(?:less|lower|fewer) than|\bbelow|\bunder|<){_THRESHOLD}\s*$", re.IGNORECASE)
_ABOVE = re.compile(
    rf"(?:\b(?:more|greater|higher) than|\babove|\bover|\bexceeding|>){_THRESHOLD}\s*$", re.IGNORECASE
)
_AT_MOST = re.compile(r"(?:\bat most|\bup to|\bas (?:high|much|many|long) as|\u2264|<=)\s*$", re.IGNORECASE)
_AT_LEAST = re.compile(r"(?:\bat least|\bas (?:low|little|few) as|\u2265|>=)\s*$", re.IGNORECASE)
_TOKEN = re.compile(
    r"""(?<![\w.])(?<![^\W\d_]-)            # not inside a name: IL-6, COVID-19, CYP3A4
        (?P<sign>(?<!\d)-)?
        (?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)
        (?P<percent>\s?%|[\s-]per\s?cent(?:age)?\b)?
        (?:[\s-]?(?P<unit>[^\W\d_]+))?""",
    re.VERBOSE,
)
_RANGE_TO_PERCENT = re.compile(
    r"(?<!\d)(\d+(?:\.\d+)?)(\s?(?:-|to|and|or|vs\.?|versus|,)\s?)(?=-?\d+(?:\.\d+)?\s?(?:%|per\s?cent))"
)
_PEOPLE = re.compile(r"\s+(?:patients?|participants?|adults?|children|women|men|subjects?|people|cases?)\b")


@dataclass(frozen=True, slots=True)
class Number:
    """A number as a text states it."""

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
        return same_value and same_kind and same_unit and self.comparator == quoted.comparator


def numbers(text: str) -> list[Number]:
    """The numbers a text states, spelled-out ones from two on included. Digits inside names (IL-6,
    COVID-19, CYP3A4) are not numbers."""
    text = re.sub(r"(?<=\d)\u00b7(?=\d)", ".", text)
    text = _ROMAN_AFTER.sub(lambda m: f"{m[1]} {_ROMAN[m[2]]}", text)
    text = _SPELLED.sub(lambda m: str(number_of(m[0])), text)
    shared = {m.start(1) for m in _RANGE_TO_PERCENT.finditer(text)}
    found = []
    for match in _TOKEN.finditer(text):
        unit = match["unit"] or ""
        glued = bool(unit) and text[match.start("unit") - 1].isdigit()
        if glued and unit not in _UNITS and (len(unit) == 1 or unit in _ORDINAL_ENDINGS):
            continue  # a name such as 2a or 3D
        value = Decimal(match["number"].replace(",", "")) * SCALES.get(unit.lower(), 1)
        found.append(
            Number(
                value=-value if match["sign"] else value,
                percent=bool(match["percent"]),
                either=match.start("number") in shared,
                comparator=_comparator(text[: match.start()]),
                unit=_UNITS.get(unit, ""),
                shown=text[match.start() : match.end("percent") if match["percent"] else match.end("number")],
            )
        )
    return found


def _comparator(before: str) -> str:
    tail = before[-48:]
    for sign, pattern in (("<=", _AT_MOST), (">=", _AT_LEAST), ("<", _BELOW), (">", _ABOVE)):
        if pattern.search(tail):
            return sign
    return ""


MAX_COUNT = 10
"""Up to which a sentence may count in words what its work lists: three groups for groups I to III."""


def missing_number(
    claim: str, quotes: Sequence[str], years: Sequence[int], items: int, *, counts: bool = False
) -> str:
    """The first number of the claim that none of its quotes has, or an empty string.

    `years` are the cited items' own years of publication, which a claim may name; `items` is how many items
    it cites, which it may count in words ("two trials"). `counts`: small numbers in words are left to
    a second reader.
    """
    quoted = [number for quote in quotes for number in numbers(quote)]
    falling = _direction_of(claim, _DIRECTIONS[0]) == -1
    spelled = {number_of(match[0]) for match in _SPELLED.finditer(claim)}
    for number in numbers(claim):
        if any(number.says(other, falling=falling) for other in quoted):
            continue
        if number.value in years and not number.percent and not _counts_people(claim, number):
            continue
        if number.value == items and items in spelled:
            continue
        if counts and number.value in spelled and number.value <= MAX_COUNT and not number.percent:
            continue
        return number.shown
    return ""


def _counts_people(claim: str, number: Number) -> bool:
    at = claim.find(number.shown)
    return at >= 0 and bool(_PEOPLE.match(claim[at + len(number.shown) :]))


def _words(stems: str) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + "|".join(stems.split()) + r")", re.IGNORECASE)


_DIRECTIONS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        _words(r"increas rais(?:e|ed|es|ing)\b elevat higher\b greater\b ris(?:e|es|ing|en)\b rose\b "
               r"up-?regulat grew\b"),
        _words(r"decreas reduc lower declin diminish fell\b fall(?:s|ing|en)?\b less\b fewer\b down-?regulat "
               r"drop(?:s|ped|ping)?\b"),
    ),
    (_words(r"activat stimulat agonis[mt] induc"), _words(r"inhibit suppress antagonis[mt] block inactivat")),
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
_VERBATIM = 90.0
"""Percent of shared text from which a claim is in the words of its quote."""


def is_directed(text: str) -> bool:
    """Whether a text has a word that points one way or denies."""
    pairs = (*_DIRECTIONS, _AMOUNTS)
    return bool(NEGATORS.search(text)) or any(one.search(text) for pair in pairs for one in pair)


def _direction_of(text: str, pair: tuple[re.Pattern[str], re.Pattern[str]]) -> int:
    """1 when the text only points up, -1 when only down, 0 when neither or both."""
    up, down = pair
    return bool(up.search(text)) - bool(down.search(text))


_NEGATIVE = re.compile(
    rf"{ABSENCE}|{DENYING_WORD}|\binconclusive\b|\bunclear\b|\buncertain\w*|\bunknown\b|\bunproven\b|"
    r"\bsimilar\w*|\bcomparable\b|\bequal\w*|\bequivalent\b|\bindependent\w*|\bfew\b|\brare\b|\bscarce\b|"
    r"(?<![\d.,])0(?:\.0+)?(?:\s?%|(?= of\b))|\bzero\b|"
    r"\bnon-?(?!steroid)\w+|\bnull\b|\buncommon\b|\bnegative\w*",
    re.IGNORECASE,
)
"""Words that deny without a `not`; they support a claim that denies."""
_HEDGED = re.compile(
    r"\bsafe\w*|\btolerated\b|\bprevent\w*|\bavoid\w*|\brather than\b|\bonly\b|\blimited\b|\bfree of\b|"
    r"\bremain(?:s|ed)? to be\b|\bexclud\w*|\bstopped\b|\bterminated\b|\bcontradict\w*|\bdisprov\w*|"
    r"\brefut\w*",
    re.IGNORECASE,
)
"""Words by which a claim may carry over a denial ("no adverse events" -> "well tolerated")."""
_NOT_SIGNIFICANT = re.compile(r"\bp\s*(?:=|>|>=|\u2265)\s*0?\.(?:0[5-9]|[1-9])", re.IGNORECASE)
_CLAUSES = re.compile(r"[;:]|(?<=[.!?])\s|,?\s\b(?:but|however|whereas|although|though|while|yet)\b")
_WORD = re.compile(r"[^\W_]+")
_CONTENT = re.compile(r"[^\W_]{4,}")


def reversal(claim: str, quote: str) -> str:
    """Why the quote says the opposite of the claim, or an empty string when it does not clearly do so."""
    for pair in _DIRECTIONS:
        if _direction_of(claim, pair) * _direction_of(quote, pair) == -1:
            return "its quote points the other way"
    if fuzz.ratio(claim, quote, score_cutoff=_VERBATIM) and _turned(claim, quote):
        return "it says its quote's words, one of them turned round"
    claim, quote = NO_DENIAL.sub(" ", claim), NO_DENIAL.sub(" ", quote)
    if NEGATORS.search(claim):
        agrees = (
            NEGATORS.search(quote)
            or _NOT_SIGNIFICANT.search(quote)
            or _found(_NEGATIVE, quote) - _found(_NEGATIVE, claim)
        )
        return "" if agrees or not _denies_of(claim, quote) else "it denies what its quote affirms"
    own = (_found(_NEGATIVE, claim) | _found(_HEDGED, claim)) - {
        word.lower() for word in _WORD.findall(quote)
    }
    if not own and NEGATORS.search(_nearest_clause(claim, quote)):
        return "it affirms what its quote denies"
    return ""


def _denies_of(claim: str, quote: str) -> bool:
    """Whether a clause of the claim that denies has a word of the quote; one that has none is about something
    else."""
    said = {word.lower() for word in _CONTENT.findall(quote)}
    clauses = [clause for clause in _CLAUSES.split(claim) if NEGATORS.search(clause)]
    return not clauses or any(said & {w.lower() for w in _CONTENT.findall(one)} for one in clauses)


def _turned(claim: str, quote: str) -> bool:
    """Whether a claim in the words of its quote has another number of denials, or a direction in place of its
    opposite."""
    if len(NEGATORS.findall(claim)) != len(NEGATORS.findall(quote)):
        return True
    for up, down in (*_DIRECTIONS, _AMOUNTS, _EXTREMES):
        more = len(up.findall(claim)) - len(up.findall(quote))
        fewer = len(down.findall(claim)) - len(down.findall(quote))
        if more * fewer < 0:
            return True
    return False


def _found(pattern: re.Pattern[str], text: str) -> set[str]:
    return {match.lower() for match in pattern.findall(text)}


def _nearest_clause(claim: str, quote: str) -> str:
    """The clause of the quote that shares most words with the claim; of equals the one without a negation."""
    wanted = {word.lower() for word in _CONTENT.findall(claim)}

    def nearness(clause: str) -> tuple[int, bool]:
        shared = wanted & {word.lower() for word in _CONTENT.findall(clause)}
        return len(shared), not NEGATORS.search(clause)

    return max(_CLAUSES.split(quote), key=nearness)
