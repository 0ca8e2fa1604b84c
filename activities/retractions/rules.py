"""Rules that say by the notices on a work whether it may be cited.

MEDLINE's words for notices are read in `activities.sources.publication`; here are Crossref's and Retraction
Watch's, what titles and comments say by themselves, and the one rule that weighs all notices together.
"""

import re
from collections.abc import Iterable

from activities.contracts.evidence import NoticeKind, Standing, StandingNotice
from activities.retractions.wording import title_mark

KINDS: dict[str, NoticeKind] = {
    "retraction": "retraction",
    "removal": "retraction",
    "withdrawal": "withdrawal",
    # Part of the work no longer stands, and no notice says which: no sentence of it may be trusted.
    "partialretraction": "concern",
    "expressionofconcern": "concern",
    "correction": "correction",
    "corrigendum": "correction",
    "erratum": "correction",
    "clarification": "correction",
    "addendum": "correction",
    "reinstatement": "reinstatement",
}
"""Update types of Crossref (https://www.crossref.org/documentation/crossmark/) and of Retraction Watch, which
Crossref passes on. New versions and editions are no notices."""

SEVERITY: dict[Standing, int] = {"unknown": 0, "none": 1, "corrected": 2, "concern": 3, "retracted": 4}
"""The worst has the highest number."""

RETRACTING_KINDS = frozenset({"retraction", "withdrawal"})
"""Kinds after which a work is no longer to be cited."""


def kind_of(name: str) -> NoticeKind | None:
    """Return the kind behind an update type, or None for a type that does not affect citing."""
    return KINDS.get(re.sub(r"[^a-z]", "", name.lower()))


def standing_of(notices: Iterable[StandingNotice], otherwise: Standing = "none") -> Standing:
    """Weigh notices: the worst one counts, from any authority; `otherwise` where none affects the work.

    A retraction is lifted only by a reinstatement that is dated no earlier than every retraction; where a
    date is missing it stays.
    """
    notices = list(notices)
    retraction_dates = [n.date for n in notices if n.kind in RETRACTING_KINDS]
    reinstatement = max((n.date for n in notices if n.kind == "reinstatement" and n.date), default=None)
    if not all(date and reinstatement and _not_before(reinstatement, date) for date in retraction_dates):
        return "retracted"
    kinds = {n.kind for n in notices}
    if "concern" in kinds:
        return "concern"
    return "corrected" if "correction" in kinds else otherwise


def worst(*standings: Standing) -> Standing:
    """Return the most severe of several standings; of none, unknown."""
    return max(standings, key=SEVERITY.__getitem__, default="unknown")


def title_notices(title: str, reported_by: str) -> tuple[StandingNotice, ...]:
    """Read the notice in a title such as "RETRACTED: ...", often the only trace there is."""
    mark = title_mark(title)
    kind: NoticeKind = "withdrawal" if mark == "withdrawn" else "retraction"
    return (StandingNotice(kind=kind, reported_by=f"{reported_by} (title)"),) if mark else ()


def _not_before(later: str, earlier: str) -> bool:
    """Compare ISO dates as far as both are known: `2011` is not before `2011-05`."""
    length = min(len(later), len(earlier))
    return later[:length] >= earlier[:length]
