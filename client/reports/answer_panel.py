"""The answer on the terminal, as `ask` and `watch` end."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from activities.contracts.evidence import Statement
from activities.messages import _, in_its_language
from activities.report.formats.limitations import unreached
from activities.report.formats.prose import FIRST_CLAIMS
from activities.report.formats.references import best_url, file_of
from activities.report.formats.statements import sentences
from activities.report.formats.text import capitalized
from activities.report.formats.words import sureness
from activities.report.schema import Reference, Report
from client.listing import shortest_name
from client.reports.answer import UNREADABLE, answer_of, claims_of, with_references
from client.terminal import harmless, plain, to_stdout

if TYPE_CHECKING:
    from rich.markdown import Markdown

WIDTH = 100
"""Columns at most: longer lines are hard to read."""


def show_answer(report: Report, path: Path | None) -> None:
    """Print the answer, its strongest reservations and what to type next."""
    console = to_stdout()
    width = min(console.width, WIDTH) if console.is_terminal else console.width
    for part in answer_parts(report, path, bullets=console.is_terminal):
        # lines of text are not broken in a pipe, and a path is broken nowhere
        is_unbroken = isinstance(part, Text) and (not console.is_terminal or bool(part.no_wrap))
        console.print(part, soft_wrap=is_unbroken, width=None if is_unbroken else width)


@in_its_language
def answer_parts(report: Report, path: Path | None, *, bullets: bool = True) -> list[RenderableType]:
    """Make the parts of what a terminal shows of an answer, in the language of its report.

    `bullets`: lists in a column beside their bullets and a written answer in its styles, for a terminal.
    """
    answer, name = answer_of(report), shortest_name(report.run_id)
    parts: list[RenderableType] = []
    if answer.sample_only:
        parts.append(Text(plain(answer.sample_only), style="bold yellow"))
    if answer.absent:
        parts.append(Text(plain(answer.absent)))
    lead = "" if report.written_by == "extractive" else f"{_('Answer')}: "
    first, *rest = answer.first
    if bullets and answer.is_written:
        parts += [Text(lead.strip(), style="bold"), _markdown(report.executive_summary)]
    else:
        parts.append(Text("\n".join(map(plain, f"{lead}{first}".splitlines())), style="bold"))
    parts += [Text(plain(line)) for line in rest]
    claims = claims_of(report)[: len(report.answer) or FIRST_CLAIMS]
    if not report.answer:
        parts += _items([with_references(claim) for claim in claims], bullets)
    numbers = {number for claim in claims for number in claim.references}
    parts += [
        Text(plain(work_line(reference)), style="dim")
        for reference in report.references
        if reference.number in numbers
    ]
    parts += [Text(plain(line)) for line in (sureness(report),) if line]
    if answer.reservations:
        parts += [Text(f"{_('What is not shown')}:", style="bold"), *_items(answer.reservations, bullets)]
    parts += [Text(plain(line)) for line in _of_run(report) if line not in answer.reservations]
    if path is not None:
        line = (str(path), Style(link=path.absolute().as_uri()))
        parts.append(Text.assemble(f"{capitalized(_('report'))} ", line, no_wrap=True))
    hint = _("Next: {command} (also: {others})").format(
        command=f"determinator report {name}", others="evidence, export, verify, documents"
    )
    parts.append(Text(hint, style="dim"))
    return parts


def _of_run(report: Report) -> tuple[str, ...]:
    """Say what was not searched, not read or not done, and why the research ended early."""
    sources = tuple(statement.text("source") for statement in unreached(report))
    codes = {"searches_failed", "nothing_pooled", "stopped_early"}
    if any(search.source == "library" for search in report.methodology.searches):
        codes.add(UNREADABLE)
    statements = [Statement.of("sources_not_reached", sources=sources)] if sources else []
    return sentences([*statements, *(row for row in report.statements if row.code in codes)])


def work_line(work: Reference) -> str:
    """`[1] A title (2007, pmid:1)`, with its file or address for a name that only this program knows."""
    address = best_url(work) if work.evidence_id.startswith(("url:", "doc:")) else None
    place = file_of(work) or address or work.evidence_id
    facts = ", ".join(filter(None, (str(work.year or ""), place if place != work.title else "")))
    return f"[{work.number}] {work.title}{f' ({facts})' if facts else ''}"


def _items(lines: Sequence[str], bullets: bool) -> list[RenderableType]:
    if not bullets:
        return [Text(f"- {plain(text)}") for text in lines]
    table = Table.grid(padding=(0, 1))
    for text in lines:
        table.add_row(Text("-"), Text(plain(text)))
    return [table] if lines else []


def render_markdown(markdown: str, width: int) -> str:
    """Style a report in Markdown for a pager."""
    console = Console(width=min(width, WIDTH), force_terminal=True, color_system="standard")
    with console.capture() as capture:
        console.print(_markdown(markdown))
    return capture.get()


def _markdown(text: str) -> "Markdown":
    from rich.markdown import Markdown

    return Markdown(harmless(text))
