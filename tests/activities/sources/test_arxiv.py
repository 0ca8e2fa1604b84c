import pytest
from lxml import etree

from activities.errors import Malformed, RateLimited, Refused, SourceError, Unavailable
from activities.sources.arxiv import SPACES, ArXiv, parameters, read_entry
from activities.sources.base import search
from activities.types import Evidence, Filters, Query
from tests.activities.sources.faults import HTML, check_retry, client, pointed_at
from tests.replay import RECORDED, ReplayServer, Reply, recorded

ATOM = {"content-type": "application/atom+xml"}
FEED = RECORDED / "arxiv" / "search_10.xml"


def entries(path: str = "search_10.xml") -> list[Evidence]:
    feed = etree.fromstring((RECORDED / "arxiv" / path).read_bytes())
    return [read_entry(entry) for entry in feed.findall("atom:entry", SPACES)]


def entry(**parts: str) -> Evidence:
    """An entry as arXiv sends it, with these parts in place of the usual ones."""
    known = {
        "id": "http://arxiv.org/abs/1707.08567v3",
        "title": "A title",
        "summary": "A summary.",
        "published": "2017-07-27T08:18:33Z",
    } | parts
    atom = "".join(f"<{name}>{text}</{name}>" for name, text in known.items() if name != "comment")
    comment = f"<a:comment>{known['comment']}</a:comment>" if "comment" in known else ""
    return read_entry(
        etree.fromstring(
            f'<entry xmlns="{SPACES["atom"]}" xmlns:a="{SPACES["arxiv"]}">{atom}{comment}</entry>'
        )
    )


def test_every_field_of_a_preprint_is_read() -> None:
    record = entries()[2]
    assert record.evidence_id == "doi:10.1145/3395363.3397376"
    assert record.source == "arxiv"
    assert record.title == "Active Fuzzing for Testing and Securing Cyber-Physical Systems"
    assert record.text.startswith("Cyber-physical systems (CPSs) in critical infrastructure face a pervasive")
    assert "\n" not in record.text
    assert record.authors[0] == "Yuqi Chen"
    assert record.year == 2020
    assert record.venue == "arXiv"
    assert record.identifiers.arxiv == "2005.14124"
    assert record.identifiers.doi == "10.1145/3395363.3397376"
    assert record.url == "https://arxiv.org/abs/2005.14124"
    assert record.evidence_type == "preprint"
    assert record.standing == "unknown"
    assert record.full_text is False
    assert record.facts == {
        "version": "2",
        "published": "2020-05-28",
        "updated": "2020-07-16",
        "journal_reference": "In Proc. ACM SIGSOFT International Symposium on Software Testing and Analysis "
        "(ISSTA 2020), pages 14-26. ACM, 2020",
        "comment": "Accepted by the ACM SIGSOFT International Symposium on Software Testing and Analysis "
        "(ISSTA 2020)",
        "categories": "cs.SE; cs.CR; cs.LG",
        "pdf": "https://arxiv.org/pdf/2005.14124",
    }


def test_without_a_published_version_it_goes_by_its_arxiv_number() -> None:
    record = entries()[5]
    assert record.evidence_id == "arxiv:1202.4527"
    assert record.identifiers.doi is None


def test_versions_are_one_work() -> None:
    assert entry(id="http://arxiv.org/abs/1707.08567v1").evidence_id == entry().evidence_id
    assert entry(id="http://arxiv.org/abs/hep-th/9901001v2").identifiers.arxiv == "hep-th/9901001"


@pytest.mark.parametrize(
    "parts",
    [
        {"comment": "This paper has been withdrawn by the author due to a crucial error in equation 1"},
        {"summary": "This paper has been withdrawn by the authors."},
    ],
)
def test_a_withdrawn_preprint_is_not_to_be_cited(parts: dict[str, str]) -> None:
    record = entry(**parts)
    assert record.standing == "retracted"
    assert [(n.kind, n.reported_by) for n in record.notices] == [("withdrawal", "arxiv")]
    assert entry(comment="Replaces a paper that was withdrawn").standing == "unknown"


def test_the_query_is_sent_as_typed() -> None:
    typed = 'ti:"deep learning" ANDNOT all:antiviral'
    assert parameters(Query(text=typed, limit=7))["search_query"] == typed
    assert parameters(Query(text=typed, limit=7))["max_results"] == "7"
    narrowed = parameters(Query(text=typed, filters=Filters(year_from=2020, year_to=2021)))
    assert narrowed["search_query"] == f"({typed}) AND submittedDate:[202001010000 TO 202112312359]"


