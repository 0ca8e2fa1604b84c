"""Reads `determinator.toml`: sections and flat keys become settings, and each remembers its key in the file.

Nothing is passed over: an unknown section or key, a value of the wrong kind and a setting that is set twice
end in one ConfigError. It has a line for each of them, with file, key and the nearest key that exists.

Most keys follow from the declarations of settings. The others are those of the file format this system
re-thinks (`[research]`, `[tools]`, `[llm]`, `[output]`): each one acts or is refused with the reason.
"""

import os
import stat
import tomllib
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pydantic.fields import FieldInfo

from activities.configuration.declaration import closest, declared, nearest
from activities.configuration.mcp import NAME, NAME_RULE, McpSource

SOURCES_OF_TOOLS: Mapping[str, tuple[str, ...]] = {
    "web": ("brave", "tavily", "searxng", "duckduckgo"),
    "trials": ("clinicaltrials",),
    "drugs": ("chembl", "openfda", "opentargets"),
}
"""Names of tools in the older file format -> our sources; any other tool is a source of the same name."""
PROVIDERS = ("openai", "openai-compatible", "ollama", "vllm", "llama.cpp", "lmstudio")


@dataclass(frozen=True, slots=True)
class FileKey:
    """One key: the setting it sets, or the reason why it is refused.

    `convert` turns the written value into the setting's value and raises ValueError with the reason when the
    value cannot be used; None stands for "sets nothing".
    """

    setting: str = ""
    convert: Callable[[object], object] | None = None
    refused: str = ""


def _tools(value: object) -> object:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError('write a list of names, such as ["pubmed", "web", "trials"]')
    return [source for name in value for source in SOURCES_OF_TOOLS.get(name, (name,))]


def _provider(value: object) -> object:
    if str(value).casefold() not in PROVIDERS:
        raise ValueError(
            f"the provider {value!r} is not supported; any OpenAI-compatible server is: "
            "set base_url, and name the model"
        )
    return None


def _always(subject: str) -> Callable[[object], object]:
    def convert(value: object) -> object:
        if value is not True:
            raise ValueError(f"{subject} are part of every report and cannot be left out")
        return None

    return convert


_IN_VARIABLE = "a key does not belong in this file; set {0} or {0}_FILE"
_OTHER: Mapping[str, FileKey] = {
    "model.api_key": FileKey(refused=_IN_VARIABLE.format("OPENAI_API_KEY")),
    "llm.api_key": FileKey(refused=_IN_VARIABLE.format("OPENAI_API_KEY")),
    "temporal.api_key": FileKey(refused="a key does not belong in this file; set TEMPORAL_API_KEY"),
    "llm.provider": FileKey(convert=_provider),
    "tools.enabled": FileKey("default_sources", _tools),
    "output.format": FileKey("output_format", lambda value: "md" if value == "markdown" else value),
    "output.include_citations": FileKey(convert=_always("citations")),
    "output.include_methodology": FileKey(convert=_always("the searches and methods")),
}
"""Keys that set nothing, are refused, or whose value is written otherwise than the setting's."""


def sections(fields: Mapping[str, FieldInfo]) -> dict[str, dict[str, FileKey]]:
    """Return what each key of each section sets, from the declarations of settings.

    `[sources.NAME]` and `[tools.NAME]` have the keys of SOURCE_KEYS.
    """
    by_section: dict[str, dict[str, FileKey]] = {}
    keys = {
        place: FileKey(name)
        for name, key in declared(fields).items()
        for place in filter(None, (key.place(name), *key.also))
    }
    for place, key in {**keys, **_OTHER}.items():
        section, _, name = place.rpartition(".")
        by_section.setdefault(section, {})[name] = key
    return by_section


SOURCE_KEYS: tuple[str, ...] = ("enabled", "url", "max_results", "rate", "filters")
TOOL_KEYS: Mapping[str, str] = {"max_results": "max_results", "rate_limit": "rate"}
"""Keys of `[tools.NAME]` in the older format -> those of `[sources.NAME]`."""
ENGINE = "engine"
"""`[tools.web] engine`: the one web search engine that is to be used."""


