"""What each source makes of the recorded answers of its API: the searches, and a golden file for each.

A golden file (`NAME.golden.json` beside the recordings) holds the requests that were sent and all that came
of the answers. `python -m tests.activities.sources.recordings` makes them anew; read the difference before
it is committed.
"""

import asyncio
import difflib
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from activities.contracts.evidence import Filters, Query
from activities.sources.base import search
from activities.sources.names import SOURCES
from activities.sources.web import WebSource
from tests.activities.sources.faults import build, client, pointed_at
from tests.replay import RECORDED, Asked, ReplayServer, Reply, recorded

KEYS = {
    f"{name}_api_key": f"SECRET-{name}"
    for name in ("ncbi", "brave", "tavily", "semanticscholar", "openfda", "openalex")
}
LONG_CHARS = 600
"""A longer text stands in a golden file with its begin, its end and its digest."""
OFFLINE = ("library", "evidence", "neo4j")
"""Sources that ask no HTTP API; they have tests of their own."""
ONLINE = tuple(name for name, _ in SOURCES if name not in OFFLINE)
TEXT = 'metformin AND "Alzheimer\'s disease" NOT antiviral'
NARROW = Filters(
    year_from=2010,
    year_to=2020,
    publication_types=("review", "rct", "Letter"),
    free_full_text=True,
    phases=("PHASE2", "phase 3"),
)
NARROWED = Query(text=TEXT, limit=3, filters=NARROW)
ASKED = Query(text="x", limit=30)


@dataclass(frozen=True)
class Recording:
    """A search, and what the API answers to its requests, by path; several answers are given in turn."""

    source: str
    folder: str
    name: str
    answers: Mapping[str, Reply | tuple[Reply, ...]]
    query: Query = ASKED
    settings: Mapping[str, object] = field(default_factory=dict)
    whole: bool = False
    """Keep the texts whole in the golden file."""

    @property
    def golden(self) -> Path:
        return RECORDED / self.folder / f"{self.name}.golden.json"


def edited(name: str, change: Callable[[Any], None]) -> Reply:
    """A recorded JSON answer with a change."""
    parsed = json.loads((RECORDED / name).read_text())
    change(parsed)
    return Reply(200, json.dumps(parsed), {"content-type": "application/json"})


def with_damage(path: tuple[str, ...], *damaged: object) -> Callable[[Any], None]:
    """Put these beside the records of an answer; a mapping changes the first record."""

    def change(answer: Any) -> None:
        for key in path:
            answer = answer[key]
        first = next(one for one in answer if isinstance(one, dict))
        answer += [{**first, **one} if isinstance(one, dict) else one for one in damaged]

    return change


def without(answer: Any, key: str) -> None:
    del answer[key]


def cut(name: str, *edits: tuple[str, str]) -> Reply:
    """A recorded answer in which some text stands in place of another."""
    body = (RECORDED / name).read_text()
    for old, new in edits:
        assert old in body, old
        body = body.replace(old, new, 1)
    return Reply(200, body.encode(), {"content-type": "text/xml"})


ESEARCH, EFETCH = "/esearch.fcgi", "/efetch.fcgi"
FOUND_IN_PMC = Reply(
    200, '{"esearchresult":{"count":"5","idlist":["6329583","7"]}}', {"content-type": "application/json"}
)
NO_MATCH_AT_FDA = recorded("openfda/error_404_no_matches.json", status=404)
BAD_ENTRIES = (
    "<entry><id>http://arxiv.org/abs/</id><title>No number</title><summary>Text.</summary></entry>"
    "<entry><id>http://arxiv.org/abs/2001.00001v1</id><title>No summary</title></entry></feed>"
)
ADVERTISED = (
    '<html><body><div class="result__body"><h2><a class="result__a" href="//duckduckgo.com/y.js?ad_domain=x">'
    'Buy</a></h2></div><div class="result__body"><h2><a class="result__a" href="https://a.example/?q=1">'
    'Result</a></h2><a href="https://a.example/?q=1">Of it</a></div></body></html>'
)
SILDENAFIL = {
    "/molecule/search.json": recorded("chembl/molecule_search_sildenafil.json"),
    "/mechanism.json": recorded("chembl/mechanism_sildenafil.json"),
    "/target.json": recorded("chembl/target_pde5a.json"),
}
NONE_IN_PUBMED = '{"esearchresult": {"count": "0", "idlist": []}}'
WITHDRAWN = '{"data": {"search": {"hits": [{"id": "CHEMBL122", "name": "ROFECOXIB", "entity": "drug"}]}}}'
SEARXNG = (
    '{"results": [null, {"title": "no url"}, {"url": "javascript:alert(1)"}, {"url": "https://a.example/x"}]}'
)


