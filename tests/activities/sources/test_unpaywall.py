import json
from typing import Any

import pytest

from activities.errors import Malformed, Refused, SourceError
from activities.sources.base import search
from activities.sources.registry import why_closed
from activities.sources.unpaywall import OpenAccess, build
from activities.types import Query
from tests.activities.sources.faults import FAULTS, HTML, check_retry, client, pointed_at
from tests.replay import RECORDED, ReplayServer, Reply, recorded

DOI = "10.1016/j.xgen.2025.100814"
UNKNOWN = Reply(
    404,
    json.dumps({"HTTP_status_code": 404, "error": True, "message": f"'{DOI}' isn't in Unpaywall."}),
    {"content-type": "application/json"},
)


def record() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RECORDED / "unpaywall/doi_xgen2025.json").read_text())
    return found


async def ask(reply: Reply, doi: str = DOI) -> OpenAccess | None:
    with ReplayServer() as server:
        server.on("/*", reply)
        async with client() as http:
            found = await build(pointed_at(server, "unpaywall", email="me@example.org"), http).open_access(
                doi
            )
        (asked,) = server.asked
        assert asked.query == {"email": ["me@example.org"]}
        assert asked.path == "/10.1016%2Fj.xgen.2025.100814"
    return found


async def test_the_page_is_taken_when_no_pdf_is_known() -> None:
    assert await ask(recorded("unpaywall/doi_xgen2025.json"), f"https://doi.org/{DOI.upper()}") == OpenAccess(
        doi=DOI,
        url=f"https://doi.org/{DOI}",
        kind="page",
        host="publisher",
        version="publishedVersion",
        license="cc-by",
        status="gold",
    )


async def test_a_pdf_comes_before_a_page() -> None:
    found = record()
    found["oa_locations"][1]["url_for_pdf"] = "https://www.ncbi.nlm.nih.gov/pmc/articles/12008803/pdf"
    copy = await ask(Reply(200, json.dumps(found)))
    assert copy is not None
    assert (copy.kind, copy.host, copy.version) == ("pdf", "repository", "submittedVersion")
    assert copy.url == "https://www.ncbi.nlm.nih.gov/pmc/articles/12008803/pdf"


async def test_a_closed_work_has_no_copy_whatever_is_listed() -> None:
    assert await ask(Reply(200, json.dumps({**record(), "is_oa": False}))) is None


async def test_only_web_addresses_count_and_a_bad_location_is_passed_over() -> None:
    found = record()
    found["best_oa_location"] = {"url": "file:///etc/passwd", "url_for_pdf": "ftp://example.org/x.pdf"}
    found["oa_locations"] = ["broken", {"url": ["no"]}, {"url": "https://example.org/copy"}]
    copy = await ask(Reply(200, json.dumps(found)))
    assert copy is not None
    assert copy.url == "https://example.org/copy"


async def test_an_unknown_doi_has_no_copy() -> None:
    assert await ask(UNKNOWN) is None


async def test_another_404_is_a_fault() -> None:
    with pytest.raises(Malformed):
        await ask(Reply(404, HTML))


@pytest.mark.parametrize(("reply", "kind"), [fault for fault in FAULTS if fault.id != "404 that is a page"])
async def test_an_outage_is_never_no_copy(reply: Reply, kind: type[SourceError]) -> None:
    with pytest.raises(kind) as caught:
        await ask(reply)
    check_retry(caught.value)


async def test_a_wrong_address_is_refused_in_its_words() -> None:
    body = {"HTTP_status_code": 422, "error": True, "message": "Please use your own email address"}
    with pytest.raises(Refused, match="your own email"):
        await ask(Reply(422, json.dumps(body)))


@pytest.mark.parametrize("text", ["metformin", "../../etc/passwd", ""])
async def test_what_is_no_doi_is_not_sent(text: str) -> None:
    with ReplayServer() as server:
        async with client() as http:
            with pytest.raises(Refused, match="is not a DOI"):
                await build(pointed_at(server, "unpaywall", email="me@example.org"), http).open_access(text)
        assert server.asked == []


async def test_a_search_says_where_and_keeps_no_empty_record() -> None:
    with ReplayServer() as server:
        server.on("/*", recorded("unpaywall/doi_xgen2025.json"))
        async with client() as http:
            source = build(pointed_at(server, "unpaywall", email="me@example.org"), http)
            found = await search(source, Query(text=DOI))
            server.on("/*", UNKNOWN)
            unknown = await search(source, Query(text=DOI))
    assert (found.status, found.records, found.hits, found.set_aside) == ("empty", (), 1, 1)
    assert found.details == (f"page at https://doi.org/{DOI} (publisher, publishedVersion, cc-by)",)
    assert unknown.details == ("no open copy is known",)


async def test_without_an_address_it_is_closed_and_says_how_to_open_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DETERMINATOR_EMAIL", raising=False)
    with ReplayServer() as server:
        async with client() as http:
            settings = pointed_at(server, "unpaywall")
            assert "DETERMINATOR_EMAIL" in why_closed(settings, build(settings, http))
            assert not why_closed(settings, build(pointed_at(server, "unpaywall", email="a@b.org"), http))
            with pytest.raises(Refused, match="DETERMINATOR_EMAIL"):
                await build(settings, http).open_access(DOI)
        assert server.asked == []
