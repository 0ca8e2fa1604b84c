"""Traces of a run, as a collector gets them."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from temporalio.client import Client

from activities.evidence_store import EvidenceStore
from client import connection as tracing
from client.connection import open_client
from client.runs.start import start
from tests.replay import ReplayServer, Reply
from tests.workflows.conftest import a_request, a_worker
from tests.workflows.fakes import Fakes


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReplayServer]:
    with ReplayServer() as server:
        server.on("/v1/traces", Reply(200, b"", {"content-type": "application/x-protobuf"}))
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
        tracing.provider.cache_clear()
        yield server
        tracing.provider().shutdown()
        tracing.provider.cache_clear()


def spans(collector: ReplayServer) -> list[Span]:
    found = []
    for asked in collector.asked:
        batch = ExportTraceServiceRequest.FromString(asked.body)
        found += [
            span for group in batch.resource_spans for scope in group.scope_spans for span in scope.spans
        ]
    return found


async def test_a_run_is_one_trace_from_the_command_to_each_step(
    collector: ReplayServer, dev_server: str, temporal_client: Client, tmp_path: Path
) -> None:
    client = await open_client({"target_host": dev_server})
    queue = f"traced-{uuid.uuid4().hex[:8]}"
    async with a_worker(client, Fakes(EvidenceStore.at(str(tmp_path))), queue):
        started = await start(client, a_request("deep"), queue)
        await client.get_workflow_handle(started.run_id).result()
    tracing.flush_traces()
    spans_seen = spans(collector)
    names = {span.name for span in spans_seen}
    assert {"StartWorkflow:DeepResearch", "RunWorkflow:DeepResearch", "RunActivity:publish_report"} <= names
    assert any(name.startswith("StartChildWorkflow:") for name in names)
    (root,) = [span for span in spans_seen if span.name == "StartWorkflow:DeepResearch"]
    assert {span.trace_id for span in spans_seen if "Workflow:" in span.name or "Activity:" in span.name} == {
        root.trace_id
    }
    bodies = b"".join(asked.body for asked in collector.asked)
    assert b"Does metformin" not in bodies, "spans hold no payloads"


def test_nothing_is_traced_unless_a_collector_is_named() -> None:
    assert tracing.tracing({}) == []
