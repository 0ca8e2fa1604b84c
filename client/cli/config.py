"""`determinator config`: the configuration in force, and the origin of each value."""

import os
from pathlib import Path

import click
from pydantic import BaseModel

from activities.configuration.declaration import declared, flag_of
from activities.configuration.file import ConfigError, read_bytes, read_settings
from activities.configuration.folder import trust as trusted
from activities.credentials import without_credentials
from activities.settings import CONFIG_FILE, Settings, config_path
from client.cli.common import Group, json_option, load_settings, print_json
from client.cli.options import default_of
from client.configuration import is_secret, origins, unknown_variables
from client.failures import BadInput
from client.terminal import harmless


@click.group(cls=Group)
def config() -> None:
    """Show, check and trust the configuration."""


@config.command()
@json_option
def show(as_json: bool) -> None:
    """Show every setting with its value and where it comes from. Secrets are never shown."""
    settings = load_settings()
    values = visible(settings)
    places = origins()
    sources = {}
    for name in values:  # a table may be set in several places
        matches = [place for key, place in places.items() if key == name or key.startswith(f"{name}.")]
        sources[name] = ", ".join(dict.fromkeys(matches)) or DEFAULT
    path = config_path().absolute()
    if as_json:
        file = str(path) if path.exists() else None
        print_json({"file": file, "settings": values, "origins": sources})
        return
    click.echo(f"# {path}" if path.exists() else f"# no {path}; defaults and environment only")
    width = max(len(name) for name in values)
    for name, value in values.items():
        origin = "" if sources[name] == DEFAULT else f"  ({sources[name]})"
        click.echo(f"{name:{width}}  {'' if value is None else value}{origin}")


@config.command()
def check() -> None:
    """Check the configuration file and the variables without starting anything.

    Keys, values, and the names of sources, profiles and hooks are checked.
    """
    from activities.sources.names import source_names
    from client.runs.checks import check_configuration

    settings = load_settings()
    check_configuration(settings)
    path = config_path().absolute()
    click.echo(f"{path}: no error found" if path.exists() else f"no {path}; defaults and environment only")
    for variable, hint in unknown_variables(os.environ, source_names()).items():
        click.echo(f"the variable {variable} sets nothing{hint}", err=True)


@config.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path), default=".")
def trust(path: Path) -> None:
    """Trust the configuration file of a folder (default: this one) as it is now.

    It may set everything then, also what runs programs and where keys are sent. Once it has changed, it
    is not trusted.
    """
    file = (path / CONFIG_FILE if path.is_dir() else path).absolute()
    try:
        data = read_bytes(file)
        if data is None:
            raise BadInput(f"there is no {file}")
        places = [*read_settings(file, data, Settings.model_fields).places.values()]
        trusted(file, data)
    except (ConfigError, OSError) as error:
        raise BadInput(str(error)) from error
    click.echo(harmless(f"{file} is trusted until it changes; it sets{'' if places else ' nothing'}"))
    for place in places:
        click.echo(harmless(f"  {place.removeprefix(str(file)).lstrip(':')}"))


DEFAULT = "default"


def visible(settings: Settings) -> dict[str, object]:
    """Return the settings with secrets as `set` or nothing, and addresses without what they may carry."""
    values: dict[str, object] = {}
    for name, value in settings:
        if is_secret(name, value) and value is not None:
            values[name] = "set (not shown)"
        else:
            values[name] = _printable(value)
    return values


def _printable(value: object) -> object:

    if isinstance(value, BaseModel):
        return _printable(value.model_dump(mode="json", exclude_defaults=True))
    if isinstance(value, dict):
        return {name: _printable(entry) for name, entry in value.items()}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, str) and "://" in value:
        return without_credentials(value)
    return value


def markdown() -> str:
    """Return the table of docs/configuration.md; `python -m client.cli.config` prints it."""
    lines = ["| key | flag of `ask` | unit | default | |", "|---|---|---|---|---|"]
    fields = Settings.model_fields
    for name, key in declared(fields).items():
        section, _, leaf = key.place(name).rpartition(".")
        place, flag = f"[{section}] {leaf}" if section else name, flag_of(name, key)
        default = default_of(key, fields[name])
        lines.append(f"| `{place}` | {f'`{flag}`' if flag else ''} | {key.unit} | {default} | {key.help} |")
    return "\n".join(lines)


if __name__ == "__main__":
    click.echo(markdown())
