"""The Responses protocol with the unmodified `openai` client against a real server, worker and run."""

import json
import os
import random
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest
from openai import AuthenticationError, BadRequestError, NotFoundError, OpenAI
from openai.types.responses import Response
from openai.types.responses.response_output_item import McpApprovalRequest

from client.embedded.binary import free_port
from tests.client.harness import living, wait_until
from tests.client.http.served import Served, client_of, ids, serving

pytestmark = pytest.mark.xdist_group("http")

ASKED = "Does metformin lower the risk of colorectal cancer"
KILLS = int(os.environ.get("DETERMINATOR_TEST_KILLS", "50"))
FAST = {"determinator": {"max_iterations": 1}}


def ended(client: OpenAI, response: Response) -> Response:
    """The response once it is over."""
    seen: list[Response] = []
    wait_until(
        lambda: seen.append(client.responses.retrieve(response.id)) or seen[-1].status != "in_progress",  # type: ignore[func-returns-value]
        every=0.3,
    )
    return seen[-1]


def test_a_question_is_answered_with_annotations(served: Served) -> None:
    client = client_of(served)
    names = [model.id for model in client.models.list()]
    assert {"determinator/auto", "determinator/simple", "determinator/deep"} <= {*names}
    assert client.models.retrieve("determinator/deep").id == "determinator/deep"
    answer = client.responses.create(model="determinator/simple", input=f"{ASKED}?")
    assert answer.status == "completed"
    assert answer.output_text.startswith("# ")
    (message,) = [item for item in answer.output if item.type == "message"]
    (part,) = message.content
    assert part.type == "output_text"
    assert part.annotations
    for annotation in part.annotations:
        assert annotation.type == "file_citation"
        assert answer.output_text[annotation.index] == "["
    assert client.responses.retrieve(answer.id).output_text == answer.output_text
    before = client.responses.create(
        model="determinator/simple", input="And in adults with diabetes?", previous_response_id=answer.id
    )
    assert before.id != answer.id
    assert before.status == "completed"


