"""The stage of the end-to-end tests: local servers with a clock, and what an outsider checks in a report."""

import hashlib
import json
import re
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree

from tests.client.cli import determinator
from tests.fake_openai import role_of, says, sensible
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
    *("11237011", "11524736", "28647898", "11748933", "11700088", "11543891"),
)
"""Recorded works with an abstract that nobody retracted."""

ASPECT = re.compile(r"aspect (\d+)")
FENCE = re.compile(rb"evidence-[0-9a-f]{12}")


@dataclass
class Exchange:
    """A request and its answer, in seconds of the monotonic clock."""

    key: str
    asked: float
    answered: float = float("inf")


class Clock:
    """Notes when each request came and when it was answered."""

    def __init__(self, delay: float) -> None:
        self.exchanges: list[Exchange] = []
        self._delay = delay

    def timed(self, answer: Callable[[Asked], Reply]) -> Callable[[Asked], Reply]:
        """The same answer, `delay` seconds later."""

        def slow(asked: Asked) -> Reply:
            exchange = Exchange(key_of(asked), time.monotonic())
            self.exchanges.append(exchange)
            time.sleep(self._delay)
            reply = answer(asked)
            exchange.answered = time.monotonic()
            return reply

        return slow

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

    The same prompt gets the same answer, however often it is asked.
    """

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self._seen: dict[str, list[str]] = {}
        self._lock = threading.Lock()

    def __call__(self, asked: Asked) -> Reply:
        role, key = role_of(asked), key_of(asked)
        with self._lock:
            seen = self._seen.setdefault(role, [])
            if key not in seen:
                seen.append(key)
            number = seen.index(key)
        if role == "tool_selector":
            wanted = [f"aspect {2 * number + n} of melanoma" for n in (0, 1)]
            searches = [{"gap": 1, "source": "pubmed", "query": query} for query in wanted]
            return says({"searches": searches})(asked)
        if role == "judge" and number < self._rounds - 1:
            doubt = {"scores": [], "confidence": 0.2, "relevant": [], "reasoning": f"More, says {number}."}
            return says({**doubt, "gaps": [], "recommended_searches": []})(asked)
        return sensible(asked)


def pubmed(server: ReplayServer, clock: Clock) -> None:
    """Answer `aspect N` with the Nth recorded work."""
    works = {
        work.findtext(".//PMID"): work
        for name in RECORDINGS
        for work in etree.parse(PUBMED / name).iter("PubmedArticle")
    }
    found = json.loads((PUBMED / "esearch_json_1_hit.json").read_text())

    def esearch(asked: Asked) -> Reply:
        aspect = ASPECT.search(asked.query["term"][0])
        assert aspect, asked
        answer = deepcopy(found)
        answer["esearchresult"]["idlist"] = [PMIDS[int(aspect.group(1)) % len(PMIDS)]]
        return Reply(200, json.dumps(answer), {"content-type": "application/json"})

    def efetch(asked: Asked) -> Reply:
        root = etree.Element("PubmedArticleSet")
        root.extend(deepcopy(works[pmid]) for pmid in asked.query["id"][0].split(","))
        return Reply(200, etree.tostring(root), {"content-type": "text/xml"})

    server.on("/esearch.fcgi", clock.timed(esearch))
    server.on("/efetch.fcgi", clock.timed(efetch))


# what an outsider does with a report

PLAIN = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"}
)


def plain(text: str) -> str:
    """Compatibility forms, white space, quotes and dashes made one; written here anew on purpose."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text).translate(PLAIN)).strip()


def supports(report: dict[str, Any]) -> list[tuple[str, str]]:
    """(evidence id, quote) of every claim and candidate."""
    claims = [claim for section in report["sections"] for claim in section["claims"]]
    return [
        (support["evidence_id"], support["quote"])
        for bearer in (*claims, *report["candidates"])
        for support in bearer["support"]
    ]


def faults(report: dict[str, Any], evidence: Sequence[dict[str, Any]]) -> list[str]:
    """Why a reader should not trust the report; empty when every quote stands in the item it names."""
    texts = {item["evidence_id"]: plain(item["text"]) for item in evidence}
    wrong = []
    for name, quote in supports(report):
        if name not in texts:
            wrong.append(f"{name} is not among the evidence")
        elif len(plain(quote)) < 25 or plain(quote) not in texts[name]:
            wrong.append(f"not in {name}: {quote}")
    cited = {name for name, _ in supports(report)}
    listed = [reference["evidence_id"] for reference in report["references"]]
    if sorted(cited) != sorted(listed):
        wrong.append(f"cited {sorted(cited)}, listed {sorted(listed)}")
    return wrong


def report_of(run: str = "last") -> dict[str, Any]:
    """The report as `report --format json` prints it."""
    ran = determinator("report", run, "--format", "json")
    assert ran.code == 0, ran
    found: dict[str, Any] = ran.json()
    return found


def evidence_of(run: str = "last") -> list[dict[str, Any]]:
    """The evidence as `evidence --format jsonl` prints it."""
    ran = determinator("evidence", run, "--format", "jsonl")
    assert ran.code == 0, ran
    return [json.loads(line) for line in ran.out.splitlines()]


def markdown_of(home: Path, run: str) -> str:
    """The file `ask` saved."""
    return (home / "reports" / f"{run}.md").read_text()
