"""Every setting as people see it, from the declarations: rows of a table, and a configuration file to start
with."""

import json
import textwrap
from collections.abc import Iterator
from typing import Literal, get_args, get_origin

from activities.configuration.declaration import declared, flag_of, variable_of
from activities.settings import Settings
from client.cli.options import default_of, duration

HEAD = """\
# Configuration of Determinator. Flags go over environment variables, variables over this file.
# Remove the # before a line to set it. `determinator config check` finds mistakes,
# `determinator config show` prints what is in force and where each value comes from.
# Keys and passwords do not belong here: set OPENAI_API_KEY and the like, or OPENAI_API_KEY_FILE.
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
    found = []
    for name, key in declared(fields).items():
        section, _, last = key.place(name).rpartition(".")
        found.append(
            {
                "key": f"[{section}] {last}" if section else name,
                "variable": variable_of(name, fields[name]),
                "flag": flag_of(name, key),
                "unit": key.unit,
                "default": default_of(key, fields[name]),
                "help": key.help,
            }
        )
    return found


def template() -> str:
    """A configuration file with every key as a comment."""
    sections: dict[str, list[str]] = {"": []}
    for name, key in declared(Settings.model_fields).items():
        section, _, last = key.place(name).rpartition(".")
        lines = sections.setdefault(section, [])
        lines += _comment(key.help)
        if name == "mode":
            lines += _modes()
        lines.append(f"# {last if section else name} = {key.example or _value(name)}")
    parts = [HEAD, "\n".join(sections.pop("")) + "\n"]
    parts += ["\n".join((f"[{name}]", *lines)) + "\n" for name, lines in sections.items()]
    return "\n".join((*parts, SOURCES))


def markdown() -> str:
    """The table of docs/configuration.md; `python -m client.cli.settings_table` prints it."""
    lines = ["| key | flag of `ask` | unit | default | |", "|---|---|---|---|---|"]
    for row in rows():
        flag = f"`{row['flag']}`" if row["flag"] else ""
        lines.append(f"| `{row['key']}` | {flag} | {row['unit']} | {row['default']} | {row['help']} |")
    return "\n".join(lines)


def _comment(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, WIDTH, initial_indent="#   ", subsequent_indent="#   ")


def _modes() -> list[str]:
    """What each mode is good for."""
    from workflows.modes import TABLE

    return [
        line
        for info in TABLE
        for line in _comment(f"{', '.join((info.name, *info.aliases))}: {info.good_for}")
    ]


def _value(name: str) -> str:
    """The default as TOML; where the default is none, the one of a run."""
    field, key = Settings.model_fields[name], declared(Settings.model_fields)[name]
    value = field.get_default(call_default_factory=True)
    if value is None and key.limit:
        from workflows.types import Limits

        value = Limits.model_fields[key.limit].default
    if key.unit == "seconds" and value is not None:
        return json.dumps(duration(value))
    if isinstance(value, (bool, int, float, str, list, dict)):
        return json.dumps(value) if value != {} else "{}"
    if get_origin(field.annotation) is Literal:
        return json.dumps(get_args(field.annotation)[0])
    return json.dumps(str(value))


if __name__ == "__main__":
    import click

    click.echo(markdown())
