"""The counts of a review as the flow of PRISMA 2020 has them (Page et al., doi:10.1136/bmj.n71)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from activities.contracts.evidence import Frozen
from activities.review.decisions import Marks
from activities.review.records import Records

FullText = Literal["", "got", "not_retrieved"]


class Flow(Frozen):
    """The numbers of the flow diagram. `faults` names any that do not add up."""

    identified: dict[str, int]
    """Search or file -> records."""
    duplicates: int
    screened: int
    excluded: int
    unread: int
    """Records that the rule for stopping left unread."""
    open: int
    """Records that wait for a screener, or for a person who decides a conflict."""
    sought: int
    not_retrieved: int
    awaited: int
    """Full texts that are not here yet."""
    assessed: int
    excluded_because: dict[str, int]
    """Criterion -> full texts that were excluded by it."""
    undecided: int
    """Full texts that wait for a decision."""
    included: int

    @property
    def given(self) -> int:
        return sum(self.identified.values())

    @property
    def excluded_full_texts(self) -> int:
        return sum(self.excluded_because.values())

    def faults(self) -> tuple[str, ...]:
        """The sums that do not hold; empty where all numbers add up."""
        included_by_title = self.screened - self.excluded
        sums = {
            "records": (self.given - self.duplicates, self.screened + self.open + self.unread),
            "sought full texts": (self.sought, included_by_title),
            "full texts": (self.sought, self.not_retrieved + self.awaited + self.assessed),
            "assessed full texts": (self.assessed, self.excluded_full_texts + self.undecided + self.included),
        }
        return tuple(f"{name}: {one} is not {other}" for name, (one, other) in sums.items() if one != other)


def flow(
    records: Records,
    titles: Marks,
    *,
    stopped: bool,
    got: Mapping[int, FullText],
    full_texts: Marks,
    reasons: Mapping[int, str],
) -> Flow:
    """Count. `stopped`: screening has ended, so that open records are unread; `got`: record -> its full text;
    `reasons`: record -> criterion by which its full text was excluded."""
    states = titles.states()
    counted = Counter(states)
    waiting = sum(
        state == "conflict" or (state == "open" and (titles.first[n] + titles.second[n]) != "..")
        for n, state in enumerate(states)
    )
    unsettled = counted["open"] + counted["conflict"]
    open_ = waiting if stopped else unsettled
    sought = [record for record, state in enumerate(states) if state == "included"]
    assessed = [record for record in sought if got.get(record) == "got"]
    second = [full_texts.state(record) for record in assessed]
    excluded: Sequence[int] = [
        record for record, state in zip(assessed, second, strict=True) if state == "excluded"
    ]
    return Flow(
        identified=records.by_origin,
        duplicates=records.given - len(records.records),
        screened=counted["included"] + counted["excluded"],
        excluded=counted["excluded"],
        unread=unsettled - open_,
        open=open_,
        sought=len(sought),
        not_retrieved=sum(got.get(record) == "not_retrieved" for record in sought),
        awaited=sum(not got.get(record) for record in sought),
        assessed=len(assessed),
        excluded_because=dict(Counter(reasons.get(record, "not stated") for record in excluded)),
        undecided=sum(state in ("open", "conflict") for state in second),
        included=second.count("included"),
    )
