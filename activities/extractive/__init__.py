"""The back end without a language model: it plans, searches, finds passages and quotes them. It judges
nothing.

Pure, synchronous and deterministic: one function a role, its typed input and, where it reads evidence, the
bodies of the input's evidence references in the same order; each is the `fallback` of its role
(`activities.roles.role.RoleSpec`). No network, no key, no clock. Verifying, editing and extracting have no
counterpart here: there is no wording to check."""

from activities.extractive.candidates import hypothesise
from activities.extractive.passages import judge, write
from activities.extractive.planning import manage, parse_query, plan
from activities.extractive.searching import evaluate_gaps, observe, reflect, select_tools

__all__ = [
    "evaluate_gaps",
    "hypothesise",
    "judge",
    "manage",
    "observe",
    "parse_query",
    "plan",
    "reflect",
    "select_tools",
    "write",
]
