import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.errors import Refused, SourceError
from activities.sources.base import search
from activities.sources.openalex import OpenAlex, abstract, parameters, read_work
from activities.types import Filters, Query
from tests.activities.sources.faults import FAULTS, check_retry, client, pointed_at
from tests.replay import RECORDED, ReplayServer, Reply, recorded

LIST = "openalex/works_title_search_list.json"


def works() -> list[dict[str, Any]]:
    parsed: list[dict[str, Any]] = json.loads((RECORDED / LIST).read_text())["results"]
    return parsed


def test_every_field_of_a_work_is_read() -> None:
    record = read_work(works()[0])
    assert record.evidence_id == "pmid:38799228"
    assert record.source == "openalex"
    assert record.title == "Augmenting large language models with chemistry tools"
    assert record.text.startswith(
        "Large language models (LLMs) have shown strong performance in tasks across"
    )
    assert record.text.endswith("the gap between experimental and computational chemistry.")
    assert record.authors == (
        "Andres M. Bran",
        "Sam Cox",
        "Oliver Schilter",
        "Carlo Baldassari",
        "Andrew Dickson White",
        "Philippe Schwaller",
    )
    assert record.year == 2024
    assert record.venue == "Nature Machine Intelligence"
    assert record.identifiers.doi == "10.1038/s42256-024-00832-8"
    assert record.identifiers.pmid == "38799228"
    assert record.identifiers.openalex == "W4396723768"
    assert record.identifiers.pmcid is None
    assert record.url == "https://doi.org/10.1038/s42256-024-00832-8"
    assert record.evidence_type == "article"
    assert record.standing == "unknown"
    assert record.notices == ()
    assert record.full_text is False
    assert record.facts == {
        "cited_by": "236",
        "work_type": "article",
        "open_access": "hybrid",
        "open_access_url": "https://www.nature.com/articles/s42256-024-00832-8.pdf",
        "language": "en",
    }


def test_a_preprint_is_one_and_keeps_its_arxiv_number() -> None:
    record = read_work(works()[1])
    assert record.evidence_type == "preprint"
    assert record.identifiers.arxiv == "2304.05376"
    assert record.identifiers.doi == "10.48550/arxiv.2304.05376"
    assert record.year == 2023


@pytest.mark.parametrize("mark", [{"is_retracted": True}, {"display_name": "RETRACTED ARTICLE: A cure"}])
def test_a_retracted_work_says_so_and_who_reports_it(mark: dict[str, Any]) -> None:
    record = read_work({**works()[0], **mark})
    assert record.standing == "retracted"
    assert [n.kind for n in record.notices] == ["retraction"]
    assert record.notices[0].reported_by.startswith("openalex")


@pytest.mark.parametrize(
    ("title", "type_", "expected"),
    [
        ("Statins in dementia: a systematic review and meta-analysis", "review", "meta_analysis"),
        ("Statins in dementia: a systematic review", "article", "systematic_review"),
        ("A randomised, double-blind trial of metformin", "article", "randomized_trial"),
        ("Protocol for a randomised trial of metformin", "article", "article"),
        ("A narrative overview", "review", "review"),
        ("A systematic review", "preprint", "preprint"),
    ],
)
def test_the_study_type_is_read_from_a_title_that_states_it(title: str, type_: str, expected: str) -> None:
    assert read_work({**works()[0], "display_name": title, "type": type_}).evidence_type == expected


def test_pmcid_is_read_from_its_address() -> None:
    ids: dict[str, Any] = {"pmcid": "https://www.ncbi.nlm.nih.gov/pmc/articles/6329583"}
    assert read_work({**works()[0], "ids": ids}).identifiers.pmcid == "PMC6329583"


def test_an_old_doi_is_not_cut_at_its_angle_brackets() -> None:
    doi = "https://doi.org/10.1002/(SICI)1098-1004(200001)15:1<114::AID-HUMU21>3.0.CO;2-4"
    assert read_work({**works()[0], "doi": doi}).identifiers.doi == (
        "10.1002/(sici)1098-1004(200001)15:1<114::aid-humu21>3.0.co;2-4"
    )


