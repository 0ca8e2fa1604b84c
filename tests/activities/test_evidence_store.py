"""The store returns what was stored, under a name that proves it, or says why it cannot."""

import asyncio
from pathlib import Path

import pytest

from activities.contracts.errors import StoreError
from activities.contracts.evidence import Evidence, Identifiers
from activities.evidence_store import EvidenceStore
from activities.report.archive import report_name


def paper(text: str = "Aspirin reduced the risk of stroke by a third.") -> Evidence:
    return Evidence(
        evidence_id="pmid:1", source="pubmed", title="A" * 400, text=text, identifiers=Identifiers(pmid="1")
    )


async def test_what_is_stored_once_is_read_once(tmp_path: Path) -> None:
    writer = EvidenceStore.at(str(tmp_path))
    ref, same = await asyncio.gather(writer.put(paper()), writer.put(paper()))
    assert ref == same
    files = await asyncio.to_thread(lambda: [p for p in tmp_path.rglob("*.json") if p.is_file()])
    assert len(files) == 1
    reader = EvidenceStore.at(str(tmp_path))
    first = await reader.get(ref)
    await asyncio.to_thread((tmp_path / ref.blob).unlink)
    assert await reader.get_many([ref, ref]) == [first, first]


@pytest.mark.parametrize("damage", [b"", None])
async def test_what_was_stored_is_stored_again_when_it_is_gone_or_cut(
    tmp_path: Path, damage: bytes | None
) -> None:
    store = EvidenceStore.at(str(tmp_path))
    ref = await store.put(paper())
    path = tmp_path / ref.blob
    await asyncio.to_thread(path.unlink if damage is None else lambda: path.write_bytes(damage))
    await store.put(paper())
    assert await EvidenceStore.at(str(tmp_path)).get(ref) == paper()


async def test_few_and_small_blobs_are_remembered(
    store: EvidenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.evidence_store.MAX_REMEMBERED", 2)
    keys = [
        await store.put_bytes(text * size) for text, size in ((b"a", 1), (b"b", 1), (b"c", 1), (b"d", 20_000))
    ]
    assert [*store._memory] == keys[1:3]


async def test_a_missing_blob_is_an_error_of_the_store(tmp_path: Path) -> None:
    store = EvidenceStore.at(str(tmp_path))
    with pytest.raises(StoreError, match=f"not in the evidence store at {tmp_path};.*DETERMINATOR_STORE_URL"):
        await store.get(f"blobs/aa/{'a' * 64}.json")
    assert await store.get_named("reports/none.json") is None


def test_a_path_that_cannot_be_opened_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for url in (str(tmp_path / "file" / "below"), "nonsense://x"):
        with pytest.raises(StoreError, match="cannot open the evidence store"):
            EvidenceStore.at(url)


async def test_a_merged_work_is_read_under_the_id_the_run_knows_it_by(store: EvidenceStore) -> None:
    ref = await store.put(paper())
    merged = ref.model_copy(update={"evidence_id": "doi:10.1/a", "standing": "retracted"})
    read = await store.get(merged)
    assert (read.evidence_id, read.standing, read.text) == ("doi:10.1/a", "retracted", paper().text)


def test_a_copy_with_a_name_that_is_no_field_is_refused() -> None:
    assert Identifiers().model_copy(update={"doi": "10.1/x"}).doi == "10.1/x"
    with pytest.raises(TypeError, match="Identifiers has no dio"):
        Identifiers().model_copy(update={"dio": "10.1/x"})


@pytest.mark.parametrize(
    "key", ["", "blobs/aa/short.json", "../../etc/passwd", "blobs/" + "a" * 900, "answers/x", "blobs/aa/\0"]
)
async def test_an_impossible_key_is_no_outage(tmp_path: Path, key: str) -> None:
    with pytest.raises(StoreError, match="is no key") as raised:
        await EvidenceStore.at(str(tmp_path)).get_bytes(key)
    assert not raised.value.retryable, "a step that asked for it would be repeated for ever"


async def test_the_report_of_a_run_with_a_long_id_has_a_name_that_fits(tmp_path: Path) -> None:
    store = EvidenceStore.at(str(tmp_path))
    for run_id in ("x" * 900, "\u00e9" * 300):
        name = report_name(run_id, "json")
        await store.put_named(name, b"{}")
        assert await store.get_named(name) == b"{}"
        assert name != report_name(run_id + "y", "json")
