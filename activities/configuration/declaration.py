"""How a setting is declared: once, beside its type and default in `activities.settings.Settings` or its base.

The command line, the configuration file, the request and the documents read the declaration;
none of them repeats a name, a limit or a sentence of it. Durations and names are read as people write them.
"""

import difflib
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from pydantic import Field
from pydantic.fields import FieldInfo

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def seconds(value: object) -> float:
    """Seconds from a number, or from a number with `s`, `m`, `h` or `d`. Raises ValueError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", str(value).strip().lower())
    duration = float(match.group(1)) * _UNITS[match.group(2)] if match else 0.0
    if not 0 < duration < math.inf:
        raise ValueError(f"{value!r} is not a duration; write 90s, 30m, 2h or 3d")
    return duration


def closest(name: str, names: Collection[str]) -> str | None:
    return next(iter(difflib.get_close_matches(name, sorted(names), n=1)), None)


def did_you_mean(name: str, names: Collection[str]) -> str:
    """Hint at the nearest of the names that exist; empty where none is near."""
    match = closest(name, names)
    return f"; did you mean {match}?" if match else ""


def nearest(name: str, names: Collection[str]) -> str:
    """Hint at the nearest of the names that exist, or at all of them."""
    return did_you_mean(name, names) or f". There are: {', '.join(sorted(names))}"


@dataclass(frozen=True, slots=True)
class Key:
    """The part of one setting that people see. Its environment variable and its flag follow from its name."""

    help: str
    """One sentence, as `ask --help` and the documents show it."""
    at: str = ""
    """Its section of the configuration file, or `section.key` where the key is not the name; empty: the name,
    before all sections."""
    also: tuple[str, ...] = ()
    """Other keys that set it: those of the file format this system re-thinks."""
    unit: str = ""
    """`tokens`, `seconds`, `US dollars` ...; seconds may be written as `90s`, `30m`, `2h` or `3d`."""
    example: str = ""
    """A value as TOML, for the message about a variable that is no JSON; empty: none."""
    flag: bool | str = False
    """Whether `ask` has a flag for it; its name, where that does not follow from the setting's."""
    limit: str = ""
    """The field of `workflows.types.Limits` that it sets, which has the default; US dollars become
    millionths."""
    request: str = ""
    """The field of `workflows.types.ResearchRequest` that it sets, where that has another name."""
    by_request: bool = False
    """Whether a request carries it, or it concerns the command alone, so that workers do not differ by it.
    Every limit is carried."""
    by_folder: bool = False
    """Whether the file of a folder may set it before the user trusts that file (`configuration.folder`). A
    limit may be set there always."""

    def place(self, name: str) -> str:
        """Its key in the file, with the section: `budget.max_tokens`."""
        return self.at if "." in self.at or not self.at else f"{self.at}.{name}"


_KEY = frozenset(field.name for field in fields(Key))


def setting(help: str, **options: Any) -> Any:  # noqa: A002, ANN401 - as pydantic's `Field`
    """Return the field of a setting, with what `Key` has.

    Bounds, alias and default are as in pydantic's `Field`, but the default is None where none is given.
    """
    settings = {name: value for name, value in options.items() if name not in _KEY}
    field = Field(**settings if "default_factory" in settings else {"default": None} | settings)
    field.metadata.append(Key(help, **{name: value for name, value in options.items() if name in _KEY}))
    return field


def option(help: str, flag: str | Literal[True] = True, unit: str = "") -> Any:  # noqa: A002, ANN401 - as pydantic's `Field`
    """Return the help of an option that is no setting; its flag, where its name does not say it."""
    field = Field(description=help)
    field.metadata.append(Key(help, flag=flag, unit=unit))
    return field


def declared(fields: Mapping[str, FieldInfo]) -> dict[str, Key]:
    """Return the declaration of each setting, in the order of the fields."""
    return {name: key for name, field in fields.items() for key in field.metadata if isinstance(key, Key)}


def carried(fields: Mapping[str, FieldInfo]) -> frozenset[str]:
    """Return the settings by which workers do not differ."""
    return frozenset(name for name, key in declared(fields).items() if key.by_request or key.limit)


def flag_of(name: str, key: Key) -> str:
    """Return the flag of a setting; empty where it has none."""
    if isinstance(key.flag, str):
        return key.flag
    return f"--{name.replace('_', '-')}" if key.flag else ""


def variable_of(name: str, field: FieldInfo) -> str:
    return str(field.validation_alias or f"DETERMINATOR_{name.upper()}")