MAX_BYTES = 1 << 20
MAX_DOTS = 100
"""In a line."""
MAX_PROBLEMS = 20
"""That one message names; nobody mends more at once, and each is looked up among the keys there are."""


class ConfigError(ValueError):
    """The configuration file cannot be used; the message names file, key and remedy."""


class _Enough(Exception):
    """So many problems were found that the rest is not read."""


@dataclass(frozen=True, slots=True)
class FileSettings:
    """The settings of a file: values by the name of the setting, and where each is written."""

    values: Mapping[str, object] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    """Setting -> `determinator.toml [budget] max_tokens`. A setting inside a table has a dotted name
    (`sources.pubmed.rate`)."""
    ignored: tuple[str, ...] = ()
    """Places of what does not hold, since nobody has said that the file is trusted."""


def read_bytes(path: Path) -> bytes | None:
    """Return the content of a file; None when there is none.

    Raises ConfigError for what is no short file, and OSError when it cannot be read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe would wait for its writer
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ConfigError(f"{path} is not a file")
    with os.fdopen(handle, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{path} is over 1 MiB; a configuration file is short text")
    return data


def read_settings(path: Path, data: bytes, fields: Mapping[str, FieldInfo]) -> FileSettings:
    """Return the settings of a file with this content. `fields` declare the settings. Raises ConfigError."""
    try:
        text = data.decode("utf-8-sig")
        _check_dots(path, text)
        return _Reader(path, fields).read(tomllib.loads(text))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path} is not text in UTF-8 (line {line}); save it in that encoding") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error
    except RecursionError:
        raise ConfigError(f"{path} has values inside values to a depth that no setting needs") from None


def _check_dots(path: Path, text: str) -> None:
    """Refuse a key of very many parts: it takes a time that grows with their square. Raises ConfigError."""
    if any(line.count(".") > MAX_DOTS for line in text.splitlines()):
        raise ConfigError(f"{path} has a line of more than {MAX_DOTS} dots; no key has so many parts")


class _Reader:
    def __init__(self, path: Path, fields: Mapping[str, FieldInfo]) -> None:
        self._path = path
        self._fields = fields
        self._sections = sections(fields)
        self._values: dict[str, object] = {}
        self._places: dict[str, str] = {}
        self._tables: dict[str, dict[str, dict[str, object]]] = {"sources": {}, "mcp": {}}
        """Tables of sources, by their names."""
        self._problems: list[str] = []

    def read(self, document: Mapping[str, object]) -> FileSettings:
        with suppress(_Enough):
            self._table((), document)
        if self._problems:
            raise ConfigError("\n".join(self._problems))
        self._values |= {kind: tables for kind, tables in self._tables.items() if tables}
        self._leave_out_disabled()
        return FileSettings(self._values, self._places)

    def _table(self, section: tuple[str, ...], table: Mapping[str, object]) -> None:
        """Read each entry of a table; after one that cannot be used go on, so that one message names all."""
        for name, value in table.items():
            try:
                self._entry((*section, name), value)
            except ConfigError as error:
                self._problems.append(str(error))
                if len(self._problems) >= MAX_PROBLEMS:
                    raise _Enough from None

    def _entry(self, location: tuple[str, ...], value: object) -> None:
        *outer, name = location
        section, path = ".".join(outer), ".".join(location)
        match location:
            case ("sources" | "mcp",) if isinstance(value, dict):
                self._table(location, value)
            case ("sources" | "mcp" as kind, _):
                if not isinstance(value, dict):
                    raise self._error(location, f"write a table: [{path}]")
                if kind == "mcp" and not NAME.fullmatch(name):
                    raise self._error(location, f"a source's name is {NAME_RULE}")
                self._tables[kind].setdefault(name, {})
                self._table(location, value)
            case ("sources" | "mcp" as kind, source, _):
                self._expect(name, SOURCE_KEYS if kind == "sources" else McpSource.model_fields, location)
                self._source(source, name, value, location, kind)
            case ("tools", "web", "engine"):
                self._engine(value, location)
            case ("tools", tool, _):
                self._expect(name, [*TOOL_KEYS, ENGINE] if tool == "web" else TOOL_KEYS, location)
                for source in SOURCES_OF_TOOLS.get(tool, (tool,)):
                    self._source(source, TOOL_KEYS[name], value, location)
            case _ if isinstance(value, dict) and (path in self._sections or section == "tools"):
                self._table(location, value)
            case _ if outer and name in self._sections[section]:
                self._apply(self._sections[section][name], value, location)
            case _ if outer:
                raise self._error(location, f"there is no such key{self._nearest_in(section, name)}")
            case _ if name in self._fields:
                self._set(name, value, location)
            case _ if name.endswith("_url") and isinstance(value, str):
                self._source(name.removesuffix("_url"), "url", value, location)
            case _:
                sections = [section for section in self._sections if "." not in section]
                self._expect(name, [*sections, *self._tables, *self._fields], location)

    def _leave_out_disabled(self) -> None:
        """Leave out the engines of the older format's tool "web" that were not chosen."""
        names = self._values.get("default_sources")
        if isinstance(names, list):
            disabled = {
                name for name, keys in self._tables["sources"].items() if keys.get("enabled") is False
            }
            self._values["default_sources"] = [name for name in names if name not in disabled]

    def _expect(self, name: str, keys: Collection[str], location: tuple[str, ...]) -> None:
        """Refuse a key that is not known, with the nearest. Raises ConfigError."""
        if name not in keys:
            raise self._error(location, f"there is no such key{nearest(name, keys)}")

    def _apply(self, key: FileKey, value: object, location: tuple[str, ...]) -> None:
        if key.refused:
            raise self._error(location, key.refused)
        if key.convert is not None:
            try:
                value = key.convert(value)
            except ValueError as error:
                raise self._error(location, str(error)) from error
        if key.setting:
            self._set(key.setting, value, location)

    def _engine(self, value: object, location: tuple[str, ...]) -> None:
        engines = SOURCES_OF_TOOLS["web"]
        if value not in engines:
            raise self._error(location, f"there is no web search {value!r}{nearest(str(value), engines)}")
        for engine in engines:
            if engine != value:
                self._source(engine, "enabled", False, location)

    def _source(
        self, source: str, name: str, value: object, location: tuple[str, ...], kind: str = "sources"
    ) -> None:
        self._tables[kind].setdefault(source, {})[name] = value
        self._places[f"{kind}.{source}.{name}"] = self._place(location)

    def _set(self, setting: str, value: object, location: tuple[str, ...]) -> None:
        if setting in self._values:
            raise self._error(location, f"this is set already: {self._places[setting]}")
        self._values[setting] = value
        self._places[setting] = self._place(location)

    def _nearest_in(self, section: str, name: str) -> str:
        """Hint at where this very key belongs, or at the nearest key of all there are."""
        section_keys, places = self._sections[section], dict.fromkeys(self._fields, "above the first section")
        for heading, keys in reversed(self._sections.items()):
            places |= {key: f"in [{heading}]" for key, key_setting in keys.items() if not key_setting.refused}
        if place := places.get(name):
            return f"; it belongs {place}"
        match = closest(name, {*places, *section_keys})
        if match is None or match in section_keys:
            return nearest(name, section_keys)
        return f"; did you mean {match} {places[match]}?"

    def _place(self, location: tuple[str, ...]) -> str:
        return f"{self._path} {_in_words(location)}"

    def _error(self, location: tuple[str, ...], message: str) -> ConfigError:
        return ConfigError(f"{self._place(location)}: {message}")


def _in_words(location: tuple[str, ...]) -> str:
    *section, key = location
    return f"[{'.'.join(section)}] {key}" if section else key
