"""Which numbers of a text answer a question for an amount: dates, rates, ages, durations, doses, counts."""

import re
from collections.abc import Iterator

from activities.text import thesaurus
from activities.text.numerals import COUNT
from activities.text.rows import cells
from activities.text.tokens import is_function, terms

_WHOLE_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_MONTH = (
    rf"(?:{_WHOLE_MONTH}"
    r"|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?)"
)
_BEFORE_A_MONTH = "|".join(
    rf"(?<=\b[{word[0]}{word[0].upper()}]{word[1:]} )"
    for word in ("in", "of", "by", "from", "since", "until", "to", "before", "after", "early", "late")
)
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
DATE = re.compile(
    rf"\b{_DAY}(?: of)? {_MONTH}(?:,? [12]\d{{3}}\b)?|\b{_MONTH} {_DAY}(?:,? [12]\d{{3}})?\b(?!\d)"
    rf"|(?:{_BEFORE_A_MONTH}){_WHOLE_MONTH}(?! [12]\d{{3}}\b)"
    rf"|\b{_MONTH},? [12]\d{{3}}\b|\b[12]\d{{3}}-[01]\d-[0-3]\d\b|\b[0-3]?\d[./][01]?\d[./](?:19|20)\d\d\b"
    r"|\b(?:19|20)\d\d\b|(?<=\b[iI]n )1\d{3}\b"
)
"""A day, a month with its year, or a year; before 1900 behind `in` only, where it is no count."""
_WEEKDAY = r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)"
_SPAN = r"(?:hour|day|week|fortnight|month|quarter|year|decade)s?"
TIME = re.compile(
    rf"\b[mM]id-{_WHOLE_MONTH}\b"
    rf"|\b{_WEEKDAY}s?\b(?: the {_DAY}\b)?"
    r"|\b(?:[01]?\d|2[0-3]):[0-5]\d\b|\b(?:1[0-2]|[1-9]) ?[ap]\.?m\b|\b\w+ o'clock\b"
    r"|\b(?:half|quarter) (?:past|to) \w+"
    rf"|\b(?:in|within|until) (?:about |another )?"
    rf"(?:half an? |an? |the |(?:{COUNT}) )?{_SPAN}\b(?: ago)?"
    rf"|\b(?:{COUNT}) {_SPAN} (?:ago|later|earlier|before|after)\b"
    r"|\b(?:in|this|last|next|every|of) (?:spring|summer|autumn|winter)\b"
    r"|\b(?:today|tomorrow|yesterday|tonight|noon|midnight)\b"
)
"""A time that is no date: a month, a day of the week, an hour, a span after which something happens."""
_CURRENCY = r"(?:EUR|USD|GBP|CHF|JPY|CAD|AUD|CNY|INR|SEK|NOK|DKK)"
_CODE = re.compile(rf"\b{_CURRENCY}\b|[$\u20ac\u00a3\u00a5\u20b9]")
_BEGINS_WITH_NUMBER = re.compile(r"^\W*\d")
MONEY = re.compile(
    r"[$\u20ac\u00a3\u00a5\u20b9]\s?\d[\d.,' ]*\d?(?:\s?(?:thousand|million|billion|trillion|[kKmM]\b|bn))?"
    rf"|\b{_CURRENCY}\s?\d[\d.,']*(?:\s(?:thousand|million|billion))?"
    r"|\b\d[\d.,']*(?:\s(?:thousand|million|billion|trillion))?\s(?P<unit>[A-Za-z]+)\b",
)
"""A sum with a sign, a code or a unit of money (`_is_money`). The codes are those of ISO 4217 that are traded
most (BIS Triennial Survey 2022)."""
RATE = re.compile(
    r"\b1\s?(?::|/)\s?\d[\d,. ]*(?:\s?(?:-|\u2013|to|and)\s?1\s?(?::|/)\s?\d[\d,. ]*)?\d"
    r"|\b(?:1|one|\d[\d.]*)\s(?:in|of|out of|per)\s(?:every\s)?(?:\d{1,3}(?:[, ]\d{3})+\b|\d{2,})"
    r"|\b\d[\d.,]*(?:\s?(?:-|\u2013|to)\s?\d[\d.,]*)?(?:\s(?:cases|patients|people|individuals))?"
    r"\s?(?:per|/)\s?(?:\d[\d,. ]*\d|million|thousand)"
    r"|\b\d[\d.]*\s?(?:%|per ?cent)",
    re.IGNORECASE,
)
AGE = re.compile(
    r"\b(?:(?:before|after|over|under|between|from)\s(?:the\s)?(?:age\sof\s|ages\s(?:of\s)?)?)?"
    r"\d{1,3}(?:\s?(?:-|\u2013|to|and)\s?\d{1,3})?[ -](?:years?|months?|weeks?|days?)(?:[ -](?:of age|old))?"
    r"|\b(?:before|after|under|over) (?:the )?age (?:of )?\d{1,3}"
    r"|\b(?:(?:first|second|third|fourth|fifth|sixth|seventh|eighth)(?:,? (?:or|and|to) )?)+ decades?"
    r"|\b(?:infancy|childhood|adolescence|puberty|adulthood|birth)\b",
    re.IGNORECASE,
)
PHASE = re.compile(
    r"\bphase[ -]?(?:[1-4]|I{1,3}V?|IV|one|two|three|four)[ab]?(?:/(?:[1-4]|I{1,3}V?|IV)[ab]?)?\b",
    re.IGNORECASE,
)
DOSE = re.compile(
    r"\b\d[\d.,]*(?:\s?(?:-|\u2013|to)\s?\d[\d.,]*)?\s?(?:mg|g|ug|mcg|ml|IU|units?|U|[mc]?Gy|[mu]?Sv"
    r"|m?mol|mEq)(?:/(?:kg|day|d|m2))*\b",
    re.IGNORECASE,
)
ANY_NUMBER = re.compile(r"\b\d[\d.,]*(?:\s?(?:%|[a-z]+))?", re.IGNORECASE)
_DURATION = re.compile(
    r"\b\d[\d.,]*(?:\s?(?:-|\u2013|to)\s?\d[\d.,]*)?[ -]"
    r"(?:years?|months?|weeks?|days?|hours?|h|minutes?|min|seconds?|s|ms)\b",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"(?<![\w.,<>=/])(?!(?:19|20)\d\d\b)(?:\d+ (?:out )?of (?:the |these |all )?)?"
    r"\d{1,3}(?:[ ,]\d{3})*(?![\d.,]*\d|\s?%)(?: [a-z-]+){1,3}",
    re.IGNORECASE,
)
_HOW_MUCH = re.compile(r"\bhow (?:much|expensive) (?P<of>\w+)", re.IGNORECASE)
_AUXILIARIES = frozenset(
    {"is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "will", "would"}
)
_WHAT_DOES = re.compile(
    r"^(?:and |so )?what (?:do|does|did|will|would|may|might|can|could|should|has|have|had)\b(?P<rest>[^?]*)",
    re.IGNORECASE,
)
_BEFORE_A_NOUN = frozenset(
    {"the", "a", "an", "of", "my", "our", "your", "his", "her", "its", "their", "this", "that"}
)
_HOW_MANY = re.compile(r"\bhow (?:many|much) (?P<of>(?!(?:more|less|fewer)\b)[a-z-]+)", re.IGNORECASE)
_NUMBER = re.compile(rf"\b(?:{COUNT}|\d[\d.,]*)", re.IGNORECASE)
_PEOPLE = frozenset({"people", "man", "woman"})
_WORD = re.compile(r"[a-z]+")
_QUANTITIES = frozenset({"23", "28"})
"""WordNet's files of quantities and times."""
_POSSESSIONS, _DEALINGS = "21", "40"
"""WordNet's files of nouns and of verbs of possession."""
_CODES = frozenset({"EUR", "USD", "GBP", "CHF", "JPY", "CAD", "AUD", "CNY", "INR", "SEK", "NOK", "DKK"})
_POUNDS = frozenset({"pound", "yen", "crown", "mark"})
"""Units of money that mean something else more often."""
_HOW = re.compile(r"\bhow (?P<adjective>[a-z]+)|^(?P<when>when)\b", re.IGNORECASE)
_OFTEN = frozenset({"often", "common", "rare", "frequent", "likely"})
_LONG = frozenset({"long", "old"})
_MEASURES = re.compile(
    r"(?:incidence|prevalence|frequency|percentage|proportion|share|rate|ratio|dose|dosage|age|year"
    r"|date|phase"
    r"|number|amount|average|mean|median|typical|usual|total)s?"
)
_SHARES = re.compile(r"(?:rate|ratio|percentage|proportion|share|frequency)s?$")


def amounts(question: str, focus: str, text: str) -> Iterator[tuple[str, int, float]]:
    """(the number with its unit, where it stands, how well it fits from 0 to 1) of each that may answer.
    `focus`: the noun phrase that is asked for (`incidence`); empty where there is none."""
    for weight, pattern in zip((1.0, 0.5, 0.4), _patterns(question, focus.casefold()), strict=False):
        for match in pattern.finditer(text):
            if pattern is MONEY and not _is_money(match["unit"]):
                continue
            if pattern is TIME and DATE.search(text, max(0, match.start() - 3), match.end() + 5):
                continue  # a part of a date
            if pattern is not _COUNT or _counts(match.group(), question):
                yield match.group().strip(" ,."), match.start(), weight


def asks_for_date_or_sum(question: str) -> bool:
    """Whether a question asks when, or how much money."""
    return asks_when(question) or asks_for_money(question)


def asks_when(question: str) -> bool:
    """Whether a question asks for a date."""
    how = _HOW.search(question)
    return bool(how and how["when"])


def is_amount(text: str) -> bool:
    """Whether a text, such as the cell of a table, begins with a number."""
    return bool(_BEGINS_WITH_NUMBER.match(text))


def gives_amount(question: str, text: str) -> bool | None:
    """Whether a text has a date where a question asks when, or a sum or a share where it asks how much money;
    None for other questions."""
    if not asks_for_date_or_sum(question):
        return None
    if next(amounts(question, "", text), None) is not None:
        return True
    return not asks_when(question) and _in_a_table(text)


def _in_a_table(text: str) -> bool:
    """Whether a row of a table has a sum behind a heading that is of money."""
    return any(is_amount(cell.value) and names_money(cell.heading) for cell in cells(text))


def names_money(heading: str) -> bool:
    """Whether the heading of a column is of money: `Cost`, `Price (EUR)`."""
    words = _WORD.findall(heading.casefold())
    return bool(_CODE.search(heading)) or any(_is_money(word) or _of_possession(word) for word in words)


def gives_sum(text: str) -> bool:
    """Whether a text has a sum of money."""
    return any(_is_money(match["unit"]) for match in MONEY.finditer(text)) or _in_a_table(text)


def asks_for_money(question: str) -> bool:
    """Whether `how much` asks for money: of a thing that WordNet files under possession (how much revenue),
    or of nothing named, in a question with a noun or a verb of possession (cost, fee, pay, earn); or `what`
    asks for what something costs."""
    how = _HOW_MUCH.search(question)
    if how is None:
        return asks_what_it_costs(question)
    named = how["of"].casefold()
    if not is_function(named) and named not in _AUXILIARIES:
        return _POSSESSIONS in thesaurus.files(named)[:2]
    return any(_of_possession(word) for word in _WORD.findall(question[how.end() :].casefold()))


def asks_what_it_costs(question: str) -> bool:
    """Whether `what` stands for the object of a verb of paying: `what did the repair cost?`"""
    found = _WHAT_DOES.match(" ".join(question.split()))
    words = _WORD.findall(found["rest"].casefold()) if found else []
    return any(
        of_paying(word)
        and words[place - 1] not in _BEFORE_A_NOUN
        and (place + 1 == len(words) or is_function(words[place + 1]))
        for place, word in enumerate(words)
        if place
    )


def of_paying(word: str) -> bool:
    """Whether a word is `cost`, or the verb of a kind of cost or payment (charge, pay)."""
    if word == "cost":
        return True
    if _DEALINGS not in thesaurus.files(word):
        return False
    return word in thesaurus.narrower("cost") | thesaurus.narrower("payment") or "cost" in thesaurus.broader(
        word
    )


def counted(question: str) -> str:
    """The noun whose number or amount is asked for (`tickets` of `how many tickets`); empty where none is, or
    where it is money."""
    found = _HOW_MANY.search(question)
    word = found["of"].casefold() if found else ""
    if not word or word in _AUXILIARIES or is_function(word) or asks_for_money(question):
        return ""
    return word if thesaurus.mostly_noun(word) else ""


def is_unit(noun: str) -> bool:
    """Whether a noun is a measure or a time, of which a text may give an amount in another unit."""
    return not _QUANTITIES.isdisjoint(thesaurus.files(noun)[:3])


def gives_count(noun: str, text: str) -> bool:
    """Whether a sentence has a number and the thing that is counted, by the same word, another for it, or one
    for a kind of it; and people for persons of any kind."""
    if not _NUMBER.search(text):
        return False
    names = {noun, *thesaurus.singulars(noun), *(("person",) if noun == "people" else ())}
    if any("person" in thesaurus.broader(name) for name in names):
        names |= _PEOPLE
    names |= {other for name in names for other in thesaurus.synonyms(name)}
    said = {form for word in _WORD.findall(text.casefold()) for form in (word, *thesaurus.singulars(word))}
    return any(word in names or not names.isdisjoint(thesaurus.broader(word)) for word in said)


def _of_possession(word: str) -> bool:
    if is_function(word):
        return False
    files = thesaurus.files(word)
    return _POSSESSIONS in files[:2] or _DEALINGS in files[:2]


def _is_money(unit: str | None) -> bool:
    """Whether a word is a unit of money (`euros`), or there is none because a sign or a code stands there."""
    if unit is None:
        return True
    if unit in _CODES:
        return True
    singles = {unit.casefold(), *thesaurus.singulars(unit.casefold())}
    return any("monetary unit" in thesaurus.broader(word) for word in singles) or bool(_POUNDS & singles)


def measured(focus: str) -> frozenset[str]:
    """Comparison forms of what is measured, of a noun phrase that asks for an amount: of a recurrence in
    `recurrence rate`, and nothing in `prevalence`, which is of the question's things."""
    words = [word for word in focus.casefold().split() if not _MEASURES.fullmatch(word)]
    return frozenset(terms(" ".join(words)))


def _counts(counted: str, question: str) -> bool:
    """Whether what is counted is what the question asks the number of."""
    return bool(set(terms(counted)) & set(terms(question)))


def _patterns(question: str, focus: str) -> tuple[re.Pattern[str], ...]:
    how = _HOW.search(question)
    adjective = (how["adjective"] or "").casefold() if how else ""
    if how and how["when"]:
        return (DATE, AGE, TIME)
    if adjective == "many":
        return (_COUNT,)
    if asks_for_money(question):
        return (MONEY, RATE)
    if adjective == "much":
        return (_COUNT, RATE)
    if adjective in _OFTEN:
        return (RATE,)
    if adjective in _LONG or re.search(r"\bage|onset", focus):
        return (AGE, _DURATION)
    if "phase" in focus:
        return (PHASE,)
    if re.search(r"dos(?:e|age)", focus):
        return (DOSE,)
    if re.search(r"year|date", focus):
        return (DATE,)
    head = focus.rpartition(" ")[2]
    if re.search(r"incidence|prevalence|percent|sensitivity|specificity|accuracy", focus) or _is_share(head):
        return (RATE,)
    if "28" in thesaurus.files(head)[:1] or re.search(r"\b(?:length|duration|stay|time|survival)\b", focus):
        return (_DURATION,)
    return (ANY_NUMBER,)


def _is_share(head: str) -> bool:
    """Whether a noun, or another word for it, is called a rate or a share: mortality, the death rate."""
    return any(_SHARES.search(word) for word in (head, *thesaurus.synonyms(head)))
