"""What a person asks of a finished report, sent to the server: a question, a change, a dispute."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from activities.contracts.revise import MAX_INSTRUCTION_CHARS, Instruction
from activities.report.schema import Report
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
) -> Answered:
    """Send it and wait for what comes of it; it goes on when the wait ends. Raises BadInput, NoReport,
    NoSuchRun, NoConnection, Failure for what failed, StoreError."""
    from contextlib import suppress

    from temporalio.service import RPCError

    from activities.evidence_store import EvidenceStore
    from activities.profiles.loader import profile_names
    from activities.refresh_activity import RefreshRequest
    from activities.report.archive import Archive, newest
    from activities.settings import choice
    from client.run import named
    from client.runs.history import request_of
    from client.runs.refreshing import known_items, send

    text = " ".join(text.split())
    if not text and kind != "decide":
        raise BadInput("nothing is said; write what you want to know or to have changed")
    if len(text) > MAX_INSTRUCTION_CHARS:
        raise BadInput(f"that is too long; a message has at most {MAX_INSTRUCTION_CHARS:,} characters")
    settings = client.settings
    original = await client.finished(name, whole=False)
    store = EvidenceStore.at(settings.evidence_url)

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
            ),
        )

    outcome = await send(client, prepare)
    report = original.report
    if outcome.blob:
        report = Report.model_validate_json(await store.get_bytes(outcome.blob))
    elif outcome.made:
        report, _ = await newest(Archive(settings.evidence_url), original.first)
    return Answered(outcome, original.report, report)
