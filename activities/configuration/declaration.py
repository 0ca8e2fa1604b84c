"""How a setting is declared: once, beside its type and default in `activities.settings.Settings` or its base.

The command line, the configuration file, the request, `config init` and the documents read the declaration;
none of them repeats a name, a limit or a sentence of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from pydantic import Field
from pydantic.fields import FieldInfo


@dataclass(frozen=True, slots=True)
class Key:
    """What people see of one setting. Its environment variable and its flag follow from its name."""

    help: str
    """One sentence, as `ask --help`, `config init` and the documents show it."""
    at: str = ""
    """Its section of the configuration file, or `section.key` where the key is not the name; empty: the name,
    before all sections."""
    also: tuple[str, ...] = ()
    """Other keys that set it: those of the file format this system re-thinks."""
    unit: str = ""
    """`tokens`, `seconds`, `US dollars` ...; seconds may be written as `90s`, `30m`, `2h` or `3d`."""
    example: str = ""
    """A value as TOML, for the file that `config init` writes; empty: the default."""
    flag: bool | str = False
    """Whether `ask` has a flag for it; its name, where that does not follow from the setting's."""
    limit: str = ""
    """The field of `workflows.types.Limits` that it sets, which has the default; US dollars become
    millionths."""
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


def setting(help: str, **named: Any) -> Any:  # noqa: A002, ANN401 - as pydantic's `Field`
    """Return the field of a setting, with what `Key` has.

    Bounds, alias and default are as in pydantic's `Field`, but the default is None where none is given.
    """
    settings = {name: value for name, value in named.items() if name not in _KEY}
    made = Field(**settings if "default_factory" in settings else {"default": None} | settings)
    made.metadata.append(Key(help, **{name: value for name, value in named.items() if name in _KEY}))
    return made


def option(help: str, flag: str | Literal[True] = True, unit: str = "") -> Any:  # noqa: A002, ANN401 - as pydantic's `Field`
    """Return the help of an option that is no setting; its flag, where its name does not say it."""
    made = Field(description=help)
    made.metadata.append(Key(help, flag=flag, unit=unit))
    return made


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
