"""The stage of the end-to-end tests: local servers with a clock, and what an outsider checks in a report."""

import hashlib
import json
import re
import threading
import time
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from lxml import etree

from tests.client.harness import inside
from tests.fake_openai import criteria_of, labels_by_work, question_of, role_of, says, sensible
from tests.replay import RECORDED, Asked, ReplayServer, Reply

PUBMED = RECORDED / "pubmed"
RECORDINGS = (
    "efetch_retractions_errata_updates_subset.xml",
    "efetch_structured_abstract_rct_22663011.xml",
    "pubmed2.xml",
    "pubmed7.xml",
)
PMIDS = (
    *("22663011", "9505772", "9861576", "10168751", "11034741", "11279676", "17713168", "29963580"),
    *("11237011", "11524736", "28647898", "11748933", "11700088", "11892742"),
)
"""Recorded works with an abstract that were not retracted."""

ASPECT = re.compile(r"aspect (\d+)")
TOPICS = {"marfan": 9, "cryopreservation": 11, "mek": 13}
"""The aspect that a query for a topic finds, where it names none: each section of a plan finds works of its
own, as it must where what a section is offered may not depend on which of them is faster."""
AREA = re.compile(r"area (\d+)\?")
PATIENCE = 120.0
"""Seconds after which a model answers although the clock is stopped."""
FENCE = re.compile(rb"evidence-[0-9a-f]{12}")


@dataclass
class Exchange:
    """A request and its answer, in seconds of the monotonic clock."""

    key: str
    asked: float
    question: str = ""
    """What a model was asked about."""
    answered: float = float("inf")


class Clock:
    """Notes when each request came and when it was answered."""

    def __init__(self, delay: float) -> None:
        self.exchanges: list[Exchange] = []
        self._delay = delay
        self._running = threading.Event()
        self._running.set()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """No model answers what it is asked meanwhile, so that no run goes further than its next question."""
        self._running.clear()
        try:
            yield
        finally:
            self._running.set()

    def timed(self, answer: Callable[[Asked], Reply]) -> Callable[[Asked], Reply]:
        """The same answer, `delay` seconds later."""

        def slow(asked: Asked) -> Reply:
            exchange = self.record(asked)
            held = asked.body and not self._running.is_set()
            time.sleep(self._delay)
            if held:
                self._running.wait(PATIENCE)
            reply = answer(asked)
            exchange.answered = time.monotonic()
            return reply

        return slow

    def record(self, asked: Asked) -> Exchange:
        """Note that a request has come."""
        question = question_of(asked) if asked.body else ""
        exchange = Exchange(key_of(asked), time.monotonic(), question)
        self.exchanges.append(exchange)
        return exchange

    def repeats(self) -> Iterator[tuple[Exchange, Exchange]]:
        """Each request that was made again, after the one it repeats."""
        latest: dict[str, Exchange] = {}
        for exchange in sorted(self.exchanges, key=lambda e: e.asked):
            if exchange.key in latest:
                yield latest[exchange.key], exchange
            latest[exchange.key] = exchange


def key_of(asked: Asked) -> str:
    """What makes a request distinct: path, parameters and body, but for the fence around evidence."""
    body = hashlib.sha256(FENCE.sub(b"", asked.body)).hexdigest()[:12]
    return f"{asked.path} {json.dumps(asked.query, sort_keys=True)} {body}"


