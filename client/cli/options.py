"""The options of `ask` and `search`, and the groups of the help. Options that are settings are made of their
declarations."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar, get_args, get_origin

import click
from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

from activities.configuration.declaration import Key, declared, flag_of
from activities.settings import Settings
from client.cli.common import Amount, Duration, Filled, Name, Names, Words
from client.cli.modes import ModeName

Command = TypeVar("Command", bound=Callable[..., object])

FILTERS = ("since", "until", "types", "free_full_text", "phases")
"""The parameters of the options that narrow a search."""
ANALYSIS = ("analyse", "effects", "expect")
"""The parameters of the options for statistics over effects."""
YEAR = click.IntRange(1500, 2100)
PHASES = ("1", "2", "3", "4")
SPECIAL: Mapping[str, Mapping[str, Any]] = {
    "mode": {"type": ModeName(), "multiple": True, "metavar": "MODE"},
    "profile": {"metavar": "NAME|FILE"},
    "model": {"metavar": "NAME"},
    "fallback": {"type": Filled(), "multiple": True, "metavar": "NAME"},
    "openai_base_url": {"type": Filled(), "metavar": "URL"},
    "columns": {"type": Words(), "metavar": "NAMES"},
}
"""What a declaration does not say of an option."""
MORE: Mapping[str, str] = {
    "mode": " Repeatable: run each and compare them.",
    "fallback": " Repeatable.",
}


def with_options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """A decorator that adds options to a command, in their order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def filter_options(*, years: tuple[str, ...] = ()) -> Callable[[Command], Command]:
    """Decorate a command with the options that narrow a search; `years` are other names of `--since` and
    `--until`."""
    since, until = (years[:1], years[1:])
    return with_options(
        click.option(
            "--since", *since, "since", type=YEAR, metavar="YEAR", help="Only works of this year or later."
        ),
        click.option(
            "--until", *until, "until", type=YEAR, metavar="YEAR", help="Only works of this year or earlier."
        ),
        click.option(
            "--type",
            "types",
            type=Words(),
            default=(),
            metavar="TYPES",
            help="Only these types, where the source knows them: review,rct,meta-analysis,guideline ...",
        ),
        click.option(
            "--free-full-text", is_flag=True, help="Only works that are free to read, where it is known."
        ),
        click.option(
            "--phase",
            "phases",
            type=Names(PHASES),
            default=(),
            metavar="PHASES",
            help="Only trials of these phases, registered and published, where the source knows them: "
            "1,2,3,4.",
        ),
    )


def setting_options(command: Command) -> Command:
    fields = Settings.model_fields
    options = [_option(name, key, fields[name]) for name, key in declared(fields).items() if key.flag]
    return with_options(*options)(command)


def _option(name: str, key: Key, field: FieldInfo) -> Callable[[Command], Command]:
    attributes: dict[str, Any] = {"help": _help(name, key, field)}
    kind = _kind(key, field)
    if kind is bool:
        attributes["is_flag"] = True
    else:
        attributes["type"] = kind
    if isinstance(kind, (click.IntRange, Amount)):
        attributes["metavar"] = "USD" if key.unit == "US dollars" else "N"
    elif isinstance(kind, Duration):
        attributes["metavar"] = "TIME"
    return click.option(flag_of(name, key), name, **{**attributes, **SPECIAL.get(name, {})})


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
    """The default of a setting in words; empty where there is none to name."""
    value = field.default
    if key.limit:
        from workflows.types import Limits

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


def duration(seconds: float) -> str:
    """`7d`, `1h`, `30m`, `150s`: by the largest unit of which it is a whole number."""
    for letter, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds % length == 0:
            return f"{seconds / length:g}{letter}"
    return f"{seconds:g}s"


def setting_groups() -> dict[str, list[str]]:
    """Heading of the help -> settings with a flag."""
    groups: dict[str, list[str]] = {
        "What to search": [],
        "How to answer": [],
        "Limits": [],
        "People": [],
    }
    for name, key in declared(Settings.model_fields).items():
        if not key.flag:
            continue
        if key.limit or name in ("judge_threshold", "search_timeout"):
            heading = "Limits"
        elif name.startswith("approv"):
            heading = "People"
        elif name in ("also_web", "offline"):
            heading = "What to search"
        else:
            heading = "How to answer"
        groups[heading].append(name)
    return groups


class GroupedCommand(click.Command):
    """Lists its options under headings; `groups` maps each heading to option names. An option that is in none
    is listed under `Other`."""

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


analysis_options = with_options(
    click.option("--analyse", is_flag=True, help="Pool the effects that the works report; a forest plot."),
    click.option(
        "--effects",
        type=Filled(),
        metavar="FILE.csv",
        help="Effects of your own to pool as well: study, outcome, measure, estimate, low, high ...",
    ),
    click.option(
        "--expect",
        type=Name(("lower", "higher", "different")),
        help="Where the effect is expected: below, above or merely off no effect (default).",
    ),
)
"""Decorates a command with the options for statistics over effects."""
