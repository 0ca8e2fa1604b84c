import csv
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.errors import Malformed, Refused, SourceError
from activities.sources.base import search
from activities.sources.crossref import Crossref, parameters, plain, read_work
from activities.types import Filters, Query, StandingNotice
from tests.activities.sources.faults import FAULTS, HTML, check_retry, client, pointed_at
from tests.replay import RECORDED, ReplayServer, Reply, recorded


def message(name: str) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads((RECORDED / "crossref" / name).read_text())["message"]
    return parsed


def test_every_field_of_a_work_is_read() -> None:
    record = read_work(message("work_with_updated_by_correction.json"))
    assert record.evidence_id == "doi:10.1073/pnas.1414271111"
    assert record.source == "crossref"
    assert record.title == (
        "Developing functional musculoskeletal tissues through hypoxia and lysyl oxidase-induced collagen "
        "cross-linking"
    )
    assert record.text.startswith(
        "Significance\nThe inadequate mechanical properties of engineered tissues have prevented related"
    )
    assert "<" not in record.text
    assert record.authors == (
        "Eleftherios A. Makris",
        "Donald J. Responte",
        "Nikolaos K. Paschos",
        "Jerry C. Hu",
        "Kyriacos A. Athanasiou",
    )
    assert record.year == 2014
    assert record.venue == "Proceedings of the National Academy of Sciences"
    assert record.identifiers.doi == "10.1073/pnas.1414271111"
    assert record.url == "https://doi.org/10.1073/pnas.1414271111"
    assert record.evidence_type == "article"
    assert record.standing == "corrected"
    assert record.notices == (
        StandingNotice(
            kind="correction",
            date="2015-05-04",
            doi="10.1073/pnas.1507001112",
            reported_by="crossref (publisher)",
        ),
    )
    assert record.full_text is False
    assert record.facts == {
        "cited_by": "129",
        "work_type": "journal-article",
        "publisher": "Proceedings of the National Academy of Sciences",
    }


def test_a_retraction_outweighs_a_correction() -> None:
    record = read_work(message("work_retracted_wakefield_lancet_1998.json"))
    assert record.standing == "retracted"
    assert [(n.kind, n.date, n.doi) for n in record.notices] == [
        ("correction", "2004-03-06", "10.1016/s0140-6736(04)15715-2"),
        ("retraction", "2010-02-06", "10.1016/s0140-6736(10)60175-4"),
    ]
    assert {n.reported_by for n in record.notices} == {"crossref (retraction-watch)"}
    assert record.identifiers.doi == "10.1016/s0140-6736(97)11096-0"


def test_a_notice_is_not_the_work_it_is_about() -> None:
    items = message("works_journal_with_update_to_notices.json")["items"]
    notice = read_work(items[0])
    assert notice.identifiers.doi == "10.1371/journal.pone.0129989"
    assert notice.standing == "none"  # the correction was not itself corrected
    assert notice.notices == ()
    assert notice.facts["notice"] == "correction"
    assert notice.facts["notice_of"] == "10.1371/journal.pone.0120799"
    assert "notice" not in read_work(items[8]).facts


def test_retraction_notices_do_not_retract_themselves() -> None:
    with (RECORDED / "retractions" / "retraction_watch_sample_20.csv").open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 20
    for row in rows:
        notice = read_work(
            {
                "DOI": row["RetractionDOI"],
                "title": [f"Retracted: {row['Title']}"],
                "update-to": [{"DOI": row["OriginalPaperDOI"], "type": "retraction"}],
            }
        )
        assert notice.identifiers.doi == row["RetractionDOI"]
        assert notice.facts["notice_of"] == row["OriginalPaperDOI"]
        assert notice.standing == "none"
        work = read_work(
            {
                "DOI": row["OriginalPaperDOI"],
                "title": [row["Title"]],
                "updated-by": [{"DOI": row["RetractionDOI"], "type": "retraction"}],
            }
        )
        assert work.standing == "retracted"
        assert work.notices[0].doi == row["RetractionDOI"]


def test_a_work_retracted_in_place_is_retracted() -> None:
    record = read_work(
        {"DOI": "10.1000/x", "update-to": [{"DOI": "10.1000/X", "type": "retraction", "source": "publisher"}]}
    )
    assert record.standing == "retracted"
    assert record.notices[0].doi is None


@pytest.mark.parametrize(
    ("type_", "standing"),
    [
        ("retraction", "retracted"),
        ("withdrawal", "retracted"),
        ("removal", "retracted"),
        ("partial_retraction", "concern"),
        ("expression_of_concern", "concern"),
        ("Expression of concern", "concern"),
        ("erratum", "corrected"),
        ("corrigendum", "corrected"),
        ("correction", "corrected"),
        ("new_version", "none"),
        ("new_edition", "none"),
        ("something new", "none"),
    ],
)
def test_each_update_type_has_its_standing(type_: str, standing: str) -> None:
    updates: list[Any] = [{"DOI": "10.1000/notice", "type": type_}]
    assert read_work({"DOI": "10.1000/x", "updated-by": updates}).standing == standing


def test_a_title_that_says_retracted_is_enough() -> None:
    record = read_work({"DOI": "10.1000/x", "title": ["RETRACTED: Ileal-lymphoid-nodular hyperplasia"]})
    assert record.standing == "retracted"
    assert record.notices[0].reported_by == "crossref (title)"
    assert read_work({"DOI": "10.1000/x", "title": ["Retracted papers: a survey"]}).standing == "none"


