"""The options of `ask` and `search`, each made of its declaration, and the groups of the help."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import click
from annotated_types import Ge, Le
from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from activities.configuration.declaration import Key, declared, flag_of
from activities.configuration.wording import in_words
from activities.settings import Settings
from client.cli.common import Filled, duration
from client.runs.options import FIELDS, KEYS, OWN

Command = TypeVar("Command", bound=Callable[..., object])

FILTERS = ("since", "until", "types", "free_full_text", "phases")
"""The options that narrow a search."""
SPECIAL: Mapping[str, Mapping[str, Any]] = {
    "mode": {"metavar": "MODE"},
    "profile": {"metavar": "NAME|FILE"},
    "model": {"metavar": "NAME"},
    "fallback": {"type": Filled(), "multiple": True, "metavar": "NAME"},
    "openai_base_url": {"metavar": "URL"},
    "sources": {"type": Filled(), "multiple": True, "metavar": "NAME"},
    "library": {"metavar": "DIR"},
    "graph": {"metavar": "NAME|FILE"},
    "since": {"metavar": "YEAR"},
    "until": {"metavar": "YEAR"},
    "types": {"default": (), "metavar": "TYPES"},
    "phases": {"default": (), "metavar": "PHASES"},
    "effects": {"metavar": "FILE.csv"},
}
"""Attributes that a declaration does not give an option."""


def question_options(command: Command) -> Command:
    """Decorate a command with all options of a question."""
    fields = Settings.model_fields
    of_settings = [_option(name, key, fields[name]) for name, key in KEYS.items() if key.flag]
    return _with([_option(name, key, FIELDS[name]) for name, key in OWN.items()] + of_settings, command)


def filter_options(command: Command) -> Command:
    """Decorate a command with the options that narrow a search; years have names of the sources' own, too."""
    aliases = {"since": ["--year-from"], "until": ["--year-to"]}
    return _with([_option(name, OWN[name], FIELDS[name], aliases.get(name, ())) for name in FILTERS], command)


def options_of(fields: Mapping[str, FieldInfo], command: Command) -> Command:
    """Decorate a command with an option for each declared field, which is left out where it is not given."""
    rows = [_option(name, key, fields[name], shows_default=False) for name, key in declared(fields).items()]
    return _with(rows, command)


def _with(options: Sequence[Callable[[Command], Command]], command: Command) -> Command:
    for option in reversed(options):  # of decorators, the last one comes first
        command = option(command)
    return command


def _option(
    name: str, key: Key, field: FieldInfo, aliases: Iterable[str] = (), *, shows_default: bool = True
) -> Callable[[Command], Command]:
    kind = _kind(field)
    attributes: dict[str, Any] = {"type": Declared(field), "metavar": _metavar(key, kind)}
    if kind is bool:
        attributes = {"is_flag": True}
    elif get_origin(field.annotation) is tuple:
        attributes = {"multiple": True, "type": Filled(), "metavar": "NAME"}
    attributes["help"] = (_help(name, key, field) if shows_default else key.help) + _range(field)
    return click.option(flag_of(name, key), *aliases, name, **{**attributes, **SPECIAL.get(name, {})})


class Declared(Filled):
    """A value as its declaration reads it: its type, its bounds, of a list the parts between commas."""

    def __init__(self, field: FieldInfo) -> None:
        self._field = field

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - of any declaration
        if not isinstance(value, str):  # a default
            return value
        result: object = super().convert(value, param, ctx)
        if get_origin(_kind(self._field)) in (list, Sequence):
            result = [part.strip() for part in dict.fromkeys(value.split(",")) if part.strip()]
        kind: Any = Annotated[(self._field.annotation, *self._field.metadata)]
        try:
            return TypeAdapter(kind).validate_python(result)
        except ValidationError as error:
            self.fail(in_words(error.errors()), param, ctx)


def _kind(field: FieldInfo) -> Any:  # noqa: ANN401 - a type or a form of one
    """Return the type of a field without `None`."""
    if get_origin(field.annotation) not in (Union, UnionType):
        return field.annotation
    return next(kind for kind in get_args(field.annotation) if kind is not type(None))


def _metavar(key: Key, kind: object) -> str:
    if get_origin(kind) is Literal:
        return f"[{'|'.join(map(str, get_args(kind)))}]"
    if key.unit == "seconds":
        return "TIME"
    if kind in (int, float):
        return "USD" if key.unit == "US dollars" else "N"
    return "NAMES" if get_origin(kind) in (list, Sequence) else "TEXT"


def _range(field: FieldInfo) -> str:
    minimum = next((bound.ge for bound in field.metadata if isinstance(bound, Ge)), None)
    maximum = next((bound.le for bound in field.metadata if isinstance(bound, Le)), None)
    if minimum is None:
        return ""
    return f"  [x>={minimum}]" if maximum is None else f"  [{minimum}<=x<={maximum}]"


def _help(name: str, key: Key, field: FieldInfo) -> str:
    default = default_of(key, field)
    text = key.help
    if default and "default:" not in text:
        text = f"{text.removesuffix('.')}; default: {default}."
    return f"{text} Repeatable." if SPECIAL.get(name, {}).get("multiple") else text


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
        members = {name for names in self.groups.values() for name in names}
        other_names = [name for name in rows if name not in members]
        for heading, names in (*self.groups.items(), ("Other", other_names)):
            if entries := [rows[name] for name in names if name in rows]:
                with formatter.section(heading):
                    formatter.write_dl(entries)
