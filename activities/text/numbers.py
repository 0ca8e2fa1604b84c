"""The one reader of numbers: what a text states in digits and in number words, in any language.

A text that can be read in two ways has both readings, first that of its language: `1.000` is one in English
and a thousand in German, `12 345` is one number and two. Dates, clock times, pages and levels of intervals
are no figures to compute with; digits within a name (`IL-6`) are part of its code.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import cache, lru_cache
from itertools import chain
from typing import Literal, NamedTuple

from babel import Locale, UnknownLocaleError
from text_to_num import Token, find_numbers

from activities.text.language import ENGLISH, language_of_question
from activities.text.normal_form import is_unspaced, normalise
from activities.text.sentences import ORDINALS
from activities.text.tokens import fold

Role = Literal["figure", "date", "time", "ordinal", "page", "level", "code"]
Reading = tuple[Decimal, ...]
SPELLED_IN = frozenset(("en", "fr", "es", "pt", "de", "it", "nl", "da"))
"""Languages whose number words are read, as those of Chinese are."""
MAX_COUNT = 10
"""Up to which a sentence may count what its works list: three groups for groups I to III."""
MAX_DIGITS = 24
"""Digits and marks of a number; a longer run is a code."""
MIN_PREFIX = 3
"""Letters of a word in small letters that is joined to a number and is no part of a code: `mid-1990`."""
_ANY_LENGTH = Context(prec=10_000)
LEVELS = frozenset(map(Decimal, ("80", "90", "95", "97.5", "98", "99", "99.9")))

LETTERS = "A-Za-z\u00b5\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
"""Letters of scripts with blanks between words: in the others a letter beside a digit makes no name."""
_MONTH, _YEAR, _DAY = r"[^\W\d_]{3,12}\.?", r"(?:1[5-9]|20)\d\d", r"(?:0?[1-9]|[12]\d|3[01])"
_MARK = re.compile(r"\[\d{1,3}\]")
_DATE = re.compile(
    rf"(?<![\d.])(?:\d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?|\d{{4}}/\d{{1,2}}/\d{{1,2}}"
    rf"|{_DAY}\.\s?{_DAY}\.\s?(?:\d{{4}}|\d\d)|{_DAY}/{_DAY}/(?:\d{{4}}|\d\d)|{_DAY}-{_DAY}-\d{{4}}"
    r"|\d{4}\s?[\u5e74\ub144](?:\s?\d{1,2}\s?[\u6708\uc6d4])?(?:\s?\d{1,2}\s?[\u65e5\uc77c])?"
    rf"|{_DAY}(?:\.|\u00ba|[a-z]{{2}})?\s(?:de\s|of\s)?{_MONTH},?\s(?:de\s)?{_YEAR}"
    rf"|(?<![^\W\d_]){_MONTH}\s{_DAY}(?:st|nd|rd|th)?,\s{_YEAR}"
    rf"|{_YEAR}[-/]\d\d)(?![\d/]|-\d|\.\d)"
)
_DAY_AND_MONTH = re.compile(r"(\d{1,2})\.(?:0?[1-9]|1[0-2])\.(?!\d)")
_TIME = re.compile(
    r"(?<![\d:.,])(?:[012]?\d:[0-5]\d(?::[0-5]\d)?(?:\s?[ap]\.?m\b\.?)?(?!:?\d)"
    r"|\d{1,2}(?:[.:]\d\d)?\s?(?:[ap]\.?m\b\.?|Uhr\b(?:\s[0-5]\d\b)?)|[012]?\d\s?h\s?[0-5]\d\b"
    r"|[\u5348\u4e0a\u6668]\s?\d{1,2}[\u70b9\u65f6](?:\d{1,2}\u5206)?|\d{1,2}[\u70b9\u65f6]\d{1,2}\u5206)",
    re.IGNORECASE,
)
_NO_FIGURES: Mapping[re.Pattern[str], Role] = {_DATE: "date", _TIME: "time"}
_CODE = re.compile(rf"(?<![{LETTERS}\d_])(?>[{LETTERS}][{LETTERS}\d]*(?:-[{LETTERS}\d]+)*)(?![.,\u00b7]\d)")
_ROMAN = {"I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9}
_AMBIGUOUS = frozenset(("I", "IV", "V", "VI"))
"""Roman numerals that are as often other words."""
_PERCENT = r"[\s-](?:per\s?cent(?:age|o)?|Prozent|procent|pour\s?cent|por\s?c[ie]{1,2}nto)\b"
_OF_A_HUNDRED = re.compile(_PERCENT, re.IGNORECASE)
_FRACTION = "\u2044"
"""The sign that a fraction of one character has in its normal form: `12\u00bd` is `121\u20442`."""
_NUMBER = re.compile(
    rf"(?<!\d)(?P<digits>\d+{_FRACTION}[1-9]\d?(?!\d)|\d{{1,3}}(?:\s\d{{3}})+(?:[.,\u00b7]\d+)?(?!\d)"
    r"|\d+(?:[.,\u00b7\u22c5']\d+)*|[.\u00b7]\d+)"
    rf"(?P<percent>\s?[%\u2030\u066a]|{_PERCENT})?(?P<unit>[{LETTERS}]+)?",
    re.IGNORECASE,
)
_TO_PERCENT = re.compile(
    rf"\s?(?:-|\u00b1|\+/?-|[^\W\d_]{{1,6}}\.?|,|/)\s?-?\d+(?:[.,]\d+)?(?:\s?%|{_PERCENT})", re.IGNORECASE
)
"""Behind the first half of `20-30%` or `31 +/- 7%`, which has no sign."""
_OF_INTERVAL = re.compile(
    r"[\s%-]*\(?(?:C(?:r)?I|[KIHV]I|IC|conf|konf|cred|kred|interv|\u7f6e\u4fe1|\u4fe1\u983c)", re.IGNORECASE
)
_INTERVAL_OF = re.compile(r"\b(?:CI|IC|KI)\s(?:(?:de|del|di|do|\u00e0|a)\s)?$", re.IGNORECASE)
_PAGE = re.compile(r"\b(?:pp?\.|pages?|S\.|Seiten?|p[a\u00e1]g(?:ina)?s?\.?)\s*$", re.IGNORECASE)
_HAN_DIGITS = "\u96f6\u3007\u4e00\u4e8c\u4e24\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d"
_HAN = re.compile(
    rf"(?P<order>\u7b2c)?(?P<percent>\u767e\u5206\u4e4b)?(?P<whole>[{_HAN_DIGITS}\u5341]"
    rf"[{_HAN_DIGITS}\u5341\u767e\u5343\u4e07\u842c\u4ebf\u5104]*)"
    rf"(?:\u70b9(?P<fraction>[{_HAN_DIGITS}]++)(?![\u5341\u5206\u523b]))?(?P<hour>[\u70b9\u65f6\u5206])?"
)
"""A number in Chinese characters; `\u5343\u4e07` alone is as often another word."""
_TENTHS = "\u6210\u5272"
"""Signs of Chinese and Japanese behind a number of tenths: seven of them are 70 %."""
_GLUED = {"k": 1_000, "K": 1_000, "M": 1_000_000}
_SCALE = re.compile(r"\s?([^\W\d_](?:[\w ]{0,20}\w)?)")
_COMPACT = re.compile(r"(0+) ?([^.]+)\.?")
_ARABIC_MARKS = {0x66B: ".", 0x66C: ","}
SEPARATOR = re.compile(r"[.,\u00b7\u22c5']")
_TOKEN = re.compile(r"[^\W\d_]+|[^\w\s]")
_COMPOUND = re.compile(
    r"(?<=\w{3})(?:fold|mal|fach\w{0,2}|(?:prozent|j\u00e4hr|monat|w\u00f6ch|t\u00e4g|st\u00fcnd)ig\w{0,2})$"
)
"""The end of a word that begins with a number: `zw\u00f6lfw\u00f6chige`, `twentyfold`."""
DIGIT = re.compile(r"\d+")
_RANK = re.compile(r"(?:st|nd|rd|th)\b")
"""The ending of an ordinal in digits: `the 25th`."""


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a text with all that it may be read as."""

    text: str
    start: int
    """Where it stands in the normal form of its text."""
    end: int
    readings: tuple[Reading, ...]
    """Each way to read it, as the numbers that it then is."""
    percent: bool | None = False
    """None where the sign may stand elsewhere: half of a range, a cell, a fraction."""
    role: Role = "figure"
    code: str = ""
    """The code that it is where it stands before letters (`3D`)."""
    sign: Literal["", "-", "?"] = ""
    """A minus before it; `?` where that may be a dash, as in `5-7`."""
    is_scaled: bool = False
    """A word multiplies it, as in `2.5 million`; its last reading is that."""

    @property
    def value(self) -> Decimal:
        """Its first reading."""
        return self.readings[0][0]

    @property
    def is_year(self) -> bool:
        """Tell whether it may be a year of our time: four digits without a mark."""
        return self.text.isdecimal() and len(self.text) == 4 and 1900 <= self.value < 2100

    @property
    def values(self) -> frozenset[Decimal]:
        """All that it may state, without a sign."""
        return frozenset(chain.from_iterable(self.readings))

    @property
    def signed(self) -> tuple[Decimal, ...]:
        """All that it may state with its sign, the likeliest first."""
        values = [*dict.fromkeys(chain.from_iterable(self.readings))]
        plain = () if self.sign == "-" else values
        return (*plain, *(-value for value in values if self.sign))


