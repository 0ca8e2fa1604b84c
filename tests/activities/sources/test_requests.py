"""Requests of each source, and the works that it reads from recorded answers of its API."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from activities.configuration.question import SourceFilters, SourceSettings
from activities.contracts.errors import Malformed, Refused
from activities.contracts.evidence import NO_ABSTRACT, Evidence, Filters, Query
from activities.contracts.search import Preview
from activities.search_activity import narrow_query
from activities.sources.base import search
from activities.sources.crossref import Crossref
from activities.sources.drug_names import drug_of_query
from activities.sources.filters import TYPES, canonical, in_years
from activities.sources.http.cache import no_older_than
from activities.sources.http.client import Http
from activities.sources.openfda import lucene, shares_of
from activities.sources.pmc import Pmc
from activities.sources.pubmed import PubMed
from tests.activities.sources.conftest import Sourced
from tests.activities.sources.faults import HTML, JSON, client, pointed_at
from tests.activities.sources.recordings import (
    EFETCH,
    ESEARCH,
    ONLINE,
    PAGE_OF_WORKS,
    RECORDINGS,
    Recording,
    difference,
    played,
)
from tests.replay import RECORDED, ReplayServer, Reply, recorded

TRIAL = recorded("pubmed/efetch_structured_abstract_rct_22663011.xml")
ARTICLE = recorded("pmc/efetch_pmc_6329583.xml")


async def test_a_long_list_of_ids_is_posted_and_as_fresh_as_a_short_one(
    server: ReplayServer, tmp_path: Path
) -> None:
    ids = ["22663011", *(str(30_000_000 + number) for number in range(199))]
    server.on(EFETCH, TRIAL)
    async with client(tmp_path, paced=False) as http:
        source = PubMed(pointed_at(server, "pubmed"), http)
        for wanted in (ids[:1], ids):
            for max_age in (None, None, 0):
                with no_older_than(max_age):
                    answer = await source.fetch(wanted)
    assert [asked.method for asked in server.asked] == ["GET", "GET", "POST", "POST"]
    posted = server.asked[-1]
    assert posted.query == {}
    assert b"22663011" in posted.body
    assert (len(answer.records), answer.set_aside) == (1, 199)
    assert answer.detail == "set aside: 199 not returned"


@pytest.mark.parametrize("titles", [False, True])
async def test_a_record_without_an_abstract_is_kept_where_titles_are_screened(
    server: ReplayServer, source: Sourced, titles: bool
) -> None:
    tree = etree.fromstring(TRIAL.body)
    etree.strip_elements(tree, "Abstract")
    server.on("/esearch.fcgi", recorded("pubmed/esearch_json_1_hit.json"))
    server.on(EFETCH, Reply(200, etree.tostring(tree), {"content-type": "text/xml"}))
    answer = await search(source("pubmed"), Query(text="aspirin", limit=4, titles=titles))
    assert answer.set_aside == (not titles)
    assert [(one.text == one.title, NO_ABSTRACT in one.facts) for one in answer.records] == [
        (True, True)
    ] * titles


@pytest.mark.parametrize(
    ("query", "linkname"),
    [("related:9298984", "pubmed_pubmed"), ("CitedBy: 9298984", "pubmed_pubmed_citedin")],
)
async def test_links_of_an_article_are_a_query(
    server: ReplayServer, source: Sourced, query: str, linkname: str
) -> None:
    server.on("/elink.fcgi", recorded("pubmed/elink1.xml"))
    server.on(EFETCH, TRIAL)
    answer = await search(source("pubmed"), Query(text=query, limit=4))
    links, fetched = server.asked
    assert links.query["id"] == ["9298984"]
    assert links.query["linkname"] == [linkname]
    tree = etree.parse(RECORDED / "pubmed/elink1.xml")
    groups = {group.findtext("LinkName"): group for group in tree.iter("LinkSetDb")}
    linked = [uid.text or "" for uid in groups[linkname].iterfind("Link/Id")]
    others = [uid for uid in linked if uid != "9298984"]  # an article is its own nearest neighbour
    assert fetched.query["id"] == [",".join(others[:6])]
    assert answer.hits == len(others) > 6


async def test_titles_come_first_and_only_what_is_chosen_is_fetched(server: ReplayServer, http: Http) -> None:
    ids = ["6329583", "7771231", "7771052"]
    listed = {"esearchresult": {"count": "5", "idlist": ids}}
    server.on(ESEARCH, Reply(200, json.dumps(listed), JSON))
    server.on("/esummary.fcgi", recorded("pmc/esummary_12.json")).on(EFETCH, ARTICLE)
    source = Pmc(pointed_at(server, "pmc"), http)
    listing = await source.list_results(Query(text="PTEN variant", limit=3))
    texts = await source.read_results([*listing.results[:1], Preview(name="pmc:1", address="1")])
    assert [result.address for result in listing.results] == ids
    assert listing.results[1].title.startswith("Nasal Tissue Extraction Is Essential")
    assert listing.hits == 5
    record = texts["pmc:6329583"]
    assert record is not None
    assert [(origin.source, origin.query) for origin in record.provenance] == [("pmc", "PTEN variant")]
    assert [name for name, text in texts.items() if text is None] == ["pmc:1"]
    assert [asked.query["id"] for asked in server.asked if asked.path == EFETCH] == [["6329583,1"]]


async def test_more_than_a_page_needs_one_exchange_a_page(server: ReplayServer, source: Sourced) -> None:
    page = json.loads((RECORDED / PAGE_OF_WORKS).read_text())
    page["results"] = [page["results"][0]] * 100
    page["meta"]["count"] = 400
    server.on("/works", Reply(200, json.dumps(page)))
    answer = await search(source("openalex"), Query(text="x", limit=150))
    assert [asked.query["page"] for asked in server.asked] == [["1"], ["2"]]
    assert len(answer.records) == 150


async def test_one_work_by_its_doi(server: ReplayServer, http: Http) -> None:
    doi = "10.1016/s0140-6736(97)11096-0"
    server.on(
        "/works/*",
        recorded("crossref/work_retracted_wakefield_lancet_1998.json"),
        recorded("crossref/error_404_resource_not_found.txt", status=404),
        Reply(404, HTML),
    )
    source = Crossref(pointed_at(server, "crossref"), http)
    notices = await source.notices(doi)
    assert notices is not None
    assert "retraction" in {notice.kind for notice in notices}
    assert await source.notices("10.48550/arxiv.2312.07559") is None
    with pytest.raises(Malformed):
        await source.notices("10.48550/arxiv.2312.07559")
    assert server.asked[0].path == "/works/10.1016%2Fs0140-6736%2897%2911096-0"


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("pembrolizumab", 'n:"pembrolizumab" OR (pembrolizumab)'),
        ("GLP-1 agonist", 'n:"GLP-1 agonist" OR ("GLP-1" AND agonist)'),
        ("Alzheimer's disease", 'n:"Alzheimer\'s disease" OR ("Alzheimer\'s" AND disease)'),
        ("metformin AND insulin", 'n:"metformin insulin" OR (metformin AND insulin)'),
        ('unbalanced " quote (', 'n:"unbalanced quote" OR (unbalanced AND quote)'),
        ("antiviral or", 'n:"antiviral or" OR (antiviral AND or)'),
        *((typed, typed) for typed in ('a:"imatinib" AND b:ORAL', "_exists_:warning", "(a.b:gleevec)")),
    ],
)
def test_openfda_is_asked_in_its_syntax_without_losing_a_word(typed: str, sent: str) -> None:
    assert lucene(typed, ("n",), anywhere=True) == sent


@given(st.text(max_size=40))
def test_whatever_is_typed_parentheses_and_quotes_are_balanced(typed: str) -> None:
    try:
        sent = lucene(typed, ("n",), anywhere=True)
    except Refused:
        return
    if sent == typed:
        return
    assert sent.count('"') % 2 == 0
    outside = "".join(sent.split('"')[::2])
    assert outside.count("(") == outside.count(")")
    assert not set(outside) & set("+-!{}[]^~*?/\\")


def test_openfdas_endpoints_share_the_limit_and_an_unknown_one_is_refused() -> None:
    with pytest.raises(Refused, match="label, drugsfda or event"):
        shares_of(Query(text="x", filters=Filters(options={"endpoint": "device"})))
    assert drug_of_query("Does Paracetamol AND asthma") == "acetaminophen"
    assert drug_of_query('"compound 17" AND pain') == "compound 17 pain"


async def test_a_key_raises_the_rate_of_ncbi(server: ReplayServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCBI_API_KEY", "k" * 36)
    async with client() as http:
        source = PubMed(pointed_at(server, "pubmed"), http)
        limiter = http.rate_limiter("pubmed")
        assert source.info.rate_per_second == 10
        assert limiter is not None
        assert limiter.per_second == 10


@pytest.mark.parametrize("name", TYPES)
def test_every_type_is_known_however_it_is_typed(name: str) -> None:
    assert canonical(name.replace("_", "-").upper()) == name


def test_what_is_asked_for_goes_over_the_configured_filters_and_years_hold_for_every_source() -> None:
    configured = SourceSettings(max_results=3, filters=SourceFilters(year_from=2000, year_to=2010))
    found = narrow_query(Query(text="x", filters=Filters(year_from=2005)), configured)
    assert (found.limit, found.filters.year_from, found.filters.year_to) == (3, 2005, 2010)
    old, new, undated = (
        Evidence(evidence_id="x", source="s", title="t", text="x", year=year) for year in (1990, 2020, None)
    )
    asked = Filters(year_from=2015)
    assert [in_years(record, asked) for record in (old, new, undated)] == [False, True, True]


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda case: f"{case.source} {case.name}")
async def test_a_source_makes_of_a_recording_what_its_golden_file_says(recording: Recording) -> None:
    """To accept a difference: `python -m tests.activities.sources.recordings`."""
    assert await difference(recording) == ""


@pytest.mark.parametrize(
    "recording", [case for case in RECORDINGS if case.name == "damaged"], ids=lambda case: case.source
)
async def test_one_bad_record_is_set_aside_and_the_others_stay(recording: Recording) -> None:
    outcome = json.loads(await played(recording))
    assert outcome["set_aside"] >= 2
    assert outcome.get("records") or outcome.get("results")


def test_every_source_has_recordings_and_every_golden_file_is_compared() -> None:
    assert {case.source for case in RECORDINGS} == set(ONLINE)
    assert {case.golden for case in RECORDINGS} == set(RECORDED.glob("*/*.golden.json"))
    assert len({case.golden for case in RECORDINGS}) == len(RECORDINGS)
