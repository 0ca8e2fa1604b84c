"""Chat completions with the unmodified `openai` client, and with requests as Open WebUI sends them.

The latter are written down from its source (`backend/open_webui/routers/openai.py`; `config.py` for tasks),
not captured from one that runs.
"""

import json
from typing import Any, cast

import httpx
import pytest
from fastapi import HTTPException
from openai import BadRequestError, NotFoundError

from client.http.chat import tell
from client.http.desk import Case
from client.http.tokens import Scope, Token
from client.run import Run
from tests.client.http.served import Served, client_of

pytestmark = pytest.mark.xdist_group("http")

ASKED = "Does metformin lower the risk of colorectal cancer"
OPEN_WEBUI = {
    "stream": True,
    "model": "determinator/simple",
    "messages": [
        {"role": "system", "content": "User Context:\n\nBe brief."},
        {"role": "user", "content": [{"type": "text", "text": f"{ASKED} in cohorts?"}]},
    ],
    "stream_options": {"include_usage": True},
    "params": {},
    "features": {"web_search": False},
}
"""The body for a connection of the kind OpenAI when a person asks; parts where it marks the last message."""
USER_HEADERS = {
    "X-OpenWebUI-User-Name": "Ada%20L",
    "X-OpenWebUI-User-Id": "1",
    "X-OpenWebUI-User-Email": "ada@example.org",
    "X-OpenWebUI-User-Role": "user",
    "X-OpenWebUI-Chat-Id": "2",
}
"""Where it forwards who asks (`ENABLE_FORWARD_USER_INFO_HEADERS`)."""
TITLE = {
    "model": "determinator/simple",
    "messages": [{"role": "user", "content": "### Task:\nGenerate a concise, 3-5 word title."}],
    "stream": False,
    "max_completion_tokens": 1000,
}
WITH_FILES = {
    **OPEN_WEBUI,
    "messages": [
        {
            "role": "user",
            "content": "### Task:\nRespond to the user query using the provided context, incorporating "
            f'inline citations.\n<context>\n<source id="1">Text.</source>\n</context>\n\n{ASKED} in files?',
        }
    ],
}
"""With documents attached, by the default of `RAG_TEMPLATE`."""


def test_a_conversation_asks_streams_and_builds_on_its_answer(served: Served) -> None:
    client = client_of(served)
    first: Any = {"role": "user", "content": f"{ASKED}?"}
    answer = client.chat.completions.create(model="determinator/simple", messages=[first])
    text = answer.choices[0].message.content
    assert text is not None
    assert text.startswith("# ")
    assert answer.choices[0].finish_reason == "stop"
    next_turn: Any = [
        first,
        {"role": "assistant", "content": text},
        {"role": "user", "content": "And in adults with diabetes?"},
    ]
    chunks = [*client.chat.completions.create(model="determinator/simple", messages=next_turn, stream=True)]
    deltas = [chunk.choices[0].delta for chunk in chunks]
    assert any("reasoning_content" in (delta.model_extra or {}) for delta in deltas)
    said = "".join(delta.content or "" for delta in deltas)
    assert "# " in said
    assert said.splitlines()[-1].startswith("Run: `ask-")
    assert said.splitlines()[-1] != text.splitlines()[-1]
    assert chunks[-1].choices[0].finish_reason == "stop"
    progress = "".join((delta.model_extra or {}).get("reasoning_content", "") for delta in deltas)
    earlier = text.splitlines()[-1].split("`")[1]
    assert earlier in progress, "it began with what the first run had"


