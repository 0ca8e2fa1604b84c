"""The back end without a language model: plans, judges and writes by ranking and quoting sentences.

Pure, synchronous and deterministic: one function a role, its typed input and, where it reads evidence, the
bodies of the input's evidence references in the same order. No network, no key, no clock.
"""

from activities.extractive.gaps import evaluate_gaps, observe, reflect
from activities.extractive.hypotheses import hypothesise
from activities.extractive.judging import judge
from activities.extractive.managing import manage
from activities.extractive.planning import plan
from activities.extractive.proofreading import proofread
from activities.extractive.queries import select_tools
from activities.extractive.query import parse_query
from activities.extractive.writing import write

__all__ = [
    "evaluate_gaps",
    "hypothesise",
    "judge",
    "manage",
    "observe",
    "parse_query",
    "plan",
    "proofread",
    "reflect",
    "select_tools",
    "write",
]
