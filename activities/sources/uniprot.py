"""UniProtKB's REST service (https://www.uniprot.org/help/api_queries): what a protein does.

A query with field syntax (`accession:O76074`, `gene_exact:PDE5A`) is sent as typed; other text is looked for
in reviewed human entries.
"""

import re
from collections.abc import AsyncIterator, Iterator
from typing import Annotated

import httpx
from pydantic import JsonValue

from activities.contracts.bounds import digits
from activities.contracts.errors import Refused
from activities.contracts.evidence import Evidence, Query
from activities.sources.base import Exchange
from activities.sources.names import info_of
from activities.sources.records import (
    ApiSource,
    CamelWire,
    Wire,
    at,
    database_record,
    each,
    read_items,
    read_records,
)

NAME = "uniprot"
TITLE = "UniProt"
FIELDS = "accession,id,protein_name,gene_names,organism_name,cc_function,cc_pathway,cc_disease,xref_reactome"
FIELDED = re.compile(
    r"(?:^|[\s(])(?:accession|gene|gene_exact|id|protein_name|organism_id|reviewed|cc_\w+):\S"
)
ACCESSION = re.compile(r"[OPQ]\d[A-Z\d]{3}\d|[A-NR-Z]\d(?:[A-Z][A-Z\d]{2}\d){1,2}")
"""https://www.uniprot.org/help/accession_numbers"""
HUMAN = "reviewed:true AND organism_id:9606"
_COMMENTS = {"FUNCTION": "Function", "PATHWAY": "Pathway"}
_REFERENCES = re.compile(r"(?:(?<!\s)\s+)?\((?:PubMed:\d+(?:, )?|Ref\.\d+(?:, )?|By similarity(?:, )?)+\)")
"""The evidence marks within UniProt's sentences; the entry lists what they stand for."""


class Comment(CamelWire):
    comment_type: str = ""
    texts: Annotated[tuple[str, ...], each("/value")] = ()
    disease: str = at("/disease/diseaseId")
    described: str = at("/disease/description")


class Property(Wire):
    key: str = ""
    value: str = ""


class CrossReference(Wire):
    database: str = ""
    id: str = ""
    properties: tuple[Property, ...] = ()


class Entry(CamelWire):
    primary_accession: str
    entry_type: str = ""
    recommended_name: str = at("/proteinDescription/recommendedName/fullName/value")
    submitted: Annotated[tuple[str, ...], each("/fullName/value")] = at(
        "/proteinDescription/submissionNames", ()
    )
    genes: Annotated[tuple[str, ...], each("/geneName/value")] = ()
    organism: str = at("/organism/scientificName")
    comments: tuple[Comment, ...] = ()
    cross_references: tuple[CrossReference, ...] = at("/uniProtKBCrossReferences", ())


class UniProt(ApiSource):
    url = "https://rest.uniprot.org"
    info = info_of(NAME)

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        sent = entry_query(query.text)
        params = {"query": sent, "fields": FIELDS, "format": "json", "size": str(query.limit)}
        answer = await self.ask(read_entries, "uniprotkb/search", params)
        yield read_records(NAME, query, answer[0], read_entry, hits=answer[1], sent=sent)


def read_entries(response: httpx.Response) -> tuple[list[JsonValue], int]:
    """The entries of an answer, and how many match. Raises Malformed."""
    entries, total = read_items("/results", response, TITLE), response.headers.get("x-total-results", "")
    return entries, len(entries) if (count := digits(total)) is None else count


def entry_query(text: str) -> str:
    """A query in UniProt's syntax. Raises Refused for one without a word."""
    if FIELDED.search(text):
        return text
    if ACCESSION.fullmatch(text.strip()):
        return f"accession:{text.strip()}"
    parts = [re.sub(r'[\\"()\[\]{}:/]', " ", part).strip() for part in re.split(r"\bAND\b", text)]
    words = [
        f'"{" ".join(part.split())}"' if " " in part else part for part in parts if re.search(r"\w", part)
    ]
    if not words:
        raise Refused("UniProt needs a word to look for; name a protein or a gene")
    return f"({' AND '.join(words)}) AND {HUMAN}"


def read_entry(item: JsonValue) -> Evidence:
    """An entry with what it says of the protein. Raises ValueError for another shape."""
    entry = Entry.model_validate(item)
    name = entry.recommended_name or next(iter(entry.submitted), "") or entry.primary_accession
    pathways = [
        f"{r.id} {next((p.value for p in r.properties if p.key == 'PathwayName'), '')}".strip()
        for r in entry.cross_references
        if r.database == "Reactome"
    ]
    reviewed = "reviewed (" in entry.entry_type and "unreviewed" not in entry.entry_type
    return database_record(
        NAME,
        entry.primary_accession,
        url=f"https://www.uniprot.org/uniprotkb/{entry.primary_accession}/entry",
        title=f"{name} - {TITLE} {entry.primary_accession}",
        text="\n\n".join(_lines(entry)),
        venue="UniProtKB",
        accession=entry.primary_accession,
        target=name,
        genes=list(dict.fromkeys(entry.genes)),
        organism=entry.organism,
        pathways=pathways,
        reviewed="yes" if reviewed else "",
    )


def _lines(entry: Entry) -> Iterator[str]:
    for comment in entry.comments:
        heading = _COMMENTS.get(comment.comment_type)
        text = " ".join(_REFERENCES.sub("", text) for text in comment.texts)
        if heading and text:
            yield f"{heading}: {text}"
        elif comment.comment_type == "DISEASE" and comment.disease:
            yield f"Disease: {comment.disease}. {comment.described or text}".strip()
