"""What the configuration file of a folder may set before its user trusts it, and how it goes over the user's.

It may choose among what was allowed and nothing else: how a question is answered, sources by their names,
limits, documents inside that folder, the format of the report. What runs programs, opens addresses, names
keys, models or places comes from the user's own configuration.

The files that a user trusts are listed by place and content in the user's own home, whose place no file can
set: a `determinator.toml` may have come with the folder that a command is started in. A file that was changed
since, and a copy of it in another folder, is another file: its relative paths lead elsewhere.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from platformdirs import user_data_path
from pydantic.fields import FieldInfo

from activities.configuration.declaration import Key, declared, seconds
from activities.configuration.file import FileSettings

SOURCE_KEYS = ("enabled", "max_results", "rate", "filters")
"""What a folder may set for a source: everything but its address."""
ADDED = ("approve", "disabled_sources")
"""Lists that a folder may make longer, never shorter."""
_NAME = re.compile(r"[\w-]+")


def allowed_part(settings: FileSettings, folder: Path, fields: Mapping[str, FieldInfo]) -> FileSettings:
    """Return the part of a file that holds without trust. What was left out is named in `ignored`."""
    keys = declared(fields)
    values = {
        name: value
        for name, value in settings.values.items()
        if name in keys and _may_set(name, keys[name], value, folder)
    }
    sources = settings.values.get("sources")
    if isinstance(sources, dict):
        tables = {
            source: {key: value for key, value in table.items() if key in SOURCE_KEYS}
            for source, table in sources.items()
        }
        values["sources"] = {source: table for source, table in tables.items() if table}
    places = {name: place for name, place in settings.places.items() if _holds(name, values)}
    ignored = [place for name, place in settings.places.items() if name not in places]
    return FileSettings(values, places, tuple(ignored))


def _may_set(name: str, key: Key, value: object, folder: Path) -> bool:
    if name == "library":
        return isinstance(value, str) and _is_inside(value, folder)
    if name == "profile":  # or a file, which may lie anywhere
        return isinstance(value, str) and _NAME.fullmatch(value) is not None
    if name == "offline":
        return value is True
    return key.by_folder or bool(key.limit)


def _is_inside(value: str, folder: Path) -> bool:
    try:
        return (folder / value).resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        return False


def _holds(name: str, values: Mapping[str, object]) -> bool:
    """Tell whether a setting, with a dotted name inside a table, is among the values."""
    value: object = values
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return False
        value = value[part]
    return True


def overlay(
    base: FileSettings, other: FileSettings, fields: Mapping[str, FieldInfo], *, narrow: bool
) -> FileSettings:
    """Return the user's own file with another one over it.

    With `narrow`, as for the file of a folder, that may narrow what the user's file allows and not widen it:
    lower a limit, disable a source, ask for an approval. It sends nothing of the user's library to sources
    that the user's file does not name.
    """
    keys = declared(fields)
    values = dict(base.values)
    places = {**base.places, **other.places}
    for name, value in other.values.items():
        before = values.get(name)
        if isinstance(before, dict) and isinstance(value, dict) and name in ("sources", "mcp"):
            values[name] = _tables(before, value, narrow=narrow and name == "sources")
        elif narrow and name == "default_sources" and "library" in base.values:
            values[name] = [item for item in _list(value) if item in _list(before)]
        elif narrow and name in ADDED and isinstance(before, list) and isinstance(value, list):
            values[name] = list(dict.fromkeys([*before, *value]))
        elif narrow and before is not None and keys[name].limit and _number(value) > _number(before):
            places[name] = base.places[name]
        else:
            values[name] = value
    return FileSettings(values, places, other.ignored)


def _tables(
    user_sections: Mapping[str, Mapping[str, object]],
    other: Mapping[str, Mapping[str, object]],
    *,
    narrow: bool,
) -> dict[str, dict[str, object]]:
    """Return the tables of sources by their names; with `narrow`, one that is disabled stays so."""
    tables = {
        name: {**user_sections.get(name, {}), **other.get(name, {})} for name in {**user_sections, **other}
    }
    for name in tables if narrow else ():
        if user_sections.get(name, {}).get("enabled") is False:
            tables[name]["enabled"] = False
    return tables


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _number(value: object) -> float:
    """Return the number of a limit, for the comparison; what is none is refused later, with its place."""
    try:
        return seconds(value) if isinstance(value, str) else float(str(value))
    except ValueError:
        return 0.0


HOME_VARIABLE = "DETERMINATOR_USER_HOME"
"""The user's own home, for a worker: what it serves may be another one (`home`)."""


def user_home() -> Path:
    """Return the folder of the user's own configuration and of the list.

    `DETERMINATOR_HOME`, else the platform's. A relative one is part of the current folder, so that its
    contents may have come with it: the platform's then.
    """
    for variable in (HOME_VARIABLE, "DETERMINATOR_HOME"):
        path = Path(os.environ.get(variable) or ".").expanduser()
        if path.is_absolute():
            return path
    return user_data_path("determinator", appauthor=False)


def is_trusted(path: Path, data: bytes) -> bool:
    return _trusted_files().get(_name(path)) == hashlib.sha256(data).hexdigest()


def trust(path: Path, data: bytes) -> None:
    """Trust a file with this content, in place of what it held before. Raises OSError."""
    from activities.private_files import write_whole  # not for `--help`: it takes a while

    files = {**_trusted_files(), _name(path): hashlib.sha256(data).hexdigest()}
    write_whole(_list_file(), json.dumps(files, indent=1, sort_keys=True).encode())


def _trusted_files() -> dict[str, str]:
    try:
        files = json.loads(_list_file().read_bytes())
    except (OSError, ValueError):
        return {}
    return files if isinstance(files, dict) else {}


def _list_file() -> Path:
    return user_home() / "trusted_files.json"


def _name(path: Path) -> str:
    """Its folder without links, and its name there: a link to a trusted file is another file."""
    return str(path.absolute().parent.resolve() / path.name)
