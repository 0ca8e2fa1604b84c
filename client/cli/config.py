"""`determinator config`: the configuration in force, the origin of each value, and a file to start with."""

import json
import os
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args, get_origin

import click
from pydantic import BaseModel

from activities.configuration.declaration import declared, flag_of, variable_of
from activities.configuration.file import ConfigError, read_bytes, read_settings
from activities.configuration.folder import trust as trusted
from activities.credentials import without_credentials
from activities.settings import CONFIG_FILE, Settings, config_path, user_config_path
from client.cli.common import duration, json_option, load_settings, print_json
from client.cli.options import default_of
from client.configuration import is_secret, origins, unknown_variables
from client.failures import BadInput
from client.terminal import harmless
from workflows.modes import TABLE


@click.group()
def config() -> None:
    """Show, check and create the configuration."""


@config.command()
@json_option
def show(as_json: bool) -> None:
    """Show every setting with its value and where it comes from. Secrets are never shown."""
    settings = load_settings()
    shown = visible(settings)
    places = origins()
    sources = {}
    for name in shown:  # a table may be set in several places
        matches = [place for key, place in places.items() if key == name or key.startswith(f"{name}.")]
        sources[name] = ", ".join(dict.fromkeys(matches)) or DEFAULT
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


@config.command()
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option(
    "--user", is_flag=True, help="Write your own file, which holds in every folder and may set all."
)
def init(path: Path | None, user: bool) -> None:
    """Write a commented configuration file with every key. A file that exists is never overwritten."""
    from activities.private_files import private_home

    if user and path is not None:
        raise BadInput("give either PATH or --user")
    target = (path or (user_config_path() if user else config_path())).absolute()
    try:
        if user:
            private_home(target.parent)
        with target.open("x", encoding="utf-8") as file:
            file.write(template())
        if not user:
            trusted(target, template().encode())
    except FileExistsError as error:
        raise BadInput(f"{target} exists; give another path, or edit it") from error
    except OSError as error:
        raise BadInput(f"{target} cannot be written: {error.strerror}") from error
    click.echo(f"wrote {target}; every line in it is a comment until you remove its #")


DEFAULT = "default"


def visible(settings: Settings) -> dict[str, object]:
    """Return the settings with secrets as `set` or nothing, and addresses without what they may carry."""
    shown: dict[str, object] = {}
    for name, value in settings:
        if is_secret(name, value) and value is not None:
            shown[name] = "set (not shown)"
        else:
            shown[name] = _shown(value)
    return shown


def _shown(value: object) -> object:

    if isinstance(value, BaseModel):
        return _shown(value.model_dump(mode="json", exclude_defaults=True))
    if isinstance(value, dict):
        return {name: _shown(entry) for name, entry in value.items()}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, str) and "://" in value:
        return without_credentials(value)
    return value


HEAD = """\
# Configuration of Determinator. Flags go over environment variables, variables over this file.
# Remove the # before a line to set it. `determinator config check` finds mistakes,
# `determinator config show` prints what is in force and where each value comes from.
# Keys and passwords do not belong here: set OPENAI_API_KEY and the like, or OPENAI_API_KEY_FILE.
# In a folder, what runs programs, opens addresses or names models and places holds once you have run
# `determinator config trust` there; in your own file (`determinator config init --user`) it holds at once.
"""
SOURCES = """\
# What is set for one source, by its name in `determinator sources`.
# [sources.pubmed]
# enabled = true
# url = "https://mirror.example.org"
# max_results = 20
# rate = 1  # requests a second; it can lower the API's own limit, never raise it
# filters = { year_from = 2015, publication_types = ["review"] }
"""
WIDTH = 100


def rows() -> list[dict[str, str]]:
    """Key of the file, variable, flag, unit, default and sentence of every declared setting."""
    fields = Settings.model_fields
    listed = []
    for name, key in declared(fields).items():
        section, _, last = key.place(name).rpartition(".")
        listed.append(
            {
                "key": f"[{section}] {last}" if section else name,
                "variable": variable_of(name, fields[name]),
                "flag": flag_of(name, key),
                "unit": key.unit,
                "default": default_of(key, fields[name]),
                "help": key.help,
            }
        )
    return listed


def template() -> str:
    """Return a configuration file with every key as a comment."""
    sections: dict[str, list[str]] = {"": []}
    for name, key in declared(Settings.model_fields).items():
        section, _, last = key.place(name).rpartition(".")
        lines = sections.setdefault(section, [])
        lines += _comment(key.help)
        if name == "mode":
            for info in TABLE:
                lines += _comment(f"{', '.join((info.name, *info.aliases))}: {info.good_for}")
        lines.append(f"# {last if section else name} = {key.example or _example(name)}")
    parts = [HEAD, "\n".join(sections.pop("")) + "\n"]
    parts += ["\n".join((f"[{name}]", *lines)) + "\n" for name, lines in sections.items()]
    return "\n".join((*parts, SOURCES))


def markdown() -> str:
    """Return the table of docs/configuration.md; `python -m client.cli.config` prints it."""
    lines = ["| key | flag of `ask` | unit | default | |", "|---|---|---|---|---|"]
    for row in rows():
        flag = f"`{row['flag']}`" if row["flag"] else ""
        lines.append(f"| `{row['key']}` | {flag} | {row['unit']} | {row['default']} | {row['help']} |")
    return "\n".join(lines)


def _comment(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, WIDTH, initial_indent="#   ", subsequent_indent="#   ")


def _example(name: str) -> str:
    """Return the default as TOML; where the default is none, the one of a run."""
    field, key = Settings.model_fields[name], declared(Settings.model_fields)[name]
    value = field.get_default(call_default_factory=True)
    if value is None and key.limit:
        from workflows.amounts import Limits

        value = Limits.model_fields[key.limit].default
    if key.unit == "seconds" and value is not None:
        return json.dumps(duration(value))
    if isinstance(value, (bool, int, float, str, list, dict)):
        return json.dumps(value) if value != {} else "{}"
    if get_origin(field.annotation) is Literal:
        return json.dumps(get_args(field.annotation)[0])
    return json.dumps(str(value))


if __name__ == "__main__":
    click.echo(markdown())
