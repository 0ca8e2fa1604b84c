"""The options of `ask` and `search`, each made of its declaration, and the groups of the help."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar, get_args, get_origin

import click
from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

from activities.configuration.declaration import Key, declared, flag_of
from activities.settings import Settings
from client.cli.common import (
    Amount,
    Duration,
    Filled,
    Name,
    Names,
    Words,
    duration,
)
from client.failures import unknown
from client.runs.options import FIELDS, KEYS, OWN
from workflows.modes import CHOICES


class ModeName(click.ParamType[str]):
    """The name or an alias of a mode, as the name."""

    name = "mode"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in CHOICES:
            self.fail(unknown(value, list(CHOICES)), param, ctx)
        return CHOICES[value]


Command = TypeVar("Command", bound=Callable[..., object])

FILTERS = ("since", "until", "types", "free_full_text", "phases")
"""The options that narrow a search."""
SPECIAL: Mapping[str, Mapping[str, Any]] = {
    "mode": {"type": ModeName(), "metavar": "MODE"},
    "profile": {"metavar": "NAME|FILE"},
    "model": {"metavar": "NAME"},
    "fallback": {"type": Filled(), "multiple": True, "metavar": "NAME"},
    "openai_base_url": {"type": Filled(), "metavar": "URL"},
    "columns": {"type": Words(), "metavar": "NAMES"},
    "sources": {"multiple": True, "metavar": "NAME"},
    "library": {"metavar": "DIR"},
    "graph": {"metavar": "NAME|FILE"},
    "since": {"metavar": "YEAR"},
    "until": {"metavar": "YEAR"},
    "types": {"type": Words(), "default": (), "metavar": "TYPES"},
    "phases": {"type": Names(("1", "2", "3", "4")), "default": (), "metavar": "PHASES"},
    "effects": {"metavar": "FILE.csv"},
}
"""Attributes that a declaration does not give an option."""
MORE: Mapping[str, str] = {
    "fallback": " Repeatable.",
    "sources": " Repeatable.",
}


def question_options(command: Command) -> Command:
    """Decorate a command with all options of a question."""
    fields = Settings.model_fields
    of_settings = [_option(name, key, fields[name]) for name, key in KEYS.items() if key.flag]
    return _with([_option(name, key, FIELDS[name]) for name, key in OWN.items()] + of_settings, command)


def filter_options(command: Command) -> Command:
    """Decorate a command with the options that narrow a search; years have names of the sources' own, too."""
    also = {"since": ["--year-from"], "until": ["--year-to"]}
    return _with([_option(name, OWN[name], FIELDS[name], also.get(name, ())) for name in FILTERS], command)


def options_of(fields: Mapping[str, FieldInfo], command: Command) -> Command:
    """Decorate a command with an option for each declared field, which is left out where it is not given."""
    rows = [_option(name, key, fields[name], shows_default=False) for name, key in declared(fields).items()]
    return _with(rows, command)


def _with(options: Sequence[Callable[[Command], Command]], command: Command) -> Command:
    for option in reversed(options):  # of decorators, the last one comes first
        command = option(command)
    return command


def _option(
    name: str, key: Key, field: FieldInfo, also: Iterable[str] = (), *, shows_default: bool = True
) -> Callable[[Command], Command]:
    attributes: dict[str, Any] = {"help": _help(name, key, field) if shows_default else key.help}
    kind = _kind(key, field)
    if kind is bool:
        attributes["is_flag"] = True
    elif get_origin(field.annotation) is tuple:
        attributes |= {"multiple": True, "type": kind, "metavar": "NAME"}
    else:
        attributes["type"] = kind
    if isinstance(kind, (click.IntRange, Amount)):
        attributes["metavar"] = "USD" if key.unit == "US dollars" else "N"
    elif isinstance(kind, Duration):
        attributes["metavar"] = "TIME"
    return click.option(flag_of(name, key), *also, name, **{**attributes, **SPECIAL.get(name, {})})


def _kind(key: Key, field: FieldInfo) -> "click.ParamType[Any] | type[bool]":
    kinds = [kind for kind in get_args(field.annotation) if kind is not type(None)]
    if get_origin(field.annotation) in (list, Literal) or not kinds:
        kinds = [field.annotation]
    kind = kinds[0]
    if key.unit == "seconds":
        return Duration()
    least = next((bound.ge for bound in field.metadata if isinstance(bound, Ge)), None)
    most = next((bound.le for bound in field.metadata if isinstance(bound, Le)), None)
    if kind is bool:
        return bool
    if kind is int:
        return click.IntRange(least, most)  # type: ignore[arg-type]  # bounds of an int are ints
    if kind is float:
        return Amount(least, most)  # type: ignore[arg-type]  # bounds of a float are floats
    if get_origin(kind) is Literal:
        return Name([str(choice) for choice in get_args(kind)])
    if get_origin(kind) is list and get_origin(choices := get_args(kind)[0]) is Literal:
        return Names([str(choice) for choice in get_args(choices)])
    return Filled()


def _help(name: str, key: Key, field: FieldInfo) -> str:
    shown = default_of(key, field)
    text = key.help
    if shown and "default:" not in text:
        text = f"{text.removesuffix('.')}; default: {shown}."
    return text + MORE.get(name, "")


def default_of(key: Key, field: FieldInfo) -> str:
    """Return the default of a setting in words; empty where there is none to name."""
    value = field.default
    if key.limit:
        from workflows.amounts import Limits

        value = Limits.model_fields[key.limit].default
        if value is None:
            return "" if "default:" in key.help else "none"
    if field.default_factory is not None or value is None or isinstance(value, bool):
        return ""
    if key.unit == "seconds":
        return duration(value)
    return (
        f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)
    )


class GroupedCommand(click.Command):
    """Lists its options under headings; `groups` maps each heading to option names.

    An option that is in none is listed under `Other`.
    """

    def __init__(self, *args: Any, groups: Mapping[str, Sequence[str]], **kwargs: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*args, **kwargs)
        self.groups = groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = {
            parameter.name: row
            for parameter in self.get_params(ctx)
            if isinstance(parameter, click.Option) and (row := parameter.get_help_record(ctx))
        }
        grouped = {name for names in self.groups.values() for name in names}
        others = [name for name in rows if name not in grouped]
        for heading, names in (*self.groups.items(), ("Other", others)):
            if listed := [rows[name] for name in names if name in rows]:
                with formatter.section(heading):
                    formatter.write_dl(listed)
