"""UniProtKB's REST service (https://www.uniprot.org/help/api_queries): what a protein does.

A query with field syntax (`accession:O76074`, `gene_exact:PDE5A`) is sent as typed; other text is looked for
in reviewed human entries.
"""

import re
from collections.abc import AsyncIterator, Iterator

import httpx
from pydantic import JsonValue

from activities.contracts.bounds import digits
from activities.contracts.errors import Refused
from activities.contracts.evidence import Evidence, Query
from activities.sources.base import Exchange
from activities.sources.names import info_of
from activities.sources.records import ApiSource, Json, Matches, database_record, read_records, read_shape

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


class UniProt(ApiSource):
    url = "https://rest.uniprot.org"
    info = info_of(NAME)

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        sent = entry_query(query.text)
        params = {"query": sent, "fields": FIELDS, "format": "json", "size": str(query.limit)}
        entries, total = await self.ask(read_entries, "uniprotkb/search", params)
        yield read_records(NAME, query, entries, read_entry, hits=total, sent=sent)


def read_entries(response: httpx.Response) -> Matches:
    """Return the entries of an answer, and how many match. Raises Malformed."""
    entries, count = read_shape(response, lambda body: body.matches("/results"), TITLE)
    total = digits(response.headers.get("x-total-results", ""))
    return Matches(entries, count if total is None else total)


def entry_query(text: str) -> str:
    """Return a query in UniProt's syntax. Raises Refused for one without a word."""
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
    """Read an entry with what it says of the protein. Raises ValueError for another shape."""
    entry = Json(item)
    accession, kind = entry.required("/primaryAccession"), entry.text("/entryType")
    submitted_names = entry.texts("/proteinDescription/submissionNames", "/fullName/value")
    recommended_name = entry.text("/proteinDescription/recommendedName/fullName/value")
    name = recommended_name or next(iter(submitted_names), accession)
    return database_record(
        NAME,
        url=f"https://www.uniprot.org/uniprotkb/{accession}/entry",
        title=f"{name} - {TITLE} {accession}",
        text="\n\n".join(_lines(entry)),
        venue="UniProtKB",
        accession=accession,
        target=name,
        genes=list(dict.fromkeys(entry.texts("/genes", "/geneName/value"))),
        organism=entry.text("/organism/scientificName"),
        pathways=list(_pathways(entry)),
        reviewed="yes" if "reviewed (" in kind and "unreviewed" not in kind else "",
    )


def _pathways(entry: Json) -> Iterator[str]:
    for reference in entry.objects("/uniProtKBCrossReferences"):
        if reference.text("/database") == "Reactome":
            values = {json.text("/key"): json.text("/value") for json in reference.objects("/properties")}
            yield f"{reference.text('/id')} {values.get('PathwayName', '')}".strip()


def _lines(entry: Json) -> Iterator[str]:
    for comment in entry.objects("/comments"):
        kind, disease = comment.text("/commentType"), comment.text("/disease/diseaseId")
        text = " ".join(_REFERENCES.sub("", text) for text in comment.texts("/texts", "/value"))
        if kind in _COMMENTS and text:
            yield f"{_COMMENTS[kind]}: {text}"
        elif kind == "DISEASE" and disease:
            yield f"Disease: {disease}. {comment.text('/disease/description') or text}".strip()
