"""Reactome's content service (https://reactome.org/dev/content-service): pathways by word, or those that a
protein takes part in when the query is a UniProt accession.

404 is the service's way to say that nothing matches.
"""

import re
from collections.abc import AsyncIterator, Callable
from functools import partial

import httpx
from pydantic import JsonValue

from activities.contracts.errors import Malformed
from activities.contracts.evidence import Evidence, Query
from activities.documents.markup import plain
from activities.sources.base import Exchange
from activities.sources.http.failures import failure
from activities.sources.http.reading import read_json
from activities.sources.names import info_of
from activities.sources.records import (
    ApiSource,
    CamelWire,
    Wire,
    database_record,
    read_items,
    read_page,
    read_records,
)
from activities.sources.uniprot import ACCESSION

NAME = "reactome"
TITLE = "Reactome"
HUMAN = "Homo sapiens"
TAXON = "9606"


class Nothing(Wire):
    code: int


class Pathway(CamelWire):
    st_id: str
    display_name: str
    species_name: str = ""
    is_in_disease: bool = False


class Entry(CamelWire):
    """A pathway of the search; the words that matched are marked with HTML."""

    st_id: str
    name: str = ""
    summation: str = ""


class Group(Wire):
    entries: tuple[JsonValue, ...] = ()


class Page(Wire):
    results: tuple[Group, ...]


class Reactome(ApiSource):
    """Human pathways, by word or by the UniProt accession of a protein."""

    url = "https://reactome.org/ContentService"
    info = info_of(NAME)

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        sent = query.text.strip().upper()
        read: Callable[[JsonValue], Evidence] = read_entry
        if ACCESSION.fullmatch(sent):
            path = f"data/mapping/UniProt/{sent}/pathways"
            items = await self.ask(read_list, path, {"species": TAXON}, accept=(404,))
            read = partial(read_pathway, accession=sent)
        else:
            sent = " ".join(re.sub(r'\bAND\b|[\\"()\[\]]', " ", query.text).split())
            parameters = {"query": sent, "species": HUMAN, "types": "Pathway", "cluster": "true"}
            items = await self.ask(read_search, "search/query", parameters, accept=(404,))
        yield read_records(NAME, query, items[: query.limit], read, hits=len(items), sent=sent)


def _matches_nothing(response: httpx.Response) -> bool:
    """True for the service's own 404. Raises SourceError for any other."""
    if response.status_code != 404:
        return False
    try:
        Nothing.model_validate(read_json(response, TITLE))
    except (Malformed, ValueError):
        raise failure(response, TITLE) from None
    return True


def read_search(response: httpx.Response) -> list[JsonValue]:
    """The pathways of a search. Raises SourceError."""
    if _matches_nothing(response):
        return []
    page = read_page(Page, response, TITLE)
    return [item for group in page.results for item in group.entries]


def read_list(response: httpx.Response) -> list[JsonValue]:
    """The body as a list. Raises SourceError for anything else."""
    return [] if _matches_nothing(response) else read_items("", response, TITLE)


def read_pathway(item: JsonValue, accession: str) -> Evidence:
    """A pathway that a protein takes part in. Raises ValueError for another shape."""
    pathway = Pathway.model_validate(item)
    name = pathway.display_name
    disease = " of a disease" if pathway.is_in_disease else ""
    return _record(
        pathway.st_id,
        name,
        f"The protein {accession} takes part in the pathway{disease} {name} ({pathway.st_id}) of "
        f"{pathway.species_name or HUMAN}.",
        accession=accession,
    )


def read_entry(item: JsonValue) -> Evidence:
    """A pathway with its summary. Raises ValueError for another shape."""
    entry = Entry.model_validate(item)
    return _record(entry.st_id, plain(entry.name), plain(entry.summation))


def _record(st_id: str, name: str, text: str, accession: str = "") -> Evidence:
    return database_record(
        NAME,
        st_id,
        url=f"https://reactome.org/content/detail/{st_id}",
        title=f"{name} - {TITLE} pathway {st_id}",
        text=text,
        venue=TITLE,
        pathway=name,
        stable_id=st_id,
        accession=accession,
    )
