"""Tokens: scopes, limits, and runs of one's own."""

import json
from pathlib import Path

import httpx
import pytest
from fastapi import HTTPException
from fastapi.security import HTTPAuthorizationCredentials

from activities.settings import Settings
from client.access import Folders
from client.api import Determinator
from client.failures import BadInput
from client.http.desk import AT_ONCE, Desk
from client.http.tokens import TokenFile, add_token
from tests.client.http.served import serving

QUESTION = "Does metformin lower the risk of colorectal cancer in cohorts?"


def test_a_token_is_kept_as_its_hash_and_a_changed_file_counts_at_once(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    text = add_token(path, "ada", ("read",), 2.0)
    assert text not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    tokens = TokenFile.read(path)
    token = tokens.token(text)
    assert token is not None
    assert (token.user, token.scopes, token.max_cost) == ("ada", ("read",), 2.0)
    assert tokens.token(text[:-1]) is None
    assert tokens.token("") is None
    new = add_token(path, "ada", (), None)
    assert tokens.token(text) is None
    assert tokens.token(new) is not None
    path.write_text("[]")
    assert tokens.token(new) is None


async def test_a_token_has_so_many_requests_open_at_once() -> None:
    desk = Desk(Determinator(Settings()), TokenFile.of_owner("t"), Folders(()))
    given = HTTPAuthorizationCredentials(scheme="Bearer", credentials="t")
    requests = [desk.needs("read")(given) for _ in range(AT_ONCE + 1)]
    for request in requests[:-1]:
        await anext(request)
    with pytest.raises(HTTPException) as refused:
        await anext(requests[-1])
    assert refused.value.status_code == 429
    await requests[0].aclose()
    await anext(desk.needs("read")(given))


async def test_a_wrong_token_is_told_from_none_and_nothing_more_is_said() -> None:
    desk = Desk(Determinator(Settings()), TokenFile.of_owner("secret"), Folders(()))
    reasons = []
    for text in (None, "secre", "quite another"):
        given = HTTPAuthorizationCredentials(scheme="Bearer", credentials=text) if text else None
        with pytest.raises(HTTPException) as refused:
            await anext(desk.needs("read")(given))
        assert refused.value.status_code == 401
        reasons.append(refused.value.detail)
    assert reasons == [
        "a token is needed: Authorization: Bearer TOKEN",
        *["the token is not the right one"] * 2,
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "it is not JSON"),
        ('{"ada": {"sha256": "x", "user": "ada"}}', "ada.sha256"),
        (json.dumps({"ada": {"sha256": "0" * 64, "user": "ada", "scope": []}}), "scope"),
        (json.dumps({"ada": {"sha256": "0" * 64, "user": ""}}), "name the user"),
    ],
)
def test_a_file_with_a_mistake_is_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "tokens.json").write_text(content)
    with pytest.raises(BadInput, match=message):
        TokenFile.read(tmp_path / "tokens.json")


@pytest.mark.xdist_group("http")
def test_no_user_reads_or_changes_a_run_of_another_and_limits_hold(library: Path, tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    keys = {
        "ada": add_token(path, "ada", (), 2.0),
        "eve": add_token(path, "eve", (), None),
        "reader": add_token(path, "reader", ("read",), None),
    }
    stored = json.loads(path.read_text())
    stored["reader"]["user"] = "ada"
    stored["eve"]["runs_an_hour"] = 1
    path.write_text(json.dumps(stored))
    with serving("--tokens", str(path)) as served:
        ada, eve, reader = (
            httpx.Client(base_url=served.url, headers={"Authorization": f"Bearer {key}"}, timeout=180)
            for key in keys.values()
        )
        with ada, eve, reader:
            body = {"question": QUESTION, "mode": "deep", "approve": ["plan"], "max_cost": 50}
            run = ada.post("/runs", json=body).json()["run"]
            limits = ada.get(f"/runs/{run}/budget").json()["limits"]
            assert limits["max_cost_microusd"] == 2_000_000, "the token's, not what was asked"
            more = ada.post(f"/runs/{run}/extend", json={"cost": 1})
            assert (more.status_code, "2 US dollars" in more.text) == (400, True)
            never = ada.post("/runs", json={**body, "since": 2020, "until": 2019})
            assert (never.status_code, "`since` 2020 is after" in never.text) == (400, True), never.text

            for other in (run, run[:12], "last"):
                for place in ("", "/events", "/report", "/evidence", "/plan", "/budget"):
                    assert eve.get(f"/runs/{other}{place}").status_code == 404, (other, place)
            for action in ("approve", "cancel", "steer", "finish"):
                assert eve.post(f"/runs/{run}/{action}").status_code == 404
            assert eve.get(f"/v1/responses/resp_{run}").status_code == 404
            assert eve.get(f"/v1/responses/resp_{run}", params={"stream": True}).status_code == 404
            assert eve.post(f"/v1/responses/resp_{run}/cancel").status_code == 404
            follow = {"input": "and now?", "previous_response_id": f"resp_{run}"}
            assert eve.post("/v1/responses", json=follow).status_code == 404
            assert eve.get("/runs").json() == []
            own = eve.post("/runs", json={**body, "max_cost": None}).json()["run"]
            assert own != run, "the same question of another user is another run"
            second = eve.post("/runs", json={"question": "Is it so in mice?"})
            assert (second.status_code, "Retry-After" in second.headers) == (429, True)

            assert reader.get(f"/runs/{run}").json()["run"] == run
            assert reader.post("/runs", json=body).status_code == 403
            assert reader.post(f"/runs/{run}/approve").status_code == 403
            assert reader.post("/v1/responses", json={"input": QUESTION}).status_code == 403
            assert ada.post(f"/runs/{run}/cancel").status_code == 200
            assert eve.post(f"/runs/{own}/cancel").status_code == 200
