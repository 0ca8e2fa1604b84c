"""Secrets of this machine, to be removed from everything that leaves it."""

import json
from collections.abc import Iterable

from pydantic import SecretStr

from activities.credentials import carried_by
from activities.settings import Settings

MARKS = ("key", "token", "secret", "password")
MIN_CHARS = 8
"""Shorter values (`none`, `ollama`) are stand-ins for a key; removing them would damage ordinary words."""
REMOVED = "[secret removed]"


def is_secret(name: str, value: object) -> bool:
    return isinstance(value, SecretStr) or any(mark in name.split("_") for mark in MARKS)


def known_secrets(settings: Settings, environment: Iterable[tuple[str, str]] = ()) -> frozenset[str]:
    """The values that must not leave: keys, and what addresses carry of them. `environment` is looked
    through for variables with such names, like Temporal's own key."""
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


def without(text: str, secrets: Iterable[str]) -> str:
    """The text, plain or JSON, with every secret removed."""
    for secret in sorted(secrets, key=len, reverse=True):
        for spelling in {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}:
            text = text.replace(spelling, REMOVED)
    return text
