"""Who gets in: passwords, the token in the address, names of the host, and attempts in a row."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from fastapi import FastAPI
from starlette.middleware.sessions import SessionMiddleware
from starlette.testclient import TestClient

from client.access import SIGN_INS_A_MINUTE, Access, RateLimit
from client.failures import BadInput, SeveralRuns
from client.sign_in.signing_in import SESSION_SECONDS, Sessions, SignIn, UserList, add_user, hash_of, verifies
from client.web.frame import render_template

if TYPE_CHECKING:
    from fastapi import Request

    from client.api import Determinator

PASSWORD = "correct horse battery"
TOKEN = "t" * 64


@pytest.fixture(autouse=True)
def cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hash takes half a second of a core, here too."""
    monkeypatch.setattr("client.sign_in.signing_in.SCRYPT_N", 2)


def page(sign_in: SignIn) -> TestClient:
    app = FastAPI()
    sign_in.add_to(app, render_template)

    @app.get("/")
    async def home() -> dict[str, str]:
        return {"page": "home"}

    app.add_middleware(SessionMiddleware, secret_key="k" * 32)
    return TestClient(app, follow_redirects=False)


def listed() -> SignIn:
    return SignIn(UserList({"ada": hash_of(PASSWORD)}.copy))


def test_a_password_is_stored_as_a_salted_hash_only(tmp_path: Path) -> None:
    path = tmp_path / "users.json"
    add_user(path, "ada", PASSWORD)
    add_user(path, "eve", PASSWORD)
    text = path.read_text()
    assert PASSWORD not in text
    assert path.stat().st_mode & 0o077 == 0
    users = UserList.read(path)
    assert users.accepts("ada", PASSWORD)
    assert not users.accepts("ada", PASSWORD + "!")
    assert not users.accepts("nobody", PASSWORD)
    assert hash_of(PASSWORD) != hash_of(PASSWORD)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"ada": "plain text"}', '{"ada": 1}'])
def test_a_list_that_is_none_is_refused_with_what_writes_one(tmp_path: Path, text: str) -> None:
    path = tmp_path / "users.json"
    path.write_text(text)
    with pytest.raises(BadInput, match="--add-user"):
        UserList.read(path)


def test_a_short_password_and_a_damaged_hash_are_refused() -> None:
    with pytest.raises(BadInput):
        hash_of("short")
    assert not verifies(PASSWORD, "scrypt$x")
    assert not verifies(PASSWORD, "md5$AAAA$AAAA")


def test_nobody_sees_the_page_before_signing_in() -> None:
    client = page(listed())
    answer = client.get("/")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert client.post("/sign-in", data={"name": "ada", "password": "wrong"}).status_code == 403
    assert client.get("/").status_code == 303
    assert client.post("/sign-in", data={"name": "ada", "password": PASSWORD}).status_code == 303
    assert client.get("/").json() == {"page": "home"}
    client.get("/sign-out")
    assert client.get("/").status_code == 303


def signed_in(users: Path) -> tuple[TestClient, TestClient]:
    """A browser that is signed in, and a thief with a copy of its cookie."""
    add_user(users, "ada", PASSWORD)
    add_user(users, "eve", PASSWORD)
    client = page(SignIn(UserList.read(users)))
    client.post("/sign-in", data={"name": "ada", "password": PASSWORD})
    thief = TestClient(client.app, follow_redirects=False)
    thief.cookies.update(client.cookies)
    assert client.get("/").status_code == thief.get("/").status_code == 200
    return client, thief


def test_a_session_that_was_signed_out_is_over_for_every_copy_of_its_cookie(tmp_path: Path) -> None:
    client, thief = signed_in(tmp_path / "users.json")
    client.get("/sign-out")
    assert thief.get("/").headers["location"] == "/sign-in"


