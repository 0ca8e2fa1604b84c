"""The report of a review in a format, and everything it has come to as files."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from activities.contracts.evidence import Evidence
from activities.review.archive import Published
from activities.review.export import (
    Names,
    decisions_csv,
    log_csv,
    merged_csv,
    records_ris,
    searches_csv,
)
from activities.review.extraction import table_csv
from client.version import described

if TYPE_CHECKING:
    from client.reviews.review import Review


async def report_as(review: "Review", form: str, *, names: bool = False) -> bytes:
    """The newest report in a format. Raises Failure where there is none, MissingExtra."""
    return rendered(await review.published(), form, names=names)


def rendered(published: Published, form: str, *, names: bool = False) -> bytes:
    from activities.report.formats import render_document
    from activities.review.page import document

    people = Names(published, shown=names)
    if form == "json":
        found = published.findings.named(people.of).model_dump(mode="json") if published.findings else None
        return json.dumps({**published.report.model_dump(mode="json"), "findings": found}, indent=2).encode()
    return render_document(document(published, described(), people), form)


async def export_to(review: "Review", folder: Path, *, names: bool = False) -> list[Path]:
    """Write everything into a folder; return the files. Raises Failure, OSError."""
    published = await review.published()
    people = Names(published, shown=names)
    items = [
        item
        if isinstance(item, Evidence)
        else Evidence(evidence_id=ref.evidence_id, source="", title=ref.title, text="")
        for ref, item in zip(
            published.records.records,
            await review.archive.store.read_all(published.records.records),
            strict=True,
        )
    ]
    files = {
        "report.md": rendered(published, "md", names=names),
        "report.html": rendered(published, "html", names=names),
        "report.json": rendered(published, "json", names=names),
        "decisions.csv": decisions_csv(published, items, people),
        "decisions-log.csv": log_csv(published, people),
        "records.ris": records_ris(published, items),
        "merged.csv": merged_csv(published),
        "searches.csv": searches_csv(published),
        "protocol.json": published.protocol.model_dump_json(indent=2).encode(),
    }
    if (found := published.findings) is not None and found.rows:
        titles = {study.evidence_id: study.title for study in found.studies}
        files["extraction.csv"] = table_csv(found.rows, found.fields, titles, names=names)
    await asyncio.to_thread(_write, folder, files)
    return [folder / name for name in files]


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