def test_a_preprint_is_one() -> None:
    record = read_work({"DOI": "10.1101/2020.01.30.927871", "type": "posted-content", "subtype": "preprint"})
    assert record.evidence_type == "preprint"


def test_an_unknown_date_is_no_error() -> None:
    record = read_work({"DOI": "10.1000/x", "issued": {"date-parts": [[None]]}, "title": None})
    assert record.year is None
    assert record.title == "Untitled"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<jats:title>Abstract</jats:title><jats:p>One.</jats:p><jats:p>Two.</jats:p>", "One.\nTwo."),
        ("<jats:sec><jats:title>Methods</jats:title><jats:p>We did.</jats:p></jats:sec>", "Methods\nWe did."),
        ("<jats:p>IC<jats:sub>50</jats:sub> &amp;lt; 5 &mu;M</jats:p>", "IC₅₀ < 5 μM"),
        ("<jats:p>10<jats:sup>3</jats:sup> cells</jats:p>", "10³ cells"),
        ("plain   text,\n p <0.05", "plain text, p <0.05"),
        ("<jats:p>before <!-- hidden --> after</jats:p>", "before after"),
        ("<p><tex-math>$x$</tex-math><mml:math><mml:mi>x</mml:mi></mml:math></p>", "x"),
        ("", ""),
    ],
)
def test_markup_becomes_text(markup: str, text: str) -> None:
    assert plain(markup) == text


@given(st.text(alphabet="abc <>&;/!-\n", max_size=60))
def test_no_markup_breaks_the_reading(markup: str) -> None:
    assert isinstance(plain(markup), str)


def test_the_query_is_sent_as_typed() -> None:
    typed = 'GLP-1 AND "Alzheimer\'s disease"'
    asked = parameters(Query(text=typed, limit=30, filters=Filters(year_from=2010, year_to=2020)))
    assert asked == {
        "query": typed,
        "rows": "30",
        "filter": "has-abstract:true,from-pub-date:2010,until-pub-date:2020",
    }


async def test_a_search_end_to_end() -> None:
    with ReplayServer() as server:
        server.on("/works", recorded("crossref/works_query_list.json"))
        async with client() as http:
            source = Crossref(pointed_at(server, "crossref", email="me@example.org"), http)
            found = await search(source, Query(text="chemistry tools"))
    assert (found.status, found.hits, found.set_aside) == ("ok", 2539726, 0)
    (record,) = found.records
    assert record.identifiers.doi == "10.1038/s42256-024-00832-8"
    assert record.standing == "none"
    assert record.text.startswith("Large language models (LLMs) have shown strong performance")
    assert found.sent == "query=chemistry tools; filter=has-abstract:true"
    assert server.asked[0].query["mailto"] == ["me@example.org"]


async def test_works_without_an_abstract_are_set_aside_and_void_nothing() -> None:
    page = json.loads((RECORDED / "crossref/works_journal_with_update_to_notices.json").read_text())
    page["message"]["items"] += ["broken", {"DOI": "not a doi", "abstract": "text"}]
    with ReplayServer() as server:
        server.on("/works", Reply(200, json.dumps(page)))
        async with client() as http:
            found = await search(Crossref(pointed_at(server, "crossref"), http), Query(text="x", limit=30))
    assert [r.identifiers.doi for r in found.records] == ["10.1371/journal.pone.0264777"]
    assert found.set_aside == 12
    assert found.details == ("set aside: 10 without text to quote, 2 unreadable",)


async def test_no_match_is_empty() -> None:
    with ReplayServer() as server:
        server.on("/works", recorded("crossref/works_no_items.json"))
        async with client() as http:
            found = await search(Crossref(pointed_at(server, "crossref"), http), Query(text="x"))
    assert (found.status, found.hits) == ("empty", 0)


@pytest.mark.parametrize(("reply", "kind"), FAULTS)
async def test_an_outage_is_never_no_results(reply: Reply, kind: type[SourceError]) -> None:
    with ReplayServer() as server:
        server.on("/works", reply)
        async with client() as http:
            with pytest.raises(kind) as caught:
                await search(Crossref(pointed_at(server, "crossref"), http), Query(text="x"))
        assert len(server.asked) == 1
    check_retry(caught.value)


async def test_a_rejection_inside_a_200_is_a_refusal() -> None:
    body = {"status": "failed", "message-type": "validation-failure", "message": [{"message": "bad filter"}]}
    with ReplayServer() as server:
        server.on("/works", Reply(200, json.dumps(body)))
        async with client() as http:
            with pytest.raises(Refused, match="bad filter"):
                await search(Crossref(pointed_at(server, "crossref"), http), Query(text="x"))


async def test_one_work_by_its_doi() -> None:
    with ReplayServer() as server:
        server.on("/works/*", recorded("crossref/work_retracted_wakefield_lancet_1998.json"))
        async with client() as http:
            work = await Crossref(pointed_at(server, "crossref"), http).work("10.1016/s0140-6736(97)11096-0")
    assert work is not None
    assert work.doi == "10.1016/s0140-6736(97)11096-0"
    assert server.asked[0].path == "/works/10.1016%2Fs0140-6736%2897%2911096-0"


async def test_a_doi_crossref_does_not_have_is_none_but_a_strange_404_is_not() -> None:
    with ReplayServer() as server:
        server.on(
            "/works/*",
            recorded("crossref/error_404_resource_not_found.txt", status=404),
            Reply(404, HTML),
        )
        async with client() as http:
            source = Crossref(pointed_at(server, "crossref"), http)
            assert await source.work("10.48550/arxiv.2312.07559") is None
            with pytest.raises(Malformed):
                await source.work("10.48550/arxiv.2312.07559")
