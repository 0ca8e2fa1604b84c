"""The question form: what it offers, and the options that it asks with.

It holds no key: models are those that the settings in force name.
"""

from collections.abc import Mapping, Sequence
from typing import get_args

from pydantic import TypeAdapter
from starlette.datastructures import FormData

from activities.contracts.evidence import ApprovalGate, Length
from activities.profiles.loader import profile_names
from activities.settings import Settings
from activities.sources.names import SOURCES, info_of, source_names
from client.access import models_of
from client.failures import BadInput
from client.runs.destinations import network_sources
from client.runs.options import SharedOptions
from workflows.modes import TABLE

EXAMPLES = (
    "Can metformin lower the risk of colorectal cancer?",
    "Which approved drugs could be repurposed for glioblastoma?",
    "What is known about survival in lung cancer?",
)
"""They fill the box and do not run by themselves."""
WITHOUT_MODEL = "without a model"
AUTO_MODE = "chosen by the question: a single fact, several searches, or a plan with sections"
LIMITS = {
    "max_tokens": ("Tokens", "1"),
    "max_cost": ("US dollars", "any"),
    "minutes": ("Minutes", "any"),
    "max_iterations": ("Rounds", "1"),
    "max_sections": ("Sections", "1"),
}
"""Field -> its label, and the step of its values."""
LISTS = ("sources", "approve")
"""Fields that may have several values."""
NAMED = 3
"""Sources that a chip names."""
OPTIONS = TypeAdapter(SharedOptions)
PLACED = frozenset(
    {"mode", "profile", "sources", "library", "columns", "length", "language", "model", "approve", "max_time"}
)
"""Options with a place of their own in the form; all others stand under More, as they are declared."""
INPUTS = {"integer": "number", "number": "number", "boolean": "checkbox"}
"""Type of an option -> how it is entered; else as text."""
Fields = dict[str, str | list[str]]
FORM = frozenset({"question", "file", "minutes", *SharedOptions.__annotations__})


async def offered(settings: Settings, *, shared: bool) -> dict[str, object]:
    """Return what the form shows beside what was typed."""
    enabled = [] if settings.offline else [*await network_sources(settings)]
    in_force = settings.default_sources or tuple(enabled)
    libraries = [settings.library.name] if settings.library else []
    return {
        "examples": EXAMPLES,
        "modes": [("auto", AUTO_MODE), *((info.name, info.good_for) for info in TABLE)],
        "profiles": ["auto", *profile_names(settings.profiles_dir or settings.home / "profiles")],
        "models": [*models_of(settings), WITHOUT_MODEL],
        "sources": sorted({"library", *enabled}),
        "sources_in_force": line_of_sources([*libraries, *in_force]),
        "titles": {name: title_of(name) for name in source_names()},
        "limits": LIMITS,
        "more": MORE,
        "lengths": get_args(Length),
        "length": settings.length,
        "language": settings.language or "",
        "gates": get_args(ApprovalGate),
        "model": settings.model if settings.model not in (None, "extractive") else WITHOUT_MODEL,
        "mode": settings.mode,
        "shared": shared,
    }


def further() -> list[tuple[str, str, str]]:
    """Return the options without a place of their own: name, help, and how each is entered."""
    rows = []
    for name, option in OPTIONS.json_schema()["properties"].items():
        if name not in PLACED | LIMITS.keys():
            kinds = [kind for kind in option.get("anyOf", [option]) if kind.get("type") != "null"]
            about = str((kinds[0] | option)["description"]).rstrip(" .")
            rows.append((name, about, INPUTS.get(kinds[0]["type"], "text") if len(kinds) == 1 else "text"))
    return rows


MORE = further()


def title_of(name: str) -> str:
    """Return a source by its title; one of an installed package by its name."""
    return info_of(name).title if name in dict(SOURCES) else name


def line_of_sources(names: Sequence[str]) -> str:
    """Return `PubMed, Europe PMC, OpenAlex and 6 more`."""
    shown, more = [title_of(name) for name in names[:NAMED]], len(names) - NAMED
    if not shown:
        return "your documents"
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def fields_of(form: FormData) -> Fields:
    """Return the fields of a form that were filled in."""
    fields: Fields = {}
    for name in form:
        values = [value.strip() for value in form.getlist(name) if isinstance(value, str) and value.strip()]
        if values:
            fields[name] = values if name in LISTS else values[-1]
    return fields


def options_of(fields: Mapping[str, object], *, shared: bool, models: Sequence[str]) -> SharedOptions:
    """Return what the form asks beside the question; what is empty stands for the setting, and 0 is 0.

    A browser may send anything. Raises BadInput for what the page does not offer, ValidationError.
    """
    values = {name: value for name, value in fields.items() if name not in ("question", "file")}
    if unknown := values.keys() - FORM:
        raise BadInput(f"the form has no field {min(unknown)[:50]!r}")
    model = values.pop("model", None)
    if model not in (None, WITHOUT_MODEL, *models):
        raise BadInput(f"the model {str(model)[:100]!r} is not offered here")
    if shared and "library" in values:
        raise BadInput("a page of several users reads no folder of its machine")
    if model is not None:
        values["model"] = "extractive" if model == WITHOUT_MODEL else model
    if minutes := values.pop("minutes", None):
        values["max_time"] = f"{minutes}m"
    for name in ("columns", "types"):
        if names := values.pop(name, None):
            values[name] = [part.strip() for part in str(names).split(",") if part.strip()]
    return OPTIONS.validate_python(values)
