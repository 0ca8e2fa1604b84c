"""Encrypted payloads: nobody reads a run without its keys, and keys can be rotated."""

import base64
from pathlib import Path

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.exceptions import ApplicationError

from activities.codec import ENCODING, KEY_ID, AesGcmCodec, CodecError, codec_of, keys_of, new_key, parse_keys
from activities.evidence_store import EvidenceStore
from activities.payloads import data_converter
from client.listing import UNREADABLE, Listing, list_runs
from client.reviews.start import start_review
from client.runs.start import start
from tests.activities.review.studies import PROTOCOL
from tests.workflows.conftest import a_request, a_worker
from tests.workflows.fakes import Fakes
from workflows.review.types import ReviewRequest

PLAIN = Payload(metadata={"encoding": b"json/plain"}, data=b'"a question about melanoma"')


def codec(*names: str, keys: dict[str, str]) -> AesGcmCodec:
    return AesGcmCodec(parse_keys(",".join(f"{name}:{keys[name]}" for name in names)))


@pytest.fixture
def keys() -> dict[str, str]:
    return {name: new_key() for name in ("old", "new")}


async def test_a_payload_comes_back_as_it_was_and_is_never_encrypted_alike(keys: dict[str, str]) -> None:
    (sealed,) = await codec("new", keys=keys).encode([PLAIN])
    assert sealed.metadata["encoding"] == ENCODING
    assert sealed.metadata[KEY_ID] == b"new"
    assert b"melanoma" not in sealed.SerializeToString()
    assert await codec("new", keys=keys).decode([sealed]) == [PLAIN]
    first, second = await codec("new", keys=keys).encode([PLAIN, PLAIN])
    assert first.data != second.data
    assert await codec("new", keys=keys).decode([PLAIN]) == [PLAIN]


async def test_a_rotated_key_still_reads_what_it_wrote(keys: dict[str, str]) -> None:
    (sealed,) = await codec("old", keys=keys).encode([PLAIN])
    rotated = codec("new", "old", keys=keys)
    assert await rotated.decode([sealed]) == [PLAIN]
    (later,) = await rotated.encode([PLAIN])
    assert later.metadata[KEY_ID] == b"new"
    with pytest.raises(CodecError, match="'old'"):
        await codec("new", keys=keys).decode([sealed])


async def test_a_changed_payload_and_one_of_another_key_are_refused(keys: dict[str, str]) -> None:
    (sealed,) = await codec("old", keys=keys).encode([PLAIN])
    sealed.data = sealed.data[:-1] + bytes([sealed.data[-1] ^ 1])
    with pytest.raises(CodecError, match="changed"):
        await codec("old", keys=keys).decode([sealed])
    keys["new"] = keys["old"]
    (sealed,) = await codec("old", keys=keys).encode([PLAIN])
    sealed.metadata[KEY_ID] = b"new"
    with pytest.raises(CodecError):
        await codec("new", "old", keys=keys).decode([sealed])


@pytest.mark.parametrize(
    "text",
    [
        "no-colon",
        "a b:c",
        "a:not base64!",
        "a:" + base64.b64encode(b"short").decode(),
        f"a:{'A' * 43}=,a:{'A' * 43}=",
    ],
)
def test_keys_that_cannot_be_used_are_refused(text: str) -> None:
    with pytest.raises(CodecError):
        parse_keys(text)


def test_keys_come_from_the_environment_or_from_a_file(tmp_path: Path) -> None:
    assert codec_of({}) is None
    entry = f"k1:{new_key()}"
    assert [key.name for key in keys_of({"DETERMINATOR_CODEC_KEYS": entry})] == ["k1"]
    path = tmp_path / "keys"
    path.write_text(f"{entry}\nk0:{new_key()}\n")
    assert [key.name for key in keys_of({"DETERMINATOR_CODEC_KEYS_FILE": str(path)})] == ["k1", "k0"]
    with pytest.raises(CodecError, match="cannot be read"):
        keys_of({"DETERMINATOR_CODEC_KEYS_FILE": str(tmp_path / "missing")})


async def test_an_error_keeps_its_message_from_the_server(keys: dict[str, str]) -> None:
    from temporalio.api.failure.v1 import Failure

    converter = data_converter(codec("new", keys=keys))
    failure = Failure()
    await converter.encode_failure(ApplicationError("no answer about melanoma", type="Unavailable"), failure)
    assert b"melanoma" not in failure.SerializeToString()
    assert failure.application_failure_info.type == "Unavailable"
    assert "melanoma" in str(await converter.decode_failure(failure))


async def test_the_history_of_a_run_does_not_hold_its_question(
    temporal_client: Client, tmp_path: Path, keys: dict[str, str]
) -> None:
    config = temporal_client.config()
    config["data_converter"] = data_converter(codec("new", keys=keys))
    client = Client(**config)
    request = a_request()
    fakes = Fakes(EvidenceStore.at(str(tmp_path / "evidence")))
    async with a_worker(client, fakes, "encrypted"):
        started = await start(client, request, "encrypted")
        handle = client.get_workflow_handle(started.run_id)
        await handle.result()
        described = await handle.describe()
        history = await handle.fetch_history()
    # who has no key lists the run among the others, without its question
    (row,) = await list_runs(temporal_client, only=Listing(text=started.run_id))
    assert row.question == UNREADABLE
    raw = b"".join(event.SerializeToString() for event in history.events)
    raw += described.raw_description.SerializeToString() + started.run_id.encode()
    assert len(history.events) > 20
    for word in ("metformin", "mortality", "diabetes"):
        assert word.encode() not in raw.lower()


async def test_the_start_of_a_review_does_not_hold_its_title(
    temporal_client: Client, keys: dict[str, str]
) -> None:
    config = temporal_client.config()
    config["data_converter"] = data_converter(codec("new", keys=keys))
    client = Client(**config)
    request = ReviewRequest(protocol=PROTOCOL.replace(title="Melanoma"), protocol_key="", files=())
    handle = client.get_workflow_handle(await start_review(client, request, "no-worker"))
    described, history = await handle.describe(), await handle.fetch_history()
    await handle.terminate()
    raw = b"".join(event.SerializeToString() for event in history.events)
    raw += described.raw_description.SerializeToString() + handle.id.encode()
    assert b"melanoma" not in raw.lower()
