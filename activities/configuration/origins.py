"""Where each setting in force comes from, for `config show` and for error messages."""

import difflib
import os
from collections.abc import Mapping

from pydantic import ValidationError
from pydantic_settings import EnvSettingsSource

from activities.settings import Settings, file_settings, secret_variables


def origins() -> dict[str, str]:
    """Setting -> its variable, or its place in the configuration file. A setting that is not here has its
    default, or was given as a flag. Raises ConfigError."""
    found = dict(file_settings().places)
    for variable, name in secret_variables().items():
        if os.environ.get(f"{variable}_FILE"):
            found[name] = f"{variable}_FILE"
    found.update(_variables())
    return found


def _variables() -> Mapping[str, str]:
    given = EnvSettingsSource(Settings)()
    found = {}
    for name, field in Settings.model_fields.items():
        alias = str(field.validation_alias) if field.validation_alias else None
        if name in given or (alias and alias in given):
            found[name] = alias or f"DETERMINATOR_{name.upper()}"
    return found


def explain(error: ValidationError) -> str:
    """One line on the first setting that cannot be used, with the place it comes from. Raises ConfigError."""
    first = error.errors(include_url=False, include_input=False)[0]
    location = [str(part) for part in first["loc"]]
    message = first["msg"].removeprefix("Value error, ")
    known = origins()
    for length in range(len(location), 0, -1):
        if place := known.get(".".join(location[:length])):
            rest = ".".join(location[length:])
            return f"{place}{f' ({rest})' if rest else ''}: {message}"
    return f"the setting {'.'.join(location)} cannot be used: {message}"


def unknown_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables with our prefix that set nothing, each with a hint at the nearest that does."""
    from activities.sources.registry import source_names

    names = [f"DETERMINATOR_{name.upper()}" for name in Settings.model_fields]
    names += [f"DETERMINATOR_{name.upper()}_URL" for name in source_names()]
    names += ["DETERMINATOR_CONFIG", "DETERMINATOR_CACHE"]
    found = {}
    for variable in environment:
        plain = variable.upper().split("__")[0]
        if variable.upper().startswith("DETERMINATOR_") and plain not in names:
            near = difflib.get_close_matches(plain, names, n=1)
            found[variable] = f"; did you mean {near[0]}?" if near else ""
    return found
