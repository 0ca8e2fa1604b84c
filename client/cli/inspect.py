"""`determinator inspect`: what a run did in each iteration, and what it cost."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from client.cli.common import (
    address_option,
    json_option,
    print_json,
    print_text,
    run_argument,
    with_run,
)

if TYPE_CHECKING:
    from activities.iterations import IterationRecord
    from client.run import Run

Plain = Callable[[str], str]
"""Makes text of others harmless on a terminal."""
WIDTH = 11
"""Columns of the words that lines begin with."""


@click.command()
@run_argument
@json_option
@address_option
def inspect(run: str, as_json: bool, address: str | None) -> None:
    """Show each iteration of a run and of its sections: what was thought, what was missing, what was searched
    and found, how it was judged, and what it cost. `determinator rewind` goes back to one of them."""

    async def body(found: "Run") -> None:
        from client.runs.inspecting import inspect_run

        await found.progress()
        records = await inspect_run(found.connection.client, found.settings, found.id)
        if as_json:
            print_json({"run_id": found.id, "iterations": [r.model_dump(mode="json") for r in records]})
            return
        if not records:
            print_text(f"{found.id} has no iteration yet")
        for line in lines_of(records):
            print_text(line)

    with_run(address, run, body)


def lines_of(records: "Sequence[IterationRecord]") -> list[str]:
    """The records as lines for a person."""
    from client.terminal import plain

    return [plain_line for record in records for plain_line in _lines(record, plain)]


def _lines(record: "IterationRecord", plain: Plain) -> list[str]:
    where = f"{record.section} iteration" if record.section else "iteration"
    time = record.started_at[11:19]
    duration = f"{record.seconds:.0f} s" if record.seconds else ""
    found = [plain("  ".join(filter(None, (f"{where} {record.iteration}", time, duration, cost_of(record)))))]

    def add(word: str, text: str) -> None:
        if text:
            found.append(f"  {word:{WIDTH}}{plain(text)}")

    add("thought", record.thought)
    for gap in record.gaps:
        add("gap", gap)
    for search in record.searches:
        status = search.status.replace("_", " ")
        add("search", f"{search.source}: {status}, {search.kept} kept of {search.hits}; {search.query}")
    titles = "; ".join(finding.title for finding in record.findings)
    add("new", f"{record.new_items} items{f': {titles}' if titles else ''}" if record.searches else "")
    add("shared", f"{record.shared_items} items of other sections" if record.shared_items else "")
    add("reflected", record.reflection)
    if record.judged:
        scores = ", ".join(
            f"{name} {score}{f' ({why})' if (why := record.score_reasons.get(name)) else ''}"
            for name, score in record.scores.items()
        )
        verdict = "sufficient" if record.sufficient else "not sufficient"
        sure = "" if record.confidence is None else f"confidence {record.confidence:.2f}"
        add("judged", "; ".join(filter(None, (sure, scores, verdict))))
        add("verdict", record.verdict)
    return found


def cost_of(record: "IterationRecord") -> str:
    """`3 calls, 4,512 tokens, $0.0123`; empty when no model was asked."""
    if not record.model_calls:
        return ""
    cost = record.cost_microusd
    money = "price not known" if cost is None else f"${cost / 1e6:.4f}"
    calls = "1 call" if record.model_calls == 1 else f"{record.model_calls} calls"
    return f"{calls}, {record.tokens:,} tokens, {money}"
