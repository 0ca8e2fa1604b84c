import json
from typing import Any

import pytest

from activities.errors import Refused, SourceError
from activities.sources.base import search
from activities.sources.europepmc import EuropePmc, Page, narrowed, read_result
from activities.sources.records import read_records
from activities.types import Filters, Query
from tests.activities.sources.faults import FAULTS, check_retry, client, pointed_at
from tests.replay import RECORDED, ReplayServer, Reply, recorded


def said(name: str) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads((RECORDED / "europepmc" / name).read_text())
    return parsed


def result(**changes: object) -> dict[str, Any]:
    found: dict[str, Any] = dict(said("search_core_25.json")["resultList"]["result"][2])
    return {**found, **changes}


def test_every_field_of_a_result_is_read() -> None:
    record = read_result(said("search_core_25.json")["resultList"]["result"][15])
    assert record.evidence_id == "pmid:39212676"
    assert record.source == "europepmc"
    assert record.title == "The Clinical Impact of Time-restricted Eating on Cancer: A Systematic Review."
    assert record.text.startswith(
        "Context: In the face of the growing global burden of cancer, there is increasing"
    )
    assert "<" not in record.title + record.text
    assert record.authors[0] == "Eleah J Stringer"
    assert record.year == 2025
    assert record.venue == "Nutrition reviews"
    assert record.identifiers.pmid == "39212676"
    assert record.identifiers.pmcid == "PMC12166167"
    assert record.identifiers.doi == "10.1093/nutrit/nuae105"
    assert record.url == "https://europepmc.org/article/MED/39212676"
    assert record.evidence_type == "systematic_review"
    assert record.standing == "none"
    assert record.full_text is False
    assert record.facts["open_access"] == "yes"


def test_a_retracted_article_is_reported_with_each_notice() -> None:
    record = read_result(said("search_core_retracted.json")["resultList"]["result"][0])
    assert record.standing == "retracted"
    assert [(notice.kind, notice.date, notice.doi, notice.pmid) for notice in record.notices] == [
        ("retraction", "2004-03-06", "10.1016/s0140-6736(04)15715-2", "15016483"),
        ("retraction", "2010-02-06", "10.1016/s0140-6736(10)60175-4", "20137807"),
        ("concern", "2011-11", "10.1097/meg.0b013e328349d184", "21971344"),
    ]
    assert record.identifiers.doi not in [notice.doi for notice in record.notices]
    assert [line.split(":")[0] for line in record.text.split("\n")] == [
        "Background",
        "Methods",
        "Findings",
        "Interpretation",
    ]


def test_a_published_erratum_is_a_notice_and_leaves_no_mark_on_itself() -> None:
    record = read_result(said("search_core_25.json")["resultList"]["result"][1])
    assert record.facts["notice"] == "correction notice"
    assert record.standing == "none"
    assert record.notices == ()


def test_a_preprint_is_marked_whatever_else_it_is() -> None:
    record = read_result(
        result(
            source="PPR",
            id="PPR123",
            pmid=None,
            pubTypeList={"pubType": ["Preprint", "Meta-Analysis"]},
            bookOrReportDetails={"publisher": "medRxiv"},
            journalInfo=None,
            commentCorrectionList={
                "commentCorrection": [{"id": "777", "source": "MED", "type": "Preprint of"}]
            },
        )
    )
    assert record.evidence_type == "preprint"
    assert record.venue == "medRxiv"
    assert record.facts["published_as"] == "pmid:777"
    assert record.url == "https://europepmc.org/article/PPR/PPR123"


def test_a_withdrawn_preprint_counts_as_retracted() -> None:
    record = read_result(result(source="PPR", pubTypeList={"pubType": ["preprint", "preprint-withdrawal"]}))
    assert record.standing == "retracted"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<h4>Aim</h4>To see. <h4>Result:</h4>Seen.", "Aim: To see.\nResult: Seen."),
        ("A <i>very</i> small p &lt; 0.05 and 10<sup>3</sup>.", "A very small p < 0.05 and 10³."),
        ("<p>One.</p><p>Two.</p>", "One.\nTwo."),
        ("No  tags\n at all", "No tags at all"),
    ],
)
def test_abstracts_lose_their_tags_and_keep_their_words(markup: str, text: str) -> None:
    assert read_result(result(abstractText=markup)).text == text


def test_what_cannot_be_read_or_quoted_is_counted() -> None:
    answer = said("search_core_25.json")
    answer["resultList"]["result"][5] = {"id": "1", "source": "MED"}
    answer["resultList"]["result"][6] = "nonsense"
    page = Page.model_validate(answer)
    read = read_records("europepmc", Query(text="q"), page.results, read_result)
    assert page.hits == 5059039
    assert read.set_aside == 25 - len(read.records)
    assert "2 unreadable" in read.detail
    assert "without text to quote" in read.detail
    assert {(found.source, found.query) for record in read.records for found in record.provenance} == {
        ("europepmc", "q")
    }


def test_filters_are_joined_to_the_query_as_typed() -> None:
    filters = Filters(year_from=2010, year_to=2020, publication_types=("Review",))
    text = 'TITLE:"Alzheimer\'s disease" OR antiviral'
    assert narrowed(Query(text=text)) == text
    assert narrowed(Query(text=text, filters=filters)) == (
        f'({text}) AND PUB_YEAR:[2010 TO 2020] AND (PUB_TYPE:"Review")'
    )


async def test_a_search_is_one_request() -> None:
    with ReplayServer() as server:
        server.on("/search", recorded("europepmc/search_core_25.json"))
        async with client() as http:
            source = EuropePmc(pointed_at(server, "europepmc"), http)
            answer = await search(source, Query(text="cancer", limit=20))
    assert len(answer.records) == 20
    assert answer.status == "ok"
    assert answer.hits == 5059039
    (asked,) = server.asked
    assert asked.query["query"] == ["cancer"]
    assert asked.query["resultType"] == ["core"]
    assert asked.query["pageSize"] == ["26"]


async def test_nothing_found_is_empty() -> None:
    with ReplayServer() as server:
        server.on("/search", recorded("europepmc/search_no_results.json"))
        async with client() as http:
            answer = await search(EuropePmc(pointed_at(server, "europepmc"), http), Query(text="zzz"))
    assert (answer.status, answer.hits) == ("empty", 0)


@pytest.mark.parametrize(("reply", "kind"), FAULTS)
async def test_a_failure_says_what_it_was(reply: Reply, kind: type[SourceError]) -> None:
    with ReplayServer() as server:
        server.on("/search", reply)
        async with client() as http:
            with pytest.raises(kind) as caught:
                await search(EuropePmc(pointed_at(server, "europepmc"), http), Query(text="x"))
    check_retry(caught.value)


async def test_an_error_with_status_200_is_refused() -> None:
    with ReplayServer() as server:
        reply = Reply(200, '{"errCode":404,"errMsg":"bad query"}', {"content-type": "application/json"})
        server.on("/search", reply)
        async with client() as http:
            with pytest.raises(Refused, match="bad query"):
                await search(EuropePmc(pointed_at(server, "europepmc"), http), Query(text="x"))
