"""What a work compares with what, read from title, aim, methods and results.

A comparison is given only where both sides are things that can be compared: people, treatments, procedures,
conditions. What was measured (`length of stay and number of visits`) and how many there were of each sex
(`19 men and 43 women`) is none, and where a side is uncertain nothing is given. The kinds of things are
WordNet's (`activities.text.thesaurus.files`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from activities.text import thesaurus
from activities.text.numerals import number_of
from activities.text.sentences import Statement
from activities.text.study_wording import (
    AND_NOT,
    ARMS,
    CLAUSE,
    COMPARES,
    CONTRASTED,
    COUNTED_BOTH,
    DIFFERENCE,
    GROUPS,
    NO_ARMS,
    NO_SIDES,
    PEOPLE,
    PRESENT_OR_ABSENT,
    TELLS_APART,
    TWO_NAMED_GROUPS,
    UNITS,
    VERSUS,
    WITH_AND_WITHOUT,
)
from activities.text.tokens import fold, is_function, terms

LONGEST = 140
"""Characters of a comparison at most."""
LONGEST_SIDE = 14
"""Words of one side at most."""
_MEASURES = frozenset({"07", "09", "10", "23", "24", "28"})
"""WordNet's files of attributes, cognition, messages, quantities, relations and times: what is measured."""
_ACT = "04"
_PLANS = frozenset({"plan of action", "method"})
_MEASURED = (
    "outcome", "result", "finding", "characteristic", "function", "ability", "knowledge", "attitude",
    "accuracy", "complication", "survival", "mortality", "quality", "symptom", "concentration", "expression",
    "activity", "effect", "sex", "gender", "test", "performance",
)  # fmt: skip
"""Words for what is measured that WordNet files with events, acts and states."""
_GROUPED = re.compile(
    rf"\b(?:{PEOPLE}|{UNITS}|(?:sub)?groups?|arms?|cohorts?|(?:non-?)?survivors?|(?:non-?)?responders?"
    r"|(?:non-?)?users?|(?:non-?)?smokers?)\b",
    re.IGNORECASE,
)
_PEOPLE = re.compile(rf"\b{PEOPLE}\b", re.IGNORECASE)
_TAKES_WITH = re.compile(rf"\b(?:{PEOPLE}|{UNITS}|\w+ed|groups?|those)$", re.IGNORECASE)
"""What `with` continues rather than sets against something: `patients with`, `treated with`."""
_SEX = re.compile(
    r"^(?:[\d,]+\s+|(?:\w+-)?\w+\s+)?(?:male|female|wom[ae]n|m[ae]n|boys?|girls?)(?:s|\s+\w+)?$",
    re.IGNORECASE,
)
_TRIMMED = re.compile(
    r"^(?:\S+\s+){0,6}?(?:of|in|among|for|between|achieved by)\s+(?:the\s+)?", re.IGNORECASE
)
_UNDERGO = re.compile(
    r"^.*\b(?:undergo(?:ing)?|underwent|receiv(?:e|ed|ing)|treated with|given)\s+(?=\S+\s+\S)", re.IGNORECASE
)
"""What stands between the people of a side and what was done to them."""
_OPEN = re.compile(
    r"\b(?:where|which|that|who|whom|when|if|because|provided|were|was|is|are|being|had|have|has|given|using"
    r"|with|without|of|in|to|from|by|and|or|the|a|an|this|these|those|each|both)$",
    re.IGNORECASE,
)
_DANGLING = re.compile(r"\b(?:where|which|whether|because|described|previously|respectively)\b")
_MORE = re.compile(
    r"\s+(?:with|without|who|undergoing|having|receiving|treated|from)(?:\s+[^\s.;:,?()]+){1,6}?"
    r"(?=\s*(?:\s(?:were|was|had|has|have|are|is|for|during|after|at|by|using|and|in)\b|[.,;:?()]|$))",
    re.IGNORECASE,
)
"""What completes a side that is only `patients` or `those`."""
_CONTROLLED = re.compile(r"\b(?:controls?|healthy|normal|unaffected|without|non-?\w+)\b", re.IGNORECASE)


def _joins(words: str) -> re.Pattern[str]:
    return re.compile(rf"\s+(?:{words})(?=\s)", re.IGNORECASE)


_AGAINST = r"(?:were |was |as |when )?compared (?:with|to)|versus|vs\.?|v\.?|rather than|instead of|against"
_OR = _joins(rf"{_AGAINST}|or")
_AND = _joins(rf"{_AGAINST}|and")
_TO = _joins(rf"{_AGAINST}|with|to|and")
_FROM = _joins(r"from|and")


