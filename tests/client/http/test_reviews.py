"""A systematic review over HTTP: started, screened and read by who may."""

import json
import time
from pathlib import Path

import httpx
import pytest

from client.http.tokens import add_token
from tests.client.http.served import serving

PROTOCOL = """title = "Over HTTP"
question = { population = "adults", intervention = "metformin" }
criteria = [{ id = "I1", text = "on metformin" }]
sources = [{ source = "library", query = "metformin" }]
screeners = [{ name = "ada" }, { name = "bob" }]
"""


@pytest.mark.xdist_group("http")
def test_a_review_is_screened_over_http_by_who_may(library: Path, file_home: Path, tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    scopes = {"ada": ("ask", "read", "decide"), "bob": ("read", "decide"), "eve": ("read", "decide")}
    keys = [add_token(path, name, own, None) for name, own in scopes.items()]  # type: ignore[arg-type]
    stored = json.loads(path.read_text())
    for name in scopes:
        stored[name]["user"] = name
    path.write_text(json.dumps(stored))
    with serving("--tokens", str(path)) as served:
        ada, bob, eve = (
            httpx.Client(base_url=served.url, headers={"Authorization": f"Bearer {key}"}, timeout=120)
            for key in keys
        )
        with ada, bob, eve:
            wrong = ada.post("/reviews", json={"protocol": PROTOCOL.replace("population", "poplation")})
            assert (wrong.status_code, "did you mean population?" in wrong.text) == (400, True)
            files = ada.post("/reviews", json={"protocol": f'records = ["/etc/passwd"]\n{PROTOCOL}'})
            assert files.status_code == 400
            assert bob.post("/reviews", json={"protocol": PROTOCOL}).status_code == 403
            started = ada.post("/reviews", json={"protocol": PROTOCOL})
            assert started.status_code == 201, started.text
            at = f"/reviews/{started.json()['review']}"
            assert eve.get(at).status_code == 404
            assert eve.post(f"{at}/approve", json={}).status_code == 404
            waits(ada, at, "protocol")
            assert ada.post(f"{at}/approve", json={}).status_code == 200
            waits(ada, at, "decisions")
            (first, *_) = ada.get(at).json()["tasks"]
            mine = {"record": first["record"], "verdict": "include"}
            assert "open" in ada.post(f"{at}/decide", json=mine).json()["reply"]
            assert bob.get(at).json()["tasks"][0]["decisions"] == []
            assert bob.post(f"{at}/decide", json={**mine, "by": "ada"}).json()["reply"].endswith("included")
            refused = bob.post(f"{at}/decide", json={"record": 999, "verdict": "include"})
            assert (refused.status_code, "no record 999" in refused.text) == (400, True)
            none = ada.post(f"{at}/decide", json={"record": 0, "verdict": "perhaps"})
            assert none.status_code == 400, none.text
            of_first = {"record": first["record"]}  # included by its title alone
            early = ada.post(f"{at}/field", json={**of_first, "field": "dose", "value": "first"})
            assert (early.status_code, "not included by its full text" in early.text) == (400, True)
            assert ada.post(f"{at}/assess", json={"record": 0, "answer": {}}).status_code == 400
            assert ada.post(f"{at}/finish", json={}).status_code == 200
            waits(ada, at, "report")
            report = bob.get(f"{at}/report").text
            assert "Flow of records" in report
            assert "ada" not in report.partition("## Screening")[2].partition("##")[0]
            assert ada.post(f"{at}/cancel", json={}).status_code == 200


def waits(http: httpx.Client, at: str, gate: str) -> None:
    deadline = time.monotonic() + 60
    while http.get(at).json()["gate"] != gate:
        assert time.monotonic() < deadline, http.get(at).text
        time.sleep(0.2)
