"""`determinator evidence --search`: what all runs of this home have collected, by words and meaning."""

import json
from typing import TYPE_CHECKING

import click

from client.cli.common import load_settings, run_async, say
from client.terminal import plain, shown, to_stdout

if TYPE_CHECKING:
    from activities.sources.evidence import Found

RESULTS = 20


def search_collected(text: str, form: str) -> None:
    """Print the works that match best, as a table or as JSON lines with their full text."""
    settings = load_settings()

    async def body() -> None:
        from activities.sources.evidence import index_of

        found, missing = await index_of(settings).search(text, RESULTS)
        if missing:
            say(missing)
        if not found:
            say("nothing that was collected matches")
        if form == "table":
            _show(found)
            return
        for item in found:
            line = {**item.work.model_dump(mode="json"), "score": item.score}
            click.echo(shown(json.dumps(line, ensure_ascii=False)))

    run_async(body)


def _show(found: "list[Found]") -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("id", "source", "year", "type"):
        table.add_column(name, no_wrap=True)
    table.add_column("title", no_wrap=True, overflow="ellipsis")
    for item in found:
        work = item.work
        kind = work.evidence_type.replace("_", " ")
        row = (plain(work.evidence_id), work.source, str(work.year or ""), kind, plain(work.title))
        table.add_row(*map(Text, row))
    if found:
        to_stdout().print(table)
