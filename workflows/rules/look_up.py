"""Which sources a candidate may be looked up in. Pure.

Invariants: a run that searches only what is on this machine looks nothing up; a run for which sources were
named uses no other.
"""

from collections.abc import Collection, Sequence

from activities.candidates.fields import SOURCES
from activities.types import SourceOption


def permitted_sources(
    offered: Sequence[SourceOption],
    searched: Sequence[SourceOption],
    named: Collection[str],
    by_profile: Collection[str],
) -> tuple[str, ...]:
    """Names of the sources to ask, in the order of `SOURCES`.

    `offered`: what the worker has; `searched`: what the run searches; `named`: the sources that the request
    names, if any; `by_profile`: what the profile adds for candidates.
    """
    if all("local" in option.info.domains for option in searched):
        return ()
    allowed = {option.info.name for option in searched}
    if not named:
        allowed |= set(by_profile)
    enabled = {option.info.name for option in offered if option.enabled}
    return tuple(name for name in SOURCES if name in allowed and name in enabled)
