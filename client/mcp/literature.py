"""The tool that needs no run: searching the literature."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations
from pydantic import Field

from activities.contracts.evidence import Filters
from client.api import Determinator
from client.failures import BadInput, Failure
from client.mcp.answers import (
    AllSources,
    DateRange,
    SearchAnswer,
    clearly,
    one_line,
)

READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=True)
YEARS = {"1y": 1, "5y": 5, "10y": 10}
MAX_QUERY_CHARS = 2_000
LITERATURE = ("pubmed", "europepmc", "clinicaltrials")
QueryText = Annotated[
    str,
    Field(min_length=1, max_length=MAX_QUERY_CHARS, description="Words, or the source's own query syntax"),
]
Range = Annotated[DateRange, Field(description="Years of publication, counted back from this one")]


def since(date_range: DateRange) -> Filters:
    if date_range == "all":
        return Filters()
    return Filters(year_from=datetime.now(UTC).year - YEARS[date_range])


class Literature:
    def __init__(self, client: Determinator) -> None:
        self._client = client

    def register(self, server: MCPServer) -> None:
        server.add_tool(clearly(self.search_literature), annotations=READS)

    async def search_literature(
        self,
        query: QueryText,
        max_results: Annotated[int, Field(ge=1, le=100, description="Works at most of each source")] = 10,
        date_range: Range = "all",
        sources: Annotated[
            Sequence[str],
            Field(
                description="pubmed (boolean and field syntax, `PMID[uid]`, `related:PMID`, `citedby:PMID`, "
                "`references:PMID`), europepmc "
                "(with preprints), clinicaltrials, web (the first engine that answers) ...; none: the first "
                "three, or what serves offline"
            ),
        ] = (),
    ) -> AllSources:
        """Search sources of literature.

        Each answers for itself: one that fails is named in `failed`, and an outage is never an empty
        answer.
        """
        names = list(dict.fromkeys(sources))
        if not names:
            serve = [option.info for option in await self._client.sources() if option.enabled]
            names = [info.name for info in serve if info.name in LITERATURE]
            names = names or [info.name for info in serve if "web" not in info.domains]
        answers = await asyncio.gather(
            *(self._search(name, query, max_results, date_range) for name in names), return_exceptions=True
        )
        searches, outages = [], []
        for name, answer in zip(names, answers, strict=True):
            if isinstance(answer, SearchAnswer):
                searches.append(answer)
            elif isinstance(answer, BadInput) or not isinstance(answer, Failure):
                raise answer
            else:
                outages.append(f"{name}: {one_line(answer)}")
        if not searches:
            raise Failure(f"no source answered: {'; '.join(outages)}")
        return AllSources(searches=searches, failed=outages)

    async def _web(self, query: str, limit: int) -> SearchAnswer:
        """Return the answer of the first engine that is set up and answers. Raises BadInput, Failure."""
        engines = [option for option in await self._client.sources() if "web" in option.info.domains]
        names = [engine.info.name for engine in engines if engine.enabled]
        if not names:
            ways = "; ".join(f"{engine.info.name}: {engine.reason}" for engine in engines)
            raise BadInput(f"no search of the web is set up: {ways}")
        for name in names[:-1]:
            with suppress(Failure):
                return await self._search(name, query, limit, "all")
        return await self._search(names[-1], query, limit, "all")

    async def _search(self, source: str, query: str, limit: int, date_range: DateRange) -> SearchAnswer:
        if source == "web":
            return await self._web(query, limit)
        result = await self._client.search(source, query, limit=limit, filters=since(date_range))
        return SearchAnswer.of(source, result)
