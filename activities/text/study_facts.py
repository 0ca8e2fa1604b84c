"""Who was studied, what was compared, what was measured and which effects were found, in a work's own words.

Each is a run of words that stands in one sentence of the text, and that sentence is its place. What is not
stated in one of the common forms of abstracts is left out: an empty cell is better than a wrong one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from activities.text.parts import Part
from activities.text.sentences import NOT_STUDIES, Sentence, sentences
from activities.text.tokens import is_function
from activities.types import Evidence, EvidenceType

NOT_PRIMARY: frozenset[EvidenceType] = frozenset(
    {"review", "guideline", "web_page", "document", *NOT_STUDIES}
)
"""Kinds that report no people of their own."""
LONGEST = 140
"""Characters of a phrase at most; a longer one is no phrase."""
NUMBERS = 3
"""Effects of one work that are listed."""

_PEOPLE = (
    r"(?:patients|participants|subjects|adults|children|adolescents|infants|neonates|newborns|women|men|boys|girls"
    r"|individuals|people|volunteers|veterans|students|residents|couples|mothers|survivors|recipients)"
)
_COUNT = (
    r"(?:\d{1,3}(?:,\d{3})+|\d+|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-[a-z]+)?"
    r"|(?:one|two) hundred(?: and [a-z-]+)?)"
)
_ADJECTIVES = r"(?:(?!(?:with|of|and|the|in|to|for|were|on|at|by|from|as|or)\b)[A-Za-z-]+\s+){0,3}?"
_HAVE = (
    r"(?:with|undergoing|aged|admitted (?:to|for|with)|diagnosed with|hospitali[sz]ed (?:for|with)"
    r"|referred for|suffering from|scheduled for|presenting with|treated (?:with|for)|receiving"
    r"|who (?:had|underwent|received))"
)
_ENDS = (
    r"(?:were|was|is|are|from|at|between|during|to|in whom|participated|underwent|who|which|that|than|had"
    r"|have|has|completed|enrolled|included|received|randomi[sz]ed|recruited|identified|by|using|because|since"
    r"|according|up|over|answered|and (?:were|had|compared|their|in))"
)
_GROUP = (
    rf"{_PEOPLE}\s+(?:\(n\s*=\s*[\d,]+\)\s+)?{_HAVE}\s+(?!(?:from|between|and|or|a mean|the)\b)"
    rf"[^.;:()\[\]]{{3,}}?(?=\s+{_ENDS}\b|[.,;:()\[\]]|$)"
)
_COUNTED = re.compile(rf"(?<![\w,.-]){_COUNT}\s+{_ADJECTIVES}{_GROUP}", re.IGNORECASE)
_WHO = re.compile(rf"(?<![\w,.-]){_GROUP}", re.IGNORECASE)
_ARMS = re.compile(
    r"\b(?:randomi[sz]ed|randomly (?:assigned|allocated|divided))\b[^.;:()]{0,30}?\b"
    r"(?:to (?:receive |undergo |either |have )*|into )"
    r"(?P<arms>[^.;]{3,120}?\b(?:or|versus|vs\.?)\s[^.;,()]{3,60}?)"
    r"(?=\s+(?:for|in|during|daily|twice|once|over|before|after|at|by|were|was|with)\b|[.,;()]|$)",
    re.IGNORECASE,
)
_VERSUS = re.compile(
    r"(?P<left>(?:[A-Za-z-]{2,}\s+){1,4})(?:versus|vs\.?)(?P<right>(?:\s+[A-Za-z-]{2,}){1,4})"
)
_NO_ARMS = re.compile(r"^(?:one|two|three|four|either|each)\b", re.IGNORECASE)
_PRIMARY = re.compile(
    r"\b(?:primary|main)\s+(?:study\s+|efficacy\s+|safety\s+)?(?:outcome|end[- ]?point)s?(?:\s+measures?)?\s+"
    r"(?:was|were|is|included)\s+(?P<what>[^.;:()]{3,}?)"
    r"(?=[.;:()]|,\s+(?:and|with|while|whereas|the secondary)\b|$)",
    re.IGNORECASE,
)
_NUMBER = r"[-\u2212\u2013]?\d+(?:[.\u00b7]\d+)?\s?%?"
_INTERVAL = (
    rf"\d{{2}}(?:\.\d)?\s?%\s?(?:CI|CrI|confidence intervals?|credible intervals?)\b[\s:,=(\[]*{_NUMBER}"
    rf"\s*(?:to|-|\u2013|\u2014|\u2212|,|;)\s*{_NUMBER}"
)
_MEASURE = (
    r"(?:(?:adjusted |pooled |crude |unadjusted |multivariable |standardi[sz]ed |weighted |cumulative )*"
    r"(?:odds ratios?|hazards? ratios?|relative risks?|risk ratios?|rate ratios?|incidence rate ratios?|risk "
    r"differences?|mean differences?|prevalence ratios?|sensitivity|specificity|area under the curve)"
    r"|\b(?:a?OR|a?HR|a?RR|s?IRR|SHR|SMD|WMD|MD|RD|AUC|AUROC)\b)"
)
_EFFECT = re.compile(
    rf"{_MEASURE}(?:\s*[(\[][A-Z]{{2,4}}[)\]])?[\s,:=(\[]*(?:of|was|is|were)?[\s,:=(\[]*{_NUMBER}"
    rf"[\s,;:(\[]*(?:with\s)?(?:a\s)?{_INTERVAL}"
)
_ESTIMATE = re.compile(
    rf"(?<![\w.,])(?<!\d[-\u2212\u2013]){_NUMBER}\s*[\w ]{{0,12}}[(\[]\s*{_INTERVAL}\s*[)\]]?"
)

_ABOUT_PEOPLE: tuple[Part, ...] = ("methods", "aim", "plain")
"""Results and conclusions mention groups and subgroups as well."""
_OF_RESULTS: tuple[Part, ...] = ("results", "conclusion", "plain")


@dataclass(frozen=True, slots=True)
class Fact:
    """A phrase of a work and the sentence that contains it, both word for word."""

    text: str
    place: str


def population(item: Evidence) -> Fact | None:
    """Who was studied, with what they have or undergo: where they are counted, else as methods or aim first
    say it."""
    if item.evidence_type in NOT_PRIMARY:
        return None
    return _first(_COUNTED, item, _ABOUT_PEOPLE) or _first(_WHO, item, ("methods", "aim"))


def comparison(item: Evidence) -> Fact | None:
    """What was compared with what: the arms of a trial, else what aim or methods set against each other by
    `versus`."""
    if item.evidence_type in NOT_PRIMARY:
        return None
    arms = _first(_ARMS, item, _ABOUT_PEOPLE, group="arms")
    if arms is not None and not _NO_ARMS.match(arms.text):
        return arms
    read = (s for part in ("aim", "methods", "plain") for s in sentences(item) if s.part == part)
    return next(filter(None, map(_set_against, read)), None)


def outcome(item: Evidence) -> Fact | None:
    """The primary outcome, where the work names one."""
    if item.evidence_type in NOT_PRIMARY:
        return None
    return _first(_PRIMARY, item, ("methods", "plain", "aim", "results"), group="what")


def effects(item: Evidence) -> tuple[Fact, ...]:
    """Effects with their intervals, from results and conclusions: ratios and differences by name first."""
    if item.evidence_type in NOT_STUDIES:
        return ()
    read = [s for s in sentences(item) if s.part in _OF_RESULTS]
    named = list(_each(_EFFECT, read))
    found = named or list(_each(_ESTIMATE, read))
    return tuple({fact.text: fact for fact in found}.values())[:NUMBERS]


def _first(
    pattern: re.Pattern[str], item: Evidence, parts: Sequence[Part], group: str | int = 0
) -> Fact | None:
    """The first match, by the order of parts, then of the text."""
    read = sentences(item)
    for part in parts:
        for sentence in read:
            if sentence.part != part:
                continue
            for match in pattern.finditer(sentence.quote):
                text = match.group(group).strip(" ,;:")
                if len(text) <= LONGEST and _closed(text):
                    return Fact(text, sentence.quote)
    return None


def _set_against(sentence: Sentence) -> Fact | None:
    """The words on both sides of `versus`, up to the nearest function word on each side."""
    for match in _VERSUS.finditer(sentence.quote):
        left, right = match["left"].split(), match["right"].split()
        start = next((n for n in range(len(left) - 1, -1, -1) if is_function(left[n])), -1) + 1
        end = next((n for n, word in enumerate(right) if is_function(word)), len(right))
        if left[start:] and right[:end]:
            first = sentence.quote.index(" ".join(left[start:]), match.start()) if start else match.start()
            text = sentence.quote[first : match.end("right")]
            wanted = " ".join(right[:end])
            text = text[: text.index(wanted) + len(wanted)] if wanted in text else text
            return Fact(text, sentence.quote)
    return None


def _each(pattern: re.Pattern[str], read: Sequence[Sentence]) -> Iterator[Fact]:
    for sentence in read:
        for match in pattern.finditer(sentence.quote):
            text = match.group().strip(" ,;:")
            closed = text + _closing(text)
            yield Fact(closed if closed in sentence.quote else text, sentence.quote)


def _closing(text: str) -> str:
    """The bracket that a text leaves open, if it leaves one."""
    if text.count("(") > text.count(")"):
        return ")"
    return "]" if text.count("[") > text.count("]") else ""


def _closed(text: str) -> bool:
    return text.count("(") == text.count(")") and text.count("[") == text.count("]")
