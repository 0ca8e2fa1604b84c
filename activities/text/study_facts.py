"""Who was studied, by which design, what was compared, what was measured and which effects were found, in a
work's own words.

Each is a run of words that stands in one sentence of the text or in the title, and that sentence is its
place. What is not stated in one of the common forms of abstracts is left out: an empty cell is better than a
wrong one. Precision and recall: `benchmarks/study_facts.py`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from activities.text import thesaurus
from activities.text.arm_effects import arm_effects
from activities.text.arms import arm_results
from activities.text.comparison import bare_phrase, comparisons
from activities.text.conduct import conduct
from activities.text.numerals import COUNT, number_of
from activities.text.parts import Part
from activities.text.sentences import NOT_STUDIES, Statement, statements
from activities.text.study_effects import effects_in
from activities.text.study_wording import (
    ADVERB,
    AIMED,
    ANALYSED,
    ASSESSED,
    CASES_REPORTED,
    CLAUSE,
    COUNTED,
    COUNTED_UNITS,
    CUT_BOUND,
    DESIGN,
    IN_TITLE,
    N_IS,
    NAMED,
    NO_MEASURE,
    NO_OUTCOME,
    NOT_DESIGN,
    OF_PEOPLE,
    OTHERS_WORK,
    OUTCOME_LABEL,
    OUTCOMES,
    PRIMARY,
    PURSUED,
    TOTAL,
    TOTAL_PEOPLE,
    TWO_GROUPS,
    WHO,
)
from activities.text.tokens import is_function, terms, weak_stems
from activities.types import ArmResult, ComputedEffect, Evidence, EvidenceType

NOT_PRIMARY: frozenset[EvidenceType] = frozenset(
    {"review", "guideline", "web_page", "meta_analysis", "systematic_review", *NOT_STUDIES}
)
"""Kinds that report no people of their own."""
LONGEST = 140
"""Characters of a phrase at most; a longer one is no phrase."""
READ = 12_000
"""Characters of a text that are read: its abstract and its methods."""
LONGEST_TITLE = 600
"""Characters of a title that are read."""
NUMBERS = 4
"""Effects of one work that are listed."""

_ABOUT_PEOPLE: tuple[Part, ...] = ("methods", "aim", "plain")
"""Results and conclusions mention groups and subgroups as well."""
_UNNAMED = re.compile(
    rf"['\u2019]s?$|^(?:{COUNT})\s|^(?:scores?|measures?|outcomes?|variables?|parameters?)$"
    r"|^[a-z]+ed \w+ by\b|\b(?:is|are) defined\b",
    re.IGNORECASE,
)
"""An outcome that is cut (`children's`), a count of things (`three treatments`) or no thing."""
_ANYBODY = re.compile(
    r"(?:(?:the|all) )?(?:patients?|participants|subjects|people|individuals|cases|population|sample)",
    re.IGNORECASE,
)
"""A population that says nothing."""
_ONE_OF = re.compile(r"\b(?:1|one|any|each) of (?:the )?$", re.IGNORECASE)
"""`1 of 8 operations` counts kinds."""
_COUNTING = re.compile(
    r"\b(?:records?|charts?|data|total|sample|cohort|series|group|population|database) of (?:the )?$",
    re.IGNORECASE,
)
"""What is said of people, not of a year."""
_FROM = re.compile(r"\b(?:from|out of|of|among) (?:a total of |the |all |our )?$", re.IGNORECASE)
_CHOSEN = re.compile(
    rf"(?<![\w,.-])(?P<n>{COUNT})\s+(?:\(\d[^)]*\)\s+)?(?:[\w-]+\s+){{0,8}}?(?=(?:out )?of\b|from\b|among\b)",
    re.IGNORECASE,
)
_CUT_COUNT = re.compile(r"\s(?:and|or)\s\d+$")
"""`2,790 patients and 11(,160 controls)`"""
_OF_METHODS: tuple[Part, ...] = ("methods", "plain", "aim", "results")


@dataclass(frozen=True, slots=True)
class Fact:
    """A phrase of a work and the sentence or title that contains it, both word for word."""

    text: str
    place: str


def read_facts(item: Evidence) -> Mapping[str, tuple[Fact, ...]]:
    """Everything that is read of a work, by the name of its field; `n` and `analysed` as digits."""
    one = {
        "design": design(item),
        "n": participants(item),
        "analysed": analysed(item),
        "population": population(item),
        "comparison": comparison(item),
        "outcome": outcome(item),
    }
    found = {name: (fact,) for name, fact in one.items() if fact is not None}
    return found | {"effects": effects(item)}


def design(item: Evidence) -> Fact | None:
    """The design as the work names it (`retrospective cohort study`); else the word by which it says how
    people were assigned or found."""
    if item.evidence_type in NOT_STUDIES:
        return None
    read = [_title(item), *_read(item, ("methods", "aim", "plain", "conclusion"))]
    for statement in read:
        for match in DESIGN.finditer(statement.text):
            if not NOT_DESIGN.match(match.group()) and not OTHERS_WORK.search(
                statement.text[: match.start()]
            ):
                return Fact(match.group(), statement.text)
    return _first(ADVERB, [s for s in read if s.part in ("methods", "plain")])


def is_named_design(text: str) -> bool:
    """Whether a text names a design (`retrospective cohort study`), not only how people were assigned."""
    return bool(DESIGN.search(text))


def participants(item: Evidence) -> Fact | None:
    """How many took part, in digits: the largest number of the first sentence that counts them."""
    if not is_primary(item):
        return None
    if item.evidence_type == "case_report" and (reported := _cases_reported(item)):
        return reported
    for statement in _read(item, _OF_METHODS, first=OF_PEOPLE):
        # results count events as cases; only people that they name as a whole took part
        people = statement.part == "results" or TOTAL_PEOPLE.search(statement.text)
        total = TOTAL_PEOPLE if people else TOTAL
        counts = [
            number
            for pattern in (total, N_IS)
            for match in pattern.finditer(statement.text)
            if (number := number_of(match["n"]))
            if not _is_dated(statement.text, match, "n")
            if not _ONE_OF.search(statement.text[: match.start()])
            if not _is_source(statement.text, match)
        ]
        for match in TWO_GROUPS.finditer(statement.text):
            if not any(_is_dated(statement.text, match, name) for name in ("n", "m")):
                parts = [number_of(match[name]) for name in ("n", "m")]
                counts.append(sum(filter(None, parts)))
        if counts:
            return Fact(str(max(counts)), statement.text)
    return None


def _cases_reported(item: Evidence) -> Fact | None:
    for statement in _read(item, _OF_METHODS):
        match = CASES_REPORTED.search(statement.text)
        if match and (number := number_of(match["n"])):
            return Fact(str(number), statement.text)
    return None


def analysed(item: Evidence) -> Fact | None:
    """How many were analysed or completed the study, in digits, where the work says so."""
    if not is_primary(item):
        return None
    for statement in _read(item, _OF_METHODS):
        match = ANALYSED.search(statement.text)
        if match and (number := number_of(match["n"])) and not _is_dated(statement.text, match, "n"):
            return Fact(str(number), statement.text)
    return None


def population(item: Evidence) -> Fact | None:
    """Who was studied, with what they have or undergo: where they are counted, else as methods or aim first
    say it, else as the title does."""
    if not is_primary(item):
        return None
    read = _read(item, _ABOUT_PEOPLE, first=OF_PEOPLE)
    results = _read(item, ("results",))
    title = [_title(item)]
    found = (
        _first(COUNTED, read)
        or _first(NAMED, read)
        or _first(WHO, [s for s in read if s.part != "plain"])
        or _first(COUNTED, results)
        or _first(NAMED, results[:3])
        or _first(IN_TITLE, title, "who")
        or _first(COUNTED_UNITS, read)
    )
    if found is None:
        return None
    # `lesions larger (than 7 cm)`: where the bound is cut off, so is the word that asks for it
    who = _CUT_COUNT.sub("", CUT_BOUND.sub("", bare_phrase(found.text)))
    who = _without_cut_verb(who)
    who = _without_cut_participle(who, found.place)
    return None if _ANYBODY.fullmatch(who) else Fact(who, found.place)


def _without_cut_verb(text: str) -> str:
    """`men with rectal cancer threatening (the prostate)`: where the object is cut off, so is the verb."""
    rest, _, last = text.rpartition(" ")
    parts = thesaurus.parts_of_speech(last)
    is_verb = last.endswith("ing") and bool(parts) and "n" not in parts
    # children with stuttering: after a preposition it is what they have
    return rest if rest and is_verb and not is_function(rest.rpartition(" ")[2]) else text


def _without_cut_participle(text: str, place: str) -> str:
    """`patients with gout diagnosed (less than 3 years earlier)`: where what it is said of is cut off."""
    rest, _, last = text.rpartition(" ")
    behind = place[place.find(text) + len(text) :]
    cut = bool(rest) and thesaurus.parts_of_speech(last) == {"v"} and last.endswith("ed")
    return rest if cut and re.match(r"\s\w", behind) else text


def _without_adverb(text: str) -> str:
    """`heterotopic ossification effectively`: how it was changed is no part of what was measured."""
    rest, _, last = text.rpartition(" ")
    return rest if rest and thesaurus.parts_of_speech(last) == {"r"} else text


def comparison(item: Evidence) -> Fact | None:
    """What was compared with what (`activities.text.comparison`)."""
    if not is_primary(item):
        return None
    stated = [_title(item), *_read(item, ("aim", "methods", "plain"))]
    found = next(comparisons(stated, _read(item, ("results", "conclusion"))), None)
    return Fact(*found) if found else None


_POINTS = re.compile(r"(?:this|these|those|they|them|it|both|all)\b(?! \w+)", re.IGNORECASE)
"""What only points back at what was measured: `these, five`."""
_FINITE = re.compile(r"\s+(?:have|has|had|is|are|was|were|did|does|do)\b.*", re.IGNORECASE | re.DOTALL)
"""A verb ends what was measured: `hip fracture have documented poor compliance`."""


def outcome(item: Evidence) -> Fact | None:
    """What was measured: the primary outcome where the work names one, else what its aim or title says that
    is affected, predicted or related, else what its methods say that was assessed."""
    if not is_primary(item):
        return None
    everything = _read(item, ("methods", "plain", "aim", "results"))
    named = _first(PRIMARY, everything, "found")
    if named is not None and not _UNNAMED.search(named.text):
        return named
    for statement in everything:
        if statement.label and OUTCOME_LABEL.search(statement.label):
            text = re.split(r"[.;]\s|[.;]$|\(", statement.text, maxsplit=1)[0].strip(" ,;:")
            if 3 <= len(text) <= LONGEST and not NO_OUTCOME.match(text) and not CLAUSE.search(text):
                return Fact(text, statement.text)
    aims = [_title(item), *_read(item, ("aim",))]
    choices = (
        _each(OUTCOMES, everything, "found"),
        *(_each(pattern, aims, "found") for pattern in AIMED),
        _each(PURSUED, aims[1:], "found"),
        _each(ASSESSED, _read(item, ("methods", "plain")), "found"),
    )
    found = (
        Fact(_without_adverb(bare_phrase(_FINITE.split(f.text, maxsplit=1)[0])), f.place)
        for choice in choices
        for f in choice
        if not NO_OUTCOME.match(f.text) and not CLAUSE.search(f.text) and not NO_MEASURE.search(f.text)
    )
    said = (f for f in found if len(f.text) > 2 and not _UNNAMED.search(f.text) and not _POINTS.match(f.text))
    return next((f for f in said if not set(terms(f.text)) <= weak_stems()), None)


def effects(item: Evidence) -> tuple[Fact, ...]:
    """Effects from results and conclusions, those with an interval first."""
    if item.evidence_type in NOT_STUDIES:
        return ()
    read = [s.text for s in _read(item, ("results", "conclusion", "plain"))]
    return tuple(Fact(text, place) for text, place in effects_in(read, NUMBERS))


def stated_conduct(item: Evidence) -> tuple[Fact, ...]:
    """What a study states of how it was conducted (`activities.text.conduct`)."""
    if not is_primary(item):
        return ()
    read = [_title(item), *_read(item, ("methods", "aim", "plain", "results"))]
    return tuple(Fact(text, place) for text, place in conduct(read))


def computed_effects(item: Evidence) -> tuple[tuple[ComputedEffect, str], ...]:
    """Absolute effects that a study's events and totals allow to compute, each with its place."""
    if not is_primary(item):
        return ()
    return tuple(arm_effects(_read(item, ("results", "plain", "conclusion"))))[:NUMBERS]


