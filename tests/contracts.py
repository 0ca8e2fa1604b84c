"""The names that scripts, other people's programs and the stock `temporal` command depend on, from the code.

`test_contracts` compares them with `contracts.json`, which `python -m tests.contracts` writes: from the first
release on a name may be added to it, never removed or renamed.
"""

import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import click
import pytest
from pydantic import BaseModel
from temporalio import workflow

from activities.configuration.file import sections
from activities.contracts.evidence import SearchStatus, StopReason
from activities.contracts.parts import MODULES, part_data
from activities.report.evidence_lines import EvidenceLine
from activities.report.schema import Report
from activities.settings import Settings
from client.cli.ask import ask
from client.cli.main import VERBS
from client.failures import Exit
from client.messages import MESSAGES
from tests.registered import registered_names
from workflows import types
from workflows.event_types import EVENTS
from workflows.messages import AddSource
from workflows.modes import workflow_classes

Contracts = dict[str, list[str]]
"""A kind of name -> the names, sorted."""

FILE = Path(__file__).parent / "contracts.json"
RESEARCH = workflow_classes()
SENT_BY_PEOPLE: Mapping[str, type[BaseModel]] = {
    **{
        verb.sends or verb.name: verb.model
        for verb in MESSAGES.values()
        if verb.model and verb.to in ("signal", "update")
    },
    "add_source": AddSource,
    "events": types.ItemsAfter,
    "evidence_index": types.ItemsAfter,
    "iterations": types.ItemsAfter,
}
"""Signals, updates and queries that carry an object, with its fields. Those between a run and its sections
are not for others."""


def models_in(annotation: object) -> Iterator[type[BaseModel]]:
    """The models an annotation is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) not in (None, Literal):
        for part in get_args(annotation):
            yield from models_in(part)


def values_in(annotation: object) -> Iterator[object]:
    """The values that an annotation allows, where it names them."""
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    else:
        for part in get_args(annotation):
            yield from values_in(part)


def keys_of(model: type[BaseModel], above: tuple[type[BaseModel], ...] = ()) -> set[str]:
    """The keys of a model's JSON, nested ones as `sections.claims.text`, and the values of those that have a
    closed set of them as `stop_reason=timeout`."""
    found = set[str]()
    for name, field in model.model_fields.items():
        key = field.serialization_alias or field.alias or name
        found |= {key, *(f"{key}={value}" for value in values_in(field.annotation))}
        for inner in models_in(field.annotation):
            if inner not in above:
                found |= {f"{key}.{deeper}" for deeper in keys_of(inner, (*above, model))}
    return found


def keys_of_part(name: str) -> set[str]:
    """The keys of what a part adds to a report."""
    (model,) = models_in(part_data(name).report_kind)
    return {name, *(f"{name}.{key}" for key in keys_of(model))}


async def contracts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Contracts:
    """What the code has today."""
    queues, workflows = await registered_names(folder, monkeypatch)
    # the SDK has no public way
    definitions = [workflow._Definition.must_from_class(cls) for cls in RESEARCH]
    found: dict[str, set[str]] = {
        "workflow types": set(workflows),
        "default task queue": {types.DEFAULT_TASK_QUEUE},
        "report keys": keys_of(Report) | {key for name in MODULES for key in keys_of_part(name)},
        "evidence line keys": set(get_type_hints(EvidenceLine)),
        "event types": set(EVENTS),
        "event keys": {f"{kind}.{name}" for kind, names in EVENTS.items() for name in names},
        "configuration keys": {
            f"{section}.{key}" for section, keys in sections(Settings.model_fields).items() for key in keys
        },
        "stop reasons": set(get_args(StopReason)),
        "search statuses": set(get_args(SearchStatus)),
        "exit codes": {str(code.value) for code in Exit},
        "verbs": set(VERBS),
        "ask flags": {
            flag for option in ask.params if isinstance(option, click.Option) for flag in option.opts
        },
        "message fields": {
            f"{name}.{key}" for name, model in SENT_BY_PEOPLE.items() for key in model.model_fields
        },
    }
    for queue, activities in queues.items():
        found[f"activities on {queue}"] = set(activities)
    for kind in ("signals", "queries", "updates"):
        of_each = [set(filter(None, getattr(definition, kind))) for definition in definitions]
        found[f"{kind} of every research workflow"] = set.intersection(*of_each)
    return {kind: sorted(names) for kind, names in sorted(found.items())}


def frozen() -> Contracts:
    """What `contracts.json` holds."""
    held: Contracts = json.loads(FILE.read_text())
    return held


def missing(before: Contracts, now: Contracts) -> Contracts:
    """What was there before and is not there now."""
    gone = {kind: sorted(set(names) - set(now.get(kind, ()))) for kind, names in before.items()}
    return {kind: names for kind, names in gone.items() if names}


async def main() -> None:
    """Write the file with what the code has."""
    with pytest.MonkeyPatch.context() as patched, tempfile.TemporaryDirectory() as folder:
        now = await contracts(Path(folder), patched)
    FILE.write_text(json.dumps(now, indent=1) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