def asks(text: str, limit: int = 10, **filters: Any) -> Query:
    return Query(text=text, limit=limit, filters=Filters(**filters))


def says(body: str) -> Reply:
    return Reply(200, body)


def ncbi(source: str, name: str, found: Reply, fetched: Reply | None = None, **more: Any) -> Recording:
    return Recording(source, source, name, {ESEARCH: found} | ({EFETCH: fetched} if fetched else {}), **more)


def fda(name: str, label: Reply, approvals: Reply, events: Reply, text: str, **more: Any) -> Recording:
    answers = {"/drug/label.json": label, "/drug/drugsfda.json": approvals, "/drug/event.json": events}
    return Recording("openfda", "openfda", name, answers, asks(text, 30), **more)


def at(source: str, path: str, name: str, answer: Reply | tuple[Reply, ...], **more: Any) -> Recording:
    """A search that asks one path; the folder of the recordings is the source's name, or an older one."""
    return Recording(source, {"clinicaltrials": "ctgov"}.get(source, source), name, {path: answer}, **more)


pubmed = partial(ncbi, "pubmed")
pmc = partial(ncbi, "pmc", found=FOUND_IN_PMC)
trials = partial(at, "clinicaltrials", "/studies")
targets = partial(at, "opentargets", "/graphql")
pathways = partial(at, "reactome")
openalex = partial(at, "openalex", "/works")
crossref = partial(at, "crossref", "/works")
europepmc = partial(at, "europepmc", "/search")
papers = partial(at, "semanticscholar", "/paper/search")
arxiv = partial(at, "arxiv", "/query")
uniprot = partial(at, "uniprot", "/uniprotkb/search")
searx = partial(at, "searxng", "/search")
duckduckgo = partial(at, "duckduckgo", "/html/")
ONE_HIT = recorded("pubmed/esearch_json_1_hit.json")
NOTICES = "pubmed/efetch_retractions_errata_updates_subset.xml"
PAGE_OF_WORKS = "openalex/works_title_search_list.json"
PAGE_OF_TRIALS = "ctgov/search_keytruda_limit3_20260811.json"
RESULTS = json.loads((RECORDED / "ctgov/study_NCT02856893_full_with_results.json").read_text())
PAPER: dict[str, Any] = json.loads(
    (RECORDED / "semanticscholar/batch_not_found_full_fields.json").read_text()
)[1]
EHP = (RECORDED / "pmc/oa_ehp-116-1694.nxml").read_bytes()


def page_of(*found: object, total: int) -> Reply:
    return Reply(200, json.dumps({"total": total, "offset": 0, "data": found}))


def studies(*found: object, total: int) -> Reply:
    return Reply(200, json.dumps({"studies": found, "totalCount": total}))