def comparisons(stated: Sequence[Statement], found: Sequence[Statement]) -> Iterator[tuple[str, str]]:
    """(comparison, the sentence that contains it), the surest form first. `stated`: title, aim and methods;
    `found`: results and conclusions."""
    everything = (*stated, *found)
    yield from _each(ARMS, stated, _OR, arms=True)
    for statement in stated:
        yield from ((text, statement.text) for text in _set_against(statement.text))
    yield from _with_and_without(everything)
    yield from _by_form(everything)
    yield from _each(TELLS_APART, stated, _FROM)
    yield from _each(COMPARES, stated, _TO)
    yield from _each(CONTRASTED, stated[:1], _OR)
    yield from _each(CONTRASTED, [s for s in stated if s.part == "aim"], _joins("rather than|instead of"))
    yield from _each(GROUPS, everything, _AND)
    yield from _each(DIFFERENCE, everything, _AND)
    for text, place in _each(COUNTED_BOTH, stated, _AND):
        if _CONTROLLED.search(text) or re.search(r"\bwith\b.*\band\b.*\bwith\b", text):
            yield text, place


def _each(
    pattern: re.Pattern[str], read: Iterable[Statement], joins: re.Pattern[str], *, arms: bool = False
) -> Iterator[tuple[str, str]]:
    for statement in read:
        for match in pattern.finditer(statement.text):
            text = _completed(_bare(match["found"]), statement.text)
            if not _refused(text) and (sure := _sure(text, joins, arms=arms)):
                yield sure, statement.text


def _with_and_without(read: Iterable[Statement]) -> Iterator[tuple[str, str]]:
    """`patients with and without diabetes`, which says both sides by one."""
    for statement in read:
        for match in WITH_AND_WITHOUT.finditer(statement.text):
            text = _bare(match["found"])
            if not (_refused(text) or _OPEN.search(text)) and _says(text) and not text.startswith("with"):
                yield text, statement.text


def _by_form(read: Iterable[Statement]) -> Iterator[tuple[str, str]]:
    """What is a comparison by its form alone: a thing and its negation, its presence and absence, or two
    groups that are named so."""
    for pattern in (PRESENT_OR_ABSENT, AND_NOT, TWO_NAMED_GROUPS):
        for statement in read:
            for match in pattern.finditer(statement.text):
                text = match["found"].strip(" ,;:")
                first, last = text.split(" ", 1)[0], fold(text.rsplit(" ", 1)[-1])
                if is_function(last) or not ("n" in (kinds := thesaurus.parts_of_speech(last)) or not kinds):
                    text = text.rsplit(" ", 1)[0]
                if is_function(first) or not _says(text):
                    continue
                if len(text) <= LONGEST and text.count("(") == text.count(")"):
                    yield text, statement.text


def _refused(text: str) -> bool:
    return bool(len(text) > LONGEST or NO_SIDES.search(text) or NO_ARMS.match(text) or _DANGLING.search(text))


def _completed(text: str, place: str) -> str:
    """With what follows a last side that is only `patients` or `those`."""
    if re.search(rf"\s(?:and|with|to|than|versus)\s+(?:the\s+)?(?:{PEOPLE}|those)$", text, re.IGNORECASE):
        more = _MORE.match(place, place.find(text) + len(text))
        return text + more.group() if more else text
    return text


def _sure(text: str, joins: re.Pattern[str], *, arms: bool) -> str:
    """The comparison without what was measured before its first side; empty where a side is no thing that
    can be compared."""
    for match in joins.finditer(text):
        left, right = text[: match.start()], text[match.end() :].strip()
        join = match.group().strip().casefold()
        alike = join in ("and", "or", "to")
        if join == "with" and _TAKES_WITH.search(left):
            continue
        if not arms and _measure(left):
            cut = _TRIMMED.match(left)
            left = left[cut.end() :] if cut else ""
        left = _UNDERGO.sub("", left)
        if not left or not _says(left) or not _says(right) or _OPEN.search(right) or _OPEN.search(left):
            continue
        if max(len(left.split()), len(right.split())) > LONGEST_SIDE:
            continue
        if _SEX.match(left) and _SEX.match(right):
            return ""
        if _measure(left) or (_measure(right) and not _GROUPED.search(right)):
            continue
        if not _parallel(left, right) if alike and not arms else _unlike(left, right):
            continue
        made = text[text.index(left) :]
        return made if len(made) <= LONGEST and made.count("(") == made.count(")") else ""
    return ""


