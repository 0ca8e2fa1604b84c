"""Which searches would test the hypotheses of a run. Pure."""

from collections.abc import Collection, Sequence
from itertools import zip_longest

from activities.steps import MechanismHypothesis


def suggested_searches(hypotheses: Sequence[MechanismHypothesis], made: Collection[str]) -> tuple[str, ...]:
    """The searches that the hypotheses suggest, without those in `made`: one of each hypothesis, in the order
    of the hypotheses, before the second of any."""
    rounds = zip_longest(*(hypothesis.search_suggestions for hypothesis in hypotheses))
    wanted = dict.fromkeys(text for suggested in rounds for text in suggested if text)
    return tuple(text for text in wanted if text not in made)
