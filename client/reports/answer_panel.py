"""The answer on the terminal, as `ask` and `watch` end."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from activities.contracts.stop_reasons import STOPS
from activities.messages import counted
from activities.report.formats.prose import FIRST_CLAIMS
from activities.report.formats.references import best_url, file_of
from activities.report.formats.statements import sentence
from activities.report.formats.words import sureness
from activities.report.schema import Reference, Report
from client.listing import shortest_name
from client.reports.answer import answer_of, claims_of, with_references
from client.terminal import plain, to_stdout

BECAUSE: Mapping[str, str] = {name: stop.because for name, stop in STOPS.items() if stop.early}
"""Why a search ended before it had run its course, by its stop reason."""
WIDTH = 100
"""Columns at most: longer lines are hard to read."""


def show_answer(report: Report, stop_reason: str, path: Path | None) -> None:
    """Print the answer, its strongest reservations and what to type next."""
    console = to_stdout()
    width = min(console.width, WIDTH) if console.is_terminal else console.width
    for part in answer_parts(report, stop_reason, path, bulleted=console.is_terminal):
        # lines of text are not broken in a pipe, and a path is broken nowhere
        whole = isinstance(part, Text) and (not console.is_terminal or bool(part.no_wrap))
        console.print(part, soft_wrap=whole, width=None if whole else width)


def answer_parts(
    report: Report, stop_reason: str, path: Path | None, *, bulleted: bool = True
) -> list[Text | Table | Padding]:
    """Make the parts of what a terminal shows of an answer.

    `bulleted`: lists in a column beside their bullets, for lines that are broken.
    """
    answer, name = answer_of(report), shortest_name(report.run_id)
    parts: list[Text | Table | Padding] = []
    if answer.sample_only:
        parts.append(Text(plain(answer.sample_only), style="bold yellow"))
    if answer.absent:
        parts.append(Text(plain(answer.absent)))
    lead = "" if report.written_by == "extractive" else "Answer: "
    first, *more = answer.first
    parts.append(Text(f"{lead}{plain(first)}", style="bold"))
    parts += [Text(plain(line)) for line in more]
    claims = claims_of(report)[: len(report.answer) or FIRST_CLAIMS]
    if not report.answer:
        parts += _listed([with_references(claim) for claim in claims], bulleted)
    cited = {number for claim in claims for number in claim.references}
    parts += [
        Text(plain(work_line(reference)), style="dim")
        for reference in report.references
        if reference.number in cited
    ]
    parts += [Text(plain(line)) for line in (sureness(report),) if line]
    if answer.reservations:
        parts += [Text("But:", style="bold"), *_listed(answer.reservations, bulleted)]
    if answer.not_reached:
        parts.append(Text(plain(f"Not reached: {answer.not_reached}")))
    if answer.unreadable and any(search.source == "library" for search in report.methodology.searches):
        count = counted(answer.unreadable, "file or record", "files or records")
        parts.append(Text(f"Not read, or only in part: {count}; see determinator documents"))
    parts += [Text(plain(sentence(one))) for one in report.statements if one.code == "nothing_pooled"]
    if stop_reason in BECAUSE:
        parts.append(Text(f"Ended early: {BECAUSE[stop_reason]}."))
    if path is not None:
        line = (str(path), Style(link=path.absolute().as_uri()))
        parts.append(Text.assemble("Report ", line, no_wrap=True))
    parts.append(Text(f"Next: determinator report {name} (also: evidence, export, verify)", style="dim"))
    return parts


def work_line(work: Reference) -> str:
    """`[1] A title (2007, pmid:1)`, with its file or address for a name that only this program knows."""
    address = best_url(work) if work.evidence_id.startswith(("url:", "doc:")) else None
    place = file_of(work) or address or work.evidence_id
    facts = ", ".join(filter(None, (str(work.year or ""), place if place != work.title else "")))
    return f"[{work.number}] {work.title}{f' ({facts})' if facts else ''}"


def _listed(lines: Sequence[str], bulleted: bool) -> list[Text | Table | Padding]:
    if not bulleted:
        return [Text(f"- {plain(text)}") for text in lines]
    table = Table.grid(padding=(0, 1))
    for text in lines:
        table.add_row(Text("-"), Text(plain(text)))
    return [table] if lines else []


def rendered(markdown: str, width: int) -> str:
    """Style a report in Markdown for a pager."""
    from rich.markdown import Markdown

    console = Console(width=min(width, WIDTH), force_terminal=True, color_system="standard")
    with console.capture() as capture:
        console.print(Markdown(markdown))
    return capture.get()