def _unlike(left: str, right: str) -> bool:
    """Whether one side is people and the other is not, one repeats the other, or one is a value."""
    one, other = set(terms(left)), set(terms(right))
    people = bool(_PEOPLE.search(left)) != bool(_PEOPLE.search(right) or _CONTROLLED.search(right))
    return people or one <= other or other <= one or bool(re.search(r"[<=>](?![^()]*\))", f"{left} {right}"))


def _parallel(left: str, right: str) -> bool:
    """Whether two sides that only `and` joins are of one kind: both groups of people or of cases, a name for
    the group that both are (`day and off-hour shifts`), or things of one file of WordNet."""
    grouped = (bool(_GROUPED.search(left)), bool(_GROUPED.search(right)))
    if all(grouped):
        return set(terms(left)) != set(terms(right))
    if grouped[1]:
        return len(left.split()) <= 4 and not _head(left).endswith("s")
    one, other = _kind(left), _kind(right)
    return bool(one) and one == other and one not in _MEASURES


def _measure(side: str) -> bool:
    """Whether a side is something that was measured, by the noun that heads it."""
    head = _head(side)
    if _GROUPED.fullmatch(head):
        return False
    single = next((s for s in thesaurus.singulars(head) if thesaurus.files(s)), head)
    files = thesaurus.files(single)
    if single in _MEASURED:
        return True
    acts = _ACT in files or bool(_PLANS & thesaurus.broader(single))  # surgery, strategy
    return files[:1] != () and files[0] in _MEASURES and not acts


def _kind(side: str) -> str:
    head = _head(side)
    return next((file for s in thesaurus.singulars(head) for file in thesaurus.files(s)[:1]), "")


def _head(side: str) -> str:
    """The noun that heads a side: the last word before its first preposition."""
    words = re.sub(r"\s*\([^()]*\)", "", side).split()
    stop = next((n for n, word in enumerate(words) if n and is_function(word)), len(words))
    return fold(words[stop - 1].strip(",;:")) if words else ""


def _says(side: str) -> bool:
    words = re.findall(r"[A-Za-z][\w-]+", side)
    return any(not is_function(word) and len(word) > 2 for word in words) and not CLAUSE.search(side)


def _bare(text: str) -> str:
    """The phrase without function words at its ends, and without a count in brackets behind it."""
    words = re.sub(r"\s+\([^()]*\d[^()]*\)$", "", text.strip(" ,;:")).split(" ")
    if "between" in words[:3]:
        words = words[words.index("between") + 1 :]
    return bare_phrase(" ".join(words))


def bare_phrase(text: str) -> str:
    """The phrase without articles and prepositions at its ends."""
    words = text.split(" ")
    while words and is_function(words[-1].casefold()) and words[-1].islower():
        words.pop()
    while words and is_function(words[0].casefold()) and words[0] not in ("with", "no", "without"):
        if number_of(words[0]) is not None and len(words) > 1 and number_of(words[1]) is not None:
            break  # `One thousand cases`
        words.pop(0)
    if len(words) > 2 and words[0].endswith("ed") and is_function(words[1]):
        words = words[2:]  # `subdivided into obese and non-obese groups`
    return " ".join(words).strip(" ,;:")


def _set_against(text: str) -> Iterator[str]:
    """The words on both sides of `versus`, up to the nearest function word on each side."""
    for match in VERSUS.finditer(text):
        left, right = match["left"].split(), match["right"].split()
        start = next((n for n in range(len(left) - 1, -1, -1) if is_function(left[n])), -1) + 1
        end = next((n for n, word in enumerate(right) if is_function(word)), len(right))
        while start < len(left) and left[start].casefold() in ("comparison", "comparing", "compared"):
            start += 1
        whole = start > 0 or not text[: match.start()].rstrip().endswith((")", "]", "/", "-"))
        if whole and left[start:] and right[:end]:
            first = text.index(" ".join(left[start:]), match.start())
            run = text[first : match.end("right")]
            wanted = " ".join(right[:end])
            run = run[: run.index(wanted) + len(wanted)] if wanted in run else run
            one, other = " ".join(left[start:]), wanted
            if not (_unlike(one, other) or _measure(one) or NO_SIDES.search(run)):
                yield run
