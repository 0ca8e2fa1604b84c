from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.errors import Malformed
from activities.sources import arxiv, clinicaltrials, crossref, openalex, openfda, semanticscholar
from activities.sources.base import Source, search
from activities.sources.http.client import open_http
from activities.sources.records import Wire, arxiv_of_doi, facts, year_of
from activities.types import Filters, Query
from tests.activities.sources.faults import HTML, Build, pointed_at
from tests.replay import ReplayServer, Reply, recorded

ONE = Query(text="x", filters=Filters(options={"endpoint": "label"}))
SOURCES: list[tuple[str, Build, str]] = [
    ("clinicaltrials", clinicaltrials.ClinicalTrials, "ctgov/search_keytruda_limit3_20260811.json"),
    ("openfda", openfda.OpenFda, "openfda/label_otc_silicea.json"),
    ("openalex", openalex.OpenAlex, "openalex/works_title_search_list.json"),
    ("crossref", crossref.Crossref, "crossref/works_query_list.json"),
    ("semanticscholar", semanticscholar.SemanticScholar, "semanticscholar/search_paper_100.json"),
]


@pytest.mark.parametrize(("name", "build", "good"), SOURCES)
async def test_a_page_in_place_of_an_answer_is_not_stored(
    tmp_path: Path, name: str, build: Callable[..., Source], good: str
) -> None:
    with ReplayServer() as server:
        server.on("/*", Reply(200, HTML, {"content-type": "text/html"}))
        settings = pointed_at(server, name, home=tmp_path)
        async with open_http(settings) as http:
            source = build(settings, http)
            with pytest.raises(Malformed):
                await source.exchange(ONE)
            server.on("/*", recorded(good))
            answer = await source.exchange(ONE)
            asked = len(server.asked)
            assert (await source.exchange(ONE)).hits == answer.hits
        assert answer.hits > 0
        assert asked == len(server.asked) == 2  # and the sound answer was stored


async def test_a_feed_of_errors_is_not_stored(tmp_path: Path) -> None:
    empty = recorded("arxiv/search_10.xml").body
    assert isinstance(empty, bytes)
    hiccup = empty.split(b"<entry>")[0] + b"</feed>"
    with ReplayServer() as server:
        server.on("/query", Reply(200, hiccup), recorded("arxiv/search_10.xml"))
        settings = pointed_at(server, "arxiv", home=tmp_path)
        async with open_http(settings) as http:
            with pytest.raises(Malformed):
                await search(arxiv.ArXiv(settings, http), Query(text="x"))
            found = await search(arxiv.ArXiv(settings, http), Query(text="x"))
    assert found.status == "ok"


class Shape(Wire):
    name: str = "unnamed"
    number: str = ""
    below: "Shape | None" = None


def test_null_is_absent_and_numbers_may_stand_for_text() -> None:
    read = Shape.model_validate({"name": None, "number": 7, "below": {"name": None}, "other": []})
    assert read == Shape(name="unnamed", number="7", below=Shape())


def test_facts_hold_nothing_empty() -> None:
    assert facts(a="x", b="", c=None, d=[], e=("p", "", "q"), f=0) == {"a": "x", "e": "p; q"}


@given(st.text())
def test_no_value_breaks_these_readers(value: str) -> None:
    assert year_of(value) is None or 1500 <= (year_of(value) or 0) < 2100
    assert arxiv_of_doi(value) is None or value.lower().startswith("10.48550/arxiv.")
