import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from activities.errors import Malformed, RateLimited, Refused, SourceError, Unavailable
from activities.sources import publication
from activities.sources.base import SearchResult, search
from activities.sources.ncbi import MAX_URL_CHARS
from activities.sources.pubmed import PubMed, read_articles, read_record
from activities.types import Evidence, Filters, Query, StandingNotice
from tests.activities.sources.faults import client, pointed_at
from tests.replay import RECORDED, ReplayServer, Reply, recorded

XML = {"content-type": "text/xml"}
JSON = {"content-type": "application/json"}
RCT = "pubmed/efetch_structured_abstract_rct_22663011.xml"
NOTICES = "pubmed/efetch_retractions_errata_updates_subset.xml"


def tree(name: str) -> etree._Element:
    return etree.parse(RECORDED / name).getroot()


def the_notices() -> dict[str, Evidence]:
    found = {}
    for element in tree(NOTICES).iterfind("PubmedArticle"):
        record = read_record(element)
        assert record.identifiers.pmid
        found[record.identifiers.pmid] = record
    return found


async def ask(server: ReplayServer, query: Query, **values: object) -> SearchResult:
    async with client() as http:
        return await search(PubMed(pointed_at(server, "pubmed", **values), http), query)


def an_esearch(*ids: str) -> Reply:
    body = {"esearchresult": {"count": str(len(ids)), "idlist": list(ids)}}
    return Reply(200, json.dumps(body), JSON)


def test_every_field_of_a_trial_is_read() -> None:
    (record,) = read_articles(tree(RCT), ["22663011"], "trametinib").records
    assert record.evidence_id == "pmid:22663011"
    assert record.source == "pubmed"
    assert record.title == "Improved survival with MEK inhibition in BRAF-mutated melanoma."
    lines = record.text.split("\n")
    assert [line.split(":")[0] for line in lines] == ["BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS"]
    assert lines[0].startswith("BACKGROUND: Activating mutations in serine-threonine protein kinase B-RAF")
    assert "hazard ratio for death, 0.54; 95% CI, 0.32 to 0.92; P=0.01" in lines[2]
    assert record.title not in record.text
    assert record.authors[0] == "Keith T Flaherty"
    assert record.authors[17] == "Jürgen C Becker"
    assert record.authors[-1] == "METRIC Study Group"
    assert len(record.authors) == 26
    assert record.year == 2012
    assert record.venue == "The New England journal of medicine"
    assert record.identifiers.pmid == "22663011"
    assert record.identifiers.doi == "10.1056/nejmoa1203421"
    assert record.identifiers.pmcid is None
    assert record.identifiers.nct == "NCT01245062"
    assert record.url == "https://pubmed.ncbi.nlm.nih.gov/22663011/"
    assert record.evidence_type == "randomized_trial"
    assert record.standing == "none"
    assert record.notices == ()  # it has comments, which are no notices
    assert record.full_text is False
    assert record.facts["registered_trials"] == "NCT01245062"
    assert "Melanoma" in record.facts["mesh"].split("; ")
    assert "Multicenter Study" in record.facts["publication_types"].split("; ")
    assert [(found.source, found.query) for found in record.provenance] == [("pubmed", "trametinib")]


def test_a_retracted_article_is_reported_with_its_notice() -> None:
    record = read_record(tree("pubmed/efetch_retracted_993.xml")[0])
    assert record.standing == "retracted"
    assert record.notices == (
        StandingNotice(kind="retraction", date="1977-04-15", pmid="195582", reported_by="pubmed"),
    )
    assert record.identifiers.pmcid == "PMC1165577"
    assert record.year == 1975


def test_an_erratum_is_not_a_retraction() -> None:
    record = the_notices()["9505772"]
    assert record.standing == "corrected"
    assert [notice.kind for notice in record.notices] == ["correction", "correction"]
    assert record.notices[0].date == "1998-04"


def test_a_retraction_outweighs_an_erratum() -> None:
    record = the_notices()["8863847"]
    assert {notice.kind for notice in record.notices} == {"correction", "retraction"}
    assert record.standing == "retracted"


def test_the_notice_is_not_the_retracted_work() -> None:
    for pmid in ("9634358", "11600210"):
        record = the_notices()[pmid]
        assert record.facts["notice"] == "retraction notice"
        assert record.standing != "retracted"


def test_updates_comments_and_what_a_work_republishes_leave_its_standing_alone() -> None:
    records = the_notices()
    for pmid in ("11034741", "11279676", "10612833", "11892742"):
        assert records[pmid].standing == "none", pmid