class Code(NamedTuple):
    """A name of letters and digits (`IL-6`, `NCT01234567`), or a Roman numeral."""

    text: str
    code: str
    value: Decimal | None = None
    """The number that it may be instead: `mid-1990`, `III`."""


class Contents(NamedTuple):
    numbers: tuple[Number, ...]
    codes: tuple[Code, ...]


def rounded_to(exact: Decimal, printed: Decimal) -> Decimal:
    """Return a number with the last place of another one, halves up."""
    exponent = printed.as_tuple().exponent
    assert isinstance(exponent, int)  # no infinity
    return exact.quantize(Decimal(1).scaleb(exponent), "ROUND_HALF_UP", _ANY_LENGTH)


@lru_cache(maxsize=2_048)  # a sentence and its quotes are looked at for several things
def read(text: str, language: str = "") -> Contents:
    """Return the numbers and codes of a text without tables, in order.

    `language`: of its number words; empty for that of the text."""
    text = normalise(text).translate(_ARABIC_MARKS)
    language = language or language_of_question(text) or ENGLISH
    decimal = str(locale_of(language).number_symbols["latn"]["decimal"])
    text = _MARK.sub(_blank, text)
    numbers, codes = list[Number](), list[Code]()
    for pattern, role in _NO_FIGURES.items():
        numbers += [_date_or_time(match, role) for match in pattern.finditer(text)]
        text = pattern.sub(_blank, text)
    for match in _CODE.finditer(text):
        token = match[0]
        codes += _codes(token, language)
        if DIGIT.search(token):
            digits = [Decimal(digit) for digit in DIGIT.findall(token)]
            numbers.append(Number(token, *match.span(), tuple((digit,) for digit in digits), role="code"))
    text = _CODE.sub(lambda match: _blank(match) if DIGIT.search(match[0]) else match[0], text)
    for match in _NUMBER.finditer(text):
        if len(match["digits"]) <= MAX_DIGITS:
            numbers.append(_number(match, text, decimal, language))
        else:
            codes.append(Code(match["digits"], compact(match["digits"])))
    characters = list(text)
    for figure in numbers:
        characters[figure.start : figure.end] = "#" * (figure.end - figure.start)
    text = _OF_A_HUNDRED.sub(_blank, "".join(characters))  # its `cent` is no number
    numbers += [*_numbers_in_words(text, language), *map(_han_number, _HAN.finditer(text))]
    return Contents(tuple(sorted(numbers, key=lambda number: number.start)), tuple(codes))


