"""Reactome's content service (https://reactome.org/dev/content-service).

Pathways by word, or those that a protein takes part in when the query is a UniProt accession. 404 is the
service's way to say that nothing matches.
"""

import re
from collections.abc import AsyncIterator, Callable
from functools import partial

import httpx
from pydantic import JsonValue

from activities.contracts.evidence import Evidence, Query
from activities.documents.markup import plain
from activities.sources.base import Exchange
from activities.sources.names import info_of
from activities.sources.records import ApiSource, Json, database_record, read_records, read_shape
from activities.sources.uniprot import ACCESSION

NAME = "reactome"
TITLE = "Reactome"
HUMAN = "Homo sapiens"
TAXON = "9606"


class Reactome(ApiSource):
    """Human pathways, by word or by the UniProt accession of a protein."""

    url = "https://reactome.org/ContentService"
    info = info_of(NAME)

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        sent = query.text.strip().upper()
        if ACCESSION.fullmatch(sent):
            path, parameters = f"data/mapping/UniProt/{sent}/pathways", {"species": TAXON}
            items = await self.ask(partial(read_pathways, groups=""), path, parameters, accept=(404,))
            reader: Callable[[JsonValue], Evidence] = partial(read_pathway, accession=sent)
        else:
            sent = " ".join(re.sub(r'\bAND\b|[\\"()\[\]]', " ", query.text).split())
            parameters = {"query": sent, "species": HUMAN, "types": "Pathway", "cluster": "true"}
            groups = partial(read_pathways, groups="/results")
            items, reader = await self.ask(groups, "search/query", parameters, accept=(404,)), read_entry
        yield read_records(NAME, query, items[: query.limit], reader, hits=len(items), sent=sent)


def read_pathways(response: httpx.Response, groups: str) -> list[JsonValue]:
    """Return the pathways of an answer, of those of a search from its groups. Raises SourceError."""

    def read(body: Json) -> list[JsonValue]:
        if response.status_code == 404:
            body.required("/code")  # the service's own 404, not that of a proxy
            return []
        rows = body.objects(groups, required=True)
        return [item.value for row in rows for item in (row.objects("/entries") if groups else [row])]

    return read_shape(response, read, TITLE)


def read_pathway(item: JsonValue, accession: str) -> Evidence:
    """Read a pathway that a protein takes part in. Raises ValueError for another shape."""
    pathway = Json(item)
    number, name = pathway.required("/stId"), pathway.required("/displayName")
    disease = " of a disease" if pathway.is_true("/isInDisease") else ""
    species = pathway.text("/speciesName") or HUMAN
    text = f"The protein {accession} takes part in the pathway{disease} {name} ({number}) of {species}."
    return _record(number, name, text, accession)


def read_entry(item: JsonValue) -> Evidence:
    """Read a pathway with its summary, in which HTML marks the words that matched."""
    entry = Json(item)
    return _record(entry.required("/stId"), plain(entry.text("/name")), plain(entry.text("/summation")))


def _record(number: str, name: str, text: str, accession: str = "") -> Evidence:
    return database_record(
        NAME,
        url=f"https://reactome.org/content/detail/{number}",
        title=f"{name} - {TITLE} pathway {number}",
        text=text,
        venue=TITLE,
        pathway=name,
        stable_id=number,
        accession=accession,
    )