def test_an_old_doi_with_angle_brackets_names_the_article_and_not_the_issue() -> None:
    doi = the_notices()["10612833"].identifiers.doi
    assert doi == "10.1002/(sici)1098-1004(200001)15:1<114::aid-humu21>3.0.co;2-4"


def test_reviews_of_the_cochrane_library_are_systematic() -> None:
    assert the_notices()["11034741"].evidence_type == "systematic_review"


def test_records_without_an_abstract_are_counted_and_not_kept() -> None:
    answer = read_articles(tree(NOTICES), [], "q")
    assert len(answer.records) == 16
    assert answer.set_aside == 6
    assert answer.detail == "set aside: 6 without text to quote"
    assert all(record.text for record in answer.records)


def test_one_bad_record_is_set_aside_and_the_others_stay() -> None:
    broken = tree(NOTICES)
    next(broken[0].iter("PMID")).text = "not a number"
    next(broken[1].iter("ArticleTitle")).clear()
    answer = read_articles(broken, [], "q")
    assert len(answer.records) == 14
    assert answer.set_aside == 8
    assert "2 unreadable" in answer.detail


def test_an_id_that_brings_no_record_is_counted() -> None:
    answer = read_articles(tree(RCT), ["1", "22663011"], "q")
    assert (len(answer.records), answer.set_aside) == (1, 1)
    assert answer.detail == "set aside: 1 not returned"


def test_powers_and_formulas_do_not_run_together() -> None:
    element = etree.fromstring(
        "<PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>T</ArticleTitle><Abstract>"
        "<AbstractText>10<sup>3</sup> cells, CO<sub>2</sub>, Ca<sup>2+</sup>, <i>in\n vivo</i>."
        "</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>"
    )
    assert read_record(element).text == "10³ cells, CO₂, Ca²⁺, in vivo."


@pytest.mark.parametrize(
    ("types", "mesh", "kind"),
    [
        (["Journal Article", "Meta-Analysis", "Randomized Controlled Trial"], [], "meta_analysis"),
        (["Review", "Systematic Review"], [], "systematic_review"),
        (["Practice Guideline"], [], "guideline"),
        (["Clinical Trial, Phase II"], [], "clinical_trial"),
        (["Preprint", "Randomized Controlled Trial"], [], "preprint"),
        (["Case Reports", "Review"], [], "case_report"),
        (["Journal Article"], ["Humans", "Cohort Studies"], "observational"),
        (["Journal Article"], ["Animals", "Mice"], "preclinical"),
        (["Journal Article"], ["Animals", "Humans"], "article"),
        (["Clinical Trial Protocol"], [], "article"),
        (["Retracted Publication"], [], "article"),
    ],
)
def test_the_type_of_evidence_follows_the_indexers(types: list[str], mesh: list[str], kind: str) -> None:
    assert publication.evidence_type(types, mesh) == kind


@given(st.text())
def test_no_citation_line_breaks_a_notice(reference: str) -> None:
    notice = publication.notice("RetractionIn", reference, None, "pubmed")
    assert notice is not None
    assert notice.kind == "retraction"


async def test_a_search_ends_in_records_with_the_query_as_typed() -> None:
    with ReplayServer() as server:
        server.on("/esearch.fcgi", recorded("pubmed/esearch_json_1_hit.json"))
        server.on("/efetch.fcgi", recorded(RCT))
        text = '("MEK inhibitor"[tiab] OR trametinib[tw]) AND melanoma[mh] NOT antiviral'
        answer = await ask(server, Query(text=text, limit=5))
    assert answer.status == "ok"
    assert [record.evidence_id for record in answer.records] == ["pmid:22663011"]
    assert answer.hits == 1
    assert answer.sent == text
    search_asked, fetch_asked = server.asked
    assert search_asked.query["term"] == [text]
    assert search_asked.query["db"] == ["pubmed"]
    assert "mindate" not in search_asked.query
    assert fetch_asked.query["id"] == ["18033691"]


async def test_each_exchange_is_one_request() -> None:
    with ReplayServer() as server:
        server.on("/esearch.fcgi", recorded("pubmed/esearch_json_3_hits.json"))
        server.on("/efetch.fcgi", recorded(RCT))
        async with client() as http:
            source = PubMed(pointed_at(server, "pubmed"), http)
            first = await source.exchange(Query(text="PTEN"))
            assert len(server.asked) == 1
            assert first.cursor == {"ids": "32150788,29373119,17427195", "hits": "3"}
            second = await source.exchange(Query(text="PTEN"), first.cursor)
    assert len(server.asked) == 2
    assert second.cursor is None
    assert second.hits == 3


