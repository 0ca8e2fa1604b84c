"""`determinator completion`, and what the shell's completion offers: nothing is started for it, and a failure
prints nothing, since an error message in the middle of a command line is of no use."""

import asyncio
from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

if TYPE_CHECKING:
    from activities.settings import Settings

SECONDS = 2.0
"""Seconds to wait for the server."""


SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
      bash: eval "$(determinator completion bash)" in ~/.bashrc
      zsh:  eval "$(determinator completion zsh)" in ~/.zshrc
      fish: determinator completion fish > ~/.config/fish/completions/determinator.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    root = context.find_root()
    script = kind(root.command, {}, "determinator", "_DETERMINATOR_COMPLETE")
    click.echo(script.source_template % script.source_vars())


def settings_in_force() -> "Settings | None":
    """The settings; None when they cannot be read."""
    from activities.errors import DeterminatorError
    from activities.settings import Settings

    try:
        return Settings()
    except (DeterminatorError, ValueError, OSError):
        return None


def runs(incomplete: str) -> list[str]:
    """Ids of runs that contain what was typed, and `last`; those that begin with it first."""
    settings = settings_in_force()
    if settings is None:
        return []
    names = ["last", *asyncio.run(known_runs(settings))]
    fitting = [name for name in names if incomplete in name]
    return sorted(fitting, key=lambda name: (not name.startswith(incomplete), name))


async def known_runs(settings: "Settings") -> list[str]:
    """The runs of the configured server, or of the embedded one when it is running; else of the files."""
    from temporalio.service import RPCError

    from client.connection import configured, open_client
    from client.embedded.home import Places, look
    from client.embedded.server import open_embedded
    from client.failures import BadConnectionSettings, NoConnection
    from client.runs.listing import run_ids

    try:
        config = configured(settings=settings)
        if config is not None or look(settings.home).server is not None:
            opening = open_client(config) if config is not None else open_embedded(settings.home)
            return await asyncio.wait_for(run_ids(await asyncio.wait_for(opening, SECONDS)), SECONDS)
    except (BadConnectionSettings, NoConnection, RPCError, TimeoutError):
        pass
    return sorted({path.stem for path in Places(settings.home).reports.glob("*.md")})


def sources(incomplete: str) -> list[str]:
    """Names of sources that begin with what was typed."""
    from client.configuration import source_names

    return [name for name in source_names() if name.startswith(incomplete)]


def profiles(incomplete: str) -> list[str]:
    """Names of profiles that begin with what was typed."""
    from activities.profiles.loader import profile_names

    settings = settings_in_force()
    if settings is None:
        return []
    names = ["auto", *profile_names(settings.profiles_dir or settings.home / "profiles")]
    return [name for name in names if name.startswith(incomplete)]
