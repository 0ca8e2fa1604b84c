import json
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.contracts.errors import SourceError
from activities.contracts.evidence import EvidenceRef, Identifiers, Standing, StandingNotice
from activities.contracts.publish import PubMedSaid
from activities.publish_activity import pubmed_name
from activities.retractions.rules import SEVERITY, standing_of
from activities.sources import standing_lookup
from activities.sources.http import cache
from activities.sources.http.client import Http, open_http
from activities.sources.standing_lookup import StandingLookup, StandingVerdict, merge
from tests.activities.sources.faults import client, settings
from tests.replay import ReplayServer, Reply, recorded

WAKEFIELD = "10.1016/s0140-6736(97)11096-0"
NOT_FOUND = recorded("crossref/error_404_resource_not_found.txt", status=404)
NO_RESULT = Reply(200, '{"hitCount": 0, "resultList": {"result": []}}', {"content-type": "application/json"})


def ref(
    pmid: str | None = None,
    doi: str | None = None,
    *,
    pmcid: str | None = None,
    standing: Standing = "none",
    source: str = "pubmed",
) -> EvidenceRef:
    names = Identifiers(pmid=pmid, doi=doi, pmcid=pmcid)
    name = next((f"{kind}:{value}" for kind, value in names.items_in_order()), "doc:1")
    return EvidenceRef(
        evidence_id=name, blob="b", source=source, title="A title", identifiers=names, standing=standing
    )


def efetch(*records: tuple[str, Sequence[tuple[str, str]]], types: str = "Journal Article") -> Reply:
    """A PubmedArticleSet as NCBI sends it: (pmid, [(RefType, citation line)])."""
    articles = "".join(
        f"<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article><ArticleTitle>T</ArticleTitle>"
        f"<PublicationTypeList><PublicationType>{types}</PublicationType></PublicationTypeList></Article>"
        "<CommentsCorrectionsList>"
        + "".join(
            f'<CommentsCorrections RefType="{kind}"><RefSource>{line}</RefSource></CommentsCorrections>'
            for kind, line in links
        )
        + "</CommentsCorrectionsList></MedlineCitation></PubmedArticle>"
        for pmid, links in records
    )
    return Reply(200, f"<PubmedArticleSet>{articles}</PubmedArticleSet>", {"content-type": "text/xml"})


def work(doi: str, *updates: tuple[str, str, str]) -> Reply:
    """A Crossref work: (update type, notice's DOI, ISO date)."""
    updated_by = [
        {"type": kind, "DOI": notice, "updated": {"date-parts": [[int(p) for p in date.split("-")]]}}
        for kind, notice, date in updates
    ]
    body = {"status": "ok", "message": {"DOI": doi, "updated-by": updated_by}}
    return Reply(200, json.dumps(body), {"content-type": "application/json"})


def answers(
    server: ReplayServer,
    pubmed: Reply | None = None,
    crossref: Reply | None = None,
    europepmc: Reply | None = None,
) -> ReplayServer:
    """What each authority answers; by default none knows any work."""
    server.on("/efetch.fcgi", pubmed or efetch())
    server.on("/works/*", crossref or NOT_FOUND)
    return server.on("/search", europepmc or NO_RESULT)


def lookup(server: ReplayServer, http: Http, *, offline: bool = False) -> StandingLookup:
    urls = {f"{name}_url": server.url for name in ("pubmed", "crossref", "europepmc")}
    return StandingLookup(http, settings(**urls, offline=offline))


async def check_all(
    asking: StandingLookup, refs: Sequence[EvidenceRef], *, library: bool = False
) -> dict[str, StandingVerdict]:
    """The verdicts with what PubMed says of the works, or why it says nothing."""
    pmids = tuple(pmid for one in refs if (pmid := pubmed_name(one, library=library)))
    try:
        said = await asking.ask_pubmed(pmids)
    except SourceError as error:
        said = PubMedSaid(asked=pmids, failure=str(error))
    return await asking.check_many(refs, pubmed=said, library=library)


async def check(asking: StandingLookup, one: EvidenceRef, *, library: bool = False) -> StandingVerdict:
    return (await check_all(asking, [one], library=library))[one.evidence_id]


async def verdict_on(one: EvidenceRef, **replies: Reply) -> StandingVerdict:
    """What is made of a work when the authorities answer so."""
    with ReplayServer() as server:
        async with client() as http:
            return await check(lookup(answers(server, **replies), http), one)