async def test_nothing_found_is_empty_and_asks_for_no_records() -> None:
    with ReplayServer() as server:
        server.on("/esearch.fcgi", an_esearch())
        answer = await ask(server, Query(text="zzzz"))
    assert answer.status == "empty"
    assert answer.hits == 0
    assert len(server.asked) == 1


async def test_phrases_that_were_not_found_are_reported() -> None:
    with ReplayServer() as server:
        server.on("/esearch.fcgi", recorded("pubmed/esearch_json_40362_hits.json"))
        server.on("/efetch.fcgi", recorded(RCT))
        answer = await ask(server, Query(text="APC p.E1317Q"))
    assert answer.hits == 40362
    assert "phrases not found: p.E1317Q" in answer.details


async def test_dates_and_publication_types_narrow_without_touching_what_was_typed() -> None:
    filters = Filters(year_from=2015, publication_types=("Meta-Analysis", "Review"))
    with ReplayServer() as server:
        server.on("/esearch.fcgi", an_esearch())
        await ask(server, Query(text="Statins OR aspirin", filters=filters))
    asked = server.asked[0].query
    assert asked["term"] == [
        '(Statins OR aspirin) AND ("Meta-Analysis"[Publication Type] OR "Review"[Publication Type])'
    ]
    assert (asked["datetype"], asked["mindate"], asked["maxdate"]) == (["pdat"], ["2015"], ["3000"])


async def test_key_tool_and_address_are_sent_when_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCBI_API_KEY", "k" * 36)
    with ReplayServer() as server:
        server.on("/esearch.fcgi", an_esearch())
        await ask(server, Query(text="x"), email="someone@example.org")
        async with client() as http:
            source = PubMed(pointed_at(server, "pubmed"), http)
            assert source.info.rate_per_second == 10
            limiter = http.rate_limiter("pubmed")
            assert limiter is not None
            assert limiter.per_second == 10
    asked = server.asked[0].query
    assert asked["api_key"] == ["k" * 36]
    assert asked["tool"] == ["determinator"]
    assert asked["email"] == ["someone@example.org"]


async def test_a_long_list_of_ids_is_posted() -> None:
    ids = [str(30_000_000 + number) for number in range(200)]
    with ReplayServer() as server:
        server.on("/efetch.fcgi", recorded(RCT))
        async with client() as http:
            await PubMed(pointed_at(server, "pubmed"), http).fetch([*ids[:199], "22663011"])
    assert server.asked[0].method == "POST"
    assert b"22663011" in server.asked[0].body
    assert len(server.asked[0].path) < MAX_URL_CHARS
    assert server.asked[0].query == {}


@pytest.mark.parametrize(
    ("query", "linkname"),
    [("related:9298984", "pubmed_pubmed"), ("CitedBy: 9298984", "pubmed_pubmed_citedin")],
)
async def test_links_of_an_article_are_a_query(query: str, linkname: str) -> None:
    with ReplayServer() as server:
        server.on("/elink.fcgi", recorded("pubmed/elink1.xml"))
        server.on("/efetch.fcgi", recorded(RCT))
        answer = await ask(server, Query(text=query, limit=4))
    links, fetched = server.asked
    assert links.query["id"] == ["9298984"]
    assert links.query["linkname"] == [linkname]
    groups = {group.findtext("LinkName"): group for group in tree("pubmed/elink1.xml").iter("LinkSetDb")}
    linked = [uid.text or "" for uid in groups[linkname].iterfind("Link/Id")]
    others = [uid for uid in linked if uid != "9298984"]  # an article is its own nearest neighbour
    assert fetched.query["id"] == [",".join(others[:6])]
    assert answer.hits == len(others) > 6


