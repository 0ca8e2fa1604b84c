"""`determinator web`: the page."""

import logging
import os
from pathlib import Path

import click

from client.cli.common import address_option, load_settings, say
from client.failures import BadInput
from client.listening import STOP_SECONDS

DEFAULT_PORT = 7870
LOOPBACK = ("127.0.0.1", "localhost", "::1")
SECRET = "DETERMINATOR_OIDC_CLIENT_SECRET"  # noqa: S105 - the name of a variable
NOT_INSTALLED = "the page needs more packages; install them with: pip install 'determinator[web]'"


@click.command(short_help="Serve the web page.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Another one needs sign-in.")
@click.option("--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True)
@click.option(
    "--users", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Sign-in by this list."
)
@click.option("--add-user", metavar="NAME", help="Add a user to the list, asking for a password, and end.")
@click.option("--oidc-issuer", metavar="URL", help=f"Sign-in by OpenID Connect; the secret is in {SECRET}.")
@click.option("--oidc-client-id", metavar="ID")
@click.option("--name", "names", multiple=True, metavar="HOST", help="A name the page is reached by.")
@click.option("--https", is_flag=True, help="It is reached over TLS only (behind a proxy).")
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
    address: str | None,
) -> None:
    """Serve the page: ask, watch, approve, read. Without sign-in it serves this machine only, to those who
    open the address it prints; with sign-in each user sees their own runs."""
    try:
        import uvicorn

        from client.web.server import LOOPBACK as NAMES
        from client.web.server import build_app
        from client.web.signing_in import SignIn
    except ModuleNotFoundError as error:
        raise BadInput(f"{NOT_INSTALLED} ({error.name} is missing)") from error
    from activities.private_files import random_key
    from client.api import Determinator
    from client.web.users import Provider, UserList, UserListError

    try:
        if add_user is not None:
            _add_user(users, add_user)
            return
        listed = UserList.read(users) if users else None
    except UserListError as error:
        raise BadInput(str(error)) from error
    provider = None
    if oidc_issuer or oidc_client_id:
        secret = os.environ.get(SECRET, "")
        if not (oidc_issuer and oidc_client_id and secret):
            raise BadInput(f"OpenID Connect needs --oidc-issuer, --oidc-client-id and the variable {SECRET}")
        provider = Provider(oidc_issuer, oidc_client_id, secret)
    if host not in LOOPBACK and listed is None and provider is None:
        raise BadInput(f"--host {host} lets others in; configure sign-in with --users or --oidc-issuer")
    settings = load_settings()
    key = random_key(settings.home / "state" / "web.key").hex()
    token = (
        random_key(settings.home / "state" / "web.token").hex() if listed is None and provider is None else ""
    )
    sign_in = SignIn(listed, provider, token)
    app = build_app(
        Determinator(settings, address=address, say=say), sign_in, key, (*NAMES, *names), https=https
    )
    config = uvicorn.Config(
        *(app, host, port),
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    server = uvicorn.Server(config)
    # open tabs hold connections that would never end; ending them is no error to report
    logging.getLogger("uvicorn.error").addFilter(lambda _record: not server.should_exit)
    with config.bind_socket() as listening:
        listening.listen()  # who opens the printed address at once waits, and is not refused
        shown = listening.getsockname()[1]
        where = f"http://{'127.0.0.1' if host in LOOPBACK else host}:{shown}/"
        say(f"the page: {where}{'?token=' + token if token else ''}")
        server.run(sockets=[listening])


def _add_user(users: Path | None, name: str) -> None:
    from client.web.users import add_user

    if users is None:
        raise BadInput("name the list with --users FILE")
    password = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    add_user(users, name, password)
    say(f"{name} may sign in")