RECORDINGS = (
    pubmed("trial", ONE_HIT, recorded("pubmed/efetch_structured_abstract_rct_22663011.xml"),
           query=asks(TEXT, 30)),
    pubmed("retracted", ONE_HIT, recorded("pubmed/efetch_retracted_993.xml")),
    pubmed("notices", recorded("pubmed/esearch_json_40362_hits.json"), recorded(NOTICES),
           settings={"email": "someone@example.org"}),
    pubmed("damaged", ONE_HIT, cut(NOTICES, (">9505772</PMID>", ">not a number</PMID>")), query=asks("x", 3)),
    pubmed("nothing", says(NONE_IN_PUBMED)),
    pubmed("narrowed", says(NONE_IN_PUBMED), query=NARROWED),
    pmc("article", fetched=recorded("pmc/efetch_pmc_6329583.xml")),
    pmc("correction", fetched=recorded("pmc/efetch_pmc_biopython.xml")),
    pmc("authors_in_sentences", fetched=Reply(
        200, b"<pmc-articleset>" + EHP[EHP.index(b"<article"):] + b"<article/></pmc-articleset>",
        {"content-type": "text/xml"},
    )),
    europepmc("page", recorded("europepmc/search_core_25.json"), query=asks("cancer", 16)),
    europepmc("retracted", recorded("europepmc/search_core_retracted.json")),
    europepmc("damaged", edited("europepmc/search_core_retracted.json", with_damage(
        ("resultList", "result"), {"id": "1", "title": None, "source": None}, "nonsense", {"id": None}
    ))),
    europepmc("nothing", recorded("europepmc/search_no_results.json"), query=NARROWED),
    trials("pages", (recorded(PAGE_OF_TRIALS), edited(
        "ctgov/search_melanoma_recruiting_limit3_20260811.json", partial(without, key="totalCount")
    )), query=asks(TEXT, 5)),
    trials("results", studies(
        RESULTS,
        {"protocolSection": {"identificationModule": {"nctId": 7}}},
        {"protocolSection": {"identificationModule": {"nctId": "NCT00000001"}}},
        total=1,
    ), whole=True),
    trials("stopped", recorded("ctgov/search_sildenafil_stopped.json"), query=asks("x", 2)),
    trials("nothing", says('{"studies": [], "totalCount": 0}'), query=asks(
        TEXT, year_from=2015, options={"trial_status": "terminated, Withdrawn", "phase": "Phase 2, phase3"}
    )),
    fda("each_endpoint", recorded("openfda/label_otc_silicea.json"),
        recorded("openfda/drugsfda_imatinib.json"), recorded("openfda/event_count_pembrolizumab.json"),
        "pembrolizumab", whole=True),
    fda("supplements", recorded("openfda/label_keytruda_min.json"),
        recorded("openfda/drugsfda_semaglutide_2.json"), NO_MATCH_AT_FDA, "semaglutide"),
    fda("damaged", NO_MATCH_AT_FDA, edited(
        "openfda/drugsfda_imatinib.json", with_damage(("results",), {"application_number": []}, "text")
    ), NO_MATCH_AT_FDA, "imatinib"),
    fda("nothing", NO_MATCH_AT_FDA, recorded("openfda/device_510k_404.json", status=200), NO_MATCH_AT_FDA,
        "nothing", settings={"openfda_api_key": None}),
    Recording("chembl", "chembl", "drug", SILDENAFIL, asks("Does sildenafil help in heart failure?")),
    Recording("chembl", "chembl", "another_drug", SILDENAFIL, asks("vardenafil")),
    targets("drug", (recorded("opentargets/search_sildenafil.json"),
                     recorded("opentargets/drug_sildenafil.json")), query=asks("sildenafil")),
    targets("withdrawn", (says(WITHDRAWN), recorded("opentargets/drug_withdrawn.json")),
            query=asks("rofecoxib")),
    targets("another_drug", recorded("opentargets/search_sildenafil.json"), query=asks("tadalafil")),
    uniprot("protein", recorded("uniprot/search_o76074.json", x_total_results="1"), query=asks("O76074")),
    uniprot("gene", recorded("uniprot/search_braf_reviewed.json"), query=asks("BRAF")),
    pathways("/data/mapping/UniProt/O76074/pathways", "pathways", recorded("reactome/pathways_o76074.json"),
             query=asks("O76074")),
    pathways("/search/query", "summaries", recorded("reactome/search_cgmp.json"),
             query=asks("cGMP AND effects")),
    pathways("/search/query", "nothing", recorded("reactome/error_404.json", status=404)),
    pathways("/data/*", "nothing_of_a_protein", recorded("reactome/error_404.json", status=404),
             query=asks("O99999")),
    openalex("page", recorded(PAGE_OF_WORKS), settings={"email": "me@example.org"}),
    openalex("damaged", edited(PAGE_OF_WORKS, with_damage(
        ("results",), None, {"abstract_inverted_index": None},
        {"abstract_inverted_index": {"word": "not a list"}}, {"type": "retraction"},
    ))),
    openalex("nothing", says('{"meta": {"count": 0}, "results": []}'), query=NARROWED),
    crossref("page", recorded("crossref/works_query_list.json"), settings={"email": "me@example.org"}),
    crossref("notices", edited("crossref/works_journal_with_update_to_notices.json", with_damage(
        ("message", "items"), "broken", {"DOI": "not a doi", "abstract": "text"}
    ))),
    crossref("nothing", recorded("crossref/works_no_items.json"), query=NARROWED),
    papers("paper", page_of(
        PAPER, {**PAPER, "abstract": None, "tldr": {"text": "A machine wrote this sentence."}},
        {"paperId": None}, "text", total=4,
    ), query=asks("difference-in-differences - Alzheimer's", 5)),
    papers("without_abstracts", (recorded("semanticscholar/search_paper_100.json"), page_of(total=0)),
           query=asks("turing", 150), settings={"semanticscholar_api_key": None}),
    papers("nothing", says('{"total": 0, "offset": 0}'), query=NARROWED),
    arxiv("page", recorded("arxiv/search_10.xml"), query=asks(TEXT, 6)),
    arxiv("damaged", cut("arxiv/id_list_one_missing.xml", ("</feed>", BAD_ENTRIES))),
    arxiv("nothing", recorded("arxiv/no_results.xml"), query=NARROWED),
    at("brave", "/web/search", "page", recorded("brave/web_search_laravel_news.json"),
       query=asks('"Laravel news" AND x', 30, year_from=2020)),
    at("tavily", "/search", "page", recorded("tavily/search_basic.json"),
       query=asks("What is Pydantic AI?", 5, year_to=2024)),
    searx("general", recorded("searxng/search_general_with_unresponsive.json")),
    searx("science", recorded("searxng/search_science.json"),
          query=asks("x", options={"categories": "science"})),
    searx("damaged", says(SEARXNG)),
    at("brave", "/web/search", "nothing", says('{"type": "search", "query": {"original": "zxqv"}}')),
    *(at(name, "/search", "nothing", says('{"results": []}')) for name in ("tavily", "searxng")),
    duckduckgo("page", recorded("duckduckgo/html_results_caffeine_sleep.html"),
               query=asks("caffeine & sleep")),
    duckduckgo("nothing", says('<html><body><div class="no-results">No results.</div></body></html>')),
    duckduckgo("advertisements", Reply(200, ADVERTISED, {"content-type": "text/html"})),
)  # fmt: skip


