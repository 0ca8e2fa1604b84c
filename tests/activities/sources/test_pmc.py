import json

import pytest
from lxml import etree

from activities.documents.xml_text import text_of
from activities.errors import Malformed, RateLimited, Refused, SourceError, Unavailable
from activities.searches import Listed
from activities.sources.base import SearchResult, search
from activities.sources.pmc import Pmc, read_articles, read_evidence
from activities.types import Query
from tests.activities.sources.faults import client, pointed_at
from tests.replay import RECORDED, ReplayServer, Reply, recorded

PTEN = "pmc/efetch_pmc_6329583.xml"
XML = {"content-type": "text/xml"}
FOUND = Reply(
    200, '{"esearchresult":{"count":"5","idlist":["6329583"]}}', {"content-type": "application/json"}
)


def article(name: str) -> etree._Element:
    root = etree.parse(RECORDED / name).getroot()
    return root if root.tag == "article" else root[0]


def jats(inside: str, meta: str = "", kind: str = "research-article") -> etree._Element:
    return etree.fromstring(
        f'<article article-type="{kind}" xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta>'
        f"<title-group><article-title>T</article-title></title-group>{meta}</article-meta></front>"
        f"<body>{inside}</body></article>"
    )


async def ask(server: ReplayServer) -> SearchResult:
    async with client() as http:
        return await search(Pmc(pointed_at(server, "pmc"), http), Query(text="PTEN variant", limit=3))


def test_every_field_of_an_article_is_read() -> None:
    root = etree.parse(RECORDED / PTEN).getroot()
    (record,) = read_articles(root, 1, "PTEN").records
    assert record.evidence_id == "pmid:30311380"
    assert record.source == "pmc"
    assert record.title == (
        "Gene-Specific Criteria for PTEN Variant Curation: Recommendations from the ClinGen PTEN Expert Panel"
    )
    assert record.authors[:2] == ("Jessica L. Mester", "Rajarshi Ghosh")
    assert len(record.authors) == 17
    assert record.year == 2018
    assert record.venue == "Human mutation"
    assert record.identifiers.pmid == "30311380"
    assert record.identifiers.pmcid == "PMC6329583"
    assert record.identifiers.doi == "10.1002/humu.23636"
    assert record.url == "https://pmc.ncbi.nlm.nih.gov/articles/PMC6329583/"
    assert record.evidence_type == "article"
    assert record.standing == "unknown"  # a deposited file is not updated by later notices
    assert record.full_text is True
    assert [(found.source, found.query) for found in record.provenance] == [("pmc", "PTEN")]


def test_the_text_is_the_abstract_and_the_body_with_their_headings() -> None:
    text = read_evidence(article(PTEN)).text
    lines = text.partition("\n\nTABLES\n\n")[0].split("\n")
    assert lines[0].startswith("The ClinGen PTEN Expert Panel was organized by")
    assert [line for line in lines if line in ("Introduction", "Methods", "Results", "Discussion")] == [
        "Introduction",
        "Methods",
        "Results",
        "Discussion",
    ]
    assert lines[-1].startswith("Variants classified as being o")


def test_references_figures_and_supplements_are_left_out() -> None:
    root = article(PTEN)
    text = read_evidence(root).text
    assert "Supplementary Material" not in text.split("\n")
    cited = [text_of(found) for found in root.iter("mixed-citation")]
    assert len(cited) == 54
    assert not [reference for reference in cited if reference in text]
    running, _, tables = text.partition("\n\nTABLES\n\n")
    cells = [text_of(cell) for cell in root.iter("td")]
    long = [cell for cell in cells if len(cell) > 60]
    assert not [cell for cell in long if cell in running]
    assert [cell for cell in long if cell in tables]


def test_names_of_authors_stay_where_they_are_part_of_the_sentence() -> None:
    record = read_evidence(article("pmc/oa_ehp-116-1694.nxml"))
    assert "tissues of humans and wildlife (Hites 2004; Law et al. 2003)." in record.text
    assert record.text.startswith("Background\nPolybrominated diphenyl ether (PBDE) flame retardants")
    assert record.year == 2008
    assert "T₄" in record.text


def test_numeric_citation_marks_are_removed_with_their_brackets() -> None:
    mark = '<xref ref-type="bibr" rid="r{0}">{0}</xref>'.format
    record = read_evidence(
        jats(
            f"<p>It works [{mark(1)}, {mark(2)}&#8211;{mark(4)}]. It grew<sup>{mark(3)}</sup> to "
            '10<sup>3</sup> (see <xref ref-type="fig">Figure 1</xref>).</p>'
        )
    )
    assert record.text == "It works. It grew to 10³ (see Figure 1)."


def test_lists_are_lines_and_stand_once() -> None:
    items = "".join(f"<list-item><p>{word}</p></list-item>" for word in ("one", "two"))
    record = read_evidence(jats(f"<p>Two things:<list>{items}</list></p>"))
    assert record.text == "Two things:\none\ntwo"