class Thorough:
    """A sensible model that is content after so many rounds and asks for two new searches in each.

    Its answers follow from the prompt alone, so that the same question gets the same answer, in whatever
    order questions come. Its plans have `areas` sections (so many, or one for each of these topics), which
    take `area_rounds` rounds each and search from the aspect `first` on.
    """

    def __init__(
        self,
        rounds: int,
        areas: int | Sequence[str] = 0,
        area_rounds: int = 1,
        first: int = 0,
        *,
        begins: Mapping[str, int] | None = None,
        recommends_on: Collection[str] = (),
    ) -> None:
        """`begins` are the first aspects of questions without a plan, 0 for those not named; `recommends_on`
        are questions whose searches the judge names, from aspect 1 on."""
        self._rounds = rounds
        self._areas = areas
        self._area_rounds = area_rounds
        self._first = first
        self._begins = begins or {}
        self._recommends_on = recommends_on

    def __call__(self, asked: Asked) -> Reply:
        role, question = role_of(asked), question_of(asked)
        area = AREA.search(question)
        rounds = self._area_rounds if area else self._rounds
        if role == "planner":
            topics = [question] * self._areas if isinstance(self._areas, int) else self._areas
            sections = [
                {
                    "title": f"Area {n}",
                    "key_question": f"What is known of area {n}? {topic}",
                    "queries": self._aspects(self._first + 2 * self._area_rounds * (n - 1)),
                }
                for n, topic in enumerate(topics, 1)
            ]
            return says({"report_title": "A report", "background_context": "", "sections": sections})(asked)
        if role == "tool_selector":
            made = [int(number) for number in ASPECT.findall(asked.body.decode())]
            begin = self._begins.get(question, 0)
            if area:
                begin = self._first + 2 * rounds * (int(area.group(1)) - 1)
            wanted = self._aspects(max(made, default=begin - 1) + 1)
            searches = [{"gap": 1, "source": "pubmed", "query": query} for query in wanted]
            return says({"searches": searches})(asked)
        if role == "judge":
            return says(self._judgement(asked, question, rounds))(asked)
        return sensible(asked)

    @staticmethod
    def _aspects(first: int) -> list[str]:
        return [f"aspect {first + n} of melanoma" for n in (0, 1)]

    def _judgement(self, asked: Asked, question: str, rounds: int) -> dict[str, Any]:
        """Every work answers in part, in whatever round it is judged."""
        seen = judged_so_far(asked)
        content = seen >= 2 * rounds
        return {
            "works": [
                {"work": work, "answers": 2, "direction": "yes", "role": "clinical", "sentences": labels[:1]}
                for work, labels in labels_by_work(asked).items()
            ],
            "scores": [
                {"criterion": name, "score": (7 if content else 0) + n % 3}
                for n, name in enumerate(criteria_of(asked))
            ],
            "recommendation": "synthesize" if content else "continue",
            "gaps": [],
            "searches": self._aspects(seen) if question in self._recommends_on and not content else [],
        }


def judged_so_far(asked: Asked) -> int:
    """Works that a judge is shown, and those that its prompt says were judged to answer before."""
    messages = "\n".join(message["content"] for message in cast(dict[str, Any], asked.json())["messages"])
    before = messages.partition("\nWorks judged before:\n")[2].partition(">>>")[0]
    return len(labels_by_work(asked)) + before.count("\n- answers ")


def pubmed(server: ReplayServer, clock: Clock) -> None:
    """Answer `aspect N` with the Nth recorded work, and a query without an aspect with that of its topic, or
    with the first one."""
    works = {
        work.findtext(".//PMID"): work
        for name in RECORDINGS
        for work in etree.parse(PUBMED / name).iter("PubmedArticle")
    }
    parsed = json.loads((PUBMED / "esearch_json_1_hit.json").read_text())

    def esearch(asked: Asked) -> Reply:
        term = asked.query["term"][0].casefold()
        aspect = ASPECT.search(term)
        topic = next((place for word, place in TOPICS.items() if word in term), 0)
        number = int(aspect.group(1)) if aspect else topic
        answer = deepcopy(parsed)
        answer["esearchresult"]["idlist"] = [PMIDS[number % len(PMIDS)]]
        return Reply(200, json.dumps(answer), {"content-type": "application/json"})

    def efetch(asked: Asked) -> Reply:
        root = etree.Element("PubmedArticleSet")
        root.extend(deepcopy(works[pmid]) for pmid in asked.query["id"][0].split(","))
        return Reply(200, etree.tostring(root), {"content-type": "text/xml"})

    server.on("/esearch.fcgi", clock.timed(esearch))
    server.on("/efetch.fcgi", clock.timed(efetch))


