"""`determinator mcp`: the server for the Model Context Protocol."""

import os
import secrets
from pathlib import Path

import click

from client.cli.common import address_option, load_settings, run_async, say
from client.failures import BadInput
from client.listening import listening_address, serve_app

TOKEN_VARIABLE = "DETERMINATOR_MCP_TOKEN"  # noqa: S105 - the name of a variable
MIN_TOKEN_CHARS = 16


@click.command()
@click.option(
    "--http",
    metavar="HOST:PORT",
    help=f"Serve streamable HTTP at /mcp instead of stdin and stdout; needs the token in {TOKEN_VARIABLE}, "
    "or prints a new one.",
)
@click.option(
    "--allow",
    "allowed",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="A folder whose documents a caller may name as a library; repeatable. None by default.",
)
@address_option
def mcp(http: str | None, allowed: tuple[Path, ...], address: str | None) -> int:
    """Serve the Model Context Protocol over stdin and stdout, for a program that starts this command, or over
    HTTP.

    \b
      { "mcpServers": { "determinator": { "command": "determinator", "args": ["mcp"] } } }
    """
    settings = load_settings()

    async def body() -> int:
        try:
            from client.mcp.server import build_server, http_app
        except ImportError as error:
            raise BadInput(
                f"the MCP server is not installed ({error.name}): pip install 'determinator[mcp]'"
            ) from error
        from client.api import Determinator

        async with Determinator(settings, address=address, say=say) as client:
            server = build_server(client, allowed)
            if http is None:
                await server.run_stdio_async()
                return 0
            host, port = listening_address(
                http, secured=bool(os.environ.get(TOKEN_VARIABLE)), how=f"set {TOKEN_VARIABLE}"
            )
            return await serve_app(http_app(server, host, token()), host, port, "the MCP server")

    return run_async(body)


def token() -> str:
    """The token callers need: that of the environment, or a new one, which is printed. Raises BadInput."""
    given = os.environ.get(TOKEN_VARIABLE)
    if given is None:
        made = secrets.token_urlsafe(24)
        click.echo(f"token: {made}", err=True)
        return made
    if len(given) < MIN_TOKEN_CHARS:
        raise BadInput(f"{TOKEN_VARIABLE} is too short; use at least {MIN_TOKEN_CHARS} characters")
    return given
