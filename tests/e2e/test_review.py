"""Systematic reviews from their protocols to their reports, killed at a gate."""

import csv
import json
import os
import random
import signal
from copy import deepcopy
from pathlib import Path

import pytest
from lxml import etree

from client.embedded.server import stop_embedded
from tests.client.harness import determinator, inside, living, wait_until
from tests.e2e.stage import PMIDS, PUBMED, RECORDINGS, recorded_sources
from tests.fake_openai import FakeOpenAI, evidence_of, labels_by_work, says
from tests.replay import Asked, ReplayServer, Reply
from tests.workflows.test_review_studies import a_trial, model, write_texts

pytestmark = [pytest.mark.invariant, pytest.mark.timeout(400)]

ROOT = Path(__file__).parents[2]
PROTOCOL = """title = "Melanoma and hearts"
records = ["saved.xml"]
stopping = "read_all"
question = { population = "people", intervention = "any treatment" }
criteria = [
  { id = "I1", text = "patients were treated" },
  { id = "E1", kind = "exclude", text = "no people" },
]
sources = [{ source = "pubmed", query = "treatment" }]
screeners = [
  { name = "one", kind = "model", model = "one" },
  { name = "two", kind = "model", model = "two" },
]
calibration = { records = 5 }
"""


def works() -> list[etree._Element]:
    return [work for name in RECORDINGS for work in etree.parse(PUBMED / name).iter("PubmedArticle")]


def pubmed(server: ReplayServer) -> None:
    """A search that finds the works with an abstract."""
    by_id = {work.findtext(".//PMID"): work for work in works()}
    parsed = json.loads((PUBMED / "esearch_json_1_hit.json").read_text())
    parsed["esearchresult"] |= {"idlist": list(PMIDS), "count": str(len(PMIDS))}
    server.on("/esearch.fcgi", Reply(200, json.dumps(parsed), {"content-type": "application/json"}))

    def efetch(asked: Asked) -> Reply:
        root = etree.Element("PubmedArticleSet")
        root.extend(deepcopy(by_id[pmid]) for pmid in asked.query["id"][0].split(","))
        return Reply(200, etree.tostring(root), {"content-type": "text/xml"})

    server.on("/efetch.fcgi", efetch)


def screener(asked: Asked) -> Reply:
    """Includes what speaks of patients; the second model wants them in a trial."""
    strict = json.loads(asked.body)["model"] == "two"
    labels = labels_by_work(asked)
    rows = []
    for work, text in evidence_of(asked).items():
        fits = "patient" in text.casefold() and not (strict and "trial" not in text.casefold())
        verdict = "include" if fits else "exclude"
        rows.append({"work": work, "verdict": verdict, "criterion": "I1", "sentences": labels[work][:1]})
    return says({"decisions": rows}, usage=(800, 80))(asked)


class Play:
    """The commands of one person at one machine, which loses its processes at a gate."""

    def __init__(self, home: Path, env: dict[str, str]) -> None:
        self.home, self.env = home, env
        self.chance = random.Random("gates")
        self.killed: list[str] = []

    def say(self, *words: str) -> str:
        done = inside("review", *words, **self.env)
        assert done.code == 0, done
        return done.out

    def kill(self, gate: str) -> None:
        """Server and worker, in any order."""
        pids = [pid for running in living(self.home).values() for pid in running]
        self.chance.shuffle(pids)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.killed.append(gate)

    def status(self) -> dict[str, object]:
        """Once a worker answers again, and the review waits for somebody."""
        seen: dict[str, object] = {}

        def waits() -> bool:
            done = inside("review", "status", "--json", **self.env)
            seen.update(json.loads(done.out) if done.code == 0 else {"gate": ""})
            return bool(seen["gate"])

        wait_until(waits, 120, every=0.5, what="the review to wait for somebody")
        return seen


every = pytest.mark.chaos
"""Kills at each gate are those of `make test-chaos`; the tests of every change kill at the dearest one."""
EARLY_GATES = ("protocol", "labels", "decisions")


@every
def test_a_review_of_forty_records_is_killed_at_early_gates_and_loses_nothing(
    home: Path, tmp_path: Path
) -> None:
    root = etree.Element("PubmedArticleSet")
    root.extend(map(deepcopy, works()))
    (tmp_path / "saved.xml").write_bytes(etree.tostring(root))
    (tmp_path / "protocol.toml").write_text(PROTOCOL)
    with FakeOpenAI() as server, ReplayServer() as source:
        server.script(screener)
        pubmed(source)
        play = Play(home, {**server.settings(), **recorded_sources(source)})
        try:
            review = play.say("start", str(tmp_path / "protocol.toml")).split()[0]
            while (gate := str(play.status()["gate"])) != "report":
                if gate in EARLY_GATES and gate not in play.killed:
                    play.kill(gate)
                    play.status()
                answer(play, review, gate)
            assert tuple(play.killed) == EARLY_GATES
            check(play, review, tmp_path / "out")
            bodies = [asked.body for asked in server.asked if asked.body]
            assert len(bodies) == len(set(bodies)), "no question was paid for twice"
            play.say("approve", review, "--by", "Ada")
        finally:
            stop_embedded(home)


