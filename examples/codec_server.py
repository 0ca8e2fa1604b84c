"""The codec server: decrypts payloads for the Temporal Web UI and the `temporal` command.

    DETERMINATOR_CODEC_KEYS=... python examples/codec_server.py --listen 127.0.0.1:8081

The Web UI (its setting "codec endpoint") and `temporal --codec-endpoint` send the encrypted payloads they got
from the server here and show what comes back. The keys stay in this process. Whoever may ask it reads
everything: every account of a machine reaches its loopback ports. So it asks for a token, and answers only
pages of the origins it was given. The Web UI can send no token of its own choice, so the path may hold it:
its endpoint is `http://127.0.0.1:8081/TOKEN`, with the token of DETERMINATOR_CODEC_TOKEN, else a new one that
is printed.
"""

import argparse
import hmac
import os
import secrets
import sys
from collections.abc import Sequence

import uvicorn
from google.protobuf.json_format import MessageToDict, Parse, ParseError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from temporalio.api.common.v1 import Payloads
from temporalio.converter import PayloadCodec

from determinator import CodecError, codec_of

MAX_BODY_BYTES = 16 * 1024 * 1024
"""Of one request: the Web UI sends the payloads of a page of a history."""


def codec_app(codec: PayloadCodec, token: str, *, origins: Sequence[str] = ()) -> Starlette:
    """The ASGI application: `POST /encode`, `POST /decode` as Temporal's remote codecs define them, `GET
    /healthz`.

    `origins` are the pages that may ask (`http://localhost:8080`); a request carries the `token` as
    `Authorization: Bearer`, or as the first part of its path.
    """

    async def convert(request: Request) -> Response:
        origin = request.headers.get("origin")
        if origin is not None and origin not in origins:
            return refusal(403, f"the origin {origin} is not allowed; name it with --origin")
        carried = (
            request.headers.get("authorization", "").removeprefix("Bearer "),
            request.path_params.get("token", ""),
        )
        if not any(hmac.compare_digest(each.encode(), token.encode()) for each in carried):
            return refusal(401, "a token is needed: Authorization: Bearer TOKEN, or /TOKEN/decode")
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                return refusal(413, f"a request has at most {MAX_BODY_BYTES} bytes")
        try:
            asked = Parse(bytes(body), Payloads(), ignore_unknown_fields=True)
        except (ParseError, UnicodeDecodeError):
            return refusal(400, "the body is not the JSON of Temporal payloads")
        change = codec.encode if request.url.path.endswith("/encode") else codec.decode
        try:
            changed = await change(asked.payloads)
        except CodecError as error:
            return refusal(422, str(error))
        return JSONResponse(MessageToDict(Payloads(payloads=changed)))

    async def healthy(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    cors = Middleware(
        CORSMiddleware,
        allow_origins=list(origins),
        allow_methods=["POST"],
        allow_headers=["content-type", "x-namespace", "authorization"],
    )
    routes = [
        *(
            Route(f"{token_in_path}/{verb}", convert, methods=["POST"])
            for token_in_path in ("", "/{token}")
            for verb in ("encode", "decode")
        ),
        Route("/healthz", healthy),
    ]
    return Starlette(routes=routes, middleware=[cors])


def refusal(status: int, message: str) -> Response:
    """An answer that says what is wrong."""
    return JSONResponse({"message": message}, status_code=status)


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description="Decrypt payloads for the Web UI and the temporal command.")
    parser.add_argument("--listen", default="127.0.0.1:8081", metavar="HOST:PORT")
    parser.add_argument("--origin", action="append", metavar="URL", help="a Web UI whose pages may ask")
    options = parser.parse_args()
    host, _, port = options.listen.rpartition(":")
    token = os.environ.get("DETERMINATOR_CODEC_TOKEN", "")
    if not token and host not in ("127.0.0.1", "localhost"):
        parser.error(f"{host} is reached from other machines: set DETERMINATOR_CODEC_TOKEN")
    try:
        keys = codec_of()
    except CodecError as error:
        parser.error(str(error))
    if keys is None:
        parser.error("there are no keys: set DETERMINATOR_CODEC_KEYS")
    if not token:
        token = secrets.token_urlsafe(24)
        print(f"token: {token}", file=sys.stderr)
    app = codec_app(keys, token, origins=options.origin or ["http://localhost:8080"])
    uvicorn.run(app, host=host, port=int(port), access_log=False)


if __name__ == "__main__":
    main()
