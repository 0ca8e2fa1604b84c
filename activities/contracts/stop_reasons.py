"""Why a run stops searching: the closed set, and one table of what follows from each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from activities.messages import N_

StopReason = Literal[
    "sufficient_evidence",
    "searched_out",
    "token_budget_exceeded",
    "cost_budget_exceeded",
    "max_iterations_reached",
    "timeout",
    "no_new_evidence",
    "judge_unavailable",
    "claims_refused",
    "all_sources_failed",
    "finished_by_reviewer",
    "rejected_by_reviewer",
    "cannot_continue",
    "cancelled",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """What follows from one stop reason."""

    because: str
    """For people, as the end of a sentence."""
    early: bool = True
    """Whether the search ended before it had run its course, which the report's limitations state."""
    pays: bool = True
    """Whether models may still be called, to write."""
    asks: bool = True
    """Whether gates still wait for a person."""
    complete: bool = False
    """Whether a section that ends with it counts as complete."""


STOPS: Mapping[StopReason, Stop] = {
    "sufficient_evidence": Stop(because=N_("the evidence was judged sufficient"), early=False, complete=True),
    "searched_out": Stop(
        because=N_("further searches were unlikely to find anything useful"),
        early=False,
        complete=True,
    ),
    "no_new_evidence": Stop(
        because=N_("further searches found nothing new although the evidence was not judged sufficient"),
        early=False,
    ),
    "max_iterations_reached": Stop(
        because=N_("the limit of iterations was reached before the evidence was judged sufficient")
    ),
    "timeout": Stop(because=N_("the time limit was reached before the evidence was judged sufficient")),
    "token_budget_exceeded": Stop(
        because=N_("the token budget was used up before the evidence was judged sufficient")
    ),
    "cost_budget_exceeded": Stop(
        because=N_("the cost budget was used up before the evidence was judged sufficient")
    ),
    "claims_refused": Stop(
        because=N_(
            "works that answer the question were found, but nothing written about them passed the checks"
        )
    ),
    "judge_unavailable": Stop(
        because=N_("no model could be reached to judge the evidence, so it is not known whether it suffices"),
        pays=False,
    ),
    "all_sources_failed": Stop(
        because=N_("every source failed, so the literature was not searched as asked")
    ),
    "finished_by_reviewer": Stop(
        because=N_("a reviewer ended the search before the evidence was judged sufficient")
    ),
    "rejected_by_reviewer": Stop(
        because=N_("a reviewer rejected the plan, the candidates or the report"), pays=False, asks=False
    ),
    "cannot_continue": Stop(
        because=N_("an internal error stopped the run, so it was ended with what it had"),
        pays=False,
        asks=False,
    ),
    "cancelled": Stop(because=N_("the run was cancelled before it was finished"), pays=False, asks=False),
}
"""Stop reason -> what follows from it. From the best to the worst: of sections that ended for different
reasons, a run reports the last one in this order (`worst`)."""


_SHORT: Mapping[str, str] = {
    "searched_out": "nothing more to search for",
    "claims_refused": "no sentence passed the checks",
    "timeout": "time limit reached",
}


def in_short(reason: str) -> str:
    """Name a stop reason in a few words, for a line of a list."""
    return _SHORT.get(reason, reason.replace("_", " "))


def worst(reasons: Sequence[StopReason]) -> StopReason:
    """Return the reason that a run reports whose sections ended for these.

    One that failed or was cancelled alone counts only where no other ended otherwise.
    """
    order = list(STOPS)
    losses = order[order.index("all_sources_failed") :]
    causes = [reason for reason in reasons if reason not in losses]
    if causes:
        return max(causes, key=order.index)
    return min(reasons, key=order.index, default="all_sources_failed")
