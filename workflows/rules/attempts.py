"""Which attempt of a sub-team is the best: by its judgement, never by its place. Pure."""

from activities.steps import JudgeAssessment
from activities.types import Frozen

Score = tuple[float, float]


class Attempt(Frozen):
    """An attempt with what its judge said of it."""

    iteration: int
    judged: JudgeAssessment
    relevant: tuple[str, ...] = ()
    """Ids of the items that helped, best first."""


def score(judged: JudgeAssessment) -> Score:
    """Confidence first, then the mean of the criteria."""
    scores = judged.scores.values()
    return judged.confidence, sum(scores) / len(scores) if scores else 0.0


def better(best: Attempt | None, new: Attempt) -> Attempt:
    """The one with the higher score; the earlier one when they are equal."""
    return new if best is None or score(new.judged) > score(best.judged) else best