def test_a_gate_is_approved_in_the_conversation(served: Served) -> None:
    client = client_of(served)
    turns: Any = [{"role": "user", "content": f"{ASKED}, by dose?"}]
    gate: Any = {"determinator": {"approve": ["plan"]}}
    model = "determinator/deep"
    waiting = client.chat.completions.create(model=model, messages=turns, extra_body=gate)
    text = waiting.choices[0].message.content
    assert text is not None
    assert "plan waits" in text
    turns += [{"role": "assistant", "content": text}, {"role": "user", "content": "Looks nice"}]
    with pytest.raises(BadRequestError, match="approve"):
        client.chat.completions.create(model=model, messages=turns)
    turns[-1] = {"role": "user", "content": "Approve"}
    done = client.chat.completions.create(model=model, messages=turns)
    assert done.id == waiting.id
    assert (done.choices[0].message.content or "").startswith("# ")


def test_open_webui_lists_asks_and_is_refused_titles_and_files(served: Served) -> None:
    with httpx.Client(base_url=served.url, headers=served.headers | USER_HEADERS, timeout=180) as http:
        models = http.get("/v1/models").json()
        assert all(model["object"] == "model" for model in models["data"])
        with http.stream("POST", "/v1/chat/completions", json=OPEN_WEBUI) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            data = [line.removeprefix("data: ") for line in stream.iter_lines() if line.startswith("data: ")]
        assert data[-1] == "[DONE]"
        parts = [json.loads(line) for line in data[:-1]]
        assert {part["object"] for part in parts} == {"chat.completion.chunk"}
        assert "usage" in parts[-1]
        assert parts[-2]["choices"][0]["finish_reason"] == "stop"
        before = len(http.get("/runs").json())
        for body, word in ((TITLE, "tasks"), (WITH_FILES, "files")):
            refused = http.post("/v1/chat/completions", json=body)
            assert (refused.status_code, word in refused.json()["error"]["message"]) == (400, True)
        assert len(http.get("/runs").json()) == before, "no run was started for it"


def test_a_run_of_another_conversation_is_found_by_its_own_user_only(served: Served) -> None:
    foreign: Any = [
        {"role": "user", "content": f"{ASKED}?"},
        {"role": "assistant", "content": "Run: `ask-nothing-of-mine-00000000`"},
        {"role": "user", "content": "And now?"},
    ]
    with pytest.raises(NotFoundError):
        client_of(served).chat.completions.create(model="determinator/simple", messages=foreign)


@pytest.mark.parametrize(("scopes", "may"), [(("ask",), False), (("ask", "read"), True)])
async def test_a_run_is_followed_only_with_a_token_that_reads(scopes: tuple[Scope, ...], may: bool) -> None:
    """The run that a conversation names may be another one of the same user."""
    token, run = Token(sha256="0" * 64, user="ada", scopes=scopes), cast(Run, None)
    if may:
        await tell(Case(run, token), "continue", gate=None)
        return
    with pytest.raises(HTTPException, match="may not read"):
        await tell(Case(run, token), "continue", gate=None)


REFUSED: dict[str, dict[str, Any]] = {
    "n": {"n": 2},
    "response_format": {"response_format": {"type": "json_object"}},
    "functions": {"functions": [{"name": "f"}]},
    "logprobs": {"logprobs": True},
    "stop": {"stop": ["."]},
    "tools": {"tools": [{"type": "function", "function": {"name": "f"}}]},
    "audio": {"modalities": ["text", "audio"], "audio": {"voice": "alloy"}},
    "image_url": {
        "messages": [
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}],
            }
        ]
    },
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_chat_completions_does_not_do_is_refused_by_name(served: Served, name: str) -> None:
    asked = {"model": "determinator/simple", "messages": [{"role": "user", "content": ASKED}]}
    body = {**asked, **REFUSED[name]}
    answer = httpx.post(f"{served.url}/v1/chat/completions", json=body, headers=served.headers, timeout=60)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "invalid_request")
    assert name in error["message"]


def test_errors_have_codes(served: Served) -> None:
    for path, headers, status, code in (
        ("/models", {}, 401, "invalid_api_key"),
        ("/models/gpt-4", served.headers, 404, "not_found"),
        ("/responses/resp_none", served.headers, 404, "not_found"),
    ):
        answer = httpx.get(f"{served.url}/v1{path}", headers=headers, timeout=60)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), path
