"""The names that runs under way, scripts and other people's programs depend on, read from the code.

They may be added to, never removed or renamed: `test_contracts` compares them with `contracts.json`. To
freeze names that were added: `python -m tests.contracts`. It refuses to drop a name that the file has.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import click
import pytest
from pydantic import BaseModel
from temporalio import workflow

from activities.draft_progress import DraftProgress
from activities.report.audit import EvidenceLine
from activities.report.schema import Report
from activities.types import SearchStatus, StopReason
from client.cli.ask import ask
from client.cli.failures import Exit
from client.cli.main import VERBS
from tests.registered import registered_names
from workflows import types
from workflows.event_types import AgentEvent
from workflows.graph.definition import GraphView
from workflows.modes import workflow_classes
from workflows.state import RunState

Contracts = dict[str, list[str]]
"""A kind of name -> the names, sorted."""

FILE = Path(__file__).parent / "contracts.json"
RESEARCH = workflow_classes()
MESSAGES: Mapping[str, type[BaseModel]] = {
    "approve": types.Approval,
    "reject": types.Approval,
    "steer": types.Steer,
    "add_source": types.AddSource,
    "edit_plan": types.EditPlan,
    "extend_budget": types.ExtendBudget,
    "choose_candidates": types.ChooseCandidates,
    "grant": types.Grant,
    "request_lease": types.LeaseRequest,
    "section_report": types.SectionProgress,
    "offer_evidence": types.SharedEvidence,
    "draft_progress": DraftProgress,
    "query events": types.EventsAfter,
    "query evidence_index": types.ItemsAfter,
    "query iterations": types.ItemsAfter,
}
"""What each message carries: a JSON object with these fields."""
ANSWERS: Mapping[str, type[BaseModel]] = {
    "progress": types.Progress,
    "budget": types.BudgetStatus,
    "plan": types.PlanView,
    "evidence_index": types.EvidenceIndex,
    "iterations": types.IterationHistory,
    "report": types.ReportView,
    "graph": GraphView,
    "outcome": types.Outcome,
}
"""What the queries and the run itself answer with."""


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


async def contracts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Contracts:
    """What the code has today."""
    queues, workflows = await registered_names(folder, monkeypatch)
    found: dict[str, set[str]] = {
        "workflow types": set(workflows),
        "default task queue": {types.DEFAULT_TASK_QUEUE},
        "report keys": keys_of(Report),
        "evidence line keys": set(get_type_hints(EvidenceLine)),
        "event keys": keys_of(AgentEvent),
        "request keys": keys_of(types.ResearchRequest),
        "run state keys": keys_of(RunState),
        "stop reasons": set(get_args(StopReason)),
        "search statuses": set(get_args(SearchStatus)),
        "exit codes": {str(code.value) for code in Exit},
        "verbs": set(VERBS),
        "ask flags": {
            flag for option in ask.params if isinstance(option, click.Option) for flag in option.opts
        },
    }
    for queue, activities in queues.items():
        found[f"activities on {queue}"] = set(activities)
    for cls in RESEARCH:
        definition = workflow._Definition.must_from_class(cls)  # the SDK has no public way
        for kind in ("signals", "queries", "updates"):
            found[f"{kind} of {cls.__name__}"] = set(filter(None, getattr(definition, kind)))
    found |= {f"fields of message {name}": keys_of(model) for name, model in MESSAGES.items()}
    found |= {f"keys of answer {name}": keys_of(model) for name, model in ANSWERS.items()}
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
    """Write the file with what the code has; end with what is gone if anything is."""
    with pytest.MonkeyPatch.context() as patched, tempfile.TemporaryDirectory() as folder:
        now = await contracts(Path(folder), patched)
    if FILE.exists() and (gone := missing(frozen(), now)):
        sys.exit(f"removed or renamed, and runs or scripts may depend on them: {json.dumps(gone, indent=1)}")
    FILE.write_text(json.dumps(now, indent=1) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
