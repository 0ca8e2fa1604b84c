"""Works are read in full from the places that the run permits, and only where the text is of that work."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from temporalio.testing import ActivityEnvironment

from activities.contracts.evidence import Evidence, Identifiers, Support
from activities.contracts.profile import STUDIES
from activities.evidence_store import EvidenceStore
from activities.full_text_activity import FullTextActivities, ReadInFull, Way
from activities.report import works
from activities.report.formats.references import badges
from activities.settings import Settings
from activities.sources.http.client import Http, open_http
from activities.sources.http.pages import SafePages, networks
from tests.replay import RECORDED, ReplayServer, Reply

ABSTRACT = "Bisphenol A was measured in canned food of 1,200 households."
TITLE = "High-throughput screening of human genetic variants by pooled prime editing"
HTML = {"content-type": "text/html; charset=utf-8"}
LONG = "Prime editing was measured in pooled cells with many variants. " * 120
DOI = "10.1016/j.xgen.2025.100814"


def a_page(title: str, text: str) -> Reply:
    return Reply(200, f"<html><body><article><h1>{title}</h1><p>{text}</p></article></body></html>", HTML)


def a_work(**more: object) -> Evidence:
    fields = {"evidence_id": "doi:x", "source": "openalex", "title": TITLE, "text": ABSTRACT, **more}
    return Evidence.model_validate(fields)


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[Http]:
    async with open_http(Settings(home=tmp_path)) as opened:
        yield opened


Read = Callable[..., Awaitable[Evidence | None]]


@pytest.fixture
def read(server: ReplayServer, http: Http, store: EvidenceStore, tmp_path: Path) -> Read:
    """`read(work, *ways, **settings)`: the work as it is stored after it was read; None where it was not."""

    async def stored(work: Evidence, *ways: Way, **settings: object) -> Evidence | None:
        places = {f"{name}_url": server.url for name in ("europepmc", "unpaywall")}
        given = Settings.model_validate({"home": tmp_path, "email": "me@example.org", **places, **settings})
        pages = SafePages(networks(["127.0.0.0/8"]))
        activities = FullTextActivities(given, http, store, pages)
        step = ReadInFull(run_id="ask-1", evidence=(await store.put(work),), ways=ways)
        found = await ActivityEnvironment().run(activities.read_in_full, step)
        if not found.evidence:
            return None
        (ref,) = found.evidence
        assert (ref.evidence_id, ref.full_text) == (work.evidence_id, True)
        return await store.get(ref)

    return stored


async def test_the_body_of_an_open_article_is_added_behind_its_abstract(
    server: ReplayServer, read: Read
) -> None:
    article = (RECORDED / "pmc" / "oa_ehp-116-1694.nxml").read_bytes()
    server.on("/PMC2599765/fullTextXML", Reply(200, article, {"content-type": "application/xml"}))
    work = a_work(identifiers=Identifiers(pmcid="PMC2599765"))
    found = await read(work, "europepmc")
    assert found is not None
    assert found.text.startswith(ABSTRACT)
    assert len(found.text) > 10_000
    support = Support(evidence_id=found.evidence_id, quote=ABSTRACT)
    (reference,) = works.references([support], {found.evidence_id: found}, {}, {}, (), {}, with_grades=False)
    assert "full text read (Europe PMC)" in badges(reference, STUDIES)


async def test_another_article_than_was_asked_for_is_not_read(server: ReplayServer, read: Read) -> None:
    article = (RECORDED / "pmc" / "oa_ehp-116-1694.nxml").read_bytes()
    server.on("/PMC1/fullTextXML", Reply(200, article, {"content-type": "application/xml"}))
    assert await read(a_work(identifiers=Identifiers(pmcid="PMC1")), "europepmc") is None


async def test_an_open_address_is_read_where_it_has_the_work(server: ReplayServer, read: Read) -> None:
    server.on("/whole", a_page(TITLE, LONG))
    server.on("/landing", a_page(TITLE, "The abstract alone."))
    server.on("/other", a_page("Quite another paper about something else", LONG))
    for path, is_read in (("whole", True), ("landing", False), ("other", False), ("gone", False)):
        work = a_work(facts={"open_access_url": f"{server.url}/{path}"})
        found = await read(work, "open_address")
        assert (found is not None) == is_read, path


async def test_unpaywall_is_asked_by_doi_and_its_addresses_are_read(server: ReplayServer, read: Read) -> None:
    said = json.loads((RECORDED / "unpaywall" / "doi_xgen2025.json").read_text())
    said["best_oa_location"]["url_for_pdf"] = f"{server.url}/whole"
    server.on(f"/{DOI}", Reply(200, json.dumps(said), {"content-type": "application/json"}))
    server.on("/whole", a_page(TITLE, LONG))
    work = a_work(identifiers=Identifiers(doi=DOI))
    found = await read(work, "europepmc", "open_address", "unpaywall")
    assert found is not None
    assert found.facts["full_text_from"] == f"{server.url}/whole"
    assert server.asked[0].query == {"email": ["me@example.org"]}


async def test_nobody_is_asked_offline_or_without_an_email_address_or_a_permitted_way(
    server: ReplayServer, read: Read
) -> None:
    server.on("/*", a_page(TITLE, LONG))
    work = a_work(
        identifiers=Identifiers(doi=DOI, pmcid="PMC1"), facts={"open_access_url": f"{server.url}/whole"}
    )
    ways: tuple[Way, ...] = ("europepmc", "open_address", "unpaywall")
    assert await read(work, *ways, offline=True) is None
    assert await read(work, "unpaywall", email=None) is None
    assert await read(work) is None
    assert server.asked == []


async def test_an_outage_of_one_place_leads_to_the_next(server: ReplayServer, read: Read) -> None:
    server.on("/PMC1/fullTextXML", Reply(503, "down"))
    server.on("/whole", a_page(TITLE, LONG))
    work = a_work(identifiers=Identifiers(pmcid="PMC1"), facts={"open_access_url": f"{server.url}/whole"})
    assert await read(work, "europepmc", "open_address") is not None
