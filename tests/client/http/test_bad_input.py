"""Values that cannot be used are refused in the words of the command line."""

from typing import Any

import httpx
import pytest

from activities.settings import Settings
from client.api import Determinator
from client.http.app import build_app
from client.http.tokens import TokenFile

TOKEN = "a-token-of-a-test"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"max_cost": -1}, "max_cost: -1 is too small; the least is 0"),
        ({"max_iterations": 99}, "max_iterations: 99 is too large; the most is 50"),
        ({"max_iterations": "x"}, "max_iterations: 'x' is not a whole number"),
        ({"max_cost": "x" * 500}, f"max_cost: '{'x' * 79}... is not a number"),
        ({"max_iterations": "9" * 5_000}, f"max_iterations: '{'9' * 79}... is too large a number"),
        ({"sources": "pubmed"}, "sources: 'pubmed' is not a list"),
        ({"hurry": True}, "hurry: there is no such key"),
        ({"question": None}, "question: it is missing"),
    ],
)
async def test_a_value_that_is_refused_is_named_in_the_words_of_the_command_line(
    body: dict[str, Any], message: str
) -> None:
    sent = {"question": "Does metformin lower mortality?"} | body
    if sent["question"] is None:
        del sent["question"]
    app = build_app(Determinator(Settings()), TokenFile.of_owner(TOKEN))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http:
        answer = await http.post("/runs", json=sent, headers={"Authorization": f"Bearer {TOKEN}"})
    assert (answer.status_code, answer.json()["error"]["message"]) == (400, message)
