"""What was measured in each of two groups, as a sentence of results sets one against the other.

`12 of 80 vs 20 of 82`, `15% in the surgery group and 24% in the control group`, `5.2 (SD 1.3) versus 6.1
(SD 1.4)`: two values of one kind, joined by a word that compares or each with its group. Values before and
after one treatment, of one group's characteristics (`mean age`) and of two measures of one test
(`sensitivity and specificity`) are none. What is measured and the groups are given in the sentence's own
words where they can be read, and left empty otherwise.
"""

import re
from collections.abc import Iterable, Iterator

from activities.text import thesaurus
from activities.text.sentences import Statement
from activities.text.study_wording import PEOPLE, UNITS
from activities.text.tokens import fold, is_function
from activities.types import ArmResult

LONGEST_MEASURE = 12
"""Words of what was measured at most."""
LONGEST_ARM = 7
LONGEST_SENTENCE = 800
"""Characters of a sentence at most; a longer one is no sentence, and expensive to read."""

_COUNT = r"\d{1,3}(?:,\d{3})+|\d+"
_DECIMAL = r"\d+(?:,\d{3})*(?:[.\u00b7]\d+)?"
_PERCENT = rf"{_DECIMAL}\s?(?:%|per ?cent\b)"
_EVENTS = (
    rf"(?:{_COUNT})\s?(?:/|\s(?:out )?of (?:the )?)\s?(?:{_COUNT})(?!\s?/)(?:\s[a-z]+)?"
    rf"(?:\s?[(\[]{_PERCENT}[)\]])?"
    rf"|{_PERCENT}\s?[(\[](?:n\s?=\s?)?(?:{_COUNT})(?:\s?/\s?|\sof\s)(?:{_COUNT})[)\]]"
)
_SHARE = rf"(?:{_COUNT})\s[(\[]{_PERCENT}[)\]]|{_PERCENT}(?:\s?[(\[](?:n\s?=\s?)?(?:{_COUNT})[)\]])?"
_SPREAD = (
    rf"\s?(?:\u00b1|\+/-|\+-)\s?{_DECIMAL}"
    rf"|\s?[(\[](?:SDs?|SEM?|standard deviation|IQR|interquartile range|range)?"
    rf"[\s,:=]*{_DECIMAL}(?:\s?(?:-|\u2013|to)\s?{_DECIMAL})?[)\]]"
)
_UNIT = (
    r"(?:\s?(?!(?:for|in|of|and|at|with|to|than|was|were|vs?|versus|compared|on|by)\b)"
    r"(?:[a-zA-Z\u00b5]{1,12}(?:/[a-zA-Z\d]{1,6}){0,2}|%))?"
)
_MEAN = rf"-?{_DECIMAL}{_UNIT}(?:{_SPREAD}){_UNIT}"
_PLAIN = (
    rf"{_DECIMAL}\s(?:years?|months?|weeks?|days?|hours?|h|min(?:utes)?|mm\s?Hg|kg|mg|g|ml|cm|mm|points?)"
)
_KINDS = (_EVENTS, _SHARE, _MEAN, _PLAIN)
_JOIN = r"versus|vs\.?|v|compared (?:with|to)|as against|against|as compared (?:with|to)|than"
_COMPARES = re.compile(rf"\s(?:{_JOIN})\s", re.IGNORECASE)
_SETS_AGAINST = re.compile(r"\s(?:and|but|while|whereas)\s", re.IGNORECASE)
_RESPECTS = re.compile(r"\srespectively\b", re.IGNORECASE)
_WORD = r"(?!\d+\b|and\b|vs?\b|versus\b|compared\b|than\b|were\b|was\b)[\w/+-]++"
_BETWEEN = r"[^.,;:()\[\]\d]{0,60}?"


