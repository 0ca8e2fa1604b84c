"""The request that a question becomes with its options."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from activities.configuration.wording import in_words
from activities.contracts.evidence import Filters, ModelChoice
from activities.settings import Settings, choice
from client.configuration import source_names
from client.failures import BadInput, faults_of, unknown_name
from client.runs.checks import check_library, check_profile, check_question, check_sources
from client.runs.options import FIELDS, KEYS, AskOptions
from workflows.amounts import Limits
from workflows.modes import AUTO, MODES, TABLE
from workflows.types import ResearchRequest

if TYPE_CHECKING:
    from activities.contracts.effects import Effect
    from workflows.graph.definition import GraphDefinition


def build_request(settings: Settings, question: str, options: AskOptions) -> ResearchRequest:
    """Return the request for a question. Raises BadInput with one line on what is wrong."""
    check_question(question)
    for name in options.keys() - FIELDS.keys():
        raise BadInput(f"the option {unknown_name(name, [*FIELDS])}")
    run_settings = with_options(settings, options)
    profile, profile_path = check_profile(run_settings, run_settings.profile)
    mode, graph = mode_and_graph(run_settings, options)
    run_limits = limits(run_settings)
    analyse = bool(options.get("effects") or options.get("analyse"))
    try:
        fields = {
            "question": question,
            "mode": mode,
            "graph": graph,
            "profile": profile,
            "profile_path": profile_path,
            "sources": sources_to_search(run_settings, options),
            "library": check_library(options.get("library")),
            "analyse": analyse,
            "effects": effects_of_user(options) if analyse else (),
            "expected": options.get("expect") or "different",
            "models": models(settings, options),
            "fallbacks": tuple(choice(model) for model in options.get("fallback") or ()),
            "limits": Limits.model_validate({**defaults_of(mode), **run_limits}),
            "open_limits": open_limits(mode, run_limits),
            "filters": filters(options),
            "clarify": run_settings.clarify or "assume",
        }
        return ResearchRequest.model_validate(settings_of_request(run_settings) | fields)
    except ValidationError as error:
        raise BadInput(faults_of(error, "the question")) from error


def with_options(settings: Settings, options: Mapping[str, object]) -> Settings:
    """Return the settings with those options over them that are settings too. Raises BadInput."""
    result = settings.model_copy()
    for name, key in KEYS.items():
        value = options.get(name)
        if not key.flag or value is None:
            continue
        try:
            Settings.__pydantic_validator__.validate_assignment(result, name, value)
        except ValidationError as error:
            raise BadInput(f"`{name}`: {in_words(error.errors(include_url=False))}") from error
    return result


def limits(settings: Settings) -> dict[str, float]:
    """Return the limits that are set, by their names in `workflows.amounts.Limits`."""
    values: dict[str, float] = {}
    for name, key in KEYS.items():
        value = getattr(settings, name)
        if key.limit and value is not None:
            values[key.limit] = round(value * 1e6) if key.unit == "US dollars" else value
    return values


def settings_of_request(settings: Settings) -> dict[str, object]:
    """Return the settings that a request carries as they are, by the names of its fields."""
    values = {key.request or name: getattr(settings, name) for name, key in KEYS.items()}
    fields = ResearchRequest.model_fields
    return {name: value for name, value in values.items() if name in fields and value is not None}


def filters(options: AskOptions) -> Filters:
    """Return what a search is narrowed to. Raises BadInput for a type that no source knows, or no years."""
    from activities.sources.filters import TYPES, canonical

    since, until = options.get("since"), options.get("until")
    names = tuple(canonical(name) for name in options.get("types") or ())
    for name in names:
        if name not in TYPES:
            raise BadInput(f"type {unknown_name(name, list(TYPES))}")
    if since and until and since > until:
        raise BadInput(f"`since` {since} is after `until` {until}; no work is of both")
    return Filters(
        year_from=since,
        year_to=until,
        publication_types=names,
        free_full_text=bool(options.get("free_full_text")),
        phases=tuple(f"PHASE{phase}" for phase in options.get("phases") or ()),
    )


def sources_to_search(settings: Settings, options: AskOptions) -> tuple[str, ...]:
    """Return the sources a run is limited to; empty when the run chooses among those that are enabled.

    Documents of one's own are private: with a library and no other source named, only the library is
    searched. A library that a flag names is joined by sources that a flag names, and not by those of a
    configuration, which may be that of a folder. Raises BadInput for a name that does not exist.
    """
    library = options.get("library")
    defaults = settings.default_sources if library is None or settings.also_web else ()
    names = check_sources(tuple(options.get("sources") or defaults))
    if library is not None and names:
        return ("library", *(name for name in names if name != "library"))
    private = library is not None or settings.library is not None
    return ("library",) if private and not names and not settings.also_web else names


def effects_of_user(options: AskOptions) -> "tuple[Effect, ...]":
    """Return the effects of the user's file that are pooled with those of the works.

    Raises BadInput for a file that cannot be read, and where statistics are not installed.
    """
    if find_spec("statsmodels") is None:
        from activities.contracts.errors import install

        raise BadInput(f"statistics are not installed; {install('analysis')}")
    path = options.get("effects")
    if not path:
        return ()
    from activities.analysis.effects_file import read_effects
    from activities.contracts.errors import Refused

    try:
        return read_effects(Path(path).expanduser())
    except Refused as error:
        raise BadInput(str(error)) from error


def defaults_of(mode: str) -> dict[str, int]:
    """Return the limits that a mode sets where the user set none."""
    return dict(MODES[mode].defaults) if mode in MODES else {}


def open_limits(mode: str, run_limits: Mapping[str, float]) -> tuple[str, ...]:
    """Return the limits that are left to the mode that `auto` will choose."""
    names = dict.fromkeys(name for info in TABLE for name in info.defaults)
    return tuple(name for name in names if name not in run_limits) if mode == AUTO else ()


def mode_and_graph(settings: Settings, options: AskOptions) -> "tuple[str, GraphDefinition | None]":
    """Return the mode and, where it is `graph`, the graph that travels with the run.

    `auto` walks one that is given. Raises BadInput for a graph that is not valid.
    """
    graph = options.get("graph")
    mode = settings.mode if options.get("mode") or graph is None else "graph"
    if graph is not None and mode not in ("graph", AUTO):
        raise BadInput(f"`graph` is for `mode` graph, not for {mode}")
    if mode != "graph" and graph is None:
        return mode, None
    from workflows.graph.library import DEFAULT

    return mode, read_graph(graph or DEFAULT)


def read_graph(name: str) -> "GraphDefinition":
    """Return a built-in graph or the one in a file. Raises BadInput with all that is wrong with it."""
    from workflows.graph.library import load
    from workflows.graph.validation import GraphError

    try:
        return load(name, source_names())
    except GraphError as error:
        raise BadInput(f"{name}: {error}") from error


def models(settings: Settings, options: AskOptions) -> dict[str, ModelChoice]:
    """Return the models that are asked for, by name or by effort; empty for the worker's own.

    Raises BadInput for an effort without a model it is for.
    """
    model, effort = options.get("model"), options.get("effort")
    choices = {"default": choice(model)} if model else {}
    if effort is None:
        return choices
    choices = choices or settings.model_choices()
    if all(model_choice.backend == "extractive" for model_choice in choices.values()):
        raise BadInput("`effort` is for a language model: give `model`, or set DETERMINATOR_MODEL")
    return {role: model_choice.replace(effort=effort) for role, model_choice in choices.items()}
