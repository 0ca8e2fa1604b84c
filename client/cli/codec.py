"""`determinator codec`: keys for encrypted payloads, and the server that decrypts them for the Web UI."""

import os

import click

from client.cli.common import run_async
from client.failures import BadInput
from client.listening import listening_address, serve_app

TOKEN_VARIABLE = "DETERMINATOR_CODEC_TOKEN"  # noqa: S105 - the name of a variable


@click.group()
def codec() -> None:
    """Payloads are encrypted where DETERMINATOR_CODEC_KEYS holds keys: `id:key`, the newest first."""


@codec.command("new-key", short_help="Print a new key.")
@click.argument("key_id", metavar="ID")
def new_key(key_id: str) -> int:
    """Print `ID:key` with a random key, to be put in front of those in DETERMINATOR_CODEC_KEYS."""
    from activities.codec import CodecError, parse_keys
    from activities.codec import new_key as random_key

    entry = f"{key_id}:{random_key()}"
    try:
        parse_keys(entry)
    except CodecError as error:
        raise BadInput(str(error)) from error
    click.echo(entry)
    return 0


@codec.command("serve", short_help="Decrypt payloads for the Web UI and the temporal command.")
@click.option("--listen", default="127.0.0.1:8081", show_default=True, metavar="HOST:PORT")
@click.option(
    "--origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="Address of a Web UI whose pages may ask; repeatable.  [default: http://localhost:8080]",
)
@click.option(
    "--trust-network",
    is_flag=True,
    help=f"Listen beyond this machine without {TOKEN_VARIABLE}: what reaches the port reads every payload.",
)
def serve(listen: str, origins: tuple[str, ...], trust_network: bool) -> int:
    """Serve `/encode` and `/decode` with the keys of DETERMINATOR_CODEC_KEYS, until Ctrl-C.

    In the Web UI, give its address under "Configure Remote Codec Endpoint"; for the `temporal` command,
    `--codec-endpoint http://127.0.0.1:8081`.
    """
    from activities.codec import VARIABLE, CodecError, codec_of

    token = os.environ.get(TOKEN_VARIABLE, "")
    host, port = listening_address(
        listen, secured=bool(token) or trust_network, how=f"set {TOKEN_VARIABLE}, or give --trust-network"
    )
    try:
        keys = codec_of()
    except CodecError as error:
        raise BadInput(str(error)) from error
    if keys is None:
        raise BadInput(f"there are no keys; set {VARIABLE}, with a key of `determinator codec new-key`")

    async def body() -> int:
        from client.codec_server import codec_app

        app = codec_app(keys, origins=origins or ("http://localhost:8080",), token=token)
        return await serve_app(app, host, port, "the codec server")

    return run_async(body)
