"""Settings that a follow-up takes of its run: folder, sources, filters, models and limits.

A run over a folder of one's own searched nothing else, and what was asked of it may be as private as the
folder: its follow-up sends no more from the machine than it did, unless the person says so.
"""

from typing import TYPE_CHECKING, cast

from temporalio.service import RPCError, RPCStatusCode

from activities.codec import CodecError
from activities.configuration.declaration import declared
from activities.permits import Permits
from client.failures import BadInput, NoConnection, NoSuchRun
from client.runs.options import non_empty
from client.runs.rewinding import request_of

if TYPE_CHECKING:
    from activities.report.schema import Report
    from activities.settings import Settings
    from client.api import Determinator
    from client.runs.options import AskOptions, Phase
    from workflows.types import ResearchRequest


MODEL_OPTIONS = ("model", "fallback", "effort")


async def earlier_request(client: "Determinator", run_id: str) -> "ResearchRequest | None":
    """Return what a finished run was asked; None where no server knows it, or it cannot be decrypted."""
    try:
        run = await client.run(run_id)
        return await request_of(run.connection.client, run.id)
    except (NoConnection, NoSuchRun, CodecError):
        return None
    except RPCError as error:
        if error.status != RPCStatusCode.NOT_FOUND:
            raise
        return None


def options_of_report(settings: "Settings", report: "Report", options: "AskOptions") -> "AskOptions":
    """Return the options of `ask` for what a report says was searched, where its request is not known.

    Raises BadInput where it searched a folder, which the report does not name, and none is known now.
    """
    sources = tuple(dict.fromkeys(search.source for search in report.methodology.searches))
    library = options.get("library") or options.get("sources") or settings.library
    if "library" in sources and not library:
        raise BadInput(
            f"{report.run_id} searched a folder of documents that is not known any more; name it with "
            f"`library`, or say what to search with `sources`"
        )
    return {"sources": sources}


def options_of_request(settings: "Settings", run_id: str, request: "ResearchRequest") -> "AskOptions":
    """Return the options of `ask` that stand for what a run was asked.

    Raises NotPermitted for a folder that this home did not allow: a stranger's request would be signed as
    one's own.
    """
    if request.library is not None:
        signature = request.signatures.get("library", "")
        Permits(settings).check("library", request.library, run_id, signature)
    filters = request.filters
    options: AskOptions = {
        "sources": request.sources,
        "library": request.library,
        "since": filters.year_from,
        "until": filters.year_to,
        "types": filters.publication_types,
        "free_full_text": filters.free_full_text,
        "phases": cast("tuple[Phase, ...]", tuple(name.removeprefix("PHASE") for name in filters.phases)),
    }
    return options | set_limits(settings, request)


def set_limits(settings: "Settings", request: "ResearchRequest") -> "AskOptions":
    """Return the limits that differ from those of the run's mode, by the names of their settings.

    Another mode has defaults of its own.
    """
    from client.runs.request import defaults_of
    from workflows.amounts import Limits

    defaults = Limits.model_validate(defaults_of(request.mode))
    limits: dict[str, float] = {}
    for name, key in declared(type(settings).model_fields).items():
        value = getattr(request.limits, key.limit) if key.limit else None
        if value is not None and value != getattr(defaults, key.limit):
            limits[name] = value / 1e6 if key.unit == "US dollars" else value
    return cast("AskOptions", limits)


def merge_options(options: "AskOptions", earlier: "AskOptions") -> "AskOptions":
    """Return the options of a follow-up: those that were given over those of the earlier run.

    Sources and a folder that are given replace what was searched.
    """
    chosen_sources = non_empty(options)
    sources = chosen_sources.get("sources") or ()
    replaced_names = set[str]()
    if "library" in chosen_sources or chosen_sources.get("also_web"):
        replaced_names.add("sources")
    if sources and "library" not in sources:
        replaced_names.add("library")
    base = {name: value for name, value in earlier.items() if name not in replaced_names}
    return cast("AskOptions", {**base, **chosen_sources})


async def request_of_follow_up(
    client: "Determinator", report: "Report", question: str, options: "AskOptions"
) -> "ResearchRequest":
    """Return the request of a question on the run of a report. Raises BadInput, NotPermitted, RPCError."""
    from client.runs.request import build_request

    settings = client.settings
    earlier = await earlier_request(client, report.run_id)
    if earlier is None:
        return build_request(
            settings, question, merge_options(options, options_of_report(settings, report, options))
        )
    base = options_of_request(settings, report.run_id, earlier)
    request = build_request(settings, question, merge_options(options, base))
    if any(options.get(name) for name in MODEL_OPTIONS):
        return request
    return request.replace(
        models=earlier.models or request.models, fallbacks=earlier.fallbacks or request.fallbacks
    )
