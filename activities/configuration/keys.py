"""Every section and key of `determinator.toml`, with the setting that each one sets.

The keys of the file format this system re-thinks (`[research]`, `[tools]`, `[llm]`, `[output]`) are among
them: each one acts or is refused with the reason.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

SOURCES_OF_TOOLS: Mapping[str, tuple[str, ...]] = {
    "web": ("brave", "tavily", "searxng", "duckduckgo"),
    "trials": ("clinicaltrials",),
}
"""Names of tools in the older file format -> our sources; any other tool is a source of the same name."""
PROVIDERS = ("openai", "openai-compatible", "ollama", "vllm", "llama.cpp", "lmstudio")


@dataclass(frozen=True, slots=True)
class Key:
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


def _format(value: object) -> object:
    return "md" if value == "markdown" else value


def _always(what: str) -> Callable[[object], object]:
    def convert(value: object) -> object:
        if value is not True:
            raise ValueError(f"{what} are part of every report and cannot be left out")
        return None

    return convert


_MODEL: dict[str, Key] = {
    "name": Key("model"),
    "base_url": Key("openai_base_url"),
    "temperature": Key("temperature"),
    "context": Key("context_tokens"),
    "context_tokens": Key("context_tokens"),
    "effort": Key("effort"),
    "concurrency": Key("model_concurrency"),
    "silence": Key("model_silence"),
    "roles": Key("roles"),
    "fallback": Key("fallback"),
    "wait": Key("wait_for_model"),
    "prices": Key("prices"),
    "api_key": Key(refused="a key does not belong in this file; set OPENAI_API_KEY or OPENAI_API_KEY_FILE"),
}
_BUDGET: dict[str, Key] = {
    "max_tokens": Key("max_tokens"),
    "max_cost": Key("max_cost"),
    "max_time": Key("max_time"),
    "max_time_seconds": Key("max_time"),
    "max_tokens_per_section": Key("max_tokens_per_section"),
    "max_cost_per_section": Key("max_cost_per_section"),
    "max_time_per_section": Key("max_time_per_section"),
}

SECTIONS: Mapping[str, Mapping[str, Key]] = {
    "research": {
        "mode": Key("mode"),
        "profile": Key("profile"),
        "sources": Key("default_sources"),
        "also_web": Key("also_web"),
        "max_iterations": Key("max_iterations"),
        "judge_threshold": Key("judge_threshold"),
        "parallel_sections": Key("parallel_sections"),
        "max_sections": Key("max_sections"),
        "max_gaps": Key("max_gaps"),
        "searches_per_gap": Key("searches_per_gap"),
        "results_per_search": Key("results_per_search"),
        "search_timeout": Key("search_timeout"),
        "writer": Key("writer"),
        "approve": Key("approve"),
        "approval_timeout": Key("approval_timeout"),
        "approval_default": Key("approval_default"),
        # the older format keeps its limits here
        "max_tokens": _BUDGET["max_tokens"],
        "max_time_seconds": _BUDGET["max_time"],
    },
    "budget": _BUDGET,
    "model": _MODEL,
    "llm": {
        "provider": Key(convert=_provider),
        "model": Key("model"),
        **{name: _MODEL[name] for name in ("base_url", "temperature", "api_key")},
    },
    "tools": {"enabled": Key("default_sources", _tools)},
    "output": {
        "format": Key("output_format", _format),
        "include_citations": Key(convert=_always("citations")),
        "include_methodology": Key(convert=_always("the searches and methods")),
    },
    "temporal": {
        "address": Key("temporal_address"),
        "namespace": Key("temporal_namespace"),
        "task_queue": Key("task_queue"),
        "web_ui": Key("web_ui"),
        "api_key": Key(refused="a key does not belong in this file; set TEMPORAL_API_KEY"),
    },
    "worker": {
        "libraries": Key("allowed_libraries"),
        "model_urls": Key("allowed_model_urls"),
    },
    "profiles": {"folder": Key("profiles_dir"), "default": Key("profile")},
}
"""Section -> key -> what it sets. `[sources.NAME]` and `[tools.NAME]` have the keys of SOURCE_KEYS."""

SOURCE_KEYS: tuple[str, ...] = ("enabled", "url", "max_results", "rate", "filters")
TOOL_KEYS: Mapping[str, str] = {"max_results": "max_results", "rate_limit": "rate"}
"""Keys of `[tools.NAME]` in the older format -> those of `[sources.NAME]`."""
ENGINE = "engine"
"""`[tools.web] engine`: the one web search engine that is to be used."""
REFUSED_SECTIONS: Mapping[str, str] = {
    "mcp": "tools over the Model Context Protocol are not supported in this version",
}
