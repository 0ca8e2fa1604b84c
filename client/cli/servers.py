"""`determinator serve`, `web` and `mcp`: servers, where they may listen, how they end."""

import logging
import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from activities.private_files import random_key
from client.api import Determinator
from client.cli.common import address_option, load_settings, run_async, say
from client.connection import LOOPBACK
from client.failures import BadInput, unknown_name

if TYPE_CHECKING:
    from starlette.types import ASGIApp


OPEN_SECONDS = 0.5
"""Time until the page answers to the browser that is opened."""
STOP_SECONDS = 5
"""Time that requests have to end when the server is stopped."""
DEFAULT_PORT = 7870
"""The port of the page."""
HTTP_PORT = 8090
"""The port of the HTTP interface."""
MCP_TOKEN = "DETERMINATOR_MCP_TOKEN"  # noqa: S105 - the name of a variable
FORWARDED_ALLOW_IPS = "FORWARDED_ALLOW_IPS"
"""Addresses of proxies whose `X-Forwarded-For` is believed, as uvicorn reads them."""
OIDC_SECRET = "DETERMINATOR_OIDC_CLIENT_SECRET"  # noqa: S105 - the name of a variable
MIN_TOKEN_CHARS = 16
WILDCARDS = ("0.0.0.0", "::")  # noqa: S104 - compared with, not listened on
allow_option = click.option(
    "--allow",
    "allowed",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="A folder whose documents a caller may name as a library; repeatable. None by default.",
)