def figures(text: str, language: str = "") -> tuple[Number, ...]:
    """Return the numbers of a text that one may compute with."""
    return tuple(number for number in read(text, language).numbers if number.role == "figure")


def figure_of(text: str, language: str = "") -> Number | None:
    """Return the figure of a text that has exactly one."""
    numbers = figures(text, language)
    return numbers[0] if len(numbers) == 1 else None


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _date_or_time(match: re.Match[str], role: Role) -> Number:
    """Return a date or a time: its parts, or its year with the day, where a name may stand for its month."""
    parts = tuple(map(Decimal, DIGIT.findall(match[0])))
    years = [part for part in parts if part >= MAX_COUNT**3][:1]
    if match[0][5:].isdigit() and years and years[0] % 100 < parts[1]:  # 2018-19
        parts = (*parts, years[0] - years[0] % 100 + parts[1])
        return Number(match[0], *match.span(), (parts, (*years,)), role=role)
    days = parts[2:3] if parts[:1] == (*years,) else parts
    dates = [(*years, part) for part in days if years and part not in years]
    return Number(match[0], *match.span(), (parts, *dates), role=role)


def _codes(token: str, language: str) -> Iterator[Code]:
    if token in _ROMAN and token not in _AMBIGUOUS:
        yield Code(token, token.casefold(), Decimal(_ROMAN[token]))
    parts = token.split("-")
    for before, part in zip(["", *parts], parts, strict=False):
        digits = DIGIT.search(part)
        if digits is None:
            continue
        is_word = before.islower() or (language == "de" and before.istitle())  # Typ-2-Diabetes
        is_prefix = part[0].isdigit() and is_word and len(before) >= MIN_PREFIX
        value = Decimal(digits[0]) if is_prefix else None
        yield Code(token, compact(before + part if part.isdigit() else part), value)


