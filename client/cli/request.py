"""The flags of `ask`, and the request they make."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from client.cli.checks import check_library, check_profile, check_question, check_sources
from client.cli.common import say, unknown
from client.cli.failures import BadInput
from client.cli.narrowing import filters

if TYPE_CHECKING:
    from activities.settings import Settings
    from activities.types import ModelChoice
    from workflows.types import ResearchRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
    """What `ask` was given. A plain dataclass, so that `--help` imports no model library."""

    mode: str | None = None
    graph: str | None = None
    """A built-in graph or a file; it makes the mode `graph`."""
    profile: str | None = None
    sources: tuple[str, ...] = ()
    library: str | None = None
    also_web: bool = False
    """Search other sources beside a library of one's own."""
    since: int | None = None
    until: int | None = None
    """Years of publication, both included."""
    types: tuple[str, ...] = ()
    """Types of publication, as `activities.sources.filters` names them."""
    free_full_text: bool = False
    phases: tuple[str, ...] = ()
    model: str | None = None
    fallbacks: tuple[str, ...] = ()
    effort: Literal["small", "normal", "large"] | None = None
    wait_for_model: bool = False
    writer: Literal["long_writer", "proofreader"] | None = None
    max_iterations: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    """US dollars."""
    max_time: float | None = None
    """Seconds."""
    max_sections: int | None = None
    approve: tuple[str, ...] | None = None
    approval_timeout: float | None = None
    """Seconds."""
    approval_default: Literal["approve", "reject"] | None = None


T = TypeVar("T")


def first_given(*values: T | None) -> T | None:
    """The first value that is not None: a flag goes over a setting."""
    return next((value for value in values if value is not None), None)


def limits(settings: "Settings", options: AskOptions) -> dict[str, float]:
    """The limits that were given, by their names in `workflows.types.Limits`."""
    given: dict[str, float | None] = {
        "max_iterations": first_given(options.max_iterations, settings.max_iterations),
        "max_tokens": first_given(options.max_tokens, settings.max_tokens),
        "max_cost_microusd": _microusd(first_given(options.max_cost, settings.max_cost)),
        "max_seconds": first_given(options.max_time, settings.max_time),
        "max_sections": first_given(options.max_sections, settings.max_sections),
        "max_section_tokens": settings.max_tokens_per_section,
        "max_section_cost_microusd": _microusd(settings.max_cost_per_section),
        "max_section_seconds": settings.max_time_per_section,
        "max_parallel_sections": settings.parallel_sections,
        "max_gaps": settings.max_gaps,
        "searches_per_gap": settings.searches_per_gap,
        "results_per_search": settings.results_per_search,
    }
    return {name: value for name, value in given.items() if value is not None}


def _microusd(dollars: float | None) -> int | None:
    return None if dollars is None else round(dollars * 1e6)


def sources_to_search(settings: "Settings", options: AskOptions) -> tuple[str, ...]:
    """The sources a run is limited to; empty when the run chooses among those that are enabled.

    Documents of one's own are private: with a library and no other source named, by flag or in the
    configuration, only the library is searched. Raises BadInput for a name that does not exist.
    """
    named = check_sources(options.sources or tuple(settings.default_sources))
    if options.library is not None and named:
        return ("library", *(name for name in named if name != "library"))
    private = options.library is not None or settings.library is not None
    if private and not named and not (options.also_web or settings.also_web):
        return ("library",)
    return named


def build_request(settings: "Settings", question: str, options: AskOptions) -> "ResearchRequest":
    """The request for a question. Raises BadInput with one line on what is wrong."""
    from pydantic import ValidationError

    from activities.settings import choice
    from workflows.types import Limits, ResearchRequest

    check_question(question)
    name, path = check_profile(settings, options.profile or settings.profile)
    given: dict[str, Any] = {
        "question": question,
        **mode_and_graph(settings, options),
        "profile": name,
        "profile_path": path,
        "sources": sources_to_search(settings, options),
        "library": check_library(options.library),
        "models": models(settings, options),
        "fallbacks": tuple(choice(model) for model in options.fallbacks),
        "filters": filters(
            options.since, options.until, options.types, options.free_full_text, options.phases
        ),
        "search_seconds": settings.search_timeout,
        "judge_threshold": settings.judge_threshold,
        "approve": options.approve or tuple(settings.approve),
        "approval_timeout_seconds": first_given(options.approval_timeout, settings.approval_timeout),
        "approval_default": options.approval_default or settings.approval_default,
        "writer": options.writer or settings.writer,
        "wait_for_model": options.wait_for_model or settings.wait_for_model,
    }
    chosen = limits(settings, options)
    try:
        return ResearchRequest.model_validate(
            {
                **given,
                "limits": Limits.model_validate({**defaults_of(given["mode"]), **chosen}),
                "open_limits": open_limits(given["mode"], chosen),
            }
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"{where}: {first['msg'].removeprefix('Value error, ')}") from error


