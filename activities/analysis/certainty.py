"""The certainty of a conclusion, as GRADE grades a body of evidence, by what checked fields show. Pure.

It starts high for randomised trials and low for other studies in people, and goes down for each serious
concern, once: imprecision (Guyatt et al. 2011, doi:10.1016/j.jclinepi.2011.01.012; by two levels: Zeng et al.
2022, doi:10.1016/j.jclinepi.2022.07.014), inconsistency (Guyatt et al. 2011,
doi:10.1016/j.jclinepi.2011.03.017), indirectness. From abstracts alone it is at most moderate, since risk of
bias cannot be read there.
"""

from collections.abc import Sequence
from statistics import median
from typing import get_args

from activities.analysis.pooling import MIN_STUDIES_FOR_PREDICTION
from activities.analysis.scale import no_effect, side_of
from activities.contracts.appraisal import AppraisedWork, Certainty, CertaintyReason, Concern
from activities.contracts.effects import RATIOS, Interval, Measure, Pool

CERTAINTIES: tuple[Certainty, ...] = get_args(Certainty)
MIN_PARTICIPANTS = 400
"""Participants of all works on an outcome below which it is imprecise (Guyatt et al. 2011, the rule of thumb
for continuous outcomes)."""
MIN_EVENTS = 300
"""Events of all works below which an outcome that is counted is imprecise (the rule of thumb of GRADE's
software, after Mueller et al., Ann Intern Med 2007;146:878)."""
MIN_OF_ONE_STUDY = 4_000
"""Participants from which a study counts alone as much as several. What one study finds is often not found
again, the more often the smaller it is (Ioannidis, JAMA 2005;294:218); the number is a convention of this
system. It is no second concern beside too few people or events."""
FAR_TOO_FEW = 0.3
"""Share of these below which a body of evidence is rated down by two levels (Zeng et al. 2022: "far less"
than the optimal information size). The share is a convention of this system."""
APPRECIABLE = 0.25
"""Relative change of a ratio that matters: an interval that holds no effect and this change is imprecise
(Guyatt et al. 2011); one that holds it on both sides is so by two levels (Zeng et al. 2022)."""
APPRECIABLE_SMD = 0.5
"""The standardised mean difference that is appreciable (Guyatt et al. 2011)."""
INCONSISTENT = 0.5
"""I2 from which works disagree (Cochrane's handbook, 10.10.2: substantial)."""


def certainty_of(
    works: Sequence[AppraisedWork], pool: Pool | None
) -> tuple[Certainty, tuple[Concern, ...], Certainty]:
    """Return the level at which the works start, the concerns that lower it, and the most that both allow.

    Each concern counts once, by what shows it most; levels below the lowest are no concern's."""
    if not works:
        return "very_low", (), "very_low"
    facts = [work.facts for work in works]
    start: Certainty = "high" if any(fact.randomized for fact in facts) else "low"
    level = CERTAINTIES.index(start)
    concerns: list[Concern] = []

    def lower(code: CertaintyReason, levels: int) -> None:
        nonlocal level
        levels = min(levels, level)
        if levels > 0:
            level -= levels
            concerns.append(Concern(code=code, levels=levels))

    if not any(fact.in_people for fact in facts):
        lower("not_in_people", level)
    imprecision = _imprecision(works, pool)
    for code, levels in (imprecision, _inconsistency(works, pool)):
        lower(code, levels)
    if 2 * sum(fact.direct for fact in facts) < len(facts):
        lower("indirect", 1)
    if any(fact.under_concern for fact in facts):
        lower("under_concern", 1)
    if not all(fact.full_text for fact in facts):
        lower("abstracts_only", level - CERTAINTIES.index("moderate"))
    if not imprecision[1] and _is_one_study(works):
        lower("one_study", 1)
    return start, tuple(concerns), CERTAINTIES[level]


def _is_one_study(works: Sequence[AppraisedWork]) -> bool:
    """Tell whether all rests on one study that is not known to be large; a synthesis joins several."""
    return len(works) == 1 and not works[0].facts.synthesis and (works[0].n or 0) < MIN_OF_ONE_STUDY


def people_of(works: Sequence[AppraisedWork]) -> list[float]:
    """Return the participants of each work.

    One that does not say how many is taken to have had as many as the median of the others. Empty where none
    says."""
    counts = [work.n for work in works if work.n]
    return [work.n or median(counts) for work in works] if counts else []


def _imprecision(works: Sequence[AppraisedWork], pool: Pool | None) -> tuple[CertaintyReason, int]:
    """Return what shows most that a body of evidence is imprecise.

    Too few people or events, or the intervals."""
    numbers = [(work.result, work.effect.measure) for work in works if work.result and work.effect]
    if pool is not None:
        numbers = [(pool.random, pool.measure)]
    concerns = [_size(works)]
    if not numbers:
        concerns.append(("no_numbers", 1))
    else:
        concerns.append(("wide_interval", min(_width(result, measure) for result, measure in numbers)))
    if pool is not None and _rests_on_few(pool):
        concerns.append(("few_studies", 1))
    return max(concerns, key=lambda concern: concern[1])


def _size(works: Sequence[AppraisedWork]) -> tuple[CertaintyReason, int]:
    """Tell whether events are too few, where most works give them, or else participants.

    Works that do not say how many are taken to have had as many as the others."""
    arms = [work.effect.arms for work in works if work.effect and work.effect.arms]
    if 2 * len(arms) >= len(works):
        events = sum(arm.events + arm.control_events for arm in arms)
        return "few_events", _too_few(events * len(works) / len(arms), MIN_EVENTS)
    people = people_of(works)
    return "few_participants", _too_few(sum(people), MIN_PARTICIPANTS) if people else 0


def _too_few(count: float, minimum: int) -> int:
    return 0 if count >= minimum else 2 if count < FAR_TOO_FEW * minimum else 1


def _width(result: Interval, measure: Measure) -> int:
    """Return the number of sides on which an interval that includes no effect holds a change that matters."""
    if measure in RATIOS:
        low, high = 1 - APPRECIABLE, 1 + APPRECIABLE
    elif measure == "SMD":
        low, high = -APPRECIABLE_SMD, APPRECIABLE_SMD
    else:
        return 0
    if side_of(result, no_effect(measure)) != "no_difference":
        return 0
    return (result.low < low) + (result.high > high)


def _rests_on_few(pool: Pool) -> bool:
    """Tell whether only the normal interval excludes no effect.

    Hartung and Knapp's says nothing of two studies."""
    has_enough = len(pool.rows) >= MIN_STUDIES_FOR_PREDICTION
    return has_enough and _excludes(pool.random, pool) and not _excludes(pool.hartung_knapp, pool)


def _excludes(result: Interval, pool: Pool) -> bool:
    return side_of(result, no_effect(pool.measure)) != "no_difference"


def _inconsistency(works: Sequence[AppraisedWork], pool: Pool | None) -> tuple[CertaintyReason, int]:
    if {"higher", "lower"} <= {work.direction for work in works}:
        return "opposite", 1
    return "inconsistent", int(pool is not None and pool.i2 >= INCONSISTENT)
