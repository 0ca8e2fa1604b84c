"""OpenAlex works (https://docs.openalex.org/api-entities/works).

Abstracts come as an index of positions for each word and are put together again. `is_retracted` is the only
standing OpenAlex knows; that it is false does not say that nothing was corrected, so it stays unknown.
`filters.publication_types` are OpenAlex's own, such as `review` or `preprint`.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Annotated, ClassVar

from pydantic import Field, JsonValue

from activities.contracts.evidence import (
    Evidence,
    EvidenceType,
    Identifiers,
    Query,
    StandingNotice,
)
from activities.contracts.identifiers import evidence_id, normal_doi, normal_pmcid, normal_pmid
from activities.documents.markup import plain
from activities.retractions.rules import marked_title, standing_of
from activities.sources.base import Exchange
from activities.sources.filters import OPENALEX, in_words_of
from activities.sources.names import info_of
from activities.sources.records import (
    ApiSource,
    SetAside,
    Wire,
    arxiv_of_doi,
    at,
    each,
    facts,
    read_records,
)

NAME = "openalex"
PER_PAGE = 100
FIELDS = (
    "id,doi,ids,display_name,publication_year,type,is_retracted,cited_by_count,authorships,"
    "primary_location,open_access,abstract_inverted_index,language"
)
TYPES: dict[str, EvidenceType] = {"review": "review", "preprint": "preprint"}
NOTICES = frozenset({"erratum", "retraction"})
"""Work types that are notices about another work."""


class Work(Wire):
    id: str
    doi: str = ""
    pmid: str = at("/ids/pmid")
    pmcid: str = at("/ids/pmcid")
    display_name: str = ""
    publication_year: int | None = None
    type: str = ""
    is_retracted: bool = False
    cited_by_count: int | None = None
    authors: Annotated[tuple[str, ...], each("/author/display_name")] = at("/authorships", ())
    address: str = at("/primary_location/landing_page_url")
    venue: str = at("/primary_location/source/display_name")
    open_access: str = at("/open_access/oa_status")
    open_access_url: str = at("/open_access/oa_url")
    abstract_inverted_index: dict[str, tuple[int, ...]] = Field(default_factory=dict)
    language: str = ""


class Page(Wire):
    results: tuple[JsonValue, ...]
    count: int = at("/meta/count", 0)


class OpenAlex(ApiSource):
    """Searches titles, abstracts and full texts; booleans in capitals and quoted phrases as typed."""

    url = "https://api.openalex.org"
    info = info_of(NAME)
    who: ClassVar = {"mailto": "email", "api_key": "openalex_api_key"}

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        asked = parameters(query)
        sent = f"search={asked['search']}; filter={asked['filter']}"
        for seen in range(0, query.limit, PER_PAGE):
            params = {**asked, "select": FIELDS, "page": str(seen // PER_PAGE + 1)}
            page = await self.page(Page, "works", params)
            wanted = page.results[: query.limit - seen]
            yield read_records(NAME, query, wanted, read_work, hits=page.count, sent=sent)
            if len(page.results) < PER_PAGE:
                return


def parameters(query: Query) -> dict[str, str]:
    """What is asked, the same for each page. Works without an abstract have nothing to quote."""
    filters = ["has_abstract:true"]
    if query.filters.year_from:
        filters.append(f"from_publication_date:{query.filters.year_from}-01-01")
    if query.filters.year_to:
        filters.append(f"to_publication_date:{query.filters.year_to}-12-31")
    if types := in_words_of(OPENALEX, query.filters.publication_types):
        filters.append(f"type:{'|'.join(types)}")
    if query.filters.free_full_text:
        filters.append("is_oa:true")
    return {
        "search": query.text,
        "filter": ",".join(filters),
        "per-page": str(min(query.limit, PER_PAGE)),
    }


def read_work(item: JsonValue) -> Evidence:
    """One work. Raises ValueError for another shape, SetAside for a notice about another work."""
    work = Work.model_validate(item)
    if work.type in NOTICES:
        raise SetAside("that is a notice about another work")
    doi = normal_doi(work.doi)
    identifiers = Identifiers(
        pmid=normal_pmid(last_part(work.pmid)),
        pmcid=normal_pmcid(last_part(work.pmcid)),
        doi=doi,
        arxiv=arxiv_of_doi(doi),
        openalex=last_part(work.id) or None,
    )
    retracted = StandingNotice(kind="retraction", reported_by=NAME)
    notices = (*marked_title(work.display_name, NAME), *([retracted] if work.is_retracted else []))
    text = abstract(work.abstract_inverted_index)
    return Evidence(
        evidence_id=evidence_id(identifiers, text),
        source=NAME,
        title=work.display_name or "Untitled",
        text=text,
        authors=work.authors,
        year=work.publication_year,
        venue=work.venue or None,
        identifiers=identifiers,
        url=work.address or work.doi or work.id,
        evidence_type=TYPES.get(work.type, "article"),
        standing=standing_of(notices, otherwise="unknown"),
        notices=notices,
        facts=facts(
            cited_by="" if work.cited_by_count is None else str(work.cited_by_count),
            work_type=work.type,
            open_access=work.open_access,
            open_access_url=work.open_access_url,
            language=work.language,
        ),
    )


def abstract(index: Mapping[str, tuple[int, ...]]) -> str:
    """The abstract from the positions of its words, without a heading that says "Abstract"."""
    placed = sorted((position, word) for word, positions in index.items() for position in positions)
    words = [word for _, word in placed]
    return plain(" ".join(words[1:] if words[:1] in (["Abstract"], ["ABSTRACT"], ["Abstract:"]) else words))


def last_part(address: str) -> str:
    """`https://openalex.org/W4396723768` -> `W4396723768`."""
    return address.rstrip("/").rsplit("/", 1)[-1]