def compact(text: str) -> str:
    """Return the comparison form of a code: its letters and digits, folded."""
    return "".join(filter(str.isalnum, fold(text)))


def _number(match: re.Match[str], text: str, decimal: str, language: str) -> Number:
    unit, surface = match["unit"] or "", match[0].removesuffix(match["unit"] or "")
    readings, end, scales = list(_readings(match["digits"], decimal)), match.end(), _scales(language)
    word = _SCALE.match(text, match.end("digits"))
    scale = _GLUED.get(unit, 1)
    if word and (prefix := next((name for name in scales if word[1].casefold().startswith(name)), "")):
        place = word.start(1) + len(prefix)
        if is_unspaced(prefix[0]) or not text[place : place + 1].isalpha():
            scale, surface, end = scales[prefix], text[match.start() : place], place
    if language in ORDINALS and (day := _DAY_AND_MONTH.match(text, match.start())):
        readings.append((Decimal(day[1]),))
    is_tenths = text.startswith((*_TENTHS,), match.end("digits"))
    if is_tenths:
        readings.append((readings[0][0] * 10,))
    if scale > 1:
        readings += [(reading[0] * scale,) for reading in readings if len(reading) == 1]
    percent: bool | None = bool(match["percent"]) or text.endswith("\u767e\u5206\u4e4b", 0, match.start())
    if not percent and (is_tenths or readings[0][0] % 1 or _TO_PERCENT.match(text, match.end())):
        percent = None
    role: Role = "figure"
    before = text[max(0, match.start() - 12) : match.start()]
    after = text[match.end("digits") : match.end() + 12]
    if readings[0][0] in LEVELS and (_OF_INTERVAL.match(after) or _INTERVAL_OF.search(before)):
        role = "level"
    elif _PAGE.search(before):
        role = "page"
    elif _RANK.match(text, match.end("digits")):
        role = "ordinal"
    code = compact(match["digits"] + unit) if unit else ""
    sign: Literal["", "-", "?"] = ""
    if before.endswith("-") and not before.endswith(("+/-", "+-")):  # a deviation behind a mean
        sign = "?" if before[-2:-1].isalnum() or before[-2:-1] in (")", "]", "%") else "-"
    return Number(surface.strip(), match.start(), end, tuple(readings), percent, role, code, sign, scale > 1)


@cache
def locale_of(language: str) -> Locale:
    """Return how a language writes numbers; as English where that is not known."""
    try:
        return Locale.parse(language)
    except (UnknownLocaleError, ValueError):
        return Locale(ENGLISH)


@cache
def _scales(language: str) -> Mapping[str, int]:
    """Map the words that multiply a number before them (`million`, `Mrd`), the longest first, to how much."""
    words: dict[str, int] = {}
    for name in (*sorted(SPELLED_IN), "zh", language):  # a short text does not always tell its language
        formats = locale_of(name).compact_decimal_formats
        rows = (row for form in ("short", "long") if form in formats for row in formats[form].values())
        for size, pattern in (pair for row in rows for pair in row.items()):
            match = _COMPACT.fullmatch(normalise(pattern.pattern.replace("'", "")))
            if match and (len(match[2]) > 1 or is_unspaced(match[2])):
                words[match[2].casefold()] = int(size) // 10 ** (len(match[1]) - 1)
    words["bn"] = 10**9  # CLDR has it as French alone
    return dict(sorted(words.items(), key=lambda pair: -len(pair[0])))