def recorded_sources(server: ReplayServer) -> dict[str, str]:
    """The variables of a run whose only source is such a server."""
    return {
        "DETERMINATOR_OFFLINE": "false",
        "DETERMINATOR_PUBMED_URL": server.url,
        "DETERMINATOR_CROSSREF_URL": f"{server.url}/crossref",
        "DETERMINATOR_EUROPEPMC_URL": f"{server.url}/europepmc",
        # the recorded works are of several subjects: the encoder would keep most of them from the judge
        "DETERMINATOR_EMBEDDINGS": "off",
        # a local server that does not say how many calls it serves at once is asked one at a time, and a call
        # that is held back would hold back those of every other run
        "DETERMINATOR_MODEL_CONCURRENCY": "8",
    }


def own_id() -> tuple[str, str]:
    """A limit that is never reached, which gives a run another id than that of a former attempt at its
    test."""
    return "--max-time", f"{10**6 + time.time_ns() // 10**3 % 10**6}s"


# what an outsider does with a report

PLAIN = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"}
)


def plain(text: str) -> str:
    """Compatibility forms, white space, quotes and dashes made one; written here again on purpose."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text).translate(PLAIN)).strip()


def statements(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Every claim, wherever it stands in the report."""
    found = [*report["answer"], *report["mechanism"]]
    for section in report["sections"]:
        found += [*section["answer"], *section["claims"]]
    return found


def supports(report: dict[str, Any]) -> list[tuple[str, str]]:
    """(evidence id, quote) of every claim and candidate."""
    return [
        (support["evidence_id"], support["quote"])
        for bearer in (*statements(report), *report.get("candidates", ()))
        for support in bearer["support"]
    ]


def cited_quotes(report: dict[str, Any]) -> list[tuple[str, str]]:
    """(evidence id, quote) of everything that is quoted from a reference."""
    quotes = supports(report)
    for section in report["sections"]:
        for passage in section["passages"]:
            quotes += [(passage["evidence_id"], quote) for quote in passage["quotes"]]
    beside = [
        support
        for candidate in report.get("candidates", ())
        for name in ("against", "records")
        for support in candidate[name]
    ]
    cells = [
        cell["support"] for row in report.get("table", {}).get("rows", ()) for cell in row["cells"].values()
    ]
    return quotes + [(cell["evidence_id"], cell["quote"]) for cell in (*beside, *cells) if cell]


def faults(report: dict[str, Any], evidence: Sequence[dict[str, Any]]) -> list[str]:
    """Why a reader should not trust the report; empty when every quote stands in the item it names."""
    texts = {item["evidence_id"]: plain(item["text"]) for item in evidence}
    wrong = [
        f"no support: {claim['text']}"
        for claim in statements(report)
        if not claim["support"] and claim["kind"] != "inference"
    ]
    quoted = cited_quotes(report)
    judged = [
        (support["evidence_id"], support["quote"])
        for work in report["judgements"]
        for support in work["support"]
    ]
    for name, quote in (*quoted, *judged):
        if name not in texts:
            wrong.append(f"{name} is not among the evidence")
        elif len(plain(quote)) < 25 or plain(quote) not in texts[name]:
            wrong.append(f"not in {name}: {quote}")
    cited = {name for name, _ in quoted}
    listed = [reference["evidence_id"] for reference in report["references"]]
    if sorted(cited) != sorted(listed):
        wrong.append(f"cited {sorted(cited)}, listed {sorted(listed)}")
    return wrong


def report_of(run: str = "last") -> dict[str, Any]:
    """The report as `report --format json` prints it."""
    ran = inside("report", run, "--format", "json")
    assert ran.code == 0, ran
    parsed: dict[str, Any] = ran.json()
    return parsed


def evidence_of(run: str = "last") -> list[dict[str, Any]]:
    """The evidence as `evidence --format jsonl` prints it."""
    ran = inside("evidence", run, "--format", "jsonl")
    assert ran.code == 0, ran
    return [json.loads(line) for line in ran.out.splitlines()]


def markdown_of(home: Path, run: str) -> str:
    """The file `ask` saved."""
    return (home / "reports" / f"{run}.md").read_text()