async def test_a_retraction_is_reported_with_every_authority_that_has_it() -> None:
    line = "Lancet. 2010 Feb 6;375(9713):445. doi: 10.1016/S0140-6736(10)60175-4."
    verdict = await verdict_on(
        ref("9500320", WAKEFIELD),
        pubmed=efetch(("9500320", [("RetractionIn", line), ("CommentIn", "Lancet. 1998 May 2;351:1355")])),
        crossref=recorded("crossref/work_retracted_wakefield_lancet_1998.json"),
        europepmc=recorded("standing/search_core_retracted.json"),
    )
    assert verdict.standing == "retracted"
    assert verdict.asked == ("pubmed", "crossref", "europepmc")
    assert verdict.reported == {"pubmed": "retracted", "crossref": "retracted", "europepmc": "retracted"}
    assert verdict.failures == ()
    by_doi = {(n.kind, n.doi): n for n in verdict.notices}
    retraction = by_doi["retraction", "10.1016/s0140-6736(10)60175-4"]
    assert (retraction.date, retraction.pmid) == ("2010-02-06", "20137807")
    assert retraction.reported_by == "pubmed, crossref (retraction-watch), europepmc"
    assert ("concern", "10.1097/meg.0b013e328349d184") in by_doi
    assert [n.date for n in verdict.notices] == sorted(n.date or "" for n in verdict.notices)
    assert WAKEFIELD not in {n.doi for n in verdict.notices}


X, RETRACTED = ref("1", "10.1000/x"), ("retraction", "10.1000/n", "2020-03-02")
RETRACTED_IN = efetch(("1", [("RetractionIn", "J. 2020 Mar 2;1(1):1. doi: 10.1000/n")]))


@pytest.mark.parametrize(
    ("one", "replies", "standing", "kinds"),
    [
        (ref("993"), {"pubmed": recorded("standing/efetch_retracted_993.xml")}, "retracted", ["retraction"]),
        (ref(doi="10.1073/pnas.1414271111"),
         {"crossref": recorded("crossref/work_with_updated_by_correction.json")},
         "corrected", ["correction"]),
        (ref("1"), {"pubmed": efetch(("1", [("RetractionOf", "J Infect Dis. 1993 Aug;168(2):336-44")]))},
         "none", []),
        (ref("1"), {"pubmed": efetch(("1", []), types="Retracted Publication")}, "retracted", ["retraction"]),
        (X, {}, "unknown", []),
        (X, {"crossref": work("10.1000/x")}, "none", []),
        (X, {"pubmed": Reply(500, "down"), "crossref": work("10.1000/x", RETRACTED)}, "retracted",
         ["retraction"]),
        (X, {"pubmed": efetch(("1", [("ErratumIn", "J. 2019 Jan;1(1):1")])),
             "crossref": work("10.1000/x", ("expression_of_concern", "10.1000/n", "2020-01-01"))},
         "concern", ["correction", "concern"]),
        *((ref("1", "10.1000/x", standing="retracted"), {
            "pubmed": RETRACTED_IN,
            "crossref": work("10.1000/x", RETRACTED, ("correction", "10.1000/c", "2018-01-01"),
                             ("reinstatement", "10.1000/r", day)),
        }, standing, None) for day, standing in (("2021-05-01", "corrected"), ("2019-01-01", "retracted"))),
    ],
    ids=["recorded", "correction", "of another work", "says so itself", "unknown to all", "known to one",
         "one is down", "the worst", "reinstated", "reinstated before"],
)  # fmt: skip
async def test_the_worst_that_an_authority_says_of_a_work_is_its_standing(
    one: EvidenceRef, replies: dict[str, Reply], standing: str, kinds: list[str] | None
) -> None:
    verdict = await verdict_on(one, **replies)
    assert verdict.standing == standing
    assert kinds is None or [notice.kind for notice in verdict.notices] == kinds


@pytest.mark.parametrize("standing", ["retracted", "concern", "corrected"])
async def test_what_was_known_when_found_is_not_forgotten_in_an_outage(standing: Standing) -> None:
    down = dict.fromkeys(("pubmed", "crossref", "europepmc"), Reply(500, ""))
    verdict = await verdict_on(ref("1", "10.1000/x", standing=standing, source="openalex"), **down)
    assert verdict.standing == standing
    assert verdict.notices[0].reported_by == "openalex (when found)"


async def test_offline_and_the_library_are_left_as_they_are(server: ReplayServer, http: Http) -> None:
    answers(server)
    offline = await check(lookup(server, http, offline=True), ref("1", standing="corrected"))
    own = await check(lookup(server, http), ref("1", standing="retracted", source="library"))
    assert server.asked == []
    mine = ref("1", source="library")
    asked = await check(lookup(server, http), mine, library=True)
    unasked = await check(lookup(server, http, offline=True), mine, library=True)
    assert asked.asked
    assert unasked.asked == ()
    assert (offline.standing, offline.asked) == ("corrected", ())
    assert (own.standing, own.asked) == ("retracted", ())


async def test_many_works_need_few_requests(server: ReplayServer, http: Http) -> None:
    pmids = [str(n) for n in range(1, 61)]
    refs = [ref(pmid, "10.1000/same" if pmid in ("1", "2") else None) for pmid in pmids]
    answers(server, efetch(*[(pmid, [("ErratumIn", "J. 2019")] if pmid == "7" else []) for pmid in pmids]))
    verdicts = await check_all(lookup(server, http), refs)
    assert server.count("/efetch.fcgi") == 1
    assert server.count("/works/*") == 1
    assert server.count("/search") == 3
    assert len(verdicts) == 60
    assert verdicts["pmid:7"].standing == "corrected"
    assert {v.standing for name, v in verdicts.items() if name != "pmid:7"} == {"none"}


