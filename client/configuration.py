"""The configuration in force: where each setting comes from, and mistakes as errors for people."""

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr, ValidationError
from pydantic_core import ErrorDetails

from activities.configuration.declaration import did_you_mean, variable_of
from activities.configuration.file import ConfigError
from activities.configuration.wording import by_place, in_words
from activities.credentials import carried_by
from activities.proxies import is_this_machine, proxy_fault
from activities.settings import Settings, Variables, config_path, file_settings, secret_variables
from client.failures import BadInput, BadSettings, unknown_name

OTHER_VARIABLES = tuple(
    f"DETERMINATOR_{name}"
    for name in (
        *("CONFIG", "CACHE", "CODEC_KEYS", "CODEC_TOKEN", "DEBUG", "EMBEDDINGS", "FOLDER", "USER"),
        *("TEMPORAL", "USER_HOME"),
    )
)
"""Variables with our prefix that are no settings."""


SHAPES = {"list_type": '["a", "b"]', "dict_type": '{"a": 1}'}
"""Kind of a refused value -> how a variable has it."""


def origins() -> dict[str, str]:
    """Return the variable of each setting, or its place in the configuration file.

    A setting that is not here has its default, or was given as a flag. Raises ConfigError.
    """
    places = dict(file_settings().places)
    for variable, name in secret_variables().items():
        if os.environ.get(f"{variable}_FILE"):
            places[name] = f"{variable}_FILE"
    environment = Variables(Settings)()
    for name, field in Settings.model_fields.items():
        if {name, str(field.validation_alias)} & environment.keys():
            places[name] = variable_of(name, field)
    return places


def explain(error: ValidationError) -> str:
    """Return a line for each setting that cannot be used, with where it comes from. Raises ConfigError."""
    places, problems = origins(), by_place(error.errors(include_url=False))
    return "\n".join(_explain(name.split("."), errors, places) for name, errors in problems.items())


def _explain(location: list[str], errors: list[ErrorDetails], places: Mapping[str, str]) -> str:
    message, shape = in_words(errors), SHAPES.get(errors[0]["type"], "")
    for length in range(len(location), 0, -1):
        if place := places.get(".".join(location[:length])):
            key = ".".join(location[length:])
            hint = f"; write {shape}" if shape and place in os.environ else ""
            return f"{place}{f' ({key})' if key else ''}: {message}{hint}"
    return f"the setting {'.'.join(location)} cannot be used: {message}"


def unknown_variables(environment: Mapping[str, str], sources: Iterable[str]) -> dict[str, str]:
    """Variables with our prefix that set nothing, each with a hint at the nearest that does."""
    names = [f"DETERMINATOR_{name.upper()}" for name in Settings.model_fields]
    names += [f"DETERMINATOR_{name.upper()}_URL" for name in sources]
    names += OTHER_VARIABLES
    hints = {}
    for variable in environment:
        key = variable.upper().split("__")[0]
        if variable.upper().startswith("DETERMINATOR_") and key not in names:
            hints[variable] = did_you_mean(key, names)
    return hints


NAMED_KEYS = 12
"""Keys of those that do not hold, in the line about them."""


def load_settings(**overrides: Any) -> Settings:  # noqa: ANN401 - values of any setting
    """Return the configuration in force; flags go over it.

    The key of the environment goes to an address of this machine only where that address is configured too:
    whoever listens at one that a flag names is not known. Raises BadInput.
    """
    values = {name: value for name, value in overrides.items() if value is not None}
    try:
        try:
            settings = Settings(**values)
            address = values.get("openai_base_url")
            if address and is_local(address) and settings.openai_api_key is not None:
                base = Settings(**{n: v for n, v in values.items() if n != "openai_base_url"})
                if base.openai_base_url != settings.openai_base_url:
                    settings = settings.model_copy(update={"openai_api_key": None})
        except ValidationError as error:
            raise BadSettings(explain(error)) from error
    except ConfigError as error:
        raise BadSettings(str(error)) from error
    except OSError as error:
        raise BadInput(f"{error.filename} cannot be read: {error.strerror}") from error
    if settings.sources:
        check_source_names(settings)
    if not settings.offline and (fault := proxy_fault()):
        raise BadInput(fault)
    return settings


def is_local(url: str) -> bool:
    """Tell whether an address is of this machine; what is no address is not."""
    try:
        return is_this_machine(urlsplit(url).hostname or "")
    except ValueError:
        return False


def ignored_keys() -> str:
    """Return a line that names what the file of this folder may not set until it is trusted.

    Empty when there is nothing. Raises ConfigError, OSError.
    """
    path = str(config_path())
    keys = list(
        dict.fromkeys(place.removeprefix(path).partition(" ")[2] for place in file_settings().ignored)
    )
    if not keys:
        return ""
    remainder = f" and {len(keys) - NAMED_KEYS} more" if len(keys) > NAMED_KEYS else ""
    return (
        f"{path}: ignored, since they run programs, open addresses or name places: "
        f"{', '.join(keys[:NAMED_KEYS])}{remainder}; "
        "to let this file set them, read it and run `determinator config trust`"
    )


def source_names() -> list[str]:
    """Return the sources: built-in ones, those of plugins and of `[mcp.NAME]`. Raises ConfigError."""
    from activities.sources.names import source_names as installed

    servers = file_settings().values.get("mcp")
    return [*installed(), *(servers if isinstance(servers, dict) else ())]


def check_source_names(settings: "Settings") -> None:
    """Raise BadInput for settings of a source that does not exist."""

    names = source_names()
    for name in settings.sources:
        if name not in names:
            place = next((p for key, p in origins().items() if key.startswith(f"sources.{name}.")), "sources")
            raise BadInput(f"{place}: source {unknown_name(name, names)}")


MARKS = ("key", "token", "secret", "password")
MIN_CHARS = 8
"""Shorter values (`none`, `ollama`) are stand-ins for a key; removing them would damage ordinary words."""
REMOVED = "[secret removed]"


def is_secret(name: str, value: object) -> bool:
    return isinstance(value, SecretStr) or any(mark in name.split("_") for mark in MARKS)


def known_secrets(settings: Settings, environment: Iterable[tuple[str, str]] = ()) -> frozenset[str]:
    """Return the values that must not leave: keys, and what addresses carry of them.

    `environment` is looked through for variables with such names, like Temporal's own key.
    """
    secrets: set[str] = set()
    for name, value in settings:
        if is_secret(name, value):
            secrets.add(value.get_secret_value() if isinstance(value, SecretStr) else str(value or ""))
        elif isinstance(value, str) and "://" in value:
            secrets |= carried_by(value)
    for name, text in environment:
        if name.startswith(("TEMPORAL_", "DETERMINATOR_")) and is_secret(name.lower(), text):
            secrets.add(text)
    return frozenset(value for value in secrets if len(value) >= MIN_CHARS)


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return the text, plain or JSON, with every secret removed."""
    for secret in sorted(secrets, key=len, reverse=True):
        for spelling in {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}:
            text = text.replace(spelling, REMOVED)
    return text
