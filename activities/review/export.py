"""Exports of a review: decisions as CSV in ASReview's columns, records as RIS, logs and tables.

Names of people are personal data: `person 1` stands for them unless they are asked for.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from activities.contracts.evidence import NO_ABSTRACT, Evidence, Frozen
from activities.messages import _, in_its_language
from activities.report.formats.bibliography import ARTICLE, Item, ids_of, ris_of
from activities.report.formats.text import spreadsheet_cell
from activities.review.archive import PublishedReview
from activities.review.bias import DOMAINS, QUESTIONS, Judgement
from activities.review.decisions import SCREENED, Decision, State
from activities.review.findings import Findings
from activities.review.results import Flow

ASREVIEW = (
    *("record_id", "title", "abstract", "authors", "year", "doi", "url", "keywords", "included"),
    *("asreview_label", "asreview_time", "asreview_note"),
)
"""Columns of ASReview. It reads 1, 0 or nothing as a label from `included`; its later versions also from
`asreview_label`, which they write (https://asreview.readthedocs.io/en/stable/lab/data_labeled.html)."""
RIS_LABELS = {"1": "ASReview_relevant", "0": "ASReview_irrelevant", "": "ASReview_not_seen"}
"""Label -> the note by which ASReview knows it in RIS."""
SEARCHES = (
    *("source", "query", "at", "status", "hits", "records", "new", "set_aside", "detail"),
    *("database", "date", "kind"),
)
ROBVIS = ("Study", *(f"D{n}" for n in range(1, len(DOMAINS) + 1)), "Overall", "Weight")
"""Columns from which robvis draws RoB 2 (McGuinness and Higgins 2020, doi:10.1002/jrsm.1411)."""
LEVELS: Mapping[Judgement, str] = {"low": "Low", "some_concerns": "Some concerns", "high": "High"}
Row = Mapping[str, object]


PEOPLE = frozenset({"by", "decided_by", "approved_by", "report_by", "labellers", "deciders", "name"})
"""Fields that hold a person's name; of a screener, `name` is a model's as well."""
M = TypeVar("M", bound=Frozen)


@in_its_language
def without_names(review: PublishedReview) -> PublishedReview:
    """Return the same with people numbered in the order in which they decided."""
    state, findings = review.state, review.findings
    names = [decision.by for decision in review.decisions if not decision.model]
    names += [*(amendment.by for amendment in state.amendments), state.approved_by, state.report_by]
    names += [*(findings.people if findings else ()), *state.protocol.people, *state.protocol.deciders]
    people = dict.fromkeys(filter(None, names))
    aliases = {name: _("person {number}").format(number=n) for n, name in enumerate(people, start=1)}
    return replace(
        review,
        report=_rename_people(review.report, aliases),
        state=_rename_people(state, aliases),
        decisions=tuple(row.replace(by=aliases.get(row.by, row.by)) for row in review.decisions),
        findings=_rename_people(findings, aliases) if findings else None,
    )


def _rename_people(value: M, names: Mapping[str, str]) -> M:
    """Return a model with other names of people, wherever it holds them."""

    def rename(part: object, field: str = "") -> object:
        if isinstance(part, dict):
            return {name: rename(inner, str(name)) for name, inner in part.items()}
        if isinstance(part, list | tuple):
            return [rename(inner, field) for inner in part]
        return names.get(part, part) if isinstance(part, str) and field in PEOPLE else part

    return type(value).model_validate(rename(value.model_dump()))


def export_files(review: PublishedReview, items: Sequence[Evidence]) -> dict[str, bytes]:
    """Make every file of an export but the reports: name -> bytes. `items`: the records."""
    contents = {
        "decisions.csv": decisions_csv(review, items),
        "decisions-log.csv": log_csv(review),
        "records.ris": records_ris(review, items),
        "merged.csv": merged_csv(review),
        "searches.csv": searches_csv(review),
        "flow.csv": flow_csv(review.report.flow),
        "protocol.json": review.protocol.model_dump_json(indent=2).encode(),
    }
    if review.findings is not None and review.findings.rows:
        contents["extraction.csv"] = extraction_csv(review.findings)
    if review.findings is not None and review.findings.bias:
        contents["bias.csv"] = bias_csv(review.findings)
    return contents


def searches_csv(review: PublishedReview) -> bytes:
    """Write each search; a file goes by its name, with what the protocol says of its search."""
    rows = (
        {**dict(row), "source": row.origin if row.source == "file" else row.source}
        for row in review.state.reported_searches()
    )
    return as_csv(SEARCHES, rows)


def flow_csv(flow: Flow) -> bytes:
    """Write the numbers of the flow, those of each search and of each criterion beside their sums."""
    sums = flow.model_dump(exclude={"identified", "kinds", "identified_by_kind", "excluded_because"})
    rows: list[Row] = []
    for kind, total in flow.identified_by_kind.items():
        rows.append({"step": "identified", "kind": kind, "records": total})
        searches = flow.identified_of(kind).items()
        rows += ({"step": "identified", "kind": kind, "about": name, "records": n} for name, n in searches)
    sums["excluded_full_texts"] = flow.excluded_full_texts
    rows += ({"step": step, "records": count} for step, count in sums.items())
    reasons = flow.excluded_because.items()
    rows += ({"step": "excluded_full_texts", "about": name, "records": n} for name, n in reasons)
    return as_csv(("step", "kind", "about", "records"), rows)


def final_states(review: PublishedReview) -> list[State | Literal["not_retrieved"]]:
    """Return what became of each record: by its full text where that was sought, else by its title."""
    state = review.state
    titles, full_texts = state.titles.states(), state.full_texts.states()

    def final_state(record: int) -> State | Literal["not_retrieved"]:
        if titles[record] != "included":
            return titles[record]
        if state.got.get(record) == "not_retrieved":
            return "not_retrieved"
        return full_texts[record] if full_texts[record] in ("included", "excluded") else "included"

    return list(map(final_state, range(len(titles))))


def label_of(state: str) -> str:
    """Return the label of ASReview: 1 or 0, empty where nothing is settled."""
    return {"included": "1", "excluded": "0"}.get(state, "")


def abstract_of(item: Evidence) -> str:
    """Return the abstract of a record; empty for one that is screened by its title."""
    return "" if NO_ABSTRACT in item.facts else item.text


def decisions_csv(review: PublishedReview, items: Sequence[Evidence]) -> bytes:
    by_record: dict[int, list[Decision]] = {}
    for decision in filter(lambda row: row.stage in SCREENED, review.decisions_in_force):
        by_record.setdefault(decision.record, []).append(decision)

    def row(number: int, item: Evidence, state: str) -> Row:
        votes = by_record.get(number, [])
        notes = (
            f"{vote.by}: {vote.verdict}{f' ({vote.criterion})' if vote.criterion else ''}" for vote in votes
        )
        return {
            "record_id": number,
            "title": item.title,
            "abstract": abstract_of(item),
            "authors": "; ".join(item.authors),
            "year": item.year or "",
            "doi": item.identifiers.doi or "",
            "url": item.url or "",
            "keywords": item.facts.get("mesh", ""),
            "included": label_of(state),
            "asreview_label": label_of(state),
            "asreview_time": max((vote.at for vote in votes), default=""),
            "asreview_note": "; ".join(notes),
        }

    return as_csv(ASREVIEW, map(row, range(len(items)), items, final_states(review)))


def log_csv(review: PublishedReview) -> bytes:
    """Write every decision, in order, with its ground."""
    rows = ({**decision.model_dump(), "words": " | ".join(decision.words)} for decision in review.decisions)
    return as_csv(tuple(Decision.model_fields), rows)


def merged_csv(review: PublishedReview) -> bytes:
    """Write which records were merged; `key` is what `part` is given."""
    rows = (
        {
            "record": copy.into,
            "title": review.records.records[copy.into].title,
            "merged_title": copy.ref.title,
            "merged_from": "; ".join(copy.ref.sections),
            "key": copy.ref.blob,
        }
        for copy in review.records.copies
    )
    return as_csv(("record", "title", "merged_title", "merged_from", "key"), rows)


def extraction_csv(findings: Findings) -> bytes:
    """Write the decided table, a line a study: each value, its quote, and how it was decided."""
    titles = {study.evidence_id: study.title for study in findings.studies}
    rows = [
        {
            "evidence_id": study.evidence_id,
            "title": titles.get(study.evidence_id, ""),
            **{value.field: value.text for value in study.values},
            **{f"{value.field}: quote": " / ".join(x.quote for x in value.support) for value in study.values},
            **{f"{value.field}: decided": value.by for value in study.values},
        }
        for study in findings.rows
    ]
    parts = ("", ": quote", ": decided")
    head = ("evidence_id", "title", *(f"{field.id}{part}" for field in findings.fields for part in parts))
    return b"\xef\xbb\xbf" + as_csv(head, rows)


def bias_csv(findings: Findings) -> bytes:
    """Write the risk of bias of each result as robvis reads it, then each answer with its ground."""
    rows = (
        {
            "Study": findings.label(bias.evidence_id),
            **{f"D{n}": LEVELS[level] for n, (_, level) in enumerate(bias.judgements(), start=1)},
            "Overall": LEVELS[bias.overall],
            "Weight": 1,
            "Outcome": bias.outcome,
            "Decided by": bias.decided_by,
            "Reason": bias.reason,
            **{value.field: value.text for value in bias.answers},
            **{f"{value.field}: why": value.reason for value in bias.answers},
            **{f"{value.field}: quote": " / ".join(x.quote for x in value.support) for value in bias.answers},
        }
        for bias in findings.bias
    )
    answers = (f"{number}{part}" for number in QUESTIONS for part in ("", ": why", ": quote"))
    return as_csv((*ROBVIS, "Outcome", "Decided by", "Reason", *answers), rows)


def records_ris(review: PublishedReview, items: Sequence[Evidence]) -> bytes:
    """Write every record with its decision as keyword and notes, the first of which is ASReview's label."""
    exclusions = (row for row in review.decisions_in_force if row.verdict == "exclude")
    reasons = {row.record: f", criterion {row.criterion}" for row in exclusions if row.criterion}

    def entry(number: int, item: Evidence, state: str) -> Item:
        return Item(
            key=str(number),
            types=ARTICLE,
            title=item.title,
            authors=item.authors,
            year=str(item.year or ""),
            venue=item.venue or "",
            ids=ids_of(item.identifiers, item.url),
            abstract=abstract_of(item),
            note=f"{RIS_LABELS[label_of(state)]}\n{state}{reasons.get(number, '') * (state == 'excluded')}",
            keyword=f"determinator:{state}",
        )

    return ris_of(map(entry, range(len(items)), items, final_states(review)))


def as_csv(head: Sequence[str], rows: Iterable[Row]) -> bytes:
    """Write rows for a spreadsheet, in which no text becomes a formula."""
    out = io.StringIO()
    writer = csv.DictWriter(out, head, lineterminator="\r\n", extrasaction="ignore")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: spreadsheet_cell(str(value)) for name, value in row.items()})
    return out.getvalue().encode()