def test_a_removed_user_is_out_and_the_others_stay(tmp_path: Path) -> None:
    users = tmp_path / "users.json"
    client, _ = signed_in(users)
    eve = TestClient(client.app, follow_redirects=False)
    eve.post("/sign-in", data={"name": "eve", "password": PASSWORD})
    left = json.loads(users.read_text())
    del left["ada"]
    users.write_text(json.dumps(left))
    assert client.get("/").headers["location"] == "/sign-in"
    assert client.post("/sign-in", data={"name": "ada", "password": PASSWORD}).status_code == 403
    assert eve.get("/").status_code == 200
    users.write_text("{")
    assert eve.get("/").status_code == 303, "nobody is let in by a list that cannot be read"


def test_a_new_password_ends_the_sessions_before_it(tmp_path: Path) -> None:
    users = tmp_path / "users.json"
    client, _ = signed_in(users)
    longer = PASSWORD + " and more"
    add_user(users, "ada", longer)
    assert client.get("/").headers["location"] == "/sign-in"
    assert client.post("/sign-in", data={"name": "ada", "password": PASSWORD}).status_code == 403
    assert client.post("/sign-in", data={"name": "ada", "password": longer}).status_code == 303


def test_a_session_ends_with_its_time() -> None:
    now = [0.0]
    sessions = Sessions({"ada": "a hash"}.get, lambda: now[0])
    request = cast("Request", SimpleNamespace(session={}))
    sessions.open(request, "ada", "a hash")
    assert sessions.user(request) == "ada"
    now[0] = SESSION_SECONDS + 1
    assert sessions.user(request) is None


class OthersRuns:
    """A client that knows runs of another user only."""

    async def runs(self, _listing: object, _user: object) -> list[object]:
        return []

    async def run(self, name: str) -> object:
        if name == "ask-secret-0a1b2c3d":
            row = SimpleNamespace(user="eve")
            return SimpleNamespace(id=name, row=lambda: asyncio.sleep(0, row))
        raise SeveralRuns(name, ["ask-secret-0a1b2c3d", "ask-secret-too-0a1b2c3d"])


@pytest.mark.parametrize("name", ["ask-", "secret", "last", "ask-secret-0a1b2c3d", "nothing"])
async def test_a_part_of_an_id_names_no_run_of_another_user(name: str) -> None:
    access = Access(cast("Determinator", OthersRuns()), is_shared=True)
    with pytest.raises(BadInput) as refused:
        await access.run(name, "ada")
    assert str(refused.value) == f"there is no run {name}"


def test_the_token_opens_a_page_without_sign_in_and_leaves_the_address() -> None:
    client = page(SignIn(token=TOKEN))
    assert client.get("/?token=wrong&run=a").status_code == 303
    assert client.get("/").headers["location"] == "/sign-in"
    answer = client.get(f"/?run=ask-x&token={TOKEN}")
    assert answer.headers["location"].endswith("/?run=ask-x")
    assert client.get("/").status_code == 200


def test_the_token_opens_no_page_that_has_users() -> None:
    sign_in = SignIn(UserList({"ada": hash_of(PASSWORD)}.copy), token=TOKEN)
    client = page(sign_in)
    client.get(f"/?token={TOKEN}")
    assert client.get("/").headers["location"] == "/sign-in"


def test_attempts_in_a_row_are_refused() -> None:
    client = page(listed())
    answers = [
        client.post("/sign-in", data={"name": "ada", "password": "wrong"}).status_code
        for _ in range(SIGN_INS_A_MINUTE + 1)
    ]
    assert answers[-1] == 429
    assert set(answers[:-1]) == {403}


def test_a_limit_counts_each_user_and_forgets_old_events() -> None:
    now = [0.0]
    limit = RateLimit(2, 60, lambda: now[0])
    assert [limit.admit("ada") for _ in range(3)] == [0.0, 0.0, 60.0]
    assert limit.admit("eve") == 0.0
    now[0] = 61.0
    assert limit.admit("ada") == 0.0
    assert [*limit._events] == ["ada"]


def test_what_a_provider_is_called_cannot_become_markup() -> None:
    from client.sign_in.signing_in import Provider

    provider = Provider("https://<script>alert(1)</script>", "id", "secret")
    text = page(SignIn(provider=provider)).get("/sign-in").text
    assert "<script>" not in text
