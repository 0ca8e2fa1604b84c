"""Requests about a finished report, sent to the server: a question, a change, a dispute."""

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from activities.contracts.revise import MAX_INSTRUCTION_CHARS, Instruction, InstructionKind
from activities.report.schema import Report
from client.failures import BadInput, NoConnection, NoSuchRun
from workflows.messages import By, Message, Text

if TYPE_CHECKING:
    from activities.refresh_activity import RefreshOutcome
    from client.api import Determinator
    from client.connection import Connection


Sentence = Annotated[str, Field(max_length=20, description="Its id, as s1.2")]


class Asked(Message):
    """A question about a report, or an instruction to change it."""

    text: Annotated[str, Field(max_length=MAX_INSTRUCTION_CHARS, description="In your words")]
    by: By = ""


class Disputed(Asked):
    sentence: Sentence


class Decided(Message):
    sentence: Sentence
    upheld: Annotated[bool, Field(description="true: the sentence goes, its quote stands in its place")]
    note: Text = ""
    by: By = ""


@dataclass(frozen=True, slots=True)
class Reply:
    asked: str
    outcome: "RefreshOutcome"
    before: Report
    report: Report
    """The answer to a question as a report of its own; of a change or a dispute the report as it is now."""


async def revise(
    client: "Determinator",
    name: str,
    kind: InstructionKind,
    content: Asked | Decided,
    *,
    by: str | None = None,
    model: str | None = None,
    max_cost: float | None = None,
) -> Reply:
    """Send it and wait for what comes of it; it goes on when the wait ends.

    `max_cost`: US dollars that the run, the changes of its report and this may cost. Raises BadInput,
    NoReport, NoSuchRun, NoConnection, Failure for what failed, StoreError.
    """
    from temporalio.service import RPCError

    from activities.evidence_store import EvidenceStore
    from activities.profiles.loader import profile_names
    from activities.refresh_activity import RefreshRequest
    from activities.report.archive import Archive, load_latest
    from activities.settings import choice
    from client.run import actor
    from client.runs.refreshing import known_items, send
    from client.runs.rewinding import request_of

    text = " ".join((content.note if isinstance(content, Decided) else content.text).split())
    if len(text) < 2 and kind != "decide":
        raise BadInput("the message is empty; write what you want to know or to have changed")
    settings = client.settings
    record = await client.finished(name, whole=False)
    store = EvidenceStore.at(settings.evidence_url)
    budget: int | None = None
    if max_cost is not None:
        budget = max(round((max_cost - (record.report.methodology.cost_usd or 0.0)) * 1e6), 0)

    async def prepare(connection: "Connection") -> RefreshRequest:
        request = None
        with suppress(RPCError):
            request = await request_of(connection.client, record.run_id)
        models = {"default": choice(model)} if model else (request.models if request else {})
        profiles = profile_names(settings.profiles_dir or settings.home / "profiles")
        return RefreshRequest(
            run_id=record.run_id,
            search=False,
            known_blob=await known_items(store, [ref for ref, _ in record.items]),
            instruction=Instruction(
                kind=kind,
                text=text,
                by=actor(by or content.by),
                sentence=getattr(content, "sentence", ""),
                upheld=isinstance(content, Decided) and content.upheld,
                profile=record.report.profile if record.report.profile in profiles else "general",
                models=models,
                fallbacks=request.fallbacks if request else (),
                max_cost_microusd=budget,
            ),
        )

    address = ""
    if client.embedded and settings.openai_base_url is None:
        with suppress(NoConnection, NoSuchRun):
            address = (await (await client.run(record.run_id, worker=False)).row()).address
    if address:
        server_settings = settings.model_copy(update={"openai_base_url": address})
        client = type(client)(server_settings, address=client.address, say=client.say)
    outcome = await send(client, prepare)
    report = record.report
    if outcome.blob:
        report = Report.model_validate_json(await store.get_bytes(outcome.blob))
    elif outcome.made:
        report, _ = await load_latest(Archive(settings.evidence_url), record.first)
    return Reply(text, outcome, record.report, report)
