"""The conditions of decisions: named pure functions, and comparisons, over the state of a run.

Nothing here evaluates text: a definition can only name what this module has.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Literal

from activities.contracts.evidence import Frozen, StopReason
from workflows.graph.definition import Comparison, Condition, Named
from workflows.rules.stopping import MAX_STALLED_ITERATIONS

COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}


UNLIMITED = 10**12
"""Stands for what is left where there is no limit: more than any limit may be, and finite, so that JSON has
it."""


class Facts(Frozen):
    iteration: int = 0
    evidence: int = 0
    """Items that the run holds."""
    new_evidence: int = 0
    """Items that the latest searches added."""
    unjudged: int = 0
    """Items found since the latest judgement."""
    searches: int = 0
    tasks: int = 0
    """Searches selected and not replaced by a later selection."""
    gaps: int = 0
    stalled: int = 0
    """Searches in a row, each of all selected ones, that added nothing."""
    judge_failures: int = 0
    """Judgements in a row that failed."""
    confidence: float = 0.0
    """The confidence of the latest judgement, 0 to 1."""
    lowest_score: int = 0
    """The lowest score of a criterion in the latest judgement, 0 to 10."""
    hypotheses: int = 0
    tokens_used: int = 0
    tokens_left: int = UNLIMITED
    """Free for research; what writing the report needs is kept back. `UNLIMITED` without a limit."""
    cost_used_usd: float = 0.0
    cost_left_usd: float = UNLIMITED
    """Free for research, in US dollars."""
    seconds_used: float = 0.0
    """Working time; waiting for a person does not count."""
    seconds_left: float = UNLIMITED
    """Working time that is left for research."""
    judged: bool = False
    sufficient: bool = False
    """Whether the latest judgement meets the profile."""
    all_failed: bool = False
    """Whether searches were made and not one got an answer."""
    unread_steering: bool = False
    """Whether a reviewer gave an instruction that no step has read."""
    last: Literal["start", "observe", "evaluate_gaps", "select_tools", "search", "judge"] = "start"
    """The research step that was completed last."""


NAMED: Mapping[Named, Callable[[Facts], bool]] = {
    "sufficient": lambda facts: facts.sufficient,
    "all_failed": lambda facts: facts.all_failed,
    "stalled": lambda facts: facts.stalled >= MAX_STALLED_ITERATIONS,
    "gaps_open": lambda facts: facts.gaps > 0,
    "tasks_selected": lambda facts: facts.tasks > 0,
    "nothing_to_judge": lambda facts: facts.evidence == 0 or (facts.judged and facts.unjudged == 0),
    "judge_failed": lambda facts: facts.judge_failures > 0,
    "unread_steering": lambda facts: facts.unread_steering,
    "has_evidence": lambda facts: facts.evidence > 0,
    "has_hypotheses": lambda facts: facts.hypotheses > 0,
}


def holds(condition: Condition, facts: Facts) -> bool:
    if isinstance(condition, Comparison):
        return COMPARE[condition.op](getattr(facts, condition.field), condition.value)
    return NAMED[condition](facts)


def in_words(condition: Condition) -> str:
    if isinstance(condition, Comparison):
        return f"{condition.field} {condition.op} {condition.value:g}"
    return condition.replace("_", " ")


def stop_at_exit(facts: Facts) -> StopReason:
    """Why a run ends that has reached an exit.

    Code decides: a graph cannot claim that its evidence is sufficient.
    """
    if facts.last == "search" and facts.all_failed:
        return "all_sources_failed"
    if facts.sufficient:
        return "sufficient_evidence"
    if facts.last == "search" and facts.new_evidence == 0:
        return "no_new_evidence"
    nothing_left = (facts.last == "evaluate_gaps" and facts.gaps == 0) or (
        facts.last == "select_tools" and facts.tasks == 0
    )
    return "searched_out" if nothing_left else "max_iterations_reached"