async def test_a_search_end_to_end() -> None:
    with ReplayServer() as server:
        server.on("/query", recorded("arxiv/search_10.xml"))
        async with client() as http:
            found = await search(ArXiv(pointed_at(server, "arxiv"), http), Query(text="testing", limit=4))
    assert (found.status, found.hits, found.set_aside, len(found.records)) == ("ok", 214881, 0, 4)
    assert found.records[0].identifiers.arxiv == "2202.12139"
    assert found.sent == "testing"
    assert server.asked[0].query["search_query"] == ["testing"]
    assert server.count("/query") == 1


async def test_no_match_is_empty() -> None:
    with ReplayServer() as server:
        server.on("/query", recorded("arxiv/no_results.xml"))
        async with client() as http:
            found = await search(ArXiv(pointed_at(server, "arxiv"), http), Query(text="x"))
    assert (found.status, found.hits) == ("empty", 0)


async def test_a_missing_entry_voids_nothing_and_a_bad_one_is_set_aside() -> None:
    feed = (RECORDED / "arxiv/id_list_one_missing.xml").read_text()
    bad = "<entry><id>http://arxiv.org/abs/</id><title>No number</title><summary>Text.</summary></entry>"
    bare = "<entry><id>http://arxiv.org/abs/2001.00001v1</id><title>No summary</title></entry>"
    with ReplayServer() as server:
        server.on("/query", Reply(200, feed.replace("</feed>", f"{bad}{bare}</feed>").encode(), ATOM))
        async with client() as http:
            found = await search(ArXiv(pointed_at(server, "arxiv"), http), Query(text="x"))
    assert [r.identifiers.arxiv for r in found.records] == ["1707.08567"]
    assert found.set_aside == 2
    assert found.details == ("set aside: 1 unreadable, 1 without text to quote",)


NO_ENTRIES = FEED.read_text().split("<entry>")[0] + "</feed>"
FAULTS = [
    pytest.param(recorded("arxiv/error_400_bad_id.xml", status=400), Refused, "incorrect id", id="400"),
    pytest.param(recorded("arxiv/error_400_bad_id.xml"), Refused, "incorrect id", id="200 with an error"),
    pytest.param(Reply(400, HTML), Malformed, "HTML page", id="400 that is a page"),
    pytest.param(Reply(401, ""), Refused, "401", id="401"),
    pytest.param(Reply(403, HTML), Refused, "403", id="403"),
    pytest.param(Reply(404, HTML), Refused, "404", id="404"),
    pytest.param(Reply(414, HTML), Refused, "414", id="414"),
    pytest.param(Reply(429, "Rate exceeded.", {"retry-after": "7"}), RateLimited, "429", id="429"),
    pytest.param(Reply(500, HTML), Unavailable, "500", id="500"),
    pytest.param(Reply(503, "busy", {"retry-after": "7"}), Unavailable, "503", id="503"),
    pytest.param(Reply(200, HTML), Malformed, "HTML page", id="a page in place of XML"),
    pytest.param(Reply(200, FEED.read_bytes()[:3000], ATOM), Malformed, "cannot be read", id="cut XML"),
    pytest.param(Reply(200, "<rss/>", ATOM), Malformed, "no Atom feed", id="XML of another shape"),
    pytest.param(Reply(200, NO_ENTRIES.encode(), ATOM), Malformed, "sent none", id="matches but no entries"),
    pytest.param(
        Reply(200, NO_ENTRIES.replace("opensearch:totalResults", "opensearch:x").encode(), ATOM),
        Malformed,
        "how many match",
        id="no total",
    ),
    pytest.param(
        Reply(200, '<!DOCTYPE feed [<!ENTITY x "y">]><feed>&x;</feed>', ATOM),
        Malformed,
        "cannot be read",
        id="entities",
    ),
    pytest.param(Reply(hang_up=True), Unavailable, "cannot be reached", id="no answer"),
]


@pytest.mark.parametrize(("reply", "kind", "said"), FAULTS)
async def test_an_outage_is_never_no_results(reply: Reply, kind: type[SourceError], said: str) -> None:
    with ReplayServer() as server:
        server.on("/query", reply)
        async with client() as http:
            with pytest.raises(kind, match=said) as caught:
                await search(ArXiv(pointed_at(server, "arxiv"), http), Query(text="x"))
        assert len(server.asked) == 1
    check_retry(caught.value)


def test_it_has_a_queue_of_its_own_at_one_request_in_three_seconds() -> None:
    assert ArXiv.info.queue == "determinator-arxiv"
    assert ArXiv.info.rate_per_second == pytest.approx(1 / 3)
