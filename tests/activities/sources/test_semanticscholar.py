import json
from typing import Any

import pytest

from activities.errors import Malformed, RateLimited, Refused, SourceError
from activities.sources.base import search
from activities.sources.semanticscholar import SemanticScholar, parameters, read_paper
from activities.types import Filters, Query
from tests.activities.sources.faults import FAULTS, check_retry, client, pointed_at
from tests.replay import RECORDED, ReplayServer, Reply, recorded

PAPERS = "/paper/search"


def load(name: str) -> Any:
    return json.loads((RECORDED / "semanticscholar" / name).read_text())


def paper() -> dict[str, Any]:
    """A recorded paper with an abstract (the first of the batch is one that was not found)."""
    found: dict[str, Any] = load("batch_not_found_full_fields.json")[1]
    return found


def page(*papers: object, total: int = 1) -> Reply:
    return Reply(200, json.dumps({"total": total, "offset": 0, "data": papers}))


def test_every_field_of_a_paper_is_read() -> None:
    record = read_paper(paper())
    assert record.evidence_id == "doi:10.2139/ssrn.288970"
    assert record.source == "semanticscholar"
    assert record.title == "How Much Should We Trust Differences-in-Differences Estimates?"
    assert record.text.startswith("Most Difference-in-Difference (DD) papers rely on many years of data")
    assert record.authors == ("Marianne Bertrand", "E. Duflo", "S. Mullainathan")
    assert record.year == 2001
    assert record.venue == "Experimental & Empirical Studies eJournal"
    assert record.identifiers.doi == "10.2139/ssrn.288970"
    assert record.identifiers.s2 == "c31c87c591a25c64fbaa82e8ac6a81831b6ac7ce"
    assert record.url == "https://www.semanticscholar.org/paper/c31c87c591a25c64fbaa82e8ac6a81831b6ac7ce"
    assert record.evidence_type == "review"
    assert record.standing == "unknown"
    assert record.full_text is False
    assert record.facts == {
        "cited_by": "10670",
        "publication_types": "Review",
        "open_access_url": "http://papers.nber.org/papers/w8841.pdf",
    } | {name: record.facts[name] for name in ("tldr",) if name in record.facts}


def test_all_its_names_are_kept() -> None:
    names = read_paper(load("title_match_full.json")["data"][0]).identifiers
    assert names.pmid == "38799228"
    assert names.pmcid == "PMC11116106"
    assert names.doi == "10.1038/s42256-024-00832-8"
    assert names.arxiv == "2304.05376"
    assert names.s2 == "354dcdebf3f8b5feeed5c62090e0bc1f0c28db06"


def test_a_generated_summary_cannot_be_quoted() -> None:
    record = read_paper({**paper(), "tldr": {"model": "tldr@v2", "text": "A machine wrote this sentence."}})
    assert record.facts["tldr"] == "A machine wrote this sentence."
    assert "machine wrote" not in record.text


async def test_a_paper_with_only_a_summary_is_set_aside() -> None:
    bare = {**paper(), "abstract": None, "tldr": {"text": "A machine wrote this sentence."}}
    with ReplayServer() as server:
        server.on(PAPERS, page(bare, paper(), {"paperId": None}, "text", total=4))
        async with client() as http:
            found = await search(
                SemanticScholar(pointed_at(server, "semanticscholar"), http), Query(text="x")
            )
    assert len(found.records) == 1
    assert found.set_aside == 3
    assert found.details == ("set aside: 1 without text to quote, 2 unreadable",)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"publicationTypes": ["JournalArticle", "MetaAnalysis", "Review"]}, "meta_analysis"),
        ({"publicationTypes": ["ClinicalTrial", "JournalArticle"]}, "clinical_trial"),
        ({"publicationTypes": ["CaseReport"]}, "case_report"),
        ({"publicationTypes": ["JournalArticle"]}, "article"),
        ({"publicationTypes": None}, "article"),
        ({"publicationTypes": None, "venue": "arXiv.org", "journal": None}, "preprint"),
        ({"publicationTypes": ["JournalArticle"], "venue": "bioRxiv"}, "preprint"),
        ({"publicationTypes": None, "journal": None, "externalIds": {"ArXiv": "2304.05376"}}, "preprint"),
    ],
)
def test_the_type_follows_publication_types_and_venue(change: dict[str, Any], expected: str) -> None:
    assert read_paper({**paper(), **change}).evidence_type == expected