FAULTS = [
    pytest.param(Reply(400, "bad"), Refused, id="400"),
    pytest.param(Reply(401, "who"), Refused, id="401"),
    pytest.param(Reply(403, "no"), Refused, id="403"),
    pytest.param(Reply(404, "nothing here"), Refused, id="404"),
    pytest.param(recorded("pubmed/error_414_uri_too_long.html", 414), Refused, id="414"),
    pytest.param(recorded("pubmed/error_429_rate_limit.json", 429, retry_after="2"), RateLimited, id="429"),
    pytest.param(recorded("pubmed/error_429_rate_limit.json"), RateLimited, id="200 that means 429"),
    pytest.param(Reply(200, b'{"error":"API rate limit exceeded"}', XML), RateLimited, id="JSON called XML"),
    pytest.param(Reply(500, "oops"), Unavailable, id="500"),
    pytest.param(recorded("pubmed/error_legacy_html_instead_of_xml.html"), Malformed, id="a page"),
    pytest.param(recorded("pubmed/error_414_uri_too_long.html"), Malformed, id="a page that is XML"),
    pytest.param(Reply(hang_up=True), Unavailable, id="no answer"),
]
SEARCH_FAULTS = [
    *FAULTS,
    pytest.param(Reply(200, '{"esearchresult":{"ERROR":"Invalid db name"}}', JSON), Refused, id="ERROR"),
    pytest.param(
        Reply(200, '{"esearchresult":{"ERROR":"Search Backend failed: timeout"}}', JSON),
        Unavailable,
        id="ERROR that is an outage",
    ),
    pytest.param(Reply(200, '{"esearchresult":{"count":"3","idl', JSON), Malformed, id="cut JSON"),
    pytest.param(Reply(200, "[]", JSON), Malformed, id="another shape"),
    pytest.param(
        Reply(200, '{"esearchresult":{"count":"many","idlist":[]}}', JSON), Malformed, id="no number"
    ),
]
CUT = (RECORDED / RCT).read_bytes()[:9000]
BOMB = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><PubmedArticleSet>&b;</PubmedArticleSet>'
FETCH_FAULTS = [
    *FAULTS,
    pytest.param(recorded("pubmed/klortho_esearch.baderror.xml"), Refused, id="ERROR"),
    pytest.param(Reply(200, CUT, XML), Malformed, id="cut XML"),
    pytest.param(Reply(200, b"<other/>", XML), Malformed, id="another root"),
    pytest.param(Reply(200, BOMB, XML), Malformed, id="XML with entities"),
]


def check(error: SourceError) -> None:
    assert error.retryable is not isinstance(error, Refused)
    assert "pubmed" in str(error)


@pytest.mark.parametrize(("reply", "kind"), SEARCH_FAULTS)
async def test_a_search_that_fails_says_what_it_was(reply: Reply, kind: type[SourceError]) -> None:
    with ReplayServer() as server:
        server.on("/esearch.fcgi", reply)
        with pytest.raises(kind) as caught:
            await ask(server, Query(text="x"))
    check(caught.value)


@pytest.mark.parametrize(("reply", "kind"), FETCH_FAULTS)
async def test_a_fetch_that_fails_is_never_an_empty_search(reply: Reply, kind: type[SourceError]) -> None:
    with ReplayServer() as server:
        server.on("/esearch.fcgi", recorded("pubmed/esearch_json_1_hit.json"))
        server.on("/efetch.fcgi", reply)
        with pytest.raises(kind) as caught:
            await ask(server, Query(text="x"))
    check(caught.value)


async def test_retry_after_is_passed_on() -> None:
    with ReplayServer() as server:
        server.on("/esearch.fcgi", recorded("pubmed/error_429_rate_limit.json", 429, retry_after="2"))
        with pytest.raises(RateLimited) as caught:
            await ask(server, Query(text="x"))
    assert caught.value.retry_after == 2


async def test_an_error_that_repeats_the_key_does_not_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "0123456789abcdef"
    monkeypatch.setenv("NCBI_API_KEY", key)
    with ReplayServer() as server:
        server.on("/esearch.fcgi", Reply(400, f'{{"error":"API key invalid","api-key":"{key}"}}', JSON))
        with pytest.raises(Refused) as caught:
            await ask(server, Query(text="x"))
    error: BaseException | None = caught.value
    while error is not None:
        assert key not in str(error)
        error = error.__cause__


async def test_an_empty_query_is_refused_without_asking() -> None:
    with ReplayServer() as server, pytest.raises(Refused, match="empty"):
        await ask(server, Query(text="  "))
    assert server.asked == []


async def test_standing_can_be_requested_past_the_cache(tmp_path: Path) -> None:
    from activities.sources.http.client import open_http

    with ReplayServer() as server:
        server.on("/efetch.fcgi", recorded("pubmed/efetch_retracted_993.xml"))
        settings = pointed_at(server, "pubmed", home=tmp_path)
        async with open_http(settings) as http:
            source = PubMed(settings, http)
            for max_age in (None, None, 0):
                answer = await source.fetch(["993"], max_age=max_age)
                assert answer.records[0].standing == "retracted"
    assert len(server.asked) == 2
