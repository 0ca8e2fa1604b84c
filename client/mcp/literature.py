"""Tools that need no run: searching the literature, checking quotes."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations
from pydantic import Field

from activities.contracts.evidence import Evidence, Filters
from activities.report.formats.statements import sentence
from activities.text.normal_form import min_chars, normalise, verbatim
from activities.text.quotability import quote_fault
from client.api import Determinator
from client.failures import BadInput, Failure
from client.mcp.answers import (
    AllSources,
    CheckedQuote,
    DateRange,
    QuoteToCheck,
    SearchAnswer,
    clearly,
    one_line,
)

READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=True)
YEARS = {"1y": 1, "5y": 5, "10y": 10}
MAX_QUERY_CHARS = 2_000
MAX_QUOTES = 200
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
        for tool in (self.search_literature, self.verify_quotes):
            server.add_tool(clearly(tool), annotations=READS)

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
        searches, failed = [], []
        for name, answer in zip(names, answers, strict=True):
            if isinstance(answer, SearchAnswer):
                searches.append(answer)
            elif isinstance(answer, BadInput) or not isinstance(answer, Failure):
                raise answer
            else:
                failed.append(f"{name}: {one_line(answer)}")
        if not searches:
            raise Failure(f"no source answered: {'; '.join(failed)}")
        return AllSources(searches=searches, failed=failed)

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

    async def verify_quotes(
        self,
        quotes: Annotated[list[QuoteToCheck], Field(min_length=1, max_length=MAX_QUOTES)],
        run: Annotated[str, Field(description="The run whose items `evidence_id` names")] = "",
    ) -> list[CheckedQuote]:
        """Check whether quotes are verbatim: one contiguous run of at least 25 characters.

        White space and typographic quotes and dashes are made plain first. Nothing similar passes.
        """
        texts = await self._texts(quotes, run)
        return [checked(quote, text) for quote, text in zip(quotes, texts, strict=True)]

    async def _search(self, source: str, query: str, limit: int, date_range: DateRange) -> SearchAnswer:
        if source == "web":
            return await self._web(query, limit)
        result = await self._client.search(source, query, limit=limit, filters=since(date_range))
        return SearchAnswer.of(source, result)

    async def _texts(self, quotes: Sequence[QuoteToCheck], run: str) -> list[Evidence | None]:
        """Return the text each quote is said to be from; None for an item that the run does not have."""
        wanted = {quote.evidence_id for quote in quotes if quote.evidence_id and quote.text is None}
        items: dict[str, Evidence] = {}
        if wanted:
            if not run:
                raise BadInput("a quote names an evidence_id; name its run as well")
            async for line in (await self._client.run(run, worker=False)).evidence_lines():
                if line["evidence_id"] in wanted:
                    items[line["evidence_id"]] = as_evidence(line["text"], line["title"])
        texts: list[Evidence | None] = []
        for quote in quotes:
            if quote.text is not None:
                texts.append(as_evidence(quote.text))
            elif quote.evidence_id:
                texts.append(items.get(quote.evidence_id))
            else:
                raise BadInput("each quote needs its text or an evidence_id")
        return texts


def as_evidence(text: str, title: str = "") -> Evidence:
    return Evidence(evidence_id="given", source="given", title=title, text=text)


def checked(asked: QuoteToCheck, document: Evidence | None) -> CheckedQuote:
    quote, is_verbatim, reason = asked.quote, False, ""
    if document is None:
        reason = "the run has no such item"
    elif len(plain := normalise(quote)) < min_chars(plain):
        reason = f"it is shorter than {min_chars(plain)} characters, and would match by chance"
    elif not verbatim(quote, document.text):
        reason = "it is not in the text"
    else:
        is_verbatim, fault = True, quote_fault(quote, document)
        reason = f"it supports nothing: {sentence(fault)}" if fault is not None else ""
    return CheckedQuote(quote=quote, verbatim=is_verbatim, reason=reason)
