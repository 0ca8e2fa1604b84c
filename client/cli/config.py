"""`determinator config show`: the configuration in force, without a secret."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from client.cli.common import json_option, load_settings, print_json

if TYPE_CHECKING:
    from activities.settings import Settings


@click.group()
def config() -> None:
    """Show the configuration in force."""


@config.command()
@json_option
def show(as_json: bool) -> None:
    """Show every setting as flags, environment and `determinator.toml` leave it. Secrets are never shown."""
    from activities.settings import config_path

    settings = load_settings()
    shown = visible(settings)
    path = config_path().absolute()
    if as_json:
        print_json({"file": str(path) if path.exists() else None, "settings": shown})
        return
    click.echo(f"# {path}" if path.exists() else f"# no {path}; defaults and environment only")
    width = max(len(name) for name in shown)
    for name, value in shown.items():
        click.echo(f"{name:{width}}  {'' if value is None else value}")


def visible(settings: "Settings") -> dict[str, object]:
    """The settings with secrets as `set` or nothing, and addresses without what they may carry."""
    from client.secrets import is_secret

    found: dict[str, object] = {}
    for name, value in settings:
        if is_secret(name, value) and value is not None:
            found[name] = "set (not shown)"
        elif isinstance(value, Path):
            found[name] = str(value)
        elif isinstance(value, str) and "://" in value:
            found[name] = without_credentials(value)
        else:
            found[name] = value
    return found


def without_credentials(url: str) -> str:
    """An address without user, password and query, where keys are carried."""
    from urllib.parse import urlsplit, urlunsplit

    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "...=***" if parts.query else "", ""))
