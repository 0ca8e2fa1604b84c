"""The table of works: one row for each reference, from what the writer read, what the record says, and what
code reads from the text, with its place."""

import re
from collections.abc import Mapping, Sequence

from activities.publication import PlannedSection
from activities.text.evidence_strength import TYPE_NAMES
from activities.text.numerals import number_of
from activities.text.study_design import SPECIFIC, observed_how
from activities.text.study_facts import (
    Fact,
    computed_effects,
    is_named_design,
    read_facts,
    results_by_arm,
    stated_conduct,
)
from activities.types import Evidence, Support, WorkRow
from activities.verification.quote_check import QuoteChecker

READ_FIELDS = ("population", "comparison", "outcome")
"""Fields of a row that are read from the text as they stand there."""

_NAMES_KIND = re.compile(
    r"cohort|case-(?:control|referent|crossover)|cross-?sectional|longitudinal|survey|follow-up",
    re.IGNORECASE,
)
_ADVERB = re.compile(r"(?P<how>retrospective|prospective)ly \w+$")


def work_rows(
    sections: Sequence[PlannedSection], cited: Sequence[Evidence], checker: QuoteChecker
) -> tuple[WorkRow, ...]:
    """A row for each cited item, in its order. A finding that is not a quote of its work is removed, and its
    direction with it."""
    given: dict[str, WorkRow] = {}
    for planned in sections:
        for row in planned.draft.works:
            given.setdefault(row.evidence_id, row)
    return tuple(_row(item, given, checker) for item in cited)


def _row(item: Evidence, given: Mapping[str, WorkRow], checker: QuoteChecker) -> WorkRow:
    row = given.get(item.evidence_id, WorkRow(evidence_id=item.evidence_id))
    facts = read_facts(item)
    places = dict(row.places)
    update: dict[str, object] = {"year": row.year or item.year}
    if not row.design:
        update["design"] = _design(item, facts, places)
    for name in ("n", "analysed"):
        if getattr(row, name) is None and name in facts:
            update[name] = int(facts[name][0].text)
            places[name] = facts[name][0].place
    for name in READ_FIELDS:
        if name == "population" and name in facts and _of_a_part(facts):
            continue
        if not getattr(row, name) and name in facts:
            update[name] = facts[name][0].text
            places[name] = facts[name][0].place
    numbers = facts["effects"] if not row.numbers else ()
    if numbers:
        update["numbers"] = tuple(fact.text for fact in numbers)
        # The place of the first under the field's own name, of each under its position as well.
        places["numbers"] = numbers[0].place
        places |= {f"numbers.{place}": fact.place for place, fact in enumerate(numbers)}
    update |= _of_the_study(item, row, places)
    update["places"] = places
    quote = Support(evidence_id=item.evidence_id, quote=row.finding)
    if row.finding and not checker.supports([quote]).support:
        update |= {"finding": "", "direction": None}
        if not numbers:
            update["numbers"] = ()
    return row.model_copy(update=update)


def _of_a_part(facts: Mapping[str, Sequence[Fact]]) -> bool:
    """Whether the population that was read counts fewer people than the work: a subgroup."""
    first = number_of(facts["population"][0].text.split(" ", 1)[0])
    counted = [int(facts[name][0].text) for name in ("n", "analysed") if name in facts]
    return first is not None and bool(counted) and first < min(counted)


def _of_the_study(item: Evidence, row: WorkRow, places: dict[str, str]) -> dict[str, object]:
    """How the study was conducted, what it found in each group, and the absolute effects that its numbers
    allow to compute."""
    update: dict[str, object] = {}
    if not row.conduct and (stated := stated_conduct(item)):
        update["conduct"] = tuple(fact.text for fact in stated)
        places |= {f"conduct.{place}": fact.place for place, fact in enumerate(stated)}
    if not row.computed and (computed := computed_effects(item)):
        update["computed"] = tuple(effect for effect, _ in computed)
        places |= {f"computed.{number}": place for number, (_, place) in enumerate(computed)}
    if not row.arms and (by_arm := results_by_arm(item)):
        update["arms"] = tuple(result for result, _ in by_arm)
        places |= {f"arms.{number}": place for number, (_, place) in enumerate(by_arm)}
    return update


def _design(item: Evidence, facts: Mapping[str, Sequence[Fact]], places: dict[str, str]) -> str:
    """The design in the work's own words; beside its evidence type where they only say how people were
    assigned or found."""
    kind = TYPE_NAMES[item.evidence_type]
    if item.evidence_type == "observational":
        kind = observed_how(item.title, item.text, item.facts.get("mesh", "")) or kind
    if "design" not in facts:
        return kind
    own = facts["design"][0]
    places["design"] = own.place
    said = " ".join(w.lower() if all(map(str.istitle, w.split("-"))) else w for w in own.text.split(" "))
    said = said[0].lower() + said[1:] if said[1:2].islower() else said
    if adverb := _ADVERB.match(said):  # retrospectively reviewed
        kind = "study" if item.evidence_type in ("article", "document") else kind
        return f"{adverb['how']} {kind}" if adverb["how"] not in kind else kind
    whole = is_named_design(said) or item.evidence_type in ("article", "document")
    if whole and _says_more(kind, said):
        return f"{kind}, {said}"
    if said.startswith("random") and kind.startswith("random"):
        return said if whole else kind
    return said if whole else f"{kind}, {said}"


def _says_more(kind: str, said: str) -> bool:
    """Whether the design in the work's own words (`single-center study`) leaves out what its kind says."""
    if kind == "randomized trial":
        return "random" not in said
    return kind in SPECIFIC and not _NAMES_KIND.search(said)
