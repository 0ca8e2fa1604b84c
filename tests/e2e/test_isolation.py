"""Runs at once on one worker: neither knows of the other."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from activities.evidence_store import EvidenceStore
from activities.settings import Settings
from client.connection import Connection
from client.embedded.server import start_embedded
from client.reports.load import load_report
from client.runs.query import query
from client.runs.start import start
from tests.e2e.stage import faults
from workflows.types import EvidenceIndex, Outcome, ResearchRequest

pytestmark = [pytest.mark.xdist_group("plain"), pytest.mark.timeout(400)]

QUESTIONS = (
    "Is laparoscopic surgery as safe as open surgery?",
    "Are octogenarians at high risk for carotid endarterectomy?",
)
WORD = re.compile(r"[a-z]{4,}")


async def ask_all(
    connection: Connection, settings: Settings, questions: tuple[str, ...]
) -> dict[str, tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Start all, wait for all; the report and the evidence of each question."""
    requests = [ResearchRequest(question=q, mode="iterative", sources=("library",)) for q in questions]
    client, store = connection.client, EvidenceStore.at(settings.evidence_url)
    begun = await asyncio.gather(*(start(client, request, settings.task_queue) for request in requests))
    assert len({run.run_id for run in begun}) == len(questions)
    handles = [client.get_workflow_handle(run.run_id, result_type=Outcome) for run in begun]
    await asyncio.gather(*(handle.result() for handle in handles))
    found = {}
    for question, run in zip(questions, begun, strict=True):
        report = await load_report(settings, connection, run.run_id)
        assert not report.draft
        index = await query(client, run.run_id, "evidence_index", EvidenceIndex)
        documents = await store.get_many(index.items)
        items = [
            {"evidence_id": ref.evidence_id, "text": document.text, "queries": list(ref.queries)}
            for ref, document in zip(index.items, documents, strict=True)
        ]
        found[question] = report.model_dump(mode="json"), items
    return found


async def test_runs_at_once_share_no_evidence(file_home: Path) -> None:
    settings = Settings()
    connection = await start_embedded(settings)
    found = await ask_all(connection, settings, QUESTIONS)
    asked: dict[str, str] = {}
    for question, (report, evidence) in found.items():
        assert report["question"] == question
        assert evidence
        assert not faults(report, evidence)
        searches = report["methodology"]["searches"]
        own = {f"{search['source']}: {search['query']}" for search in searches}
        for text in (search["query"] for search in searches):
            assert set(WORD.findall(text.lower())) & set(WORD.findall(question.lower())), (question, text)
            assert asked.setdefault(text, question) == question, "two runs made the same search"
        for item in evidence:
            assert item["queries"]
            assert set(item["queries"]) <= own, (question, item)
    assert sum(bool(report["references"]) for report, _ in found.values()) > len(QUESTIONS) // 2

    # what was asked before and beside it changes nothing: the same question alone is answered the same
    alone = await ask_all(connection, settings, QUESTIONS[:1])
    (one, evidence_alone), (other, evidence_beside) = alone[QUESTIONS[0]], found[QUESTIONS[0]]
    assert one["sections"] == other["sections"]
    assert evidence_alone == evidence_beside
