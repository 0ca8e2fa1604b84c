"""OpenAlex works (https://docs.openalex.org/api-entities/works).

Abstracts come as an index of positions for each word and are put together again. `is_retracted` is the only
standing OpenAlex knows; that it is false does not say that nothing was corrected, so it stays unknown.
`filters.publication_types` are OpenAlex's own, such as `review` or `preprint`.
"""

from collections.abc import AsyncIterator
from typing import ClassVar

from pydantic import JsonValue

from activities.contracts.evidence import Evidence, EvidenceType, Query, StandingNotice
from activities.documents.markup import plain
from activities.retractions.rules import title_notices
from activities.sources.base import Exchange
from activities.sources.filters import OPENALEX, in_words_of
from activities.sources.names import info_of
from activities.sources.records import ApiSource, Json, SetAside, identifiers_of, new_record, read_records

NAME = "openalex"
PER_PAGE = 100
FIELDS = (
    "id,doi,ids,display_name,publication_year,type,is_retracted,cited_by_count,authorships,"
    "primary_location,open_access,abstract_inverted_index,language"
)
TYPES: dict[str, EvidenceType] = {"review": "review", "preprint": "preprint"}
NOTICES = frozenset({"erratum", "retraction"})
"""Work types that are notices about another work."""


class OpenAlex(ApiSource):
    """Searches titles, abstracts and full texts; booleans in capitals and quoted phrases as typed."""

    url = "https://api.openalex.org"
    info = info_of(NAME)
    identity: ClassVar = {"mailto": "email", "api_key": "openalex_api_key"}

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        search = parameters(query)
        sent = f"search={search['search']}; filter={search['filter']}"
        for offset in range(0, query.limit, PER_PAGE):
            params = {**search, "select": FIELDS, "page": str(offset // PER_PAGE + 1)}
            works, total = await self.list_items("works", params, "/results", "/meta/count")
            items = works[: query.limit - offset]
            yield read_records(NAME, query, items, read_work, hits=total, sent=sent)
            if len(works) < PER_PAGE:
                return


def parameters(query: Query) -> dict[str, str]:
    """Return what is asked, the same for each page. Works without an abstract have nothing to quote."""
    filters = ["has_abstract:true"]
    if query.filters.year_from:
        filters.append(f"from_publication_date:{query.filters.year_from}-01-01")
    if query.filters.year_to:
        filters.append(f"to_publication_date:{query.filters.year_to}-12-31")
    if types := in_words_of(OPENALEX, query.filters.publication_types):
        filters.append(f"type:{'|'.join(types)}")
    if query.filters.free_full_text:
        filters.append("is_oa:true")
    return {"search": query.text, "filter": ",".join(filters), "per-page": str(min(query.limit, PER_PAGE))}


def read_work(item: JsonValue) -> Evidence:
    """Read a work. Raises ValueError for another shape, SetAside for a notice about another work."""
    work = Json(item)
    kind, title = work.text("/type"), work.text("/display_name")
    if kind in NOTICES:
        raise SetAside("that is a notice about another work")
    retraction = StandingNotice(kind="retraction", reported_by=NAME)
    notices = (*title_notices(title, NAME), *([retraction] if work.is_true("/is_retracted") else []))
    return new_record(
        NAME,
        title=title,
        text=abstract(work),
        authors=work.texts("/authorships", "/author/display_name"),
        year=work.number("/publication_year"),
        venue=work.text("/primary_location/source/display_name"),
        identifiers=identifiers_of(
            pmid=last_part(work.text("/ids/pmid")),
            pmcid=last_part(work.text("/ids/pmcid")),
            doi=work.text("/doi"),
            openalex=last_part(work.required("/id")),
        ),
        url=work.text("/primary_location/landing_page_url") or work.text("/doi") or work.text("/id"),
        evidence_type=TYPES.get(kind, "article"),
        notices=notices,
        cited_by=work.text("/cited_by_count"),
        work_type=kind,
        open_access=work.text("/open_access/oa_status"),
        open_access_url=work.text("/open_access/oa_url"),
        language=work.text("/language"),
    )


def abstract(work: Json) -> str:
    """Put the abstract together from the positions of its words, without the heading "Abstract"."""
    index = work.at("/abstract_inverted_index") or {}
    if not isinstance(index, dict):
        raise ValueError("the abstract is no index of words")  # noqa: TRY004 - as for every other shape
    rows = ((word, Json(places).objects("")) for word, places in index.items())
    pairs = sorted((int(position.text()), word) for word, positions in rows for position in positions)
    words = [word for _, word in pairs]
    return plain(" ".join(words[1:] if words[:1] in (["Abstract"], ["ABSTRACT"], ["Abstract:"]) else words))


def last_part(address: str) -> str:
    """Return the end of an address: `https://openalex.org/W4396723768` -> `W4396723768`."""
    return address.rstrip("/").rsplit("/", 1)[-1]
