"""A damaged home: what is damaged is named, what is left is used, and nothing is called sufficient."""

import asyncio
import json
import os
from pathlib import Path

import pytest
from obstore.store import LocalStore

from activities.contracts.errors import StoreError
from activities.contracts.evidence import Evidence
from activities.evidence_store import EvidenceStore
from activities.publish_activity import PublishActivities
from activities.settings import Settings
from client.embedded.server import start_embedded, stop_embedded
from client.reports.finished import bodies
from tests.activities.test_publish import stored
from tests.client.harness import determinator, inside, server_of

TEXT = "Colchicine lowered the rate of recurrent cardiovascular events after a heart attack in this trial."


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "heart.txt").write_text(f"Colchicine after a heart attack\n\n{TEXT}")
    return folder


async def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = EvidenceStore(LocalStore(prefix=str(tmp_path)), "at here")

    async def full(*_: object) -> None:
        from obstore.exceptions import GenericError

        try:
            with open("/dev/full", "wb", buffering=0) as device:  # noqa: ASYNC230, PTH123
                device.write(b"x")
        except OSError as error:
            text = f"Generic LocalFileSystem error: {error.strerror} (os error {error.errno})"
            raise GenericError(text) from error

    monkeypatch.setattr("obstore.put_async", full)
    for write in (store.put_bytes(b"x"), store.put_named("reports/x", b"x")):
        with pytest.raises(StoreError, match="no space left"):
            await write


def test_a_command_that_meets_a_full_disk_names_it() -> None:
    from client.cli.main import _describe

    text = _describe(OSError(28, os.strerror(28), "/some/file"))
    assert "/some/file" in text
    assert "no space left" in text
    assert "unexpected" not in text


async def test_unreadable_blobs_are_never_sufficient_evidence(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    store = EvidenceStore.at(str(folder))
    step = (await stored(store)).model_copy(update={"stop_reason": "sufficient_evidence"})
    whole = await PublishActivities(store).publish(step)
    assert whole.stop_reason == "sufficient_evidence"
    for blob in (folder / "blobs").rglob("*.json"):
        blob.write_bytes(b"x" + blob.read_bytes()[1:])
    another_worker = PublishActivities(EvidenceStore.at(str(folder)))  # this one remembers what it wrote
    lost = await another_worker.publish(step)
    assert lost.stop_reason == "all_sources_failed"
    assert lost.answered is False


async def test_a_text_that_was_changed_is_called_damaged_and_one_that_is_gone_is_not(tmp_path: Path) -> None:
    store = EvidenceStore.at(str(tmp_path))
    refs = [
        await store.put(Evidence(evidence_id=name, source="library", title=name, text=f"{TEXT} {name}"))
        for name in ("kept", "changed", "gone")
    ]
    changed, gone = (tmp_path / ref.blob for ref in refs[1:])
    changed.write_bytes(changed.read_bytes().replace(b"lowered", b"doubled"))
    gone.unlink()
    fresh = EvidenceStore.at(str(tmp_path))  # this one remembers what it wrote
    items, lost, damaged = await bodies(fresh, refs)
    assert [ref.evidence_id for ref, _ in items] == ["kept"]
    assert (lost, damaged) == (["gone"], ["changed"])


def is_work(stored: object) -> bool:
    return isinstance(stored, dict) and "evidence_id" in stored and TEXT in str(stored.get("text"))


def test_a_damaged_home_is_named_with_the_remedy_and_its_reports_come_from_the_store(
    home: Path, library: Path, tmp_path: Path
) -> None:
    question = "Does colchicine lower recurrent events?"
    asked = determinator("ask", question, "--mode", "iterative", "--library", str(library), "--json")
    assert asked.code in (0, 4), asked
    blobs = (home / "evidence" / "blobs").rglob("*.json")
    texts = [path for path in blobs if is_work(json.loads(path.read_bytes()))]
    assert texts
    whole = {path: path.read_bytes() for path in texts}
    for path in texts:
        path.chmod(0o600)
        path.write_text(path.read_text().replace("lowered", "doubled"))
    checked = inside("verify", "last")
    assert checked.code == 1, checked
    assert "damaged" in checked.out + checked.err
    for path, content in whole.items():
        path.write_bytes(content)

    stop_embedded(home)
    database = next(home.glob("temporal-*.db"))
    for path in home.glob("temporal-*.db*"):
        path.unlink()
    database.write_bytes(b"this is no database" * 1000)
    listed = inside("list")
    assert listed.code == 3
    assert "damaged" in listed.err
    assert f"move {database}* away" in listed.err
    assert listed.err.count("\n") == 1
    report = inside("report", "last", "--format", "json")
    assert report.code == 0, report
    assert [claim for section in report.json()["sections"] for claim in section["claims"]]
    assert inside("verify", "last").code == 0
    assert inside("export", "last", "--output", str(tmp_path / "out.zip")).code == 0
    assert server_of(home) is None
    database.rename(home / "damaged")
    asyncio.run(start_embedded(Settings(), worker=False))
