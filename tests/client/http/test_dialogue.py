"""A finished report asked, changed and disputed over HTTP, each by who may."""

import json
from pathlib import Path

import httpx
import pytest

from client.http.tokens import add_token
from tests.client.harness import determinator
from tests.client.http.served import serving
from tests.fake_openai import PATH, FakeOpenAI, sensible
from tests.papers import QUESTION, papers


def test_a_report_is_asked_and_disputed_by_who_asks_and_decided_by_who_decides(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tokens.json"
    names = {"asks": ("ask", "read"), "decides": ("read", "decide"), "reads": ("read",), "other": ()}
    keys = [add_token(path, name, scopes, None) for name, scopes in names.items()]  # type: ignore[arg-type]
    stored = json.loads(path.read_text())
    for name in ("asks", "decides", "reads"):
        stored[name]["user"] = "ada"
    stored["asks"]["runs_an_hour"] = 4
    path.write_text(json.dumps(stored))
    with FakeOpenAI() as model:
        model.on(PATH, sensible).serve(monkeypatch, DETERMINATOR_LIBRARY=str(papers(tmp_path)))
        with serving("--tokens", str(path)) as served:
            asks, decides, reads, other = (
                httpx.Client(base_url=served.url, headers={"Authorization": f"Bearer {key}"}, timeout=180)
                for key in keys
            )
            with asks, decides, reads, other:
                run = asks.post("/runs", json={"question": QUESTION, "mode": "simple"}).json()["run"]
                assert determinator("watch", run).code == 0
                about = {"text": "What of colorectal cancer?"}
                told = asks.post(f"/runs/{run}/tell", json=about)
                assert (told.status_code, told.json()["answered"]) == (200, True), told.text
                assert told.json()["claims"][0]["references"]
                assert reads.post(f"/runs/{run}/tell", json=about).status_code == 403
                assert other.post(f"/runs/{run}/tell", json=about).status_code == 404
                assert asks.post("/runs/last/change", json={"text": "shorter"}).status_code == 400

                report = reads.get(f"/runs/{run}/report", params={"format": "json"}).json()
                sentence = report["sections"][0]["claims"][0]["id"]
                wrong = {"text": "the group was 43, not 34", "sentence": sentence}
                disputed = asks.post(f"/runs/{run}/dispute", json=wrong).json()
                assert (disputed["made"], disputed["disputes"][0]["by"]) == (True, "ada")
                decision = {"sentence": sentence, "upheld": False, "note": "table 2 says 34"}
                assert asks.post(f"/runs/{run}/decide", json=decision).status_code == 403
                decided = decides.post(f"/runs/{run}/decide", json=decision).json()
                assert decided["disputes"][0]["decision"] == "rejected"
                unknown = asks.post(f"/runs/{run}/dispute", json={**wrong, "sentence": "s9.9"})
                assert (unknown.status_code, sentence in unknown.text) == (400, True)
                assert (
                    decides.post(f"/runs/{run}/answer", json={"answers": []}).status_code == 400
                )  # it ended
                more = asks.post(f"/runs/{run}/tell", json=about)
                assert (more.status_code, "runs an hour" in more.text) == (429, True), "each buys answers"


def test_what_is_asked_of_a_report_stays_within_what_its_token_may_spend(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, config = tmp_path / "tokens.json", tmp_path / "own.toml"
    config.write_text("[model]\nprices = { stub = { input = 10.0, output = 10.0 } }\n")
    most = {"asks": None, "poor": 0.01, "rich": 100.0}
    keys = [add_token(path, name, (), limit) for name, limit in most.items()]
    stored = json.loads(path.read_text())
    for name in most:
        stored[name]["user"] = "ada"
    path.write_text(json.dumps(stored))
    about = {"text": "What of colorectal cancer?"}
    with FakeOpenAI() as model:
        model.on(PATH, sensible)
        model.serve(monkeypatch, DETERMINATOR_LIBRARY=str(papers(tmp_path)), DETERMINATOR_CONFIG=str(config))
        with serving("--tokens", str(path)) as served:
            asks, poor, rich = (
                httpx.Client(base_url=served.url, headers={"Authorization": f"Bearer {key}"}, timeout=180)
                for key in keys
            )
            with asks, poor, rich:
                run = asks.post("/runs", json={"question": QUESTION, "mode": "simple"}).json()["run"]
                assert determinator("watch", run).code == 0
                bought = len(model.bodies)
                dispute = {"text": "it was 43, not 34", "sentence": "s1.1"}
                for path_of, body in (("tell", about), ("change", about), ("dispute", dispute)):
                    refused = poor.post(f"/runs/{run}/{path_of}", json=body)
                    assert (refused.status_code, "are left of what" in refused.text) == (400, True), path_of
                assert len(model.bodies) == bought, "nothing is bought for an answer that never comes"
                assert rich.post(f"/runs/{run}/tell", json=about).status_code == 200
                assert len(model.bodies) > bought