async def played(recording: Recording) -> str:
    """What a golden file holds, as text."""
    with ReplayServer() as server:
        for path, answers in recording.answers.items():
            server.on(path, *(answers if isinstance(answers, tuple) else (answers,)))
        settings = pointed_at(server, recording.source, **{**KEYS, **recording.settings})
        async with client(paced=False) as http:
            source = build(recording.source, settings, http)
            if isinstance(source, WebSource):
                outcome = asdict(await source.list_results(recording.query))
            else:
                outcome = asdict(await search(source, recording.query))
        requests = [request(one) for one in server.asked]
        outcome = to_jsonable_python({"requests": requests, **outcome})
        for record in outcome.get("records", ()):
            if (record["url"] or "").startswith(server.url):
                record["evidence_id"] = "of its address, in which the port of the test stands"
        text = json.dumps(brief(outcome, recording.whole), ensure_ascii=False, indent=1) + "\n"
        return text.replace(f"127.0.0.1:{server.port}", "API")


def request(asked: Asked) -> dict[str, object]:
    """A request as it is compared: no address, and of the headers those that carry a key."""
    keys = {name: value for name, value in asked.headers.items() if "SECRET" in value}
    query = {name: values[0] if len(values) == 1 else values for name, values in asked.query.items()}
    body = asked.body.decode()
    parts = {"query": query, "keys": keys, "body": " ".join(body.split())}
    return {"path": f"{asked.method} {asked.path}", **{name: part for name, part in parts.items() if part}}


def brief(value: Any, whole: bool) -> Any:
    """Without what is empty, texts by their lines, and a long one by its begin, its end and its digest."""
    if isinstance(value, dict):
        return {k: brief(v, whole) for k, v in value.items() if v not in (None, "", [], {}, ())}
    if isinstance(value, list):
        return [brief(one, whole) for one in value]
    if isinstance(value, str) and len(value) > LONG_CHARS and not whole:
        digest = hashlib.sha256(value.encode()).hexdigest()[:16]
        begin, end = value[: LONG_CHARS // 2], value[-LONG_CHARS // 4 :]
        return [*begin.split("\n"), f"[... {len(value)} characters, {digest} ...]", *end.split("\n")]
    return value.split("\n") if isinstance(value, str) and "\n" in value else value


async def difference(recording: Recording) -> str:
    """How what a source makes of a recording differs from its golden file; empty when it does not."""
    golden = recording.golden.read_text().splitlines() if recording.golden.exists() else []
    now = (await played(recording)).splitlines()
    return "\n".join(difflib.unified_diff(golden, now, str(recording.golden), "now", lineterm="", n=2))


async def main() -> None:
    for recording in RECORDINGS:
        recording.golden.write_text(await played(recording))


if __name__ == "__main__":
    asyncio.run(main())