def test_hyphens_within_words_are_sent_as_spaces_and_nothing_else_is_changed() -> None:
    asked = parameters(
        Query(
            text="GLP-1 agonists AND Alzheimer's disease - cognition",
            limit=150,
            filters=Filters(year_from=2010, publication_types=("Review",)),
        )
    )
    assert asked["query"] == "GLP 1 agonists AND Alzheimer's disease - cognition"
    assert asked["limit"] == "100"
    assert asked["year"] == "2010-"
    assert asked["publicationTypes"] == "Review"
    assert "tldr" in asked["fields"]


async def test_a_search_end_to_end() -> None:
    with ReplayServer() as server:
        server.on(PAPERS, page(paper(), total=15596))
        async with client() as http:
            source = SemanticScholar(pointed_at(server, "semanticscholar", S2_API_KEY="k3y"), http)
            found = await search(source, Query(text="difference-in-differences", limit=5))
    assert (found.status, found.hits) == ("ok", 15596)
    assert found.sent == "difference in differences"
    (asked,) = server.asked
    assert asked.headers["x-api-key"] == "k3y"
    assert asked.query["limit"] == ["5"]
    assert asked.query["offset"] == ["0"]


async def test_the_recorded_page_without_abstracts_keeps_nothing_and_says_why() -> None:
    with ReplayServer() as server:
        server.on(PAPERS, recorded("semanticscholar/search_paper_100.json"))
        async with client() as http:
            source = SemanticScholar(pointed_at(server, "semanticscholar"), http)
            step = await source.exchange(Query(text="turing", limit=150))
    assert (step.hits, step.set_aside, step.records) == (70499, 100, ())
    assert step.cursor == {"offset": "100"}
    assert step.detail == "set aside: 100 without text to quote"
    assert "x-api-key" not in server.asked[0].headers


async def test_no_match_is_empty() -> None:
    with ReplayServer() as server:
        server.on(PAPERS, Reply(200, '{"total": 0, "offset": 0}'))
        async with client() as http:
            found = await search(
                SemanticScholar(pointed_at(server, "semanticscholar"), http), Query(text="x")
            )
    assert (found.status, found.hits) == ("empty", 0)


@pytest.mark.parametrize(("reply", "kind"), FAULTS)
async def test_an_outage_is_never_no_results(reply: Reply, kind: type[SourceError]) -> None:
    with ReplayServer() as server:
        server.on(PAPERS, reply)
        async with client() as http:
            with pytest.raises(kind) as caught:
                await search(SemanticScholar(pointed_at(server, "semanticscholar"), http), Query(text="x"))
        assert len(server.asked) == 1
    check_retry(caught.value)


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        (recorded("semanticscholar/error_400_bad_fields.json", status=400), Refused, "unsupported fields"),
        (recorded("semanticscholar/error_403_forbidden.json", status=403), Refused, "Forbidden"),
        (recorded("semanticscholar/error_404_not_found.json", status=404), Refused, "not found"),
        (Reply(200, '{"code": "429", "message": "Too Many Requests."}'), RateLimited, "Too Many"),
        (Reply(200, '{"total": 5, "offset": 0}'), Malformed, "without data"),
    ],
)
async def test_its_own_error_bodies_are_understood(reply: Reply, kind: type[SourceError], said: str) -> None:
    with ReplayServer() as server:
        server.on(PAPERS, reply)
        async with client() as http:
            with pytest.raises(kind, match=said):
                await search(SemanticScholar(pointed_at(server, "semanticscholar"), http), Query(text="x"))


def test_it_has_a_queue_of_its_own() -> None:
    from activities.sources.semanticscholar import SemanticScholar

    assert SemanticScholar.info.queue == "determinator-semanticscholar"
    assert SemanticScholar.info.rate_per_second == 1
