"""What others read of a review: decisions as CSV in ASReview's columns, records as RIS, the log, merges.

Names of people are personal data: `person 1` stands for them unless they are asked for.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from activities.contracts.evidence import Evidence
from activities.report.formats import MissingExtra
from activities.report.formats.text import spreadsheet_cell
from activities.review.archive import Published
from activities.review.decisions import Decision, State, latest

ASREVIEW = ("record_id", "title", "abstract", "authors", "year", "doi", "url", "keywords")
"""Columns that ASReview reads, before its own `asreview_label` (1, 0 or empty), `asreview_time` and
`asreview_note`."""


class Names:
    """How people are named: as they are, or by number in the order in which they decided."""

    def __init__(self, published: Published, *, shown: bool) -> None:
        people = dict.fromkeys(one.by for one in published.decisions if not one.model)
        people |= dict.fromkeys(one.by for one in published.step.amendments)
        if published.step.approved_by:
            people.setdefault(published.step.approved_by)
        if published.findings is not None:
            people |= dict.fromkeys(published.findings.people)
        self._names = {} if shown else {name: f"person {n}" for n, name in enumerate(people, start=1)}

    def of(self, name: str) -> str:
        return self._names.get(name, name)


def final_states(published: Published) -> list[State]:
    """What became of each record: by its full text where that was assessed, else by title and abstract."""
    titles, full_texts = published.step.titles.states(), published.step.full_texts.states()
    return [
        second if second in ("included", "excluded") and first == "included" else first
        for first, second in zip(titles, full_texts, strict=True)
    ]


def decisions_csv(published: Published, items: Sequence[Evidence], names: Names) -> bytes:
    """A line a record."""
    by_record: dict[int, list[Decision]] = {}
    for one in latest(published.decisions).values():
        by_record.setdefault(one.record, []).append(one)
    labels = {"included": "1", "excluded": "0"}

    def rows() -> Iterator[Mapping[str, str]]:
        for number, (item, state) in enumerate(zip(items, final_states(published), strict=True)):
            made = by_record.get(number, [])
            note = "; ".join(
                f"{names.of(one.by)}: {one.verdict}{f' ({one.criterion})' if one.criterion else ''}"
                for one in made
            )
            yield {
                "record_id": str(number),
                "title": item.title,
                "abstract": item.text,
                "authors": "; ".join(item.authors),
                "year": str(item.year or ""),
                "doi": item.identifiers.doi or "",
                "url": item.url or "",
                "keywords": item.facts.get("mesh", ""),
                "asreview_label": labels.get(state, ""),
                "asreview_time": max((one.at for one in made), default=""),
                "asreview_note": note,
            }

    return _csv((*ASREVIEW, "asreview_label", "asreview_time", "asreview_note"), rows())


def log_csv(published: Published, names: Names) -> bytes:
    """Every decision, in order, with its ground."""
    head = (
        "record",
        "stage",
        "part",
        "by",
        "verdict",
        "criterion",
        "words",
        "reason",
        "at",
        "protocol",
        "model",
    )
    return _csv(
        (*head, "prompt"),
        (
            {
                "record": str(one.record),
                "stage": one.stage,
                "part": one.part,
                "by": names.of(one.by),
                "verdict": one.verdict,
                "criterion": one.criterion,
                "words": " | ".join(one.words),
                "reason": one.reason,
                "at": one.at,
                "protocol": str(one.protocol),
                "model": one.model,
                "prompt": one.prompt,
            }
            for one in published.decisions
        ),
    )


def merged_csv(published: Published) -> bytes:
    """What was merged with what; `key` is what `part` is told."""
    records = published.records.records
    return _csv(
        ("record", "title", "merged_title", "merged_from", "key"),
        (
            {
                "record": str(copy.into),
                "title": records[copy.into].title,
                "merged_title": copy.ref.title,
                "merged_from": "; ".join(copy.ref.sections),
                "key": copy.ref.blob,
            }
            for copy in published.records.copies
        ),
    )


def searches_csv(published: Published) -> bytes:
    """The searches as PRISMA-S asks for them."""
    head = ("source", "query", "at", "status", "hits", "records", "new", "set_aside", "detail")
    return _csv(head, ({name: str(getattr(row, name)) for name in head} for row in published.step.searches))


def records_ris(published: Published, items: Sequence[Evidence]) -> bytes:
    """Every record with its decision as keyword and note. Raises MissingExtra."""
    try:
        import rispy
    except ImportError as error:
        raise MissingExtra("bibliography") from error

    class Writer(rispy.RisWriter):  # type: ignore[misc]
        def set_header(self, count: int) -> str:
            """No counter before a record: the format knows none."""
            return ""

    reasons = {
        one.record: one.criterion for one in latest(published.decisions).values() if one.verdict == "exclude"
    }
    rows = []
    for number, (item, state) in enumerate(zip(items, final_states(published), strict=True)):
        reason = reasons.get(number, "") if state == "excluded" else ""
        row = {
            "type_of_reference": "JOUR",
            "id": str(number),
            "title": item.title,
            "authors": list(item.authors),
            "year": str(item.year or ""),
            "journal_name": item.venue or "",
            "doi": item.identifiers.doi or "",
            "accession_number": item.identifiers.pmid or "",
            "urls": [item.url] if item.url else [],
            "abstract": item.text,
            "keywords": [f"determinator:{state}"],
            "notes": [f"{state}{f', criterion {reason}' if reason else ''}"],
        }
        rows.append({name: value for name, value in row.items() if value})
    return str(rispy.dumps(rows, implementation=Writer)).encode()


def _csv(head: Sequence[str], rows: Iterable[Mapping[str, str]]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, head, lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: spreadsheet_cell(value) for name, value in row.items()})
    return out.getvalue().encode()
