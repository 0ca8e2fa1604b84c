"""A finished report asked, changed and disputed over HTTP, each by who may."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import httpx
import pytest

from client.embedded.server import stop_embedded
from client.http.tokens import Scope, add_token
from tests.client.harness import determinator
from tests.client.http.served import serving
from tests.conftest import move_in
from tests.fake_openai import PATH, FakeOpenAI, sensible
from tests.papers import QUESTION, papers

TOKENS: dict[str, tuple[str, tuple[Scope, ...], float | None]] = {
    "asks": ("ada", ("ask", "read"), None),
    "decides": ("ada", ("read", "decide"), None),
    "reads": ("ada", ("read",), None),
    "other": ("other", (), None),
    "poor": ("ada", (), 0.01),
    "rich": ("ada", (), 100.0),
}
"""Name -> user, scopes, most that may be spent."""
ABOUT = {"text": "What of colorectal cancer?"}


@dataclass(frozen=True)
class Finished:
    """A run that has ended, its model, and a client for each token."""

    run: str
    model: FakeOpenAI
    by: dict[str, httpx.Client]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    """One server, worker and run for the tests of this file."""
    folder = tmp_path_factory.mktemp("dialogue")
    path, config, home = folder / "tokens.json", folder / "own.toml", folder / "home"
    config.write_text("[model]\nprices = { stub = { input = 10.0, output = 10.0 } }\n")
    keys = {name: add_token(path, name, scopes, most) for name, (_, scopes, most) in TOKENS.items()}
    stored = json.loads(path.read_text())
    for name, (user, *_) in TOKENS.items():
        stored[name]["user"] = user
    stored["asks"]["runs_an_hour"] = 4
    path.write_text(json.dumps(stored))
    with pytest.MonkeyPatch.context() as patch, FakeOpenAI() as model, ExitStack() as at_end:
        move_in(home, folder, patch)
        at_end.callback(stop_embedded, home)
        model.on(PATH, sensible)
        model.serve(patch, DETERMINATOR_LIBRARY=str(papers(folder)), DETERMINATOR_CONFIG=str(config))
        served = at_end.enter_context(serving("--tokens", str(path)))
        clients = {
            name: at_end.enter_context(
                httpx.Client(base_url=served.url, headers={"Authorization": f"Bearer {key}"}, timeout=180)
            )
            for name, key in keys.items()
        }
        run = clients["asks"].post("/runs", json={"question": QUESTION, "mode": "simple"}).json()["run"]
        assert determinator("watch", run).code == 0
        yield Finished(run, model, clients)


def test_a_report_is_asked_and_disputed_by_who_asks_and_decided_by_who_decides(finished: Finished) -> None:
    run, by = finished.run, finished.by
    told = by["asks"].post(f"/runs/{run}/tell", json=ABOUT)
    assert (told.status_code, told.json()["answered"]) == (200, True), told.text
    assert told.json()["claims"][0]["references"]
    assert by["reads"].post(f"/runs/{run}/tell", json=ABOUT).status_code == 403
    assert by["other"].post(f"/runs/{run}/tell", json=ABOUT).status_code == 404
    assert by["asks"].post("/runs/last/change", json={"text": "shorter"}).status_code == 400

    report = by["reads"].get(f"/runs/{run}/report", params={"format": "json"}).json()
    sentence = report["sections"][0]["claims"][0]["id"]
    wrong = {"text": "the group was 43, not 34", "sentence": sentence}
    disputed = by["asks"].post(f"/runs/{run}/dispute", json=wrong).json()
    assert (disputed["made"], disputed["disputes"][0]["by"]) == (True, "ada")
    decision = {"sentence": sentence, "upheld": False, "note": "table 2 says 34"}
    assert by["asks"].post(f"/runs/{run}/decide", json=decision).status_code == 403
    decided = by["decides"].post(f"/runs/{run}/decide", json=decision).json()
    assert decided["disputes"][0]["decision"] == "rejected"
    unknown = by["asks"].post(f"/runs/{run}/dispute", json={**wrong, "sentence": "s9.9"})
    assert (unknown.status_code, sentence in unknown.text) == (400, True)
    late = by["decides"].post(f"/runs/{run}/answer", json={"answers": []})
    assert late.status_code == 400, "the run has ended"
    more = by["asks"].post(f"/runs/{run}/tell", json=ABOUT)
    assert (more.status_code, "runs an hour" in more.text) == (429, True), "each buys answers"


def test_what_is_asked_of_a_report_stays_within_what_its_token_may_spend(finished: Finished) -> None:
    run, model, by = finished.run, finished.model, finished.by
    bought = len(model.bodies)
    dispute = {"text": "it was 43, not 34", "sentence": "s1.1"}
    for verb, body in (("tell", ABOUT), ("change", ABOUT), ("dispute", dispute)):
        refused = by["poor"].post(f"/runs/{run}/{verb}", json=body)
        assert (refused.status_code, "are left of what" in refused.text) == (400, True), verb
    assert len(model.bodies) == bought, "nothing is bought for an answer that never comes"
    assert by["rich"].post(f"/runs/{run}/tell", json={"text": "What of adenomas?"}).status_code == 200
    assert len(model.bodies) > bought
