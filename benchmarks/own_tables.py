"""Does the back end without a model answer from the tables of a user's own documents?

    python -m benchmarks.own_tables [--half seen|blind|blind_two|all] [--kind csv|xlsx|docx|md|html|pdf|all]
        [--verbose]

`own_tables.jsonl` holds tables of a library, a laboratory, a company and the like, written for this
benchmark. Of each: questions with a text that only the row that answers has, and questions that no row
answers. Every table is written as a file of each kind, and asked in a folder with the other tables of that
kind. The rules were made on those marked `seen`; the others were written before they were asked, once.
Those marked `blind_two` are asked for the greatest and the least, for more and less than a number, and for
totals as well; the older ones are asked without them in their folder, as they always were.
"""

import argparse
import asyncio
import csv
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypedDict

import docx
import httpx
import openpyxl

from activities.settings import Settings
from activities.sources.base import Source
from activities.sources.http.client import Http
from activities.sources.library import build
from benchmarks.pipeline import ask
from benchmarks.relevance import share

TABLES = Path(__file__).with_suffix(".jsonl")
Rows = Sequence[Sequence[str]]


class Table(TypedDict):
    """A table and its questions."""

    id: str
    headings: list[str]
    rows: list[list[str]]
    asked: list[tuple[str, str | list[str]]]
    """Each with a text of the row that answers, or of each row where several do."""
    absent: list[str]
    half: str


def write_csv(path: Path, rows: Rows) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def write_xlsx(path: Path, rows: Rows) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in rows:
        sheet.append(list(row))
    book.save(path)


def write_docx(path: Path, rows: Rows) -> None:
    document = docx.Document()
    table = document.add_table(len(rows), len(rows[0]))
    for cells, row in zip(table.rows, rows, strict=True):
        for cell, text in zip(cells.cells, row, strict=True):
            cell.text = text
    document.save(str(path))


def write_md(path: Path, rows: Rows) -> None:
    lines = [" | ".join(row) for row in rows]
    path.write_text("\n".join([lines[0], " | ".join("---" for _ in rows[0]), *lines[1:]]), encoding="utf-8")


def write_html(path: Path, rows: Rows) -> None:
    names = ["th", *("td" for _ in rows[1:])]
    body = "".join(
        f"<tr>{''.join(f'<{name}>{cell}</{name}>' for cell in row)}</tr>"
        for name, row in zip(names, rows, strict=True)
    )
    path.write_text(f"<html><body><table>{body}</table></body></html>", encoding="utf-8")


def write_pdf(path: Path, rows: Rows) -> None:
    import typst

    cells = ",".join(f"[#{json.dumps(text, ensure_ascii=False)}]" for row in rows for text in row)
    path.write_bytes(typst.compile(f"#table(columns: {len(rows[0])}, {cells})".encode()))


WRITERS: dict[str, Callable[[Path, Rows], None]] = {
    "csv": write_csv,
    "xlsx": write_xlsx,
    "docx": write_docx,
    "md": write_md,
    "html": write_html,
    "pdf": write_pdf,
}


async def run(
    kind: str, half: str, home: Path, *, verbose: bool
) -> tuple[list[tuple[bool, bool]], list[bool]]:
    """Of each question that a row answers, whether the first claim quotes that row and no other; whether all
    rows that answer are quoted; and of each that none answers, whether it was answered."""
    tables: list[Table] = [json.loads(line) for line in TABLES.read_text(encoding="utf-8").splitlines()]
    if half in ("seen", "blind"):
        tables = [table for table in tables if table["half"] in ("seen", "blind")]
    folder = home / kind
    folder.mkdir()
    for table in tables:
        WRITERS[kind](folder / f"{table['id']}.{kind}", [table["headings"], *table["rows"]])
    asked: list[tuple[bool, bool]] = []
    absent: list[bool] = []
    async with httpx.AsyncClient() as client:
        source = build(Settings(home=home / f"home-{kind}", library=folder), Http(client))
        for table in (table for table in tables if half in (table["half"], "all")):
            for question, answer in table["asked"]:
                said = await quotes(question, source)
                rows = [answer] if isinstance(answer, str) else answer
                alone = bool(said) and said[0].count(f"{table['headings'][0]}: ") == 1
                alone = alone and any(row in said[0] for row in rows)
                asked.append((alone, all(any(row in quote for quote in said) for row in rows)))
                if verbose and not alone:
                    print(f"{kind:5} {question}\n      {said[:2]}")
            for question in table["absent"]:
                said = await quotes(question, source)
                absent.append(bool(said))
                if verbose and said:
                    print(f"{kind:5} absent: {question}\n      {said[:2]}")
    return asked, absent


async def quotes(question: str, source: Source) -> list[str]:
    """The quotes of a report, in its order."""
    answer = await ask(question, source)
    return [s.quote for section in answer.report.sections for c in section.claims for s in c.support]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--half", choices=("seen", "blind", "blind_two", "all"), default="all")
    parser.add_argument("--kind", choices=(*WRITERS, "all"), default="all")
    parser.add_argument("--verbose", action="store_true", help="list what went wrong")
    options = parser.parse_args()
    kinds = list(WRITERS) if options.kind == "all" else [options.kind]
    with tempfile.TemporaryDirectory() as home:
        for kind in kinds:
            asked, absent = asyncio.run(run(kind, options.half, Path(home), verbose=options.verbose))
            print(f"{kind:5} the row that answers first {share(first for first, _ in asked)}, ", end="")
            print(f"quoted {share(any_ for _, any_ in asked)}; absent answered {share(absent)}")


if __name__ == "__main__":
    main()