def defaults_of(mode: str) -> dict[str, int]:
    """The limits that a mode sets where the user set none."""
    from workflows.modes import MODES

    return dict(MODES[mode].defaults) if mode in MODES else {}


def open_limits(mode: str, chosen: Mapping[str, float]) -> tuple[str, ...]:
    """The limits that are left to the mode that `auto` will choose."""
    from workflows.modes import AUTO, TABLE

    names = dict.fromkeys(name for info in TABLE for name in info.defaults)
    return tuple(name for name in names if name not in chosen) if mode == AUTO else ()


async def checked(settings: "Settings", request: "ResearchRequest", *, named: bool) -> "ResearchRequest":
    """The request as the embedded worker can run it; `named`: its sources were given by flags. Raises
    BadInput when it cannot."""
    check_mode(settings, request)
    check_hooks(settings)
    check_model(settings, request)
    return await with_enabled_sources(settings, request, named=named)


def mode_and_graph(settings: "Settings", options: AskOptions) -> dict[str, Any]:
    """The mode and, where it is `graph`, the graph that travels with the run; `auto` walks one that is given.
    Raises BadInput for a graph that is not valid."""
    from workflows.modes import AUTO

    mode = options.mode or ("graph" if options.graph is not None else settings.mode)
    if mode != "graph" and (mode != AUTO or options.graph is None):
        return {"mode": mode}
    from client.cli.graph import read_graph
    from workflows.graph.library import DEFAULT

    return {"mode": mode, "graph": read_graph(options.graph or DEFAULT)}


def check_mode(settings: "Settings", request: "ResearchRequest") -> None:
    """Raises BadInput for a mode that the embedded worker cannot run; the run itself checks the sources."""
    from workflows.modes import Available, refusal

    chosen = request.models or settings.model_choices()
    model = any(one.backend == "openai" for one in chosen.values())
    if reason := refusal(request.mode, Available(sources=True, model=model)):
        raise BadInput(reason)


def models(settings: "Settings", options: AskOptions) -> "dict[str, ModelChoice]":
    """The models that are asked for by name, or by how much is asked of them; empty for the worker's own.

    Raises BadInput for an effort without a model it is for.
    """
    from activities.settings import choice

    chosen = {"default": choice(options.model)} if options.model else {}
    if options.effort is None:
        return chosen
    chosen = chosen or settings.model_choices()
    if all(one.backend == "extractive" for one in chosen.values()):
        raise BadInput("--effort is for a language model: name one with --model, or set DETERMINATOR_MODEL")
    return {role: one.model_copy(update={"effort": options.effort}) for role, one in chosen.items()}


def check_model(settings: "Settings", request: "ResearchRequest") -> None:
    """Raises BadInput when the embedded worker has no access to a model of the run, or may not use it."""
    from client.runs.destinations import is_loopback, models_of

    wanted = models_of(settings, request)
    if not wanted:
        return
    if settings.openai_api_key is None and settings.openai_base_url is None:
        raise BadInput(
            f"the model {wanted[0]} needs OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own; "
            "use --model extractive to do without a model"
        )
    if settings.offline and not is_loopback(settings.openai_base_url):
        raise BadInput(
            f"offline mode is on and the model {wanted[0]} is not on this machine; use --model extractive, "
            "or set OPENAI_BASE_URL to a server on this machine"
        )


def check_hooks(settings: "Settings") -> None:
    """Raises BadInput for a hook of the settings that cannot be loaded: no worker would start with it."""
    if not settings.hooks:
        return
    from activities.hooks import HookError, load_hooks

    try:
        load_hooks(settings)
    except HookError as error:
        raise BadInput(str(error)) from error


async def with_enabled_sources(
    settings: "Settings", request: "ResearchRequest", *, named: bool
) -> "ResearchRequest":
    """The request with the sources that the embedded worker can use.

    A source `named` by a flag must be enabled: raises BadInput with how to enable it. One that the
    configuration lists may be left out as long as another is enabled.
    """
    if not request.sources or (request.sources == ("library",) and not settings.disabled_sources):
        return request
    from client.cli.sources import available

    offered = {option.info.name: option for option in await available(settings)}
    closed = {}
    for name in request.sources:
        if name not in offered:
            raise BadInput(f"source {unknown(name, list(offered))}")
        if not offered[name].enabled:
            closed[name] = f"the source {name} is not enabled: {offered[name].reason}"
    if closed and (named or len(closed) == len(request.sources)):
        raise BadInput(next(iter(closed.values())))
    for reason in closed.values():
        say(f"{reason}; continuing without it")
    return request.model_copy(update={"sources": tuple(n for n in request.sources if n not in closed)})
