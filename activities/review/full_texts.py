"""Full texts: which are there, and the second screening by two screeners.

A full text is fetched where the run may (`activities.full_text_activity`); what is left is asked of a person,
who provides files (`activities.review.provided`). What nobody has is not retrieved, which is a count and no
exclusion. Of each text two screeners say include or exclude, an exclusion with its criterion and the words
that it rests on; where they differ, or one is unsure or did not answer, a person decides.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from activities.contracts.errors import DecisionError
from activities.contracts.evidence import EvidenceRef, Frozen, Support
from activities.review.protocol import Criterion
from activities.review.studies import FullTextVerdict, Verdict


class Retrieval(Frozen):
    """What became of the reports that were sought, as PRISMA 2020 counts them."""

    sought: int
    retrieved: int
    fetched: int = 0
    """Retrieved by the system; the others by a person."""
    missing: tuple[str, ...] = ()
    """Ids of those that are not retrieved."""

    @property
    def not_retrieved(self) -> int:
        return len(self.missing)


def retrieval(sought: Sequence[EvidenceRef], fetched: Iterable[str], provided: Iterable[str]) -> Retrieval:
    """Count what was retrieved of the works that titles and abstracts let through."""
    by_system, by_person = set(fetched), set(provided)
    names = [ref.evidence_id for ref in sought]
    missing = tuple(name for name in names if name not in by_system | by_person)
    return Retrieval(
        sought=len(names),
        retrieved=len(names) - len(missing),
        fetched=sum(name in by_system for name in names),
        missing=missing,
    )


class FullTextDecision(Frozen):
    """What holds of one full text."""

    evidence_id: str
    included: bool
    criterion: str = ""
    """Id of the criterion by which it is excluded."""
    reason: str = ""
    support: tuple[Support, ...] = ()
    by: str
    """`agreed`, or the name of the person who decided."""


AGREED = "agreed"


def settled(verdicts: Sequence[FullTextVerdict], criteria: Sequence[Criterion]) -> FullTextDecision | None:
    """The decision that follows where two screeners agree; None where a person has to decide. Of two
    exclusions by different criteria the reason is the one that stands first in the protocol."""
    if len(verdicts) < 2 or len({one.verdict for one in verdicts}) != 1 or verdicts[0].verdict == "unsure":
        return None
    order = {rule.id: place for place, rule in enumerate(criteria)}
    first = min(verdicts, key=lambda one: order.get(one.criterion, len(order)))
    included = first.verdict == "include"
    if not included and first.criterion not in order:
        return None
    return FullTextDecision(
        evidence_id=first.evidence_id,
        included=included,
        criterion="" if included else first.criterion,
        reason=first.reason,
        support=first.support,
        by=AGREED,
    )


def person_decides(
    evidence_id: str, verdict: Verdict, by: str, criteria: Sequence[Criterion], *, criterion: str, reason: str
) -> FullTextDecision:
    """Take a person's decision on a full text. Raises DecisionError: an exclusion names its criterion, and
    nothing stays unsure."""
    if verdict == "unsure":
        raise DecisionError("a full text is included or excluded; say which")
    if not by.strip():
        raise DecisionError("a decision needs the name of who decides")
    names = [rule.id for rule in criteria]
    if verdict == "exclude" and criterion not in names:
        raise DecisionError(f"name the criterion of the exclusion, one of {', '.join(names)}")
    return FullTextDecision(
        evidence_id=evidence_id,
        included=verdict == "include",
        criterion=criterion if verdict == "exclude" else "",
        reason=reason.strip(),
        by=by.strip(),
    )


def excluded_by(
    decisions: Iterable[FullTextDecision], criteria: Sequence[Criterion]
) -> tuple[tuple[str, int], ...]:
    """Count the exclusions by the text of their criterion, in the protocol's order."""
    counts = Counter(one.criterion for one in decisions if not one.included)
    return tuple((rule.text, counts[rule.id]) for rule in criteria if counts[rule.id])


def agreement(pairs: Iterable[tuple[FullTextVerdict, FullTextVerdict]]) -> Mapping[tuple[str, str], int]:
    """Count how two screeners decided, pair by pair."""
    counts: defaultdict[tuple[str, str], int] = defaultdict(int)
    for one, other in pairs:
        counts[one.verdict, other.verdict] += 1
    return dict(counts)
