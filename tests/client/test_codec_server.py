"""The codec server decrypts for whom it was told to, and for nobody else."""

import sys

import httpx
import pytest
from google.protobuf.json_format import MessageToDict
from temporalio.api.common.v1 import Payload, Payloads

from activities.codec import VARIABLE, AesGcmCodec, new_key, parse_keys
from examples.codec_server import MAX_BODY_BYTES, codec_app, main

UI = "http://localhost:8080"
PLAIN = Payload(metadata={"encoding": b"json/plain"}, data=b'"a question"')


@pytest.fixture
def codec() -> AesGcmCodec:
    return AesGcmCodec(parse_keys(f"k1:{new_key()}"))


TOKEN = "s3cret-of-sixteen"


def asking(codec: AesGcmCodec, token: str = TOKEN) -> httpx.AsyncClient:
    app = codec_app(codec, TOKEN, origins=[UI])
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://codec", headers=headers)


async def test_the_web_ui_reads_what_was_encrypted(codec: AesGcmCodec) -> None:
    sealed = MessageToDict(Payloads(payloads=await codec.encode([PLAIN, PLAIN])))
    async with asking(codec) as client:
        answer = await client.post("/decode", json=sealed, headers={"Origin": UI, "X-Namespace": "default"})
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == UI
    assert answer.json() == MessageToDict(Payloads(payloads=[PLAIN, PLAIN]))


async def test_the_command_line_of_temporal_encrypts_what_it_sends(codec: AesGcmCodec) -> None:
    async with asking(codec) as client:
        sealed = await client.post("/encode", json=MessageToDict(Payloads(payloads=[PLAIN])))
        back = await client.post("/decode", json=sealed.json())
    assert "question" not in sealed.text
    assert back.json() == MessageToDict(Payloads(payloads=[PLAIN]))


async def test_a_page_of_another_origin_reads_nothing(codec: AesGcmCodec) -> None:
    sealed = MessageToDict(Payloads(payloads=await codec.encode([PLAIN])))
    async with asking(codec) as client:
        answer = await client.post("/decode", json=sealed, headers={"Origin": "http://evil.example"})
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.invariant
async def test_nobody_without_the_token_reads_anything(codec: AesGcmCodec) -> None:
    body = MessageToDict(Payloads(payloads=await codec.encode([PLAIN])))
    for wrong in ("", "s3cret", "Bearer", f"{TOKEN}x"):
        async with asking(codec, wrong) as client:
            assert (await client.post("/decode", json=body)).status_code == 401
            assert (await client.post(f"/{wrong or 'x'}/decode", json=body)).status_code == 401
            assert (await client.post("//decode", json=body)).status_code in (401, 404)
            # as the Web UI asks, whose endpoint is the address with the token
            assert (await client.post(f"/{TOKEN}/decode", json=body)).status_code == 200


async def test_what_cannot_be_decrypted_is_an_error_and_no_crash(codec: AesGcmCodec) -> None:
    other = AesGcmCodec(parse_keys(f"k2:{new_key()}"))
    body = MessageToDict(Payloads(payloads=await other.encode([PLAIN])))
    async with asking(codec) as client:
        assert (await client.post("/decode", json=body)).status_code == 422
        assert (await client.post("/decode", content=b"<html>")).status_code == 400
        assert (await client.post("/decode", content=b"x" * (MAX_BODY_BYTES + 1))).status_code == 413


@pytest.mark.parametrize(
    ("env", "options", "reason"),
    [({}, [], VARIABLE), ({VARIABLE: "k"}, ["--listen", "0.0.0.0:1"], "DETERMINATOR_CODEC_TOKEN")],
)
def test_the_server_does_not_start_without_keys_or_unsecured(
    env: dict[str, str],
    options: list[str],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["codec_server.py", *options])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert reason in capsys.readouterr().err
