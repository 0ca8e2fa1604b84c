"""The answer on the terminal, as `ask` and `watch` end."""

from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from activities.report.formats.words import sureness
from activities.report.schema import Report
from client.reports.answer import FIRST_CLAIMS, answer_of, claims_of, with_references
from client.runs.listing import shortest_name
from client.terminal import plain, short_path, to_stdout

WIDTH = 100
"""Columns at most: longer lines are hard to read."""


def show_answer(report: Report, stop_reason: str, path: Path | None) -> None:
    """Print bottom line, first claims, confidence, what was searched, and what to type next."""
    console = to_stdout()
    width = min(console.width, WIDTH) if console.is_terminal else console.width
    room = console.width if console.is_terminal else None
    for part in answer_parts(report, stop_reason, path, bulleted=console.is_terminal, room=room):
        # lines of text are not broken in a pipe, and a path is broken nowhere
        whole = isinstance(part, Text) and (not console.is_terminal or part.plain.startswith("Report "))
        console.print(part, soft_wrap=whole, width=None if whole else width)


def answer_parts(
    report: Report, stop_reason: str, path: Path | None, *, bulleted: bool = True, room: int | None = None
) -> list[Text | Table | Padding]:
    """The parts from top to bottom. `bulleted`: claims in a column beside their bullets, for lines that are
    broken. `room`: columns for the line with the path, which is shortened to it; None: any."""
    answer, name = answer_of(report), shortest_name(report.run_id)
    lines = (with_references(claim) for claim in claims_of(report))
    # the summary may say what a section says
    claims = list(dict.fromkeys(text for text in lines if text not in answer.bottom_line))
    parts: list[Text | Table | Padding] = []
    if answer.sample_only:
        parts.append(Text(plain(answer.sample_only), style="bold yellow"))
    lead = "" if report.written_by == "extractive" else "Answer: "
    parts.append(Text(f"{lead}{plain(answer.bottom_line)}", style="bold"))
    if answer.balance:
        parts.append(Text(plain(answer.balance)))
    if answer.near:
        parts.append(Text(f"Nearest: {plain(answer.near[0])}"))
    if claims and bulleted:
        table = Table.grid(padding=(0, 1))
        for text in claims[:FIRST_CLAIMS]:
            table.add_row(Text("-"), Text(plain(text)))
        parts.append(table)
    more = "more quote" if report.written_by == "extractive" else "more claim"
    if claims:
        parts += [] if bulleted else [Text(f"- {plain(text)}") for text in claims[:FIRST_CLAIMS]]
        if len(claims) > FIRST_CLAIMS:
            parts.append(
                Text(f"  and {counted(len(claims) - FIRST_CLAIMS, more)} in the report", style="dim")
            )
    check = report.verification
    kind = "quote" if report.written_by == "extractive" else "verified claim"
    reasons = " ".join(map(plain, answer.confidence_reasons))
    if confidence := sureness(report):
        parts.append(Text(f"{confidence} {reasons}".strip()))
    parts.append(
        Text(
            f"{counted(check.verified, kind)}, {counted(len(report.references), 'reference')}; "
            f"ended: {stop_reason.replace('_', ' ')}"
        )
    )
    missing = f"; not reached: {answer.not_reached}" if answer.not_reached else ""
    parts.append(Text(plain(f"Searched: {answer.searched}{missing}")))
    if answer.unreadable and any(search.source == "library" for search in report.methodology.searches):
        count = "1 file or record" if answer.unreadable == 1 else f"{answer.unreadable} files or records"
        parts.append(Text(f"Not read: {count}; see determinator documents --run {name}"))
    if path is not None:
        shown = short_path(path, room - len("Report ")) if room else str(path)
        parts.append(Text.assemble("Report ", (shown, Style(link=path.absolute().as_uri()))))
    parts.append(
        Text(
            f"Next: determinator report {name}, or evidence, export, verify in place of report",
            style="dim",
        )
    )
    return parts


def counted(number: int, what: str) -> str:
    """`1 reference`, `2 references`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def rendered(markdown: str, width: int) -> str:
    """A report in Markdown with the terminal's own styles, for a pager."""
    from rich.markdown import Markdown

    console = Console(width=min(width, WIDTH), force_terminal=True, color_system="standard")
    with console.capture() as capture:
        console.print(Markdown(markdown))
    return capture.get()