def test_an_article_whose_publisher_keeps_the_text_is_an_abstract_and_says_so() -> None:
    root = etree.Element("pmc-articleset")
    root.append(jats("", "<abstract><p>Only this.</p></abstract>"))
    root.append(jats(""))
    answer = read_articles(root, 2, "q")
    assert [record.full_text for record in answer.records] == [False]
    assert answer.records[0].text == "Only this."
    assert answer.set_aside == 1
    assert (
        answer.detail == "set aside: 1 without text to quote; 1 with the abstract only (publisher's choice)"
    )


@pytest.mark.parametrize(
    ("link", "standing", "kind"),
    [
        ("retraction-forward", "retracted", "retraction"),
        ("object-of-concern-forward", "concern", "concern"),
        ("correction-forward", "corrected", "correction"),
    ],
)
def test_a_notice_that_the_article_links_to_is_reported(link: str, standing: str, kind: str) -> None:
    meta = f'<related-article related-article-type="{link}" xlink:href="10.1000/Notice"/>'
    record = read_evidence(jats("<p>Text.</p>", meta))
    assert record.standing == standing
    assert [(notice.kind, notice.doi) for notice in record.notices] == [(kind, "10.1000/notice")]


def test_a_correction_is_a_notice_and_not_a_corrected_work() -> None:
    record = read_evidence(article("pmc/efetch_pmc_biopython.xml"))
    assert record.facts["notice"] == "correction notice"
    assert record.standing == "unknown"
    assert record.notices == ()


def test_one_bad_article_is_set_aside_and_the_others_stay() -> None:
    root = etree.parse(RECORDED / PTEN).getroot()
    root.append(etree.Element("article"))
    answer = read_articles(root, 3, "q")
    assert len(answer.records) == 1
    assert answer.set_aside == 2
    assert answer.detail == "set aside: 1 unreadable, 1 not returned"


async def test_a_search_ends_in_full_texts() -> None:
    with ReplayServer() as server:
        server.on("/esearch.fcgi", FOUND)
        server.on("/efetch.fcgi", recorded(PTEN))
        answer = await ask(server)
    assert answer.status == "ok"
    assert answer.hits == 5
    assert [record.evidence_id for record in answer.records] == ["pmid:30311380"]
    assert [asked.query["db"] for asked in server.asked] == [["pmc"], ["pmc"]]
    assert server.asked[1].query["id"] == ["6329583"]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        pytest.param(Reply(400, "bad"), Refused, id="400"),
        pytest.param(Reply(403, "no"), Refused, id="403"),
        pytest.param(Reply(404, "none"), Refused, id="404"),
        pytest.param(Reply(429, "slow"), RateLimited, id="429"),
        pytest.param(Reply(500, "oops"), Unavailable, id="500"),
        pytest.param(Reply(200, "<!DOCTYPE html><html></html>", XML), Malformed, id="a page"),
        pytest.param(Reply(200, (RECORDED / PTEN).read_bytes()[:50_000], XML), Malformed, id="cut XML"),
        pytest.param(Reply(200, '{"error":"API rate limit exceeded"}', XML), RateLimited, id="200 as 429"),
    ],
)
async def test_a_fetch_that_fails_says_what_it_was(reply: Reply, kind: type[SourceError]) -> None:
    with ReplayServer() as server:
        server.on("/esearch.fcgi", FOUND)
        server.on("/efetch.fcgi", reply)
        with pytest.raises(kind):
            await ask(server)


async def test_titles_come_first_and_only_what_is_chosen_is_fetched() -> None:
    with ReplayServer() as server:
        ids = ["6329583", "7771231", "7771052"]
        found = {"esearchresult": {"count": "5", "idlist": ids}}
        server.on("/esearch.fcgi", Reply(200, json.dumps(found), {"content-type": "application/json"}))
        server.on("/esummary.fcgi", recorded("pmc/esummary_12.json"))
        server.on("/efetch.fcgi", Reply(200, (RECORDED / PTEN).read_bytes(), XML))
        async with client() as http:
            source = Pmc(pointed_at(server, "pmc"), http)
            listing = await source.list_results(Query(text="PTEN variant", limit=3))
            texts = await source.read_results(listing.results[:1])
    assert [one.address for one in listing.results] == ids
    assert listing.results[1].title.startswith("Nasal Tissue Extraction Is Essential")
    assert listing.hits == 5
    record = texts["pmc:6329583"]
    assert record is not None
    assert [(one.source, one.query) for one in record.provenance] == [("pmc", "PTEN variant")]
    assert [asked.query["id"] for asked in server.asked if asked.path == "/efetch.fcgi"] == [["6329583"]]


async def test_an_article_that_is_not_returned_is_none() -> None:
    with ReplayServer() as server:
        server.on("/efetch.fcgi", Reply(200, (RECORDED / PTEN).read_bytes(), XML))
        chosen = [Listed(name=f"pmc:{number}", address=number) for number in ("6329583", "1")]
        async with client() as http:
            texts = await Pmc(pointed_at(server, "pmc"), http).read_results(chosen)
    assert [name for name, text in texts.items() if text is None] == ["pmc:1"]
