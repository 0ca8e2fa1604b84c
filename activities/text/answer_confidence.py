"""How sure works make of an answer: how directly they speak of the question, how strong, many, large and
independent they are, and whether they agree."""

from collections.abc import Sequence

from activities.text.evidence_strength import direction, weight
from activities.text.independence import independent, participants, studies
from activities.text.needle import Needle
from activities.text.question import compared, stems
from activities.text.ranking import Item
from activities.text.study_facts import is_primary
from activities.types import Evidence, Statement

_WEAK, WEAK_ONLY = 0.45, 0.75
"""Highest confidence where no work is of a kind of more than this weight: preprints, cases, web pages, notes
and other documents without a study's design."""
SMALL_STUDY, ONE_STUDY, TWO_STUDIES = 0.88, 0.92, 0.95
"""Highest confidence in what a single study found, one of few people or that does not say of how many; in
what any other found; and in what two found. Later studies contradicted 16 % of the most
cited findings, and among trials more often those of few people (Ioannidis 2005,
doi:10.1001/jama.294.2.218); the numbers are our own."""
_OF_SEVERAL_STUDIES = ("meta_analysis", "systematic_review", "guideline")
"""Kinds that rest on several studies by themselves."""
_LIMITED_FROM = 0.6
"""Directness from which the kind of evidence limits confidence."""
WEAK_CLAIMS = 0.85
"""Highest confidence in claims that all grade weak, however many works they quote; the number is our own."""
_LIMITS = {
    WEAK_ONLY: "weak",
    WEAK_CLAIMS: "graded_weak",
    SMALL_STUDY: "small",
    ONE_STUDY: "single",
    TWO_STUDIES: "two",
}
FEW_PEOPLE = 200
"""Participants under which a study is small."""
_STANDS_ON = 0.8
"""Share of the most direct work's directness from which a work is one that the answer stands on."""
_DISPUTED = 0.15
ONE_SIDE = 0.5
"""Highest confidence for a comparison that no work makes."""
ONE_NAME = 0.75
"""Highest confidence for a question with a single specific word: any work that mentions it looks relevant."""


def confidence_in(question: str, sought: str, items: Sequence[Item], share: float) -> float:
    """`confidence_of` works that help with a question, at most `ONE_SIDE` where it compares two things and no
    work does, and at most `ONE_NAME` where what is sought in works is a single specific word."""
    value = confidence_of(items, share)
    sides = compared(question)
    if sides is not None and not any(compares(item, sides) for item in items):
        value = min(value, ONE_SIDE)
    return min(value, ONE_NAME) if len(Needle(sought).strong) < 2 else value


def compares(item: Item, sides: tuple[frozenset[str], frozenset[str]]) -> bool:
    """Whether a sentence that reports or concludes names both sides of a comparison."""
    return any(
        all(side & stems(sentence.text) for side in sides)
        for sentence in (ranked.sentence for ranked in item.ranked)
        if sentence.part in ("results", "conclusion", "plain")
    )


def confidence_of(items: Sequence[Item], share: float) -> float:
    """0 to 1: the probability that the best work answers the question (`Item.direct`, calibrated on half of
    the questions of `benchmarks/relevance.py`), where it is high at most what such evidence allows
    (`most_confidence`); less where works disagree, and for parts of the question that are left open (`share`:
    the part that is covered)."""
    if not items:
        return 0.0
    direct = max(item.direct for item in items)
    value = _limited(direct, most_confidence(items))
    return round(value * (1 - _DISPUTED * disagreement(items)) * (0.5 + 0.5 * share), 4)


def within(value: float, before: float, most: float) -> float:
    """A confidence that was limited to `before`, limited to `most`; what was surer stays the surer."""
    if value <= _LIMITED_FROM or most >= before:
        return min(value, most)
    return round(
        _LIMITED_FROM + (value - _LIMITED_FROM) * (most - _LIMITED_FROM) / (before - _LIMITED_FROM), 4
    )


def _limited(direct: float, most: float) -> float:
    """Directness from `_LIMITED_FROM` to 1, scaled to end at `most`: a doubtful answer is no surer for more
    works, and of two answers from evidence of one kind the more direct one stays the surer."""
    if direct <= _LIMITED_FROM:
        return direct
    return _LIMITED_FROM + (direct - _LIMITED_FROM) * (most - _LIMITED_FROM) / (1 - _LIMITED_FROM)


def stands_on(items: Sequence[Item]) -> list[Evidence]:
    """The works that an answer rests on: those about as direct as the best one."""
    best = max((item.direct for item in items), default=0.0)
    return [item.document for item in items if item.direct >= _STANDS_ON * best]


def most_confidence(items: Sequence[Item]) -> float:
    """The highest confidence that the works which an answer rests on allow."""
    return most_allowed_by(stands_on(items))


def most_allowed_by(works: Sequence[Evidence]) -> float:
    """The highest confidence that evidence of this strength, number, size and independence allows."""
    if not any(weight(work) > _WEAK for work in works):
        return WEAK_ONLY
    if any(work.evidence_type in _OF_SEVERAL_STUDIES for work in works):
        return 1.0
    match independent(works, studies(works)):
        case 1:
            return SMALL_STUDY if is_small(works) else ONE_STUDY
        case 2:
            return TWO_STUDIES
        case _:
            return 1.0


def is_small(works: Sequence[Evidence]) -> bool:
    """Whether the one study that these works report is of few people or does not say of how many."""
    people = max((participants(work) or 0 for work in works if is_primary(work)), default=FEW_PEOPLE)
    return people < FEW_PEOPLE


def why_limited(most: float) -> Statement | None:
    """The reason for a limit; None for none of `most_allowed_by`."""
    if most not in _LIMITS:
        return None
    return Statement(code="confidence_limited", values={"why": _LIMITS[most], "percent": round(100 * most)})


def reasons(items: Sequence[Item], share: float) -> tuple[Statement, ...]:
    """What the confidence was computed from."""
    if not items:
        return ()
    best = max(items, key=lambda item: item.direct)
    works = [item.document for item in items]
    count = independent(works, studies(works))
    found = [
        Statement(code="confidence_direct", values={"percent": min(99, round(100 * best.direct))}),
        Statement(code="confidence_works", values={"works": len(items), "independent": count}),
    ]
    limited = why_limited(most_confidence(items))
    if limited is not None:
        found.append(limited)
    if disagreement(items):
        found.append(Statement(code="confidence_disagreement"))
    if share < 1:
        found.append(Statement(code="confidence_open_parts", values={"percent": round(100 * share)}))
    return tuple(found)


def disagreement(items: Sequence[Item]) -> float:
    """0 when the best sentences all point one way, 1 when they are split evenly."""
    ways = [direction(i.ranked[0].sentence.text) for i in items[:8] if i.ranked]
    yes, no = ways.count("yes"), ways.count("no")
    return 2 * min(yes, no) / (yes + no) if yes + no else 0.0
