"""Nothing secret enters a history: each payload of a run with real activities is searched for it."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload
from temporalio.client import Client

from activities.settings import Settings
from tests.fake_openai import FakeOpenAI, sensible
from tests.replay import Asked, ReplayServer, Reply
from worker.build import research_worker
from worker.resources import open_resources
from workflows.amounts import Limits
from workflows.types import ResearchRequest

QUESTION = "Does zonisamide slow parkinsonism?"
WORDS = (b"zonisamide", b"parkinsonism")
PLANTED = {
    "OPENAI_API_KEY": "sk-planted-model-7f3a9c",
    "OPENFDA_API_KEY": "planted-openfda/91d2+e4",
    "BRAVE_API_KEY": "planted-brave-55aa01",
    "NCBI_API_KEY": "planted-ncbi-0b8844",
    "TAVILY_API_KEY": "planted-tavily-c3c3c3",
    "NEO4J_PASSWORD": "planted-graph-d4d4d4",
}
PASSWORD = "planted-password-e5e5"
TEXT = "Zonisamide slowed parkinsonism in a trial of 80 adults over two years, with few adverse events."


def payloads(message: Message) -> Iterator[Payload]:
    """Every payload in a message, at any depth."""
    if isinstance(message, Payload):
        yield message
        return
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            found = [one for one in value.values() if isinstance(one, Message)]
        else:
            found = [value] if isinstance(value, Message) else list(value)
        for one in found:
            yield from payloads(one)


def forms(secret: str) -> set[bytes]:
    """How a secret may be written: as it is, in an address, in JSON, in base64 at any offset."""
    found = {secret, quote(secret, safe=""), json.dumps(secret)[1:-1]}
    for offset in range(3):
        coded = base64.b64encode(b"x" * offset + secret.encode()).decode()
        found.add(coded[4 if offset else 0 : -4])
    return {form.encode() for form in found}


@contextmanager
def servers() -> Iterator[tuple[FakeOpenAI, ReplayServer]]:
    """A model that answers, and sources that fail and repeat in their errors all that they were sent."""

    def echo(asked: Asked) -> Reply:
        text = json.dumps({"error": f"bad key in {asked.path} {asked.query} {dict(asked.headers)}"})
        return Reply(403, text, {"content-type": "application/json"})

    with FakeOpenAI() as model, ReplayServer() as sources:
        model.on("*", sensible)
        yield model, sources.on("*", echo)


async def histories(client: Client, tmp_path: Path, request: ResearchRequest) -> list[Any]:
    """The events of a run with real activities."""
    async with open_resources(Settings()) as resources:
        worker = research_worker(client, resources, resources.settings.task_queue)
        async with worker:
            handle = await client.start_workflow(
                "IterativeResearch", request, id=f"planted-{tmp_path.name}", task_queue=Settings().task_queue
            )
            await handle.result()
            return list((await handle.fetch_history()).events)


@pytest.fixture
def request_of_all(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[ResearchRequest, ReplayServer]]:
    library = tmp_path / "papers"
    library.mkdir()
    (library / "one.txt").write_text(TEXT)
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    with servers() as (model, sources):
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        monkeypatch.setenv("DETERMINATOR_MODEL", "m")
        monkeypatch.setenv("DETERMINATOR_LIBRARY", str(library))
        monkeypatch.setenv("DETERMINATOR_TASK_QUEUE", f"planted-{tmp_path.name}")
        for name in ("OPENFDA", "BRAVE"):
            address = sources.url.replace("://", f"://user:{PASSWORD}@") if name == "BRAVE" else sources.url
            monkeypatch.setenv(f"DETERMINATOR_{name}_URL", address)
        yield (
            ResearchRequest(
                question=QUESTION,
                mode="iterative",
                profile="biomedical",
                sources=("library", "openfda", "brave"),
                limits=Limits(max_iterations=2),
            ),
            sources,
        )


@pytest.mark.invariant
async def test_no_payload_of_a_run_holds_a_key(
    temporal_client: Client, tmp_path: Path, request_of_all: tuple[ResearchRequest, ReplayServer]
) -> None:
    request, sources = request_of_all
    events = await histories(temporal_client, tmp_path, request)
    asked = " ".join(f"{one.query} {dict(one.headers)}" for one in sources.asked)
    assert PLANTED["BRAVE_API_KEY"] in asked, "the secret was in use"
    found = [payload for event in events for payload in payloads(event)]
    assert len(found) > 20
    assert any(WORDS[0] in payload.data.lower() for payload in found), "payloads are readable here"
    whole = b"".join(event.SerializeToString() for event in events)
    texts = [*(payload.SerializeToString() for payload in found), whole]
    for name, secret in {**PLANTED, "password": PASSWORD}.items():
        for form in forms(secret):
            assert not [text for text in texts if form in text], name