LATE = """title = "The drug: a systematic review"
records = ["a.csv"]
stopping = "read_all"
bias = "rob2"
question = { population = "adults", intervention = "the drug" }
criteria = [
  { id = "I1", text = "adults with the disease" },
  { id = "E1", kind = "exclude", text = "animals" },
]
screeners = [
  { name = "m1", kind = "model", model = "first" },
  { name = "m2", kind = "model", model = "second" },
]
calibration = { records = 0 }
extraction = [{ id = "dose", label = "Dose" }]
outcomes = [{ id = "death", label = "death", measure = "RR" }]
"""
LATE_GATES = ("full_texts", "decisions", "extraction", "bias", "report")


@pytest.mark.parametrize("gates", [("extraction",), pytest.param(LATE_GATES, marks=every)], ids="-".join)
def test_a_review_is_killed_at_late_gates_and_asks_nothing_twice(
    home: Path, tmp_path: Path, gates: tuple[str, ...]
) -> None:
    trials = [a_trial(number) for number in range(3)]
    rows = "\n".join(f"{work.title},{work.text}" for work in trials)
    (tmp_path / "a.csv").write_text(f"title,abstract\n{rows}\n")
    (tmp_path / "protocol.toml").write_text(LATE)
    write_texts(tmp_path / "texts", range(3))
    with FakeOpenAI() as server:
        server.script(model)
        play = Play(home, server.settings())
        try:
            review = play.say("start", str(tmp_path / "protocol.toml")).split()[0]
            play.say("approve", review, "--by", "Ada")
            while (gate := str(play.status()["gate"])) != "report":
                if gate in gates and gate not in play.killed:
                    play.kill(gate)
                    play.status()
                late_answer(play, review, gate, tmp_path)
            if "report" in gates:
                play.kill("report")
                play.status()
            assert tuple(play.killed) == gates
            assert "Pooled risk ratio" in play.say("report", review)
            play.say("export", review, "--output", str(tmp_path / "out"))
            (second,) = [
                row
                for row in csv.DictReader(
                    (tmp_path / "out/extraction.csv").read_text("utf-8-sig").splitlines()
                )
                if row["dose: decided"] == "person 1"
            ]
            assert second["dose"] == "12 mg"
            bodies = [asked.body for asked in server.asked if asked.body]
            assert len(bodies) == len(set(bodies)), "no question was paid for twice"
            play.say("approve", review, "--by", "Ada")
        finally:
            stop_embedded(home)


def late_answer(play: Play, review: str, gate: str, folder: Path) -> None:
    """What a person does after the full texts: provide, decide what is unsure or differs, assess."""
    if gate == "full_texts":
        play.say("provide", review, str(folder / "texts"), "--by", "Ada")
    elif gate == "decisions":
        for row in json.loads(play.say("waiting", review, "--json")):
            play.say("decide", review, str(row["record"]), "include", "--full-texts", "--by", "Ada")
    elif gate == "extraction":
        for row in json.loads(play.say("waiting", review, "--json")):
            play.say("field", review, str(row["record"]), row["fields"][0]["id"], "first", "--by", "Ada")
    elif gate == "bias":
        for row in json.loads(play.say("waiting", review, "--json")):
            play.say("assess", review, str(row["record"]), "5.3=N", "--by", "Ada")
    wait_until(lambda: play.status()["gate"] != gate, 60, every=0.3, what=f"the end of {gate}")


def answer(play: Play, review: str, gate: str) -> None:
    """What a person does at a gate: approve, label, decide, or say that a full text is nowhere."""
    if gate in ("protocol", "full_texts"):
        play.say("approve", review, "--by", "Ada")
        wait_until(lambda: play.status()["gate"] != gate, 60, every=0.5)
        return
    keys = "i\n" * (5 if gate == "labels" else 60)  # the next gate is waited for, as a person would
    done = determinator("review", "screen", review, "--by", "Ada", env=play.env, stdin=keys)
    assert done.code == 0, done


def check(play: Play, review: str, out: Path) -> None:
    """Report and exports, read by an outsider."""
    play.say("export", review, "--output", str(out))
    flow = json.loads((out / "report.json").read_text())["flow"]
    given = sum(flow["identified"].values())
    assert given == len(works()) + len(PMIDS) >= 40
    assert flow["duplicates"] == given - flow["screened"]
    assert flow["screened"] == len({work.findtext(".//PMID") for work in works()})
    assert (flow["unread"], flow["open"]) == (0, 0)
    rows = list(csv.DictReader((out / "decisions.csv").read_text().splitlines()))
    assert len(rows) == flow["screened"]
    assert all(row["asreview_label"] in ("0", "1", "") for row in rows)
    log = list(csv.DictReader((out / "decisions-log.csv").read_text().splitlines()))
    made = [(row["record"], row["by"]) for row in log if row["model"]]
    assert len(made) == len(set(made)), "each model has decided on each record once"
    assert {row["by"] for row in log if not row["model"]} == {"person 1"}
    assert "PRISMA 2020" in (out / "report.md").read_text()
