"""A work as a reference of a report."""

from activities.report.formats.text import clean
from activities.report.schema import Reference
from activities.types import Evidence


def reference_of(item: Evidence, number: int = 0, study: int = 0, from_run: str = "") -> Reference:
    """A work under a number; 0 for one that the report does not cite. `study`: works with the same number
    report the same study; 0: not known. `from_run`: the earlier run it was imported from."""
    return Reference(
        number=number,
        evidence_id=item.evidence_id,
        source=item.source,
        title=clean(item.title) or item.evidence_id,
        authors=tuple(clean(a) for a in item.authors if clean(a)),
        year=item.year,
        venue=clean(item.venue) or None if item.venue else None,
        identifiers=item.identifiers,
        url=item.url,
        evidence_type=item.evidence_type,
        standing=item.standing,
        full_text=item.full_text,
        study=study,
        from_run=from_run,
    )