def listening_address(text: str, *, is_secure: bool, how: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`.

    Raises BadInput for another form, and for an address that other machines reach when the server is not
    `is_secure`; `how` says how to secure it.
    """
    host, colon, port = text.rpartition(":")
    host = host.strip("[]")
    if not colon or not host or not port.isdigit() or int(port) > 65_535:
        raise BadInput(f"{text!r} is not an address to listen on; write HOST:PORT, such as 127.0.0.1:8081")
    if host not in LOOPBACK and not is_secure:
        raise BadInput(f"{host} is reached from other machines: {how}")
    return host, int(port)


@contextmanager
def packages_of(extra: str, server: str) -> Iterator[None]:
    """Import what only one server needs. Raises BadInput where it is not installed."""
    try:
        yield
    except ImportError as error:
        from activities.contracts.errors import install

        raise BadInput(f"{server} is not installed ({error.name} is missing): {install(extra)}") from error


def listen_at(host: str, port: int) -> socket.socket:
    """Listen at an address: who opens it at once waits. Raises BadInput when it is in use."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise BadInput(f"{host}:{port} cannot be listened on ({error.strerror}); is it in use?") from error


async def serve_app(app: "ASGIApp", listening: socket.socket, message: str) -> int:
    """Serve until SIGINT or SIGTERM; return the exit code.

    `message` is printed first, with the port that was chosen for 0 in place of `{port}`.
    """
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        # who runs a proxy names it in uvicorn's own variable; without one nobody's headers are believed
        proxy_headers=FORWARDED_ALLOW_IPS in os.environ,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    server = uvicorn.Server(config)
    # open tabs hold connections that would never end; ending them is no error to report
    logging.getLogger("uvicorn.error").addFilter(lambda _record: not server.should_exit)
    with listening:
        say(message.replace("{port}", str(listening.getsockname()[1])))
        await server.serve(sockets=[listening])
    return 0


def shown_host(host: str) -> str:
    """Return a host as an address names it that answers from this machine."""
    if host in LOOPBACK or host in WILDCARDS:
        return "[::1]" if host == "::1" else "127.0.0.1"
    return f"[{host}]" if ":" in host else host


@click.command()
@click.option(
    "--http",
    metavar="HOST:PORT",
    help=f"Serve streamable HTTP at /mcp instead of stdin and stdout; needs the token in {MCP_TOKEN}, "
    "or prints a new one.",
)
@allow_option
@address_option
def mcp(http: str | None, allowed: tuple[Path, ...], address: str | None) -> int:
    """Serve the Model Context Protocol over stdin and stdout, or over HTTP.

    Over stdin and stdout it is for a program that starts this command.

    \b
      { "mcpServers": { "determinator": { "command": "determinator", "args": ["mcp"] } } }
    """
    settings, place = load_settings(), None
    if http is not None:
        place = listening_address(http, is_secure=bool(os.environ.get(MCP_TOKEN)), how=f"set {MCP_TOKEN}")

    async def body() -> int:
        with packages_of("mcp", "the MCP server"):
            from client.mcp.server import TokenRequired, build_server

        async with Determinator(settings, address=address, say=say) as client:
            server = build_server(client, allowed)
            if place is None:
                await server.run_stdio_async()
                return 0
            host, port = place
            line = f"the MCP server answers at http://{shown_host(host)}:{{port}}/mcp"
            app = TokenRequired(server.streamable_http_app(host=host), token(MCP_TOKEN))
            return await serve_app(app, listen_at(host, port), line)

    return run_async(body)


@click.command("serve", short_help="Serve runs over HTTP.")
@click.option("--listen", default=f"127.0.0.1:{HTTP_PORT}", show_default=True, metavar="HOST:PORT")
@click.option(
    "--tokens", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Whom to answer."
)
@click.option("--add-token", metavar="NAME", help="Add a user's token to the file, print it, and end.")
@click.option("--scope", "scopes", multiple=True, help="Of --add-token: ask, read or decide.  [default: all]")
@click.option("--max-cost", type=click.FloatRange(min=0), metavar="USD", help="Of --add-token: of one run.")
@allow_option
@address_option
def serve_http(
    listen: str,
    tokens: Path | None,
    add_token: str | None,
    scopes: tuple[str, ...],
    max_cost: float | None,
    allowed: tuple[Path, ...],
    address: str | None,
) -> int:
    """Serve the Responses protocol and chat completions at `/v1`, where models are modes, and `/runs`.

    \b
      OPENAI_BASE_URL=http://127.0.0.1:8090/v1  OPENAI_API_KEY=<the token it prints>

    Without a file of tokens it serves this machine only, with one token of its own, which stays the same.
    """
    with packages_of("http", "the HTTP server"):
        from client.http import tokens as tokens_of
        from client.http.app import build_app

    if add_token is not None:
        if tokens is None:
            raise BadInput("name the file with --tokens FILE")
        known_scopes = tuple(scope for scope in tokens_of.SCOPES if scope in scopes)
        if unknown_scopes := [scope for scope in scopes if scope not in known_scopes]:
            raise BadInput(f"--scope {unknown_name(unknown_scopes[0], tokens_of.SCOPES)}")
        click.echo(tokens_of.add_token(tokens, add_token, known_scopes, max_cost))
        return 0
    if scopes or max_cost is not None:
        raise BadInput("--scope and --max-cost are for --add-token")
    host, port = listening_address(listen, is_secure=tokens is not None, how="give tokens with --tokens FILE")
    listening = listen_at(host, port)
    settings = load_settings()
    if tokens is None:
        secret = random_key(settings.home / "state" / "serve.token").hex()
        click.echo(f"token: {secret}", err=True)
        callers = tokens_of.TokenFile.of_owner(secret)
    else:
        callers = tokens_of.TokenFile.read(tokens)

    async def body() -> int:
        async with Determinator(settings, address=address, say=say) as client:
            line = f"the HTTP interface answers at http://{shown_host(host)}:{{port}}/v1"
            return await serve_app(build_app(client, callers, allowed), listening, line)

    return run_async(body)


def token(variable: str) -> str:
    """Return the token callers need: the environment's, or a new one, which is printed. Raises BadInput."""
    value = os.environ.get(variable)
    if not value:
        secret = secrets.token_urlsafe(24)
        click.echo(f"token: {secret}", err=True)
        return secret
    if len(value) < MIN_TOKEN_CHARS:
        raise BadInput(f"{variable} is too short; use at least {MIN_TOKEN_CHARS} characters")
    return value


@click.command(short_help="Serve the web page.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Another one needs sign-in.")
@click.option("--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True)
@click.option(
    "--users", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Sign-in by this list."
)
@click.option("--add-user", metavar="NAME", help="Add a user to the list, asking for a password, and end.")
@click.option(
    "--oidc-issuer", metavar="URL", help=f"Sign-in by OpenID Connect; the secret is in {OIDC_SECRET}."
)
@click.option("--oidc-client-id", metavar="ID")
@click.option("--name", "names", multiple=True, metavar="HOST", help="A name the page is reached by.")
@click.option("--https", is_flag=True, help="It is reached over TLS only (behind a proxy).")
@click.option("--open/--no-open", "opens", default=True, help="Open the browser, at a terminal.")
@address_option
def web(
    host: str,
    port: int,
    users: Path | None,
    add_user: str | None,
    oidc_issuer: str | None,
    oidc_client_id: str | None,
    names: tuple[str, ...],
    *,
    https: bool,
    opens: bool,
    address: str | None,
) -> None:
    """Serve the page: ask, watch, approve, read.

    Without sign-in it serves this machine only, to those who open the address it prints; with sign-in
    each user sees their own runs.
    """
    from client.sign_in.signing_in import Provider, UserList

    if add_user is not None:
        _add_user(users, add_user)
        return
    user_list = UserList.read(users) if users else None
    provider = None
    if oidc_issuer or oidc_client_id:
        secret = os.environ.get(OIDC_SECRET, "")
        if not (oidc_issuer and oidc_client_id and secret):
            raise BadInput(
                f"OpenID Connect needs --oidc-issuer, --oidc-client-id and the variable {OIDC_SECRET}"
            )
        provider = Provider(oidc_issuer, oidc_client_id, secret)
    is_own = user_list is None and provider is None
    if host not in LOOPBACK and is_own:
        raise BadInput(f"--host {host} lets others in; configure sign-in with --users or --oidc-issuer")
    listening = listen_at(host, port)
    with packages_of("web", "the page"):
        from client.sign_in.signing_in import SignIn
        from client.web.server import LOOPBACK as NAMES
        from client.web.server import build_app
    settings = load_settings()
    token = random_key(settings.home / "state" / "web.token").hex() if is_own else ""
    client = Determinator(settings, address=address, say=say)
    app = build_app(client, SignIn(user_list, provider, token), (*NAMES, *names), https=https)
    page = f"http://{shown_host(host)}:{listening.getsockname()[1]}/{'?token=' + token if token else ''}"
    if opens and sys.stderr.isatty():
        threading.Timer(OPEN_SECONDS, webbrowser.open, (page,)).start()
    run_async(lambda: serve_app(app, listening, f"the page: {page}"))


def _add_user(users: Path | None, name: str) -> None:
    from client.sign_in.signing_in import add_user

    if users is None:
        raise BadInput("name the list with --users FILE")
    password = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    add_user(users, name, password)
    say(f"{name} may sign in")