def results_by_arm(item: Evidence) -> tuple[tuple[ArmResult, str], ...]:
    """What a study found in each of two groups, each with its place."""
    if not is_primary(item):
        return ()
    return tuple(arm_results(_read(item, ("results", "plain", "conclusion")), NUMBERS))


def is_primary(item: Evidence) -> bool:
    """Whether a work reports people of its own. A file of unknown kind does when it has a part on methods."""
    if item.evidence_type == "document":
        return any(s.label and s.part == "methods" for s in statements(item.text[:READ]))
    return item.evidence_type not in NOT_PRIMARY


def _title(item: Evidence) -> Statement:
    return Statement(item.title[:LONGEST_TITLE], "", "plain")


def _read(item: Evidence, parts: Sequence[Part], first: re.Pattern[str] | None = None) -> list[Statement]:
    """The statements of these parts, by the order of parts, then of the text; those under a label that
    `first` matches come before all."""
    found = statements(item.text[:READ])
    ordered = [s for part in parts for s in found if s.part == part]
    if first is None:
        return ordered
    early = [s for s in found if s.label and first.search(s.label) and s.part != "results"]
    return [*early, *(s for s in ordered if s not in early)]


def _first(pattern: re.Pattern[str], read: Iterable[Statement], group: str | int = 0) -> Fact | None:
    return next(_each(pattern, read, group), None)


