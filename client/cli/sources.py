"""`determinator sources` and `search`: what can be searched, and trying it."""

from typing import TYPE_CHECKING

import click

from client.cli.checks import check_library, check_sources
from client.cli.common import (
    Filled,
    address_option,
    complete_source,
    json_option,
    load_settings,
    print_json,
    print_text,
    run_async,
    say,
)
from client.cli.failures import BadInput, Failure
from client.cli.narrowing import filter_options, filters

if TYPE_CHECKING:
    from activities.settings import Settings
    from activities.sources.base import SearchResult
    from activities.types import SourceOption


@click.command(short_help="List the sources and how to enable them.")
@json_option
def sources(as_json: bool) -> None:
    """List the sources, which of them are enabled, and how to enable the others."""
    found = run_async(lambda: available(load_settings()))
    if as_json:
        print_json([option.model_dump(mode="json") for option in found])
        return
    from rich.table import Table
    from rich.text import Text

    from client.terminal import to_stdout

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("source", no_wrap=True, min_width=max(len(option.info.name) for option in found))
    table.add_column("enabled", no_wrap=True, min_width=7)
    table.add_column("what it covers, its rate, how to enable it", ratio=1)
    for option in found:
        covers = Text(option.info.covers)
        if option.info.rate:
            covers.append(f" ({option.info.rate})", style="dim")
        if not option.enabled:
            covers.append(f"\n{option.reason}", style="yellow")
        elif option.info.how_to_enable and option.info.needs_key:
            covers.append(f"\n{option.info.how_to_enable}", style="dim")
        enabled = Text("yes", style="green") if option.enabled else Text("no", style="yellow")
        table.add_row(option.info.name, enabled, covers)
    to_stdout().print(table)


async def available(settings: "Settings") -> "tuple[SourceOption, ...]":
    """The sources as a worker with these settings sees them."""
    from activities.sources.http.client import open_http
    from activities.sources.registry import build_sources, options

    async with open_http(settings) as http:
        return options(settings, build_sources(settings, http))


@click.command(short_help="Search one source, outside of any run.")
@click.argument("source", metavar="SOURCE", shell_complete=complete_source)
@click.argument("query", nargs=-1, required=True, metavar="QUERY")
@click.option(
    "--limit",
    type=click.IntRange(1, 200),
    help="Results at most; default: the source's `max_results`, else 10.",
)
@click.option("--library", type=Filled(), metavar="DIR", help="Folder for the source `library`.")
@filter_options(years=("--year-from", "--year-to"))
@address_option
@json_option
def search(
    source: str,
    query: tuple[str, ...],
    limit: int | None,
    library: str | None,
    since: int | None,
    until: int | None,
    types: tuple[str, ...],
    free_full_text: bool,
    phases: tuple[str, ...],
    address: str | None,
    as_json: bool,
) -> None:
    """Search one source, outside of any run, and print what it answers.

    A source whose rate holds for a whole fleet (PubMed, arXiv ...) is asked by the workers where some run,
    with the key they have. The embedded worker is left out when this command has another key or address.
    """
    check_sources((source,))
    folder = check_library(library)
    text = " ".join(query).strip()
    if not text:
        raise BadInput("the query is empty")
    settings = load_settings()
    wanted = filters(since, until, types, free_full_text, phases)

    async def body() -> "SearchResult":
        from activities.errors import Refused, SourceError
        from activities.evidence_store import EvidenceStore
        from activities.search import narrowed
        from activities.sources.base import search as search_all
        from activities.sources.http.client import open_http
        from activities.sources.registry import build_sources, why_closed
        from activities.types import Query
        from client.runs.fleet import FleetSource, fleet

        asked = narrowed(
            Query(
                text=text,
                filters=wanted.model_copy(update={"options": {"library": folder} if folder else {}}),
            ),
            settings.sources.get(source),
        )
        if limit is not None:
            asked = asked.model_copy(update={"limit": limit})
        async with open_http(settings) as http:
            found = build_sources(settings, http)[source]
            closed = why_closed(settings, found) or str(getattr(found, "missing", "") or "")
            if closed:
                raise BadInput(f"{source}: {closed}")
            if found.info.role == "lookup":
                raise BadInput(f"{source} answers by identifier only and cannot be searched")
            if found.info.queue is not None and (client := await fleet(settings, address, found.info, say)):
                found = FleetSource(client, found.info, EvidenceStore.at(settings.evidence_url))
            try:
                return await search_all(found, asked)
            except Refused as error:
                raise BadInput(str(error)) from error
            except SourceError as error:
                raise Failure(
                    f"{error} ({error.status.replace('_', ' ')}; this is not `no results`)"
                ) from error

    show_result(run_async(body), as_json=as_json)


def show_result(result: "SearchResult", *, as_json: bool) -> None:
    """Print the results of a search."""
    from client.terminal import plain

    if as_json:
        print_json(
            {
                "status": result.status,
                "hits": result.hits,
                "set_aside": result.set_aside,
                "sent": result.sent,
                "details": list(result.details),
                "records": [record.model_dump(mode="json") for record in result.records],
            }
        )
        return
    for record in result.records:
        print_text(plain(f"{record.evidence_id}  {record.title} ({record.year or 'no year'})"))
        if record.url:
            print_text(f"    {plain(record.url)}")
    set_aside = f", {result.set_aside} could not be read" if result.set_aside else ""
    say(plain(f"{result.status}: {len(result.records)} of {result.hits}{set_aside}; sent: {result.sent}"))
