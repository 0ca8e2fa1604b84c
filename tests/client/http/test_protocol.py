"""What a run is told as, held to the types of the protocol's own client."""

from typing import cast

from openai import OpenAI
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter
from sse_starlette import ServerSentEvent

from activities.contracts.evidence import Usage
from activities.report.schema import Reference
from activities.settings import Settings
from client.http.chat import Conversation
from client.http.protocol import CHUNK_CHARS, Output, annotations, output_text, usage_of
from client.http.response_routes import Asked, server_event
from client.runs.options import AskOptions, SharedOptions
from client.runs.request import build_request
from tests.replay import ReplayServer, Reply
from workflows.event_types import AgentEvent

EVENT: TypeAdapter[ResponseStreamEvent] = TypeAdapter(ResponseStreamEvent)


def happened(*kinds: str) -> list[AgentEvent]:
    """Events of a run of these types."""
    return [
        AgentEvent(
            seq=number,
            type=kind,
            message=f"it is {kind}",
            data={"gate": "plan"} if kind == "awaiting_approval" else {},
            timestamp="2026-01-01T00:00:00Z",
        )
        for number, kind in enumerate(kinds, start=1)
    ]


def whole(output: Output, status: str) -> dict[str, object]:
    return {
        "id": "resp_r",
        "object": "response",
        "created_at": 0.0,
        "model": "determinator/deep",
        "status": status,
        "output": [*output.items],
        "parallel_tool_calls": False,
        "tool_choice": "none",
        "tools": [],
        "usage": usage_of(Usage()),
    }


def test_every_event_of_a_stream_is_one_of_the_protocol_and_they_are_numbered_without_a_gap() -> None:
    works = [
        Reference.model_construct(
            number=1, evidence_id="pmid:1", source="pubmed", title="One", url="https://example.org/1"
        ),
        Reference.model_construct(number=2, evidence_id="file:2", source="library", title="Two", url=None),
    ]
    words = f"# Answer\n\n{'It lowers the risk [1a, 1b, 2]. ' * 200}"
    text = output_text(words, [*annotations(words, works)])
    output = Output("r")
    told = [*output.begin(whole(output, "in_progress"))]
    for event in happened("started", "streaming", "awaiting_approval", "approved"):
        told += output.event(event)
    told += output.end(text)
    told.append(output.final_event(whole(output, "completed")))
    assert [event["sequence_number"] for event in told] == [*range(len(told))]
    parsed = [EVENT.validate_python(event) for event in told]
    assert [event.type for event in parsed] == [event["type"] for event in told]
    deltas = [event.delta for event in parsed if event.type == "response.output_text.delta"]
    assert "".join(deltas) == words
    assert max(map(len, deltas)) <= CHUNK_CHARS
    answer = Response.model_validate(whole(output, "completed"))
    assert [item.type for item in answer.output] == ["reasoning", "mcp_approval_request", "message"]
    assert answer.output_text == words
    kinds = {annotation["type"] for annotation in text["annotations"]}
    assert kinds == {"url_citation", "file_citation"}
    assert len(text["annotations"]) == 400, "quotes a and b of a work are one citation of it"

    at_once = Output("r")
    at_once.add_all(happened("started", "streaming", "awaiting_approval", "approved"), text, is_over=True)
    assert at_once.items == output.items


def test_a_stream_that_is_silent_for_a_while_is_read_to_its_end_by_openai_s_client() -> None:
    """A ping is a comment between two events, which keeps proxies from ending the connection."""
    output = Output("r")
    told = [*output.begin(whole(output, "in_progress")), output.final_event(whole(output, "completed"))]
    ping = ServerSentEvent(comment="ping").encode()
    chunks = tuple(part for event in told for part in (server_event(event).encode(), ping))
    with ReplayServer() as server:
        server.on("/v1/responses", Reply(headers={"content-type": "text/event-stream"}, chunks=chunks))
        with OpenAI(base_url=f"{server.url}/v1", api_key="t") as client:
            events = client.responses.create(model="m", input="q", stream=True)
            assert [event.sequence_number for event in events] == [*range(len(told))]


def test_a_run_that_failed_or_was_cancelled_ends_its_stream_with_an_event_of_the_protocol() -> None:
    for status, kind in (("failed", "response.failed"), ("cancelled", "response.incomplete")):
        output = Output("r")
        assert EVENT.validate_python(output.final_event(whole(output, status))).type == kind


def test_fields_that_a_client_sends_as_null_are_fields_that_it_did_not_send() -> None:
    nulls = dict.fromkeys(("stream", "tools", "determinator"))
    assert Asked.model_validate({"input": "x", **nulls}) == Asked(input="x", stream=None)
    assert Conversation.model_validate({"messages": [], **nulls}) == Conversation(messages=[], stream=None)
    options = dict.fromkeys(SharedOptions.__annotations__)
    asked = Asked.model_validate({"input": "x", "determinator": options}).determinator
    assert asked == options
    request = build_request(Settings(), "Does it work?", cast("AskOptions", asked))
    assert request == build_request(Settings(), "Does it work?", {})
