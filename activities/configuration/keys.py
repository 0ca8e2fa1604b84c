"""Every section and key of `determinator.toml`, with the setting that each one sets.

Most follow from the declarations of settings. The others are those of the file format this system re-thinks
(`[research]`, `[tools]`, `[llm]`, `[output]`): each one acts or is refused with the reason.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic.fields import FieldInfo

from activities.configuration.declaration import declared

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


def _always(what: str) -> Callable[[object], object]:
    def convert(value: object) -> object:
        if value is not True:
            raise ValueError(f"{what} are part of every report and cannot be left out")
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
    named = {
        place: FileKey(name)
        for name, key in declared(fields).items()
        for place in filter(None, (key.place(name), *key.also))
    }
    for place, key in {**named, **_OTHER}.items():
        section, _, name = place.rpartition(".")
        by_section.setdefault(section, {})[name] = key
    return by_section


SOURCE_KEYS: tuple[str, ...] = ("enabled", "url", "max_results", "rate", "filters")
TOOL_KEYS: Mapping[str, str] = {"max_results": "max_results", "rate_limit": "rate"}
"""Keys of `[tools.NAME]` in the older format -> those of `[sources.NAME]`."""
ENGINE = "engine"
"""`[tools.web] engine`: the one web search engine that is to be used."""
