"""UniProtKB's REST service (https://www.uniprot.org/help/api_queries): what a protein does.

A query with field syntax (`accession:O76074`, `gene_exact:PDE5A`) is sent as typed; other text is looked for
in reviewed human entries.
"""

import re
from collections.abc import Iterator, Mapping

from pydantic import ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from activities.errors import Refused
from activities.settings import Settings
from activities.sources.base import Exchange
from activities.sources.http.client import Http
from activities.sources.records import SetAside, Wire, facts, read_page, read_records, sound_page
from activities.types import Evidence, Identifiers, Query, SourceInfo
from activities.verification.identifiers import evidence_id

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


class Shape(Wire):
    model_config = ConfigDict(alias_generator=to_camel)


class Text(Shape):
    value: str = ""


class Named(Shape):
    full_name: Text = Text()


class Description(Shape):
    recommended_name: Named = Named()
    submission_names: tuple[Named, ...] = ()


class Gene(Shape):
    gene_name: Text = Text()


class Organism(Shape):
    scientific_name: str = ""


class Disease(Shape):
    disease_id: str = ""
    description: str = ""


class Comment(Shape):
    comment_type: str = ""
    texts: tuple[Text, ...] = ()
    disease: Disease = Disease()


class Property(Shape):
    key: str = ""
    value: str = ""


class CrossReference(Shape):
    database: str = ""
    id: str = ""
    properties: tuple[Property, ...] = ()


class Entry(Shape):
    primary_accession: str
    uni_protkb_id: str = ""
    entry_type: str = ""
    protein_description: Description = Description()
    genes: tuple[Gene, ...] = ()
    organism: Organism = Organism()
    comments: tuple[Comment, ...] = ()
    cross_references: tuple[CrossReference, ...] = Field(default=(), alias="uniProtKBCrossReferences")


class Page(Shape):
    results: tuple[JsonValue, ...]


class UniProt:
    """Finds reviewed entries of human proteins."""

    info = SourceInfo(
        name=NAME,
        title=TITLE,
        covers="What a protein does: function, pathways and diseases it has a part in, in curated sentences. "
        "Ask for a protein or a gene by its name.",
        how_to_enable="No key is needed.",
        rate="not published; kept at 3 requests a second",
        rate_per_second=3,
        domains=("biomedical",),
    )

    def __init__(self, url: str, http: Http) -> None:
        self.address = url
        self._http = http
        http.pace(NAME, 3)

    async def exchange(self, query: Query, cursor: Mapping[str, str] | None = None) -> Exchange:
        """One page of entries. Raises SourceError."""
        sent = entry_query(query.text)
        response = await self._http.get(
            NAME,
            f"{self.address}/uniprotkb/search",
            {"query": sent, "fields": FIELDS, "format": "json", "size": query.limit},
            check=sound_page(Page, TITLE),
        )
        page = read_page(Page, response, TITLE)
        batch = read_records(NAME, query, page.results, read_entry)
        total = response.headers.get("x-total-results", "")
        return Exchange(
            records=batch.records,
            hits=int(total) if total.isdigit() else len(page.results),
            set_aside=batch.set_aside,
            sent=sent,
            detail=batch.detail,
        )


def build(settings: Settings, http: Http) -> UniProt:
    """The source as configured."""
    return UniProt(settings.source_url(NAME, "https://rest.uniprot.org"), http)


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
    """An entry with what it says of the protein. Raises ValueError for another shape, SetAside when it says
    nothing."""
    entry = Entry.model_validate(item)
    lines = list(_lines(entry))
    if not lines:
        raise SetAside("without text to quote")
    described = entry.protein_description
    submitted = next((n.full_name.value for n in described.submission_names), "")
    name = described.recommended_name.full_name.value or submitted or entry.primary_accession
    genes = list(dict.fromkeys(g.gene_name.value for g in entry.genes if g.gene_name.value))
    url = f"https://www.uniprot.org/uniprotkb/{entry.primary_accession}/entry"
    identifiers = Identifiers(url=url)
    pathways = [
        f"{r.id} {next((p.value for p in r.properties if p.key == 'PathwayName'), '')}".strip()
        for r in entry.cross_references
        if r.database == "Reactome"
    ]
    return Evidence(
        evidence_id=evidence_id(identifiers, entry.primary_accession),
        source=NAME,
        title=f"{name} - {TITLE} {entry.primary_accession}",
        text="\n\n".join(lines),
        venue="UniProtKB",
        identifiers=identifiers,
        url=url,
        evidence_type="database_record",
        full_text=True,
        facts=facts(
            accession=entry.primary_accession,
            target=name,
            genes=genes,
            organism=entry.organism.scientific_name,
            pathways=pathways,
            reviewed="yes"
            if "reviewed (" in entry.entry_type and "unreviewed" not in entry.entry_type
            else "",
        ),
    )


def _lines(entry: Entry) -> Iterator[str]:
    for comment in entry.comments:
        heading = _COMMENTS.get(comment.comment_type)
        text = " ".join(_REFERENCES.sub("", t.value) for t in comment.texts if t.value)
        if heading and text:
            yield f"{heading}: {text}"
        elif comment.comment_type == "DISEASE" and comment.disease.disease_id:
            said = comment.disease.description or text
            yield f"Disease: {comment.disease.disease_id}. {said}".strip()