def _group(name: str) -> str:
    """The group that a value is of. Repetition does not give back (`++`): sentences are others' text."""
    return (
        r"(?:in|among|for|of|with|after|on|by)\s(?:(?:the|those|patients|women|men|children|subjects|with|without"
        rf"|who|of|given|receiving|undergoing|treated|in)\s){{0,5}}+(?P<{name}>{_WORD}(?:\s{_WORD}){{0,5}}?)"
    )


def _forms(kind: str) -> tuple[re.Pattern[str], ...]:
    """A value against another, then each value with its group, of one kind."""
    one, other = rf"(?<![\w.,/<>=\u2264\u2265-])(?P<one>{kind})", rf"(?P<other>{kind})(?![\w/%])"
    ends = r"(?=\s?(?:,|;|\.(?:\s|$)|\(|\[|\)|$|\s(?:and|were|was|at|during|after|p\b)))"
    return (
        re.compile(
            rf"{one}(?:,?\s{_group('a')})?\s?,?\s(?:{_JOIN})\s(?:(?:the|a|an|only)\s)?"
            rf"(?:(?:in|for|among|with|of)\s)?{_BETWEEN}{other}(?:\s{_group('b')}{ends})?",
            re.IGNORECASE,
        ),
        re.compile(
            rf"{one}\s{_group('a')},?\s(?:and|but|while|whereas)\s(?:(?:only|was|to|by|it was)\s)?"
            rf"{other}\s{_group('b')}{ends}",
            re.IGNORECASE,
        ),
    )


def _respective(kind: str) -> re.Pattern[str]:
    """`in the A and B groups was 12% and 20%, respectively`."""
    name = r"[A-Za-z][\w/+-]*(?:\s(?!and\b|was\b|were\b)[\w/+-]+){{0,4}}?"
    return re.compile(
        rf"\b(?:in|among|for|of|after|with)\s(?:the\s)?(?P<a>{name.format()})\s(?:and|versus|vs\.?)\s(?:the\s)?"
        rf"(?P<b>{name.format()})(?:\s(?:groups?|arms?|patients|women|men|children|subjects|procedures))?,?\s"
        rf"(?:was|were|(?:[a-z]+\s)?of)\s(?P<one>{kind})\s(?:and|versus|vs\.?)\s(?P<other>{kind})"
        r"(?=[^.;]{0,30}\brespectively\b)",
        re.IGNORECASE,
    )


_FORMS = tuple(
    (needed, form)
    for kind in _KINDS
    for needed, form in zip(
        (_COMPARES, _SETS_AGAINST, _RESPECTS), (*_forms(kind), _respective(kind)), strict=True
    )
)
"""Each with what must stand in a sentence that has it: forms with many optional parts are slow where there is
none."""
_NOT_RESULTS = re.compile(
    r"\b(?:mean|median|average) (?:patient )?age\b|\baged?\b|\byears old\b|\bbaseline\b"
    r"|\bfollow(?:ed|-)?[- ]?up (?:was|of|period)"
    r"|\bpower\b|\bsample size|\bsensitiv|\bspecificit|\bpredictive value|\bkappa\b|\bresponse rate\b"
    r"|\bcompared (?:with|to) (?:the )?(?:pre|baseline|before|initial)\w*|\bbefore and after\b"
    r"|\btime periods?\b",
    re.IGNORECASE,
)
_MORE_BEFORE = re.compile(r"\d\s?%?[^.;:\d]{0,60},\s*(?:and\s)?$")
_MORE_BEHIND = re.compile(
    r"[^.;:()\d=<>]{0,50}(?:,|\band\b|\bto\b)\s(?:[a-z]+\s){0,3}?\d[\d.]*\s?(?:%(?!\s?-?(?:CI|conf))|[a-z])",
    re.IGNORECASE,
)
"""Further values: there are more than two groups."""
_CHANGE = re.compile(r"\b(?:from|before|pre-?operative|initial)\W+(?:\w+\W+){0,3}$", re.IGNORECASE)
"""What stands before a value that is the first of one group's two."""
_CLAUSE = re.compile(
    r"[;:]\s|,\s(?:and|but|while|whereas|with)\s|\s(?:whereas|while)\s|^(?:in|of|among)\s[^,]{2,80},\s",
    re.IGNORECASE,
)
_FINITE = re.compile(
    r"\s(?:was|were|is|are|had|has|have|did|does|occurred|improved|decreased|increased|declined|fell|rose|dropped"
    r"|reduced|differed|showed|achieved|developed|experienced|underwent|received|reported|required|died|survived)\b",
    re.IGNORECASE,
)  # fmt: skip
_DIFFERS = re.compile(
    r"\b(?:was|were|is|are|did|decreased|increased|improved|declined|differed)\b(?:\s[\w-]+){0,3}?\s?(?:higher|lower|greater"
    r"|fewer|less|more|longer|shorter|better|worse|similar|different|differ|reduced|decreased|increased|comparable"
    r"|larger|smaller|significant(?:ly)?)?\b[^,;:]{0,60}$",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"^\W*(?:although|however|while|whereas|thus|therefore|so|moreover|furthermore|in addition|overall),?\s",
    re.IGNORECASE,
)
_OF_GROUP = re.compile(
    rf"(?:(?!of\b|in\b|among\b|for\b|with\b|to\b|by\b)[\w-]+\s){{0,3}}?(?:{PEOPLE}|{UNITS}|groups?|cases)\b",
    re.IGNORECASE,
)
_HAD = re.compile(
    r"\b(?:had|showed|achieved|developed|experienced|reported|required)\s+(?P<what>[^,;:()\d]{3,80}?)\s*[(\[,]?\s*$",
    re.IGNORECASE,
)


