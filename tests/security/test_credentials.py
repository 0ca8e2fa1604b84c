"""Keys that addresses carry (user, password, query) are shown, logged and stored nowhere."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from activities.contracts.errors import StoreError, Unavailable, to_application_error
from activities.contracts.evidence import Evidence, Identifiers, Query, SourceInfo
from activities.contracts.search import SearchTask
from activities.credentials import carried_by, redacted, without_credentials
from activities.evidence_store import EvidenceStore
from activities.search_activity import SearchActivities
from activities.settings import Settings
from activities.sources.base import Exchange
from client.configuration import known_secrets
from tests.activities.test_search import one
from tests.client.harness import determinator, inside
from tests.replay import ReplayServer, Reply

PASSWORD = "hunter2-in-address"
SIGNATURE = "sig%2Fnature-of-42"
STORE = f"s3://user-of-store:{PASSWORD}@bucket/evidence?X-Signature={SIGNATURE}"
MODEL = f"http://user-of-model:{PASSWORD}@127.0.0.1:9/v1?key={SIGNATURE}"
SHOWN = (PASSWORD, SIGNATURE, "sig/nature-of-42", "user-of-store", "user-of-model")


@pytest.fixture
def configured(home: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("OPENAI_BASE_URL", MODEL)
    monkeypatch.setenv("DETERMINATOR_STORE_URL", STORE)
    monkeypatch.setenv("DETERMINATOR_OPENFDA_URL", MODEL)
    monkeypatch.setenv("DETERMINATOR_MODEL", "some-model")
    return Settings()


def clean(text: str) -> bool:
    return not any(secret in text for secret in SHOWN)


def test_an_address_is_shown_without_what_it_carries() -> None:
    for address in (STORE, MODEL, "https://a:b@[broken", f"//x:{PASSWORD}@host?{SIGNATURE}"):
        assert clean(without_credentials(address))
    assert without_credentials("https://host:1/v1") == "https://host:1/v1"
    assert carried_by("https://host/v1") == set()


def test_no_error_holds_what_an_address_carries(configured: Settings) -> None:
    text = f"cannot reach {MODEL} nor {STORE}: bad signature {SIGNATURE}"
    for error in (Unavailable(text), StoreError(text)):
        assert clean(str(error))
        assert clean(to_application_error(error).message)


async def test_the_store_names_itself_without_credentials(configured: Settings) -> None:
    with pytest.raises(StoreError) as caught:
        EvidenceStore.at(f"nonsense://user-of-store:{PASSWORD}@bucket?{SIGNATURE}")
    assert clean(str(caught.value))


def test_secrets_are_never_shown(
    configured: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither those of variables nor those of files, which are named, nor what an address carries."""
    for variable in ("OPENAI_API_KEY", "BRAVE_API_KEY"):
        (tmp_path / variable).write_text(f"the-secret-of-{variable}\n")
        monkeypatch.setenv(f"{variable}_FILE", str(tmp_path / variable))
    monkeypatch.setenv("NCBI_API_KEY", "the-secret-of-ncbi")
    monkeypatch.setenv("SEARXNG_URL", f"http://me:{PASSWORD}@search.example/?key={SIGNATURE}")
    for arguments in (("doctor",), ("doctor", "--json"), ("config", "show"), ("config", "show", "--json")):
        ran = inside(*arguments)
        assert "127.0.0.1:9" in ran.out
        assert clean(ran.out + ran.err)
        assert "the-secret-of" not in ran.out + ran.err
        if arguments[0] == "config":
            assert "OPENAI_API_KEY_FILE" in ran.out
            assert "search.example" in ran.out
    secrets = {f"the-secret-of-{name}" for name in ("OPENAI_API_KEY", "BRAVE_API_KEY")}
    assert secrets <= known_secrets(Settings())


def test_an_export_removes_them(configured: Settings) -> None:
    assert {PASSWORD, SIGNATURE} <= known_secrets(configured)


def test_a_run_leaves_them_nowhere(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in what is printed of a run whose model refuses the key and repeats it, nor in its database,
    logs, events or report."""
    key = tmp_path / "key"
    key.write_text("sk-key-in-a-file\n")
    monkeypatch.setenv("OPENAI_API_KEY_FILE", str(key))
    monkeypatch.setenv("DETERMINATOR_MODEL", "some-model")
    library = tmp_path / "library"
    library.mkdir()
    (library / "bones.txt").write_text(
        "Vitamin D deficiency weakens the bones of children and of adults alike."
    )
    sources = ("--library", str(library), "--source", "openfda", "--max-iterations", "1")
    with ReplayServer() as server:
        host = server.url.removeprefix("http://")
        address = f"http://user-of-model:{PASSWORD}@{host}/v1?key={SIGNATURE}"
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        monkeypatch.setenv("DETERMINATOR_OPENFDA_URL", address)
        refusal = f"the key sk-key-in-a-file of {address} is not known"
        server.on("/v1/chat/completions", Reply(401, json.dumps({"error": {"message": refusal}})))
        ran = determinator("ask", "Does vitamin D deficiency weaken bones?", "--mode", "simple", *sources)
    assert ran.code == 1, ran
    said = [ran.out, ran.err]
    for verb in ("events", "report", "status"):
        shown = inside(verb, "last")
        said += [shown.out, shown.err]
    secrets = (*SHOWN, "sk-key-in-a-file")
    assert "some-model" in "".join(said)
    assert not [secret for secret in secrets for text in said if secret in text]
    assert any(file.name.startswith("temporal-") for file in home.iterdir())
    for file in home.rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            assert not [secret for secret in secrets if secret.encode() in data], file


class Naming:
    """A source that names what it found by the address it was configured with."""

    info = SourceInfo(name="naming", title="Naming", covers="", how_to_enable="")

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        item = Evidence(
            evidence_id="x",
            source="naming",
            title="T",
            text="text",
            url=MODEL,
            identifiers=Identifiers(url=MODEL),
        )
        yield Exchange(records=(item,), hits=1)


async def test_no_stored_item_holds_them(configured: Settings, tmp_path: Path) -> None:
    store = EvidenceStore.at(str(tmp_path / "store"))
    activities = SearchActivities({"naming": Naming()}, store)
    task = SearchTask(run_id="r", source="naming", query=Query(text="q"))
    hits = await one(activities, task)
    assert len(hits.kept) == 1
    assert clean(hits.model_dump_json())
    assert clean(json.dumps((await store.get_bytes(hits.kept[0].blob)).decode()))


def test_a_short_value_does_not_count_as_a_key() -> None:
    Settings.model_validate({"openai_base_url": "http://a:b@host/v1?x=1"})
    assert redacted("a b 1 host") == "a b 1 host"
    assert redacted("http://a:b@host") == "http://***@host"
    assert httpx.URL("http://***@host").host == "host"