def _readings(digits: str, decimal: str) -> Iterator[Reading]:
    """Yield each way to read a run of digits with marks or blanks between them."""
    if " " in digits:
        yield from _readings(digits.replace(" ", ""), decimal)
        yield tuple(next(_readings(part, decimal))[0] for part in digits.split(" "))
        return
    if _FRACTION in digits:
        numerator, denominator = digits.split(_FRACTION)
        exact = Decimal(numerator[:-1] or 0) + Decimal(numerator[-1]) / Decimal(denominator)
        places = map(Decimal, ("0.001", "0.01", "0.1"))
        yield from dict.fromkeys((rounded_to(exact, place).normalize() + 0,) for place in places)
        yield Decimal(numerator), Decimal(denominator)
        return
    marks = SEPARATOR.findall(digits)
    if not marks:
        yield (Decimal(digits),)
        return
    head, *groups = SEPARATOR.split(digits)
    if not head:
        yield (Decimal(f"0.{groups[0]}"),)
        return
    parts = tuple(Decimal(part) for part in (head, *groups))
    mark, *other_marks = dict.fromkeys(marks)
    if not other_marks:
        is_grouped = mark in ".,'" and _are_groups(head, groups)
        ways = [(Decimal("".join((head, *groups))),)] if is_grouped else []
        if len(groups) == 1 and mark != "'":
            ways.insert(0 if mark == decimal else 1, (Decimal(f"{head}.{groups[0]}"),))
        yield from ways
        if not is_grouped and (len(groups) > 1 or (mark in ",'" and mark != decimal)):
            yield parts
    elif len(set(marks[:-1])) == 1 and _are_groups(head, groups[:-1]):
        yield (Decimal(f"{head}{''.join(groups[:-1])}.{groups[-1]}"),)
    elif "," in marks:  # 4350.00,12
        yield tuple(value for part in digits.split(",") for value in next(_readings(part, decimal)))
    else:
        yield parts


def _are_groups(head: str, groups: list[str]) -> bool:
    """Tell whether digits are set off in thousands, also as in India (1,00,000)."""
    is_last_full, lengths = len(groups[-1]) == 3, {len(group) for group in groups[:-1]}
    return head[0] != "0" and len(head) <= 3 and is_last_full and (lengths <= {3} or lengths == {2})


class _Word(str, Token):  # type: ignore[misc]  # the package ships no types
    def text(self) -> str:
        return str(self)


def _numbers_in_words(text: str, language: str) -> Iterator[Number]:
    """Find the numbers in words of a language with blanks between them."""
    words = [*_TOKEN.finditer(text)] if language in SPELLED_IN else []
    tokens = [_Word(_COMPOUND.sub("", word[0])) for word in words]
    for number in find_numbers(tokens, language, 0.0) if words else ():
        start, end = words[number.start].start(), words[number.end - 1].end()
        value = Decimal(str(number.value))
        # the word for one is more often no number
        role: Role = "ordinal" if number.is_ordinal or value <= 1 else "figure"
        yield Number(text[start:end], start, end, ((value.normalize() + 0,),), None, role)


def _han_number(match: re.Match[str]) -> Number:
    """Return a number in Chinese characters; two digits without a unit may be a name."""
    total = part = digit = 0
    for value in _han_digits(match["whole"]):
        if value < MAX_COUNT:
            digit = 10 * digit + value
        elif value < 10_000:
            part, digit = part + (digit or 1) * value, 0
        else:
            amount, part, digit = part + digit, 0, 0
            total = total + amount * value if total > value else (total + amount) * value
    fraction = "".join(map(str, _han_digits(match["fraction"] or "")))
    number = Decimal(f"{total + part + digit}.{fraction or 0}").normalize() + 0
    may_be_name = len(match["whole"]) == 2 and digit >= MAX_COUNT
    is_rank = match["order"] or match["hour"] or number <= 1 or may_be_name
    role: Role = "ordinal" if is_rank else "figure"
    tenths = [(number * 10,)] if match.string.startswith((*_TENTHS,), match.end()) else []
    return Number(match[0], *match.span(), ((number,), *tenths), bool(match["percent"]) or None, role)


def _han_digits(text: str) -> list[int]:
    return [int(unicodedata.numeric(sign)) for sign in text.replace("\u4e24", "\u4e8c")]