_GROUP_OF_MEASURE = re.compile(
    rf"\s(?:of|for|in|among)\s(?P<group>(?:(?!of\b|for\b|in\b|among\b)[\w/+-]+\s){{0,4}}?(?:{PEOPLE}|groups?|arms?)\b"
    r"(?:\s[\w/+-]+){0,5})$",
    re.IGNORECASE,
)
"""A group at the end of what was measured: `5-year survival of women`."""
_THAN_THAT = re.compile(
    r"\b(?:was|were)\s[^,;()]{2,40}?\bthan\s(?:(?:that|those)\s)?(?:(?:of|for|in|among)\s)?(?:the\s)?"
    r"(?P<other>[^,;()]{2,60}?)(?:\s(?:in|at|after|during)\s[^,;()]{2,40})?\s*\(\s*$",
    re.IGNORECASE,
)
"""What the values in brackets compare: `was better than that of men (81% vs 70%)`."""
_OTHER_BEHIND = re.compile(
    rf"(?:\s?\([^()]*\))?\s(?:in|for|among|of)\s(?:the\s)?(?P<other>(?:[\w/+-]+\s){{0,3}}?(?:{PEOPLE}|group|arm)"
    r"(?:\s(?:with|without)\s[\w-]+)?)\b",
    re.IGNORECASE,
)
_DENIES = ("without", "no", "not")
"""Words by which one group is what the other is not."""
_MORE = re.compile(r"\b(?:higher|greater|more|longer|larger)\b", re.IGNORECASE)
_LESS = re.compile(r"\b(?:lower|less|fewer|shorter|smaller)\b", re.IGNORECASE)
_LEADING = re.compile(_DECIMAL)
_POINTS_AT = re.compile(r"\b(?:this|these|those|whose|who)\b", re.IGNORECASE)


def arm_results(read: Iterable[Statement], most: int) -> Iterator[tuple[ArmResult, str]]:
    """At most so many results by group, each with the sentence it stands in: first those that say most
    (events and totals), in the order of the text."""
    statements = [s for s in read if len(s.text) <= LONGEST_SENTENCE and not _NOT_RESULTS.search(s.text)]
    taken: dict[int, list[tuple[int, int]]] = {}
    found = 0
    for needed, form in _FORMS:
        for number, statement in enumerate(statements):
            if not needed.search(statement.text):
                continue
            for match in form.finditer(statement.text):
                spans = taken.setdefault(number, [])
                clash = any(match.start() < end and start < match.end() for start, end in spans)
                if found == most or clash or not _is_pair(match, statement.text):
                    continue
                spans.append(match.span())
                found += 1
                yield _result(match, statement.text), statement.text