def test_a_stream_that_is_dropped_goes_on_without_a_gap_or_a_double(served: Served) -> None:
    client = client_of(served)
    with client.responses.stream(
        model="determinator/iterative", input=f"{ASKED} in adults?", extra_body=FAST
    ) as events:
        whole = [*events]
        final = events.get_final_response()
    numbers = [event.sequence_number for event in whole]
    assert numbers == [*range(len(whole))]
    assert whole[0].type == "response.created"
    assert whole[-1].type == "response.completed"
    assert final.output_text
    text = "".join(event.delta for event in whole if event.type == "response.output_text.delta")
    assert text == final.output_text
    for cut in (0, 1, 5, len(whole) // 2, len(whole) - 2):
        rest = client.responses.retrieve(final.id, stream=True, starting_after=cut)
        assert [event.sequence_number for event in rest] == [*range(cut + 1, len(whole))]


def test_a_gate_is_approved_and_a_response_is_cancelled(served: Served) -> None:
    client = client_of(served)
    gate: Any = {"determinator": {"approve": ["plan"]}}
    waiting = client.responses.create(model="determinator/deep", input=f"{ASKED}, by dose?", extra_body=gate)
    assert waiting.status == "in_progress"
    request = waiting.output[-1]
    assert isinstance(request, McpApprovalRequest)
    assert json.loads(request.arguments)["gate"] == "plan"
    with pytest.raises(BadRequestError, match="does not wait"):
        decide(client, waiting, "apr_1_plan")
    done = decide(client, waiting, request.id)
    assert done.id == waiting.id
    assert done.status == "completed"
    with pytest.raises(BadRequestError, match="does not wait"):
        decide(client, waiting, request.id)

    other = client.responses.create(
        model="determinator/deep", input=f"{ASKED}, by age?", extra_body=gate, background=True
    )
    wait_until(lambda: client.responses.retrieve(other.id).output[-1].type == "mcp_approval_request")
    client.responses.cancel(other.id)
    assert ended(client, other).status == "cancelled"
    assert ended(client, other).output_text, "a report of what was there is written"


def decide(client: OpenAI, response: Response, request: str) -> Response:
    return client.responses.create(
        model="determinator/deep",
        previous_response_id=response.id,
        input=[{"type": "mcp_approval_response", "approval_request_id": request, "approve": True}],
    )


def test_what_cannot_be_done_is_refused_with_one_line(served: Served) -> None:
    client = client_of(served)
    with pytest.raises(NotFoundError, match="determinator/auto"):
        client.responses.create(model="gpt-5", input=ASKED)
    with pytest.raises(BadRequestError, match="tools"):
        client.responses.create(model="determinator/auto", input=ASKED, tools=[{"type": "web_search"}])
    with pytest.raises(BadRequestError, match="not offered"):
        client.responses.create(
            model="determinator/auto", input=ASKED, extra_body={"determinator": {"model": "gpt-5"}}
        )
    with pytest.raises(BadRequestError, match="may read"):
        client.responses.create(
            model="determinator/auto", input=ASKED, extra_body={"determinator": {"library": "/etc"}}
        )
    with pytest.raises(NotFoundError):
        client.responses.retrieve("resp_ask-nothing-00000000")
    for wrong in ("", "x" * 43):
        with pytest.raises(AuthenticationError):
            OpenAI(base_url=f"{served.url}/v1", api_key=wrong or "no", max_retries=0).models.list()
    big = httpx.post(f"{served.url}/runs", content=b"x" * 1_000_001, headers=served.headers)
    assert (big.status_code, big.json()["error"]["type"]) == (413, "invalid_request_error")
    assert (
        "access-control-allow-origin"
        not in httpx.options(f"{served.url}/runs", headers={"Origin": "https://evil.example"}).headers
    )


def test_runs_are_asked_read_and_followed_over_rest(served: Served) -> None:
    with httpx.Client(base_url=served.url, headers=served.headers, timeout=180) as http:
        asked = http.post("/runs", json={"question": f"{ASKED} in trials?", "mode": "simple"})
        assert asked.status_code == 201, asked.text
        run = asked.json()["run"]
        with http.stream("GET", f"/runs/{run}/events") as events:
            seen = ids([*events.iter_lines()])
        assert seen == [*range(1, len(seen) + 1)]
        with http.stream("GET", f"/runs/{run}/events", headers={"Last-Event-ID": "3"}) as events:
            assert ids([*events.iter_lines()]) == seen[3:]
        assert http.get(f"/runs/{run}").json()["status"] == "completed"
        assert http.get(f"/runs/{run}/report").text.startswith("# ")
        assert http.get(f"/runs/{run}/report", params={"format": "json"}).json()["run_id"] == run
        assert http.get(f"/runs/{run}/report", params={"format": "doc"}).status_code == 400
        lines = [json.loads(line) for line in http.get(f"/runs/{run}/evidence").text.splitlines()]
        assert {"evidence_id", "title"} <= lines[0].keys()
        assert http.get(f"/runs/{run}/budget").json()["used"]["calls"] == 0
        over = http.post(f"/runs/{run}/steer", json={"text": "only adults"})
        assert (over.status_code, "is over" in over.json()["error"]["message"]) == (400, True)
        assert http.post("/runs/last/cancel").status_code == 400
        for body in ("not JSON", "[1]"):
            wrong = http.post("/runs", content=body, headers={"Content-Type": "application/json"})
            message = wrong.json()["error"]["message"]
            assert (wrong.status_code, message.partition(": ")[0]) == (400, "body"), message
        wrong = http.post("/runs", json={"question": ASKED, "max_costs": 1})
        assert (wrong.status_code, "max_costs" in wrong.json()["error"]["message"]) == (400, True)
        paths = http.get("/openapi.json").json()["paths"]
        assert {"/runs", "/runs/{run_id}/events", "/v1/responses"} <= paths.keys()


# after the tests whose interface, server and worker live on


def test_a_killed_interface_server_and_worker_lose_nothing_of_a_stream(
    file_home: Path, library: Path
) -> None:
    port = free_port()
    seen: list[int] = []
    with serving(port=port) as served, client_of(served) as client:
        events = client.responses.create(
            model="determinator/deep", input=f"{ASKED} over time?", stream=True, background=True
        )
        for event in events:
            seen.append(event.sequence_number)
            if event.type == "response.created":
                response = event.response
            if len(seen) == 6:
                break
        served.process.kill()
    with serving(port=port) as served, client_of(served) as client:
        state = f"{served.url}/runs/{response.id.removeprefix('resp_')}"
        assert httpx.get(state, headers=served.headers, timeout=50).status_code == 200
        for victims in living(file_home).values():
            for victim in victims:
                os.kill(victim, signal.SIGKILL)
        asked = httpx.get(state, headers=served.headers, timeout=50)
        assert asked.status_code == 200, "what holds a connection starts the server again"
        for event in client.responses.retrieve(response.id, stream=True, starting_after=seen[-1]):
            seen.append(event.sequence_number)
        assert event.type == "response.completed"
        assert event.response.id == response.id
        assert seen == [*range(len(seen))]
        runs = httpx.get(f"{served.url}/runs", headers=served.headers).json()
        assert len([run for run in runs if run["question"] == f"{ASKED} over time?"]) == 1


@pytest.mark.chaos
@pytest.mark.timeout(1800)
def test_fifty_kills_in_the_middle_of_streams_lose_nothing(library: Path) -> None:
    kills, port, number = 0, free_port(), 0
    while kills < KILLS:
        number += 1
        seen: list[int] = []
        name, over = "", False
        while not over:
            with serving(port=port) as served, client_of(served) as client:
                if name:
                    events = client.responses.retrieve(name, stream=True, starting_after=seen[-1])
                else:
                    asked = f"{ASKED} in group {number}?"
                    events = client.responses.create(model="determinator/deep", input=asked, stream=True)
                for event, _ in zip(events, range(random.randint(1, 9)), strict=False):
                    seen.append(event.sequence_number)
                    name = event.response.id if event.type == "response.created" else name
                    over = event.type == "response.completed"
                if not over:
                    served.process.kill()
                    kills += 1
        assert seen == [*range(len(seen))]
