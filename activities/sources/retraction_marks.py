"""What a record itself says of its standing: in its title, its publication types, its first sentence.

A retracted work carries a mark: `RETRACTED: ...`, `... (Retracted article. See vol. 3)`, "This article has
been withdrawn ...". A notice (of retraction, correction or concern) is no work and is never evidence. The
wordings are in `activities.retractions.wording`, NLM's publication types in `activities.sources.publication`.
"""

from collections.abc import Sequence

from activities.contracts.evidence import Evidence, StandingNotice
from activities.retractions.rules import standing_of, worst
from activities.retractions.wording import notice_kind, says_retracted, title_mark
from activities.sources import publication


def notice_of(record: Evidence, types: Sequence[str] = ()) -> str:
    """Return what a record is when it is a notice on another work; empty for a work."""
    stated = record.facts.get("notice") or publication.notice_itself(types)
    return stated or notice_kind(record.title, record.text)


def read_marks(record: Evidence, types: Sequence[str] = ()) -> Evidence | None:
    """Return the record with the standing that it states itself; None for a notice, which is no evidence.

    `types` are publication types that the record's fields do not hold. What its source knows stays: a mark
    never makes a standing milder.
    """
    if record.standing == "retracted":
        return record
    if notice_of(record, types):
        return None
    where = _marked_in(record, types)
    if not where:
        return record
    mark = StandingNotice(
        kind="withdrawal" if title_mark(record.title) == "withdrawn" else "retraction",
        reported_by=f"{record.source} ({where})",
    )
    notices = (*record.notices, mark)
    standing = worst(record.standing, standing_of(notices))
    return record.replace(notices=notices, standing=standing)


def _marked_in(record: Evidence, types: Sequence[str]) -> str:
    """Where a record says that it is retracted; empty when it does not."""
    if title_mark(record.title):
        return "title"
    if publication.standing(types, ()) == "retracted":
        return "publication type"
    return "text" if says_retracted(record.text) else ""