async def test_an_unreadable_record_costs_only_itself(server: ReplayServer, http: Http) -> None:
    two = efetch(("1", [("RetractionIn", "J. 2019")]), ("2", []))
    assert isinstance(two.body, str)
    broken = two.body.replace("<PMID>2</PMID>", "<PMID>two</PMID>")
    answers(server, Reply(200, broken, {"content-type": "text/xml"}))
    verdicts = await check_all(lookup(server, http), [ref("1"), ref("2")])
    assert verdicts["pmid:1"].standing == "retracted"
    assert verdicts["pmid:2"].standing == "unknown"


async def test_an_authority_that_is_down_is_not_asked_for_every_work(
    server: ReplayServer, http: Http
) -> None:
    refs = [ref(doi=f"10.1000/{n}") for n in range(8)]
    answers(server, crossref=Reply(503, "down"))
    verdicts = await lookup(server, http).check_many(refs)
    assert server.count("/works/*") == 3
    server.on("/works/*", Reply(429, "slow down", {"retry-after": "100000"}))
    await lookup(server, http).check_many(refs)
    assert server.count("/works/*") == 4
    assert all(v.standing == "unknown" and len(v.failures) == 1 for v in verdicts.values())
    assert "not asked again" in verdicts["doi:10.1000/7"].failures[0]


async def test_one_authority_alone_does_not_lift_what_the_source_reported() -> None:
    found = ref("1", "10.1000/x", standing="retracted", source="openalex")
    raised = ("reinstatement", "10.1000/r", "2021-01-01")
    knows = efetch(("1", []))
    assert (await verdict_on(found, pubmed=knows)).standing == "retracted"
    assert (
        await verdict_on(found, pubmed=knows, crossref=work("10.1000/x", RETRACTED, raised))
    ).standing == "none"


@pytest.mark.parametrize(("young_enough", "seen"), [(0, "retracted"), (cache.STANDING_SECONDS, "none")])
async def test_an_answer_that_is_too_old_does_not_hide_a_new_retraction(
    server: ReplayServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, young_enough: float, seen: str
) -> None:
    assert cache.STANDING_SECONDS <= 3600 < cache.CACHE_SECONDS
    monkeypatch.setattr(standing_lookup, "STANDING_SECONDS", young_enough)
    answers(server, efetch(("1", [])), work("10.1000/x"))
    async with open_http(settings(home=tmp_path)) as http:
        assert (await check(lookup(server, http), X)).reported == {"pubmed": "none", "crossref": "none"}
        answers(server, RETRACTED_IN, work("10.1000/x", RETRACTED))
        assert (await check(lookup(server, http), X)).reported == {"pubmed": seen, "crossref": seen}


async def test_what_was_no_answer_is_not_stored(server: ReplayServer, tmp_path: Path) -> None:
    answers(server, crossref=Reply(200, "<html>busy</html>", {"content-type": "text/html"}))
    async with open_http(settings(home=tmp_path)) as http:
        failed = await check(lookup(server, http), ref(doi="10.1000/x"))
        server.on("/works/*", work("10.1000/x", ("retraction", "10.1000/n", "2020-01-01")))
        again = await check(lookup(server, http), ref(doi="10.1000/x"))
        server.on("/search", Reply(200, "<html>busy</html>", {"content-type": "text/html"}))
        busy = await check(lookup(server, http), ref("9500320"))
        server.on("/search", recorded("standing/search_core_retracted.json"))
        then = await check(lookup(server, http), ref("9500320"))
    assert (failed.standing, busy.standing) == ("unknown", "unknown")
    assert (again.standing, then.standing) == ("retracted", "retracted")


NOTICES = st.lists(
    st.builds(
        StandingNotice,
        kind=st.sampled_from(["retraction", "concern", "correction", "withdrawal", "reinstatement"]),
        date=st.sampled_from([None, "2019", "2020-05", "2020-05-01", "2021"]),
        doi=st.sampled_from([None, "10.1/a", "10.1/b"]),
        reported_by=st.sampled_from(["pubmed", "crossref"]),
    ),
    max_size=5,
)


@given(NOTICES)
def test_merging_changes_no_standing_without_reinstatement(notices: list[StandingNotice]) -> None:
    plain = [n for n in notices if n.kind != "reinstatement"]
    assert standing_of(merge(plain)) == standing_of(plain)
    assert merge(merge(plain)) == merge(plain)


@given(NOTICES)
def test_the_order_of_reports_does_not_matter(notices: list[StandingNotice]) -> None:
    assert len({standing_of(order) for order in permutations(notices)}) == 1


@given(NOTICES, NOTICES)
def test_without_a_reinstatement_more_reports_never_make_it_better(
    some: list[StandingNotice], more: list[StandingNotice]
) -> None:
    added = [n for n in more if n.kind != "reinstatement"]
    assert SEVERITY[standing_of([*some, *added])] >= SEVERITY[standing_of(some)]
