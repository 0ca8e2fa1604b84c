"""Where each setting in force comes from, for `config show` and for error messages."""

import os
import re
from collections.abc import Iterable, Mapping

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import EnvSettingsSource

from activities.configuration.declaration import variable_of
from activities.configuration.question import SourceFilters
from activities.configuration.values import did_you_mean, nearest
from activities.settings import Settings, file_settings, secret_variables

OTHER_VARIABLES = tuple(
    f"DETERMINATOR_{name}"
    for name in (
        *("CONFIG", "CACHE", "CODEC_KEYS", "CODEC_TOKEN", "DEBUG", "EMBEDDINGS", "FOLDER", "USER"),
        *("TEMPORAL", "USER_HOME"),
    )
)
"""Variables with our prefix that are no settings."""
_QUOTED = re.compile(r"'([^']*)'")


def origins() -> dict[str, str]:
    """Return the variable of each setting, or its place in the configuration file.

    A setting that is not here has its default, or was given as a flag. Raises ConfigError.
    """
    places = dict(file_settings().places)
    for variable, name in secret_variables().items():
        if os.environ.get(f"{variable}_FILE"):
            places[name] = f"{variable}_FILE"
    environment = EnvSettingsSource(Settings)()
    for name, field in Settings.model_fields.items():
        if {name, str(field.validation_alias)} & environment.keys():
            places[name] = variable_of(name, field)
    return places


def explain(error: ValidationError) -> str:
    """Return a line for each setting that cannot be used, with where it comes from. Raises ConfigError."""
    problems: dict[str, list[ErrorDetails]] = {}
    for problem in error.errors(include_url=False):
        parts = [str(part) for part in problem["loc"]]
        # a union of types says for each what is wrong with it
        location = [part for part in parts if not part.startswith(("literal[", "function-"))]
        problems.setdefault(".".join(location), []).append(problem)
    places = origins()
    return "\n".join(_explained(name.split("."), errors, places) for name, errors in problems.items())


def _explained(location: list[str], errors: list[ErrorDetails], places: Mapping[str, str]) -> str:
    message = _said(location, errors)
    for length in range(len(location), 0, -1):
        if place := places.get(".".join(location[:length])):
            rest = ".".join(location[length:])
            return f"{place}{f' ({rest})' if rest else ''}: {message}"
    return f"the setting {'.'.join(location)} cannot be used: {message}"


def _said(location: list[str], errors: list[ErrorDetails]) -> str:
    """Return what is wrong, with the nearest name where one of several had to be given."""
    first = errors[0]
    if first["type"] == "literal_error":
        choices = [name for one in errors for name in _QUOTED.findall(one.get("ctx", {}).get("expected", ""))]
        return f"{first['input']!r} is not known{nearest(str(first['input']), choices)}"
    if first["type"] == "extra_forbidden" and location[-2:-1] == ["filters"]:
        return f"there is no such key{nearest(location[-1], SourceFilters.model_fields)}"
    return first["msg"].removeprefix("Value error, ")


def unknown_variables(environment: Mapping[str, str], sources: Iterable[str]) -> dict[str, str]:
    """Variables with our prefix that set nothing, each with a hint at the nearest that does."""
    names = [f"DETERMINATOR_{name.upper()}" for name in Settings.model_fields]
    names += [f"DETERMINATOR_{name.upper()}_URL" for name in sources]
    names += OTHER_VARIABLES
    hints = {}
    for variable in environment:
        plain = variable.upper().split("__")[0]
        if variable.upper().startswith("DETERMINATOR_") and plain not in names:
            hints[variable] = did_you_mean(plain, names)
    return hints
