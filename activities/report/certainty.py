"""How certain the evidence on each outcome is, computed by the domains of GRADE from what was read.

No replacement for a person's GRADE (Guyatt et al., J Clin Epidemiol 2011, 64:383-394): abstracts state little
of a study's conduct, and publication bias is not assessed. The rules:

    design          starts at high for randomized trials and syntheses of them, at low for other studies, at
                    very low for case reports; only the best of these kinds is rated
    risk of bias    one level down where most of the works report open labels, an analysis per protocol only
                    or that people were lost; what is not stated changes nothing
    inconsistency   one level down where the directions of the works differ
    imprecision     two levels down under 100 people in all, one under 400; one where every interval read
                    includes no effect
    indirectness    one level down where most of the populations are not the one asked about, or animals

An outcome on which no study of people was read has no line.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from activities.report.formats.grammar import counted
from activities.report.outcomes import by_outcome
from activities.report.schema import (
    CertaintyDomain,
    CertaintyLevel,
    CertaintyReason,
    OutcomeCertainty,
    Reference,
)
from activities.text.concepts import Concepts
from activities.text.pico import parts_of
from activities.text.tokens import terms
from activities.types import WorkRow

FEWEST, FEW = 100, 400
"""People in all under which evidence is very imprecise and imprecise; 400 is the rule of thumb of GRADE's
guideline on imprecision (Guyatt et al., J Clin Epidemiol 2011, 64:1283-1293)."""
LEAST_OF_POPULATION = 0.5
"""Share of the question's population that a work's population and title must name."""
LEVELS: tuple[CertaintyLevel, ...] = ("very low", "low", "moderate", "high")
_RANDOMIZED = re.compile(r"\brandomi[sz]", re.IGNORECASE)
_BIASED = re.compile(
    r"open[- ]label|unblinded|not blinded|lost to follow|withdrew|dropped out|attrition", re.IGNORECASE
)
_NONE_LOST = re.compile(r"^(?:no|without)\b", re.IGNORECASE)
_PER_PROTOCOL = re.compile(r"per[- ]protocol", re.IGNORECASE)
_AS_INTENDED = re.compile(r"inten(?:tion|t)[- ]to[- ]treat", re.IGNORECASE)
_ANIMALS = re.compile(r"\b(?:rats?|mice|mouse|rabbits?|dogs?|pigs?|sheep|animals?|monkeys?)\b", re.IGNORECASE)
_NUMBER = r"[-\u2212]?\d+(?:[.\u00b7]\d+)?"
_INTERVAL = re.compile(
    rf"(?:CI|CrI|intervals?)\b[\s:,=(\[]*(?P<low>{_NUMBER})\s?%?\s*(?:to|-|\u2013|,|;)\s*(?P<high>{_NUMBER})"
)
_RATIO = re.compile(r"\b(?:a?OR|a?HR|a?RR|s?IRR|SHR|SMR|SIR|PR)\b|\b[Rr]atios?\b|\b[Rr]elative risks?\b")
_DIFFERENCE = re.compile(r"\b(?:SMD|WMD|MD|RD)\b|\b[Dd]ifferences?\b")


@dataclass(frozen=True, slots=True)
class _Work:
    row: WorkRow
    reference: Reference


def certainty(
    question: str, rows: Sequence[WorkRow], references: Sequence[Reference]
) -> tuple[OutcomeCertainty, ...]:
    """A line for each outcome that several works measured, in the order of the table of works."""
    by_id: Mapping[str, Reference] = {reference.evidence_id: reference for reference in references}
    kept = [row for row in rows if row.evidence_id in by_id]
    population = parts_of(question).population
    made = (
        _of_outcome(
            group.name, [_Work(kept[n], by_id[kept[n].evidence_id]) for n in group.places], population
        )
        for group in by_outcome([row.outcome for row in kept], question)
    )
    return tuple(line for line in made if line is not None)


def _of_outcome(outcome: str, works: Sequence[_Work], population: str) -> OutcomeCertainty | None:
    body, start, said = _body(
        [work for work in works if work.reference.standing not in ("retracted", "concern")]
    )
    if not body:
        return None
    reasons = (
        CertaintyReason(domain="design", steps=0, text=said),
        _reason("risk_of_bias", *_bias(body)),
        _reason("inconsistency", *_inconsistency(body)),
        _reason("imprecision", *_imprecision(body)),
        _reason("indirectness", *_indirectness(body, population)),
    )
    level = LEVELS[max(0, min(start + sum(reason.steps for reason in reasons), len(LEVELS) - 1))]
    return OutcomeCertainty(
        outcome=outcome,
        works=tuple(work.row.evidence_id for work in body),
        level=level,
        reasons=reasons,
    )


def _reason(domain: CertaintyDomain, steps: int, text: str) -> CertaintyReason:
    return CertaintyReason(domain=domain, steps=steps, text=text)


def _body(works: Sequence[_Work]) -> tuple[list[_Work], int, str]:
    """The works of the best design with the level they start at, each study once."""
    once: dict[object, _Work] = {}
    for work in works:
        once.setdefault(work.reference.study or work.row.evidence_id, work)
    trials = [work for work in once.values() if _is_randomized(work)]
    syntheses = [
        w for w in once.values() if w.reference.evidence_type in ("meta_analysis", "systematic_review")
    ]
    others = [
        w
        for w in once.values()
        if w.reference.evidence_type in ("clinical_trial", "observational")
        or (
            w.reference.evidence_type in ("article", "preprint", "document") and (w.row.n or w.row.population)
        )
    ]
    cases = [work for work in once.values() if work.reference.evidence_type == "case_report"]
    if trials:
        return (
            trials,
            3,
            f"starts at high: {counted(len(trials), 'randomized trial')} or synthesis of such trials",
        )
    if syntheses:
        return syntheses, 1, "starts at low: no synthesis says that its studies are randomized"
    if others:
        return (
            others,
            1,
            f"starts at low: {counted(len(others), 'study', 'studies')} without random assignment",
        )
    return cases, 0, f"starts at very low: {counted(len(cases), 'case report')}"


def _is_randomized(work: _Work) -> bool:
    if work.reference.evidence_type == "randomized_trial":
        return True
    stated = " ".join((work.row.design, *work.row.conduct))
    primary = work.reference.evidence_type in ("clinical_trial", "article", "preprint", "document")
    synthesis = work.reference.evidence_type in ("meta_analysis", "systematic_review")
    if synthesis:
        stated = f"{stated} {work.reference.title}"
    return (primary or synthesis) and bool(_RANDOMIZED.search(stated)) and "non" not in stated[:4].casefold()


def _bias(body: Sequence[_Work]) -> tuple[int, str]:
    stated = [work for work in body if work.row.conduct]
    if not stated:
        return 0, "no work states how people were assigned, blinded or lost"
    biased = [work for work in stated if _at_risk(work.row.conduct)]
    if 2 * len(biased) > len(body):
        return -1, f"{len(biased)} of {len(body)} report open labels, losses or an analysis per protocol only"
    return 0, f"{len(stated)} of {len(body)} state something of their conduct, {len(biased)} of them a risk"


def _at_risk(conduct: Sequence[str]) -> bool:
    said = "; ".join(conduct)
    lost = any(_BIASED.search(item) and not _NONE_LOST.match(item) for item in conduct)
    return lost or (bool(_PER_PROTOCOL.search(said)) and not _AS_INTENDED.search(said))


def _inconsistency(body: Sequence[_Work]) -> tuple[int, str]:
    ways = [work.row.direction for work in body if work.row.direction]
    if len(body) == 1:
        return 0, "a single study cannot be inconsistent"
    if len(ways) < 2:
        return 0, f"not judged: {counted(len(ways), 'work')} of {len(body)} has a certain direction"
    if len(set(ways)) > 1 or "mixed" in ways:
        both = f", {ways.count('mixed')} both" if "mixed" in ways else ""
        affirm = f"{ways.count('affirms')} of {len(body)} affirm what is asked"
        return -1, f"{affirm}, {ways.count('denies')} deny it{both}"
    return 0, f"the {len(ways)} of {len(body)} with a certain direction agree"


def _imprecision(body: Sequence[_Work]) -> tuple[int, str]:
    sizes = [work.row.analysed or work.row.n for work in body]
    known = [size for size in sizes if size]
    includes = [found for work in body for found in _includes_no_effect(work.row)]
    steps, said = 0, []
    if known:
        total = sum(known)
        if len(known) == len(body):
            steps = -2 if total < FEWEST else -1 if total < FEW else 0
        said.append(f"{total:,} people in {counted(len(known), 'work')} that state how many")
    if includes:
        if all(includes) and steps == 0:
            steps = -1
        said.append(f"{sum(includes)} of {counted(len(includes), 'interval')} includes no effect")
    return steps, "; ".join(said) or "not judged: neither people nor an interval stated"


def _includes_no_effect(row: WorkRow) -> list[bool]:
    """For each interval of a ratio or of a difference whether it includes no effect."""
    found = [effect.low <= 0 <= effect.high for effect in row.computed]
    for number in row.numbers:
        interval = _INTERVAL.search(number)
        ratio, difference = bool(_RATIO.search(number)), bool(_DIFFERENCE.search(number))
        if interval is not None and ratio != difference:
            low, high = (_value(interval[name]) for name in ("low", "high"))
            found.append(low <= (1.0 if ratio else 0.0) <= high)
    return found


def _value(text: str) -> float:
    return float(text.replace("\u2212", "-").replace("\u00b7", "."))


def _indirectness(body: Sequence[_Work], population: str) -> tuple[int, str]:
    stated = [work for work in body if work.row.population]
    animals = [work for work in stated if _ANIMALS.search(work.row.population)]
    if stated and 2 * len(animals) > len(stated):
        return -1, f"{len(animals)} of {len(stated)} studied animals"
    if not population:
        return 0, "the question names no population"
    if not stated:
        return 0, "not judged: no population stated"
    concepts = Concepts(population)
    if not concepts.words:
        return 0, "the question names no population"
    texts = [f"{work.row.population}. {work.reference.title}" for work in stated]
    spoken = concepts.read([terms(text) for text in texts], texts)
    other = sum(len(places) < LEAST_OF_POPULATION * len(concepts.words) for places in spoken)
    if 2 * other > len(stated):
        return -1, f"{other} of {len(stated)} studied others than {population}"
    return 0, f"{len(stated) - other} of {len(stated)} studied {population}"
