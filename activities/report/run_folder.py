"""The folder of a run for a person, written when it is opened; nothing ever reads it.

Titles are a stranger's: a file's name begins with a number of ours, which keeps it apart from every other
name and from what a system reserves, and has letters, digits and single spaces after it.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path

from activities.contracts.errors import DeterminatorError
from activities.contracts.evidence import Evidence
from activities.contracts.iterations import IterationRecord
from activities.private_files import file_name, write_whole
from activities.report.formats import CHARTS, FORMATS, MissingExtra
from activities.report.formats.text import clean
from activities.report.parts import parts_of
from activities.report.schema import Report

TITLE_CHARS = 80
ALWAYS = ("html", "csv")
"""Formats beside the chosen one."""
README = """\
These files are for you: move, change or delete them. `determinator open` writes what is missing, and
nothing reads them. Quotes are checked by `determinator verify`.

- report.*: the report; works.csv: its table of works; charts/: its charts
- to send.txt: the text that you asked for, to be copied
- texts/: what was found, what the report cites first, with the number of its reference
- searches.csv: every search; iterations/: what each iteration thought, searched and decided
- analysis.json: the statistics, where they were asked for
"""


def run_files(
    report: Report, form: str, works: Iterable[Evidence], records: Iterable[IterationRecord]
) -> dict[str, bytes]:
    """Make the files by their names. A format or a chart that cannot be made is left out."""
    from activities.report.formats import render
    from activities.report.formats.blocks import Group
    from activities.report.formats.page import document
    from activities.report.formats.prose import iteration_text
    from activities.report.formats.works_table import searches_csv

    files: dict[str, bytes] = {"README.md": README.encode(), "searches.csv": searches_csv(report).encode()}
    for name in dict.fromkeys((form, *ALWAYS)):
        try:
            files[FORMATS[name].file] = render(report, name)
        except DeterminatorError:  # its library is not installed
            continue
    blocks = (block for chapter in document(report, with_pictures=False).chapters for block in chapter.blocks)
    letters = (block for block in blocks if isinstance(block, Group) and block.kind == "letter")
    for place, letter in enumerate(letters, 1):
        files[f"to send{f' {place}' if place > 1 else ''}.txt"] = f"{letter.text}\n".encode()
    for part in parts_of(report):
        files |= part.files(report)
    for name in CHARTS:
        if chart := chart_file(report, name, "svg"):
            files[f"charts/{name}.svg"] = chart
    numbers = {reference.evidence_id: reference.number for reference in report.references}
    for place, work in enumerate(works, 1):
        number = numbers.get(work.evidence_id)
        kind = f"cited {number:03}" if number else f"other {place:03}"
        files[f"texts/{kind} {words_of(work.title)}".rstrip() + ".txt"] = _text(work).encode()
    for record in records:
        prefix = f"{file_name(record.section)} " if record.section else ""
        files[f"iterations/{prefix}{record.iteration:02}.md"] = f"{iteration_text(record)}\n".encode()
    return files


def words_of(title: str) -> str:
    """Write a title as part of a file's name: letters, digits, and spaces for anything else."""
    words_of_title = re.sub(r"[^\w-]|_", " ", unicodedata.normalize("NFC", title))
    line = " ".join(words_of_title.split())
    while len(line.encode()) > 2 * TITLE_CHARS or len(line) > TITLE_CHARS:
        line = line[:-1]
    return line.strip()


def _text(work: Evidence) -> str:
    year = str(work.year or "")
    head = map(clean, (work.title, "; ".join(work.authors), year, work.evidence_id, work.url or ""))
    return "\n".join((*filter(None, head), "", work.text, ""))


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files that are missing below a folder, readable by their owner only. Raises OSError."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, data in files.items():
        if not (folder / name).exists():
            write_whole(folder / name, data)


def chart_file(report: Report, name: str, form: str) -> bytes | None:
    """Make a chart in one of `CHART_FORMATS`; None where the report has nothing of it.

    Raises KeyError, and MissingExtra for a PNG without the `pdf` extra.
    """
    from activities.report.formats.figures import chart_of, picture, with_title
    from activities.report.formats.markdown import as_markdown

    chart = chart_of(report, name)
    if chart is None:
        return None
    if form == "md":
        return f"{as_markdown(chart)}\n".encode()
    svg = with_title(chart.svg, chart.caption)
    data = svg.encode() if form == "svg" else picture(svg)
    if data is None:
        raise MissingExtra("pdf", "svg and md need nothing")
    return data