@given(st.lists(st.sampled_from(["the", "dose", "of", "5", "mg", "Abstract"]), max_size=30))
def test_an_abstract_comes_back_word_for_word(words: list[str]) -> None:
    index: dict[str, tuple[int, ...]] = {}
    for position, word in enumerate(words):
        index[word] = (*index.get(word, ()), position)
    expected = words[1:] if words[:1] == ["Abstract"] else words
    assert abstract(index) == " ".join(expected)


def test_a_forged_position_costs_no_memory() -> None:
    assert abstract({"end": (10**15,), "begin": (0,)}) == "begin end"


def test_the_query_is_sent_as_typed_with_openalexs_own_filters() -> None:
    typed = '"Alzheimer\'s disease" AND (metformin OR GLP-1) NOT antiviral'
    filters = Filters(year_from=2010, year_to=2020, publication_types=("review", "article"))
    assert parameters(Query(text=typed, limit=150, filters=filters)) == {
        "search": typed,
        "filter": "has_abstract:true,from_publication_date:2010-01-01,to_publication_date:2020-12-31,"
        "type:review|article",
        "per-page": "100",
    }


async def test_a_search_end_to_end() -> None:
    with ReplayServer() as server:
        server.on("/works", recorded(LIST))
        async with client() as http:
            source = OpenAlex(
                pointed_at(server, "openalex", email="me@example.org", OPENALEX_API_KEY="k3y"), http
            )
            found = await search(source, Query(text="ChemCrow", limit=5))
    assert (found.status, found.hits, found.set_aside, len(found.records)) == ("ok", 2, 0, 2)
    assert found.sent == "search=ChemCrow; filter=has_abstract:true"
    assert found.records[0].provenance[0].source == "openalex"
    (asked,) = server.asked
    assert asked.query["search"] == ["ChemCrow"]
    assert asked.query["mailto"] == ["me@example.org"]
    assert asked.query["api_key"] == ["k3y"]


async def test_more_than_a_page_needs_one_exchange_a_page() -> None:
    page = json.loads((RECORDED / LIST).read_text())
    page["results"] = [page["results"][0]] * 100
    page["meta"]["count"] = 400
    with ReplayServer() as server:
        server.on("/works", Reply(200, json.dumps(page)))
        async with client() as http:
            found = await search(OpenAlex(pointed_at(server, "openalex"), http), Query(text="x", limit=150))
    assert [a.query["page"] for a in server.asked] == [["1"], ["2"]]
    assert len(found.records) == 150


async def test_bad_records_and_those_without_text_are_set_aside() -> None:
    page = json.loads((RECORDED / LIST).read_text())
    good = page["results"][0]
    page["results"] = [
        good,
        None,
        {**good, "abstract_inverted_index": None},
        {**good, "abstract_inverted_index": {"word": "not a list"}},
        {**good, "type": "retraction"},
    ]
    with ReplayServer() as server:
        server.on("/works", Reply(200, json.dumps(page)))
        async with client() as http:
            found = await search(OpenAlex(pointed_at(server, "openalex"), http), Query(text="x"))
    assert len(found.records) == 1
    assert found.set_aside == 4
    assert found.details == (
        "set aside: 2 unreadable, 1 without text to quote, 1 that is a notice about another work",
    )


async def test_no_match_is_empty() -> None:
    with ReplayServer() as server:
        server.on("/works", Reply(200, '{"meta": {"count": 0}, "results": []}'))
        async with client() as http:
            found = await search(OpenAlex(pointed_at(server, "openalex"), http), Query(text="x"))
    assert (found.status, found.hits) == ("empty", 0)


@pytest.mark.parametrize(("reply", "kind"), FAULTS)
async def test_an_outage_is_never_no_results(reply: Reply, kind: type[SourceError]) -> None:
    with ReplayServer() as server:
        server.on("/works", reply)
        async with client() as http:
            with pytest.raises(kind) as caught:
                await search(OpenAlex(pointed_at(server, "openalex"), http), Query(text="x"))
        assert len(server.asked) == 1
    check_retry(caught.value)


async def test_the_404_page_is_a_refusal() -> None:
    with ReplayServer() as server:
        server.on("/works", recorded("openalex/error_404_not_found.html", status=404))
        async with client() as http:
            with pytest.raises(Refused, match="404"):
                await search(OpenAlex(pointed_at(server, "openalex"), http), Query(text="x"))
