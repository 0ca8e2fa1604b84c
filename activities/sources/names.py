"""The names of all sources, and what `sources.toml` says of ours. Nothing heavy may be imported here."""

import tomllib
from pathlib import Path

from activities.contracts.evidence import SourceInfo
from activities.plugins import points

_ROWS = tomllib.loads(Path(__file__).with_name("sources.toml").read_text("utf-8"))
SOURCES: tuple[tuple[str, str], ...] = tuple((name, str(row["factory"])) for name, row in _ROWS.items())
"""Name and factory."""
BUILT_IN = frozenset(_ROWS)


def info_of(name: str) -> SourceInfo:
    """Return what people and roles are told of a source of the list."""
    return SourceInfo.model_validate({**_ROWS[name], "name": name})


def source_names() -> list[str]:
    """Return every source that can be named, those of installed plugins included; nothing is loaded."""
    return [*_ROWS, *(point.name for point in points("determinator.sources"))]