def _is_pair(match: re.Match[str], sentence: str) -> bool:
    """Whether two values are those of two groups: not before and after, and not two of several."""
    before = sentence[: match.start()]
    if _CHANGE.search(before) or _MORE_BEFORE.search(before):
        return False
    return not _MORE_BEHIND.match(sentence, match.end())


def _result(match: re.Match[str], sentence: str) -> ArmResult:
    before = sentence[: match.start()]
    measure, arm, other = _measure(before), _arm(match["a"]), _arm(match["b"])
    if not arm and (group := _GROUP_OF_MEASURE.search(measure)):
        than = None if other else _THAN_THAT.search(before)
        than = than if than and _agrees(than.group(), match["one"], match["other"]) else None
        behind = None if other or than else _OTHER_BEHIND.match(sentence, match.end())
        other = other or next((_arm(found["other"]) for found in (than, behind) if found), "")
        points = _POINTS_AT.search(group["group"])
        if other or points:
            measure = measure[: group.start()]
            arm = _arm(group["group"]) if other else ""
    return ArmResult(
        text=match.group().strip(),
        measure=measure,
        value=match["one"].strip(),
        arm=arm,
        other_value=match["other"].strip(),
        other_arm=other,
    )


def _agrees(said: str, one: str, other: str) -> bool:
    """Whether the order of two values is that of the words: `higher than` sets the larger one first."""
    first, second = (
        float(_LEADING.findall(value)[0].replace(",", "").replace("\u00b7", ".")) for value in (one, other)
    )
    if _MORE.search(said):
        return first >= second
    return first <= second if _LESS.search(said) else True


def _leading(value: str) -> float:
    """The first number of a value."""
    return float(_LEADING.findall(value)[0].replace(",", "").replace("\u00b7", "."))


def _arm(words: str | None) -> str:
    """The group as named; empty for a phrase that names none."""
    kept = (words or "").split()
    while kept and (
        (is_function(kept[0]) and kept[0].casefold() not in _DENIES)
        or kept[0].casefold() in ("patients", "group")
    ):
        kept = kept[1:]
    while kept and is_function(kept[-1]):
        kept = kept[:-1]
    return " ".join(kept) if len(kept) <= LONGEST_ARM and any(len(w) > 1 for w in kept) else ""


def _measure(before: str) -> str:
    """What a value is of: the object of `had`, else the subject of the clause that the value ends. Empty
    where that is no short noun phrase, and before a bracket unless the clause says that its subject is higher
    or lower."""
    cuts = list(_CLAUSE.finditer(before))
    clause = before[cuts[-1].end() :] if cuts else before
    had = _HAD.search(clause)
    verb = _FINITE.search(f" {clause}")
    if before.rstrip().endswith(("(", "[")) and not (had or _DIFFERS.search(clause)):
        return ""
    clause = _OPENS.sub("", clause)
    verb = _FINITE.search(f" {clause}")
    text = had["what"] if had else clause[: max(0, verb.start() - 1)] if verb else clause
    words = text.strip(" ,(:[").split()
    while words and (is_function(words[0]) or thesaurus.parts_of_speech(fold(words[0])) == {"r"}):
        words = words[1:]
    while words and is_function(words[-1]):
        words = words[:-1]
    text = " ".join(words)
    plain = 0 < len(words) <= LONGEST_MEASURE and not re.search(r"[()]|\d(?!-)", text)
    last = fold(words[-1]) if words else ""
    kinds = thesaurus.parts_of_speech(last)
    noun = "n" in kinds or not kinds
    named = plain and noun and not _OF_GROUP.match(text)
    return text if named else ""
