"""`determinator config`: the configuration in force, the origin of each value, and a file to start with."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from client.cli.common import json_option, load_settings, print_json, print_text
from client.failures import BadInput

if TYPE_CHECKING:
    from activities.settings import Settings


@click.group()
def config() -> None:
    """Show, check and create the configuration."""


@config.command()
@json_option
def show(as_json: bool) -> None:
    """Show every setting with its value and where it comes from. Secrets are never shown."""
    from activities.configuration.origins import origins
    from activities.settings import config_path

    settings = load_settings()
    shown = visible(settings)
    found = origins()
    sources = {name: _origin(name, found) for name in shown}
    path = config_path().absolute()
    if as_json:
        file = str(path) if path.exists() else None
        print_json({"file": file, "settings": shown, "origins": sources})
        return
    click.echo(f"# {path}" if path.exists() else f"# no {path}; defaults and environment only")
    width = max(len(name) for name in shown)
    for name, value in shown.items():
        origin = "" if sources[name] == DEFAULT else f"  ({sources[name]})"
        click.echo(f"{name:{width}}  {'' if value is None else value}{origin}")


@config.command()
def check() -> None:
    """Check the configuration file and the variables without starting anything: keys, values, and the
    names of sources, profiles and hooks."""
    import os

    from activities.configuration.origins import unknown_variables
    from activities.settings import config_path
    from client.runs.checks import check_configuration

    settings = load_settings()
    check_configuration(settings)
    path = config_path().absolute()
    click.echo(f"{path}: no error found" if path.exists() else f"no {path}; defaults and environment only")
    for variable, hint in unknown_variables(os.environ).items():
        click.echo(f"the variable {variable} sets nothing{hint}", err=True)


@config.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default=".")
def trust(folder: Path) -> None:
    """Trust the configuration file of a folder (default: this one) to name where keys are sent."""
    from client import trust as trusted

    settings = load_settings(trust=False)
    path = folder.resolve()
    trusted.trust(settings.home, path)
    click.echo(f"{path} is trusted: its determinator.toml may name where keys are sent")


@config.command()
@json_option
def keys(as_json: bool) -> None:
    """List every setting: its key in the file, its variable, its flag of `ask`, its default and its unit."""
    from client.cli.settings_table import rows

    found = rows()
    if as_json:
        print_json(found)
        return
    for row in found:
        names = ", ".join(filter(None, (row["variable"], row["flag"])))
        default = f" (default: {row['default']})" if row["default"] else ""
        print_text(f"{row['key']}  [{names}]{default}")
        print_text(f"    {row['help']}")


@config.command()
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path), required=False)
def init(path: Path | None) -> None:
    """Write a commented configuration file with every key. A file that exists is never overwritten."""
    from activities.settings import config_path
    from client.cli.settings_table import template

    target = (path or config_path()).absolute()
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(template())
    except FileExistsError as error:
        raise BadInput(f"{target} exists; give another path, or edit it") from error
    except OSError as error:
        raise BadInput(f"{target} cannot be written: {error.strerror}") from error
    click.echo(f"wrote {target}; every line in it is a comment until you remove its #")


DEFAULT = "default"


def _origin(name: str, found: dict[str, str]) -> str:
    """The places that set a setting; a table may have several."""
    places = [place for key, place in found.items() if key == name or key.startswith(f"{name}.")]
    return ", ".join(dict.fromkeys(places)) or DEFAULT


def visible(settings: "Settings") -> dict[str, object]:
    """The settings with secrets as `set` or nothing, and addresses without what they may carry."""
    from client.secrets import is_secret

    found: dict[str, object] = {}
    for name, value in settings:
        if is_secret(name, value) and value is not None:
            found[name] = "set (not shown)"
        else:
            found[name] = _shown(value)
    return found


def _shown(value: object) -> object:
    from pydantic import BaseModel

    from activities.credentials import without_credentials

    if isinstance(value, BaseModel):
        return _shown(value.model_dump(mode="json", exclude_defaults=True))
    if isinstance(value, dict):
        return {name: _shown(entry) for name, entry in value.items()}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, str) and "://" in value:
        return without_credentials(value)
    return value
