"""What a person asks of a finished report, sent to the server: a question, a change, a dispute."""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from activities.contracts.revise import MAX_INSTRUCTION_CHARS, Instruction
from activities.private_files import write_whole
from activities.report.schema import Report
from client.embedded.home import Places
from client.failures import BadInput

if TYPE_CHECKING:
    from activities.refresh_activity import RefreshOutcome
    from client.api import Determinator
    from client.connection import Connection

Kind = Literal["tell", "change", "dispute", "decide"]


@dataclass(frozen=True, slots=True)
class Answered:
    outcome: "RefreshOutcome"
    before: Report
    report: Report
    """The answer to a question as a report of its own; of a change or a dispute the report as it is now."""


TOLD = "told.json"
"""Of the runs of a home whose cost is limited, what the questions about their reports cost, in US dollars."""


class Told:
    """What questions about reports have cost: an answer is no part of its report, so it stands in a note."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def cost(self, run_id: str) -> float:
        return self._read().get(run_id, 0.0)

    def add(self, run_id: str, cost: float) -> None:
        """Add the cost of an answer. Raises OSError."""
        if cost:
            costs = self._read()
            costs[run_id] = costs.get(run_id, 0.0) + cost
            write_whole(self._path, json.dumps(costs).encode())

    def _read(self) -> dict[str, float]:
        with suppress(FileNotFoundError):
            costs: dict[str, float] = json.loads(self._path.read_bytes())
            return costs
        return {}


async def revise(
    client: "Determinator",
    name: str,
    kind: Kind,
    text: str,
    *,
    by: str | None = None,
    sentence: str = "",
    upheld: bool = False,
    model: str | None = None,
    max_cost: float | None = None,
) -> Answered:
    """Send it and wait for what comes of it; it goes on when the wait ends. `max_cost`: US dollars that the
    run and all that is asked of its report may cost. Raises BadInput, NoReport,
    NoSuchRun, NoConnection, Failure for what failed, StoreError."""
    from temporalio.service import RPCError

    from activities.evidence_store import EvidenceStore
    from activities.profiles.loader import profile_names
    from activities.refresh_activity import RefreshRequest
    from activities.report.archive import Archive, newest
    from activities.settings import choice
    from client.run import named
    from client.runs.history import request_of
    from client.runs.model_addresses import address_of
    from client.runs.refreshing import known_items, send

    text = " ".join(text.split())
    if not text and kind != "decide":
        raise BadInput("nothing is said; write what you want to know or to have changed")
    if len(text) > MAX_INSTRUCTION_CHARS:
        raise BadInput(f"that is too long; a message has at most {MAX_INSTRUCTION_CHARS:,} characters")
    settings = client.settings
    original = await client.finished(name, whole=False)
    store = EvidenceStore.at(settings.evidence_url)
    told = Told(Places(settings.home).state / TOLD)
    left = None
    if max_cost is not None:
        spent = (original.report.methodology.cost_usd or 0.0) + told.cost(original.run_id)
        left = max(round((max_cost - spent) * 1e6), 0)

    async def prepare(connection: "Connection") -> RefreshRequest:
        asked = None
        with suppress(RPCError):
            asked = await request_of(connection.client, original.run_id)
        models = {"default": choice(model)} if model else (asked.models if asked else {})
        profiles = profile_names(settings.profiles_dir or settings.home / "profiles")
        return RefreshRequest(
            run_id=original.run_id,
            search=False,
            known_blob=await known_items(store, [ref for ref, _ in original.items]),
            instruction=Instruction(
                kind=kind,
                text=text,
                by=named(by),
                sentence=sentence,
                upheld=upheld,
                profile=original.report.profile if original.report.profile in profiles else "general",
                models=models,
                fallbacks=asked.fallbacks if asked else (),
                max_cost_microusd=left,
            ),
        )

    address = address_of(settings.home, original.run_id)
    if address is not None and client.embedded and settings.openai_base_url is None:
        there = settings.model_copy(update={"openai_base_url": address})
        outcome = await send(type(client)(there, address=client.address, say=client.say), prepare)
    else:
        outcome = await send(client, prepare)
    if kind == "tell" and max_cost is not None:  # a change adds its cost to the report
        told.add(original.run_id, (outcome.cost_microusd or 0) / 1e6)
    report = original.report
    if outcome.blob:
        report = Report.model_validate_json(await store.get_bytes(outcome.blob))
    elif outcome.made:
        report, _ = await newest(Archive(settings.evidence_url), original.first)
    return Answered(outcome, original.report, report)