def _each(pattern: re.Pattern[str], read: Iterable[Statement], group: str | int = 0) -> Iterator[Fact]:
    for statement in read:
        for match in pattern.finditer(statement.text):
            text = match.group(group).strip(" ,;:")
            if 3 <= len(text) <= LONGEST and _closed(text) and not _is_year(text.split(" ", 1)[0]):
                yield Fact(text, statement.text)


def _closed(text: str) -> bool:
    return text.count("(") == text.count(")") and text.count("[") == text.count("]")


def _is_year(text: str) -> bool:
    return bool(re.fullmatch(r"19\d\d|20[0-3]\d", text))


def _is_dated(text: str, match: re.Match[str], name: str) -> bool:
    """Whether a number is a year: one by its digits, where it is not what is counted (`of 2010 patients`)."""
    return _is_year(match[name]) and not _COUNTING.search(text[: match.start(name)])


def _is_source(text: str, match: re.Match[str]) -> bool:
    """Whether a count is of those that the people who took part were chosen from: `18 of 815 patients`,
    `52 cases from 2,051 deliveries`."""
    before = text[: match.start("n")]
    chosen = [number_of(m["n"]) or 0 for m in _CHOSEN.finditer(before)]
    whole = number_of(match["n"]) or 0
    return bool(_FROM.search(before)) and any(0 < few < whole for few in chosen)
