"""What a person asks of a finished report, sent to the server: a question, a change, a dispute; and what came
of it, as data."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel

from activities.contracts.publish import Dispute
from activities.contracts.revise import MAX_INSTRUCTION_CHARS, Instruction
from activities.report.schema import Reference, Report
from client.failures import BadInput, Failure
from client.reports.answer import Answer, AnswerClaim, answer_of, claims_of

if TYPE_CHECKING:
    from activities.refresh_activity import RefreshOutcome
    from client.api import Determinator

Kind = Literal["tell", "change", "dispute", "decide"]
ASKED_WRONGLY = ("NoSuchSentence", "NoModel")
"""Types of failures that another message or another model mends."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of it."""

    outcome: "RefreshOutcome"
    before: Report
    """The report as it was."""
    report: Report
    """The answer to a question as a report of its own; of a change or a dispute the report as it is now."""


class Told(BaseModel):
    """The answer to a question about a report."""

    run_id: str
    question: str
    answered: bool | None
    """None where no model has read it."""
    answer: Answer
    claims: list[AnswerClaim]
    references: list[Reference]
    calls: int

    @classmethod
    def of(cls, answered: Answered) -> "Told":
        """The answer, which is a report of one section."""
        report = answered.report
        claims = claims_of(report)
        return cls(
            run_id=report.run_id,
            question=report.question,
            answered=bool(claims) if report.written_by == "model" else None,
            answer=answer_of(report),
            claims=[*claims],
            references=[*report.references],
            calls=answered.outcome.calls,
        )


class SentenceChange(BaseModel):
    """A sentence by which two versions differ; empty where one has none."""

    id: str
    before: str
    after: str


class Changed(BaseModel):
    """What became of a report that was changed or disputed."""

    run_id: str
    version: int
    made: bool
    """Whether a version was made; else nothing changed, and `notes` say why."""
    calls: int
    differences: list[SentenceChange]
    disputes: list[Dispute]
    notes: list[str]

    @classmethod
    def of(cls, answered: Answered) -> "Changed":
        """What came of it."""
        outcome = answered.outcome
        return cls(
            run_id=outcome.run_id,
            version=outcome.version,
            made=outcome.made,
            calls=outcome.calls,
            differences=changes(answered.before, answered.report),
            disputes=[*answered.report.disputes],
            notes=[*outcome.notes],
        )


def changes(before: Report, after: Report) -> list[SentenceChange]:
    """The sentences by which two versions differ."""
    from activities.report.revised import differences

    return [
        SentenceChange(id=one.id, before=one.before, after=one.after) for one in differences(before, after)
    ]


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

    from temporalio.client import WorkflowFailureError
    from temporalio.exceptions import ActivityError, ApplicationError
    from temporalio.service import RPCError

    from activities.evidence_store import EvidenceStore
    from activities.profiles.loader import profile_names
    from activities.refresh_activity import RefreshRequest
    from activities.report.archive import Archive
    from activities.settings import choice
    from client.run import named
    from client.runs.follow import why
    from client.runs.history import request_of
    from client.runs.refreshing import known_items, start_refresh

    text = " ".join(text.split())
    if not text and kind != "decide":
        raise BadInput("nothing is said; write what you want to know or to have changed")
    if len(text) > MAX_INSTRUCTION_CHARS:
        raise BadInput(f"that is too long; a message has at most {MAX_INSTRUCTION_CHARS:,} characters")
    settings = client.settings
    found = await client.finished(name, whole=False)
    store = EvidenceStore.at(settings.evidence_url)
    connection = await client.connect(for_run=True)
    try:
        asked = None
        with suppress(RPCError):
            asked = await request_of(connection.client, found.run_id)
        models = {"default": choice(model)} if model else (asked.models if asked else {})
        profiles = profile_names(settings.profiles_dir or settings.home / "profiles")
        request = RefreshRequest(
            run_id=found.run_id,
            search=False,
            known_blob=await known_items(store, [ref for ref, _ in found.items]),
            instruction=Instruction(
                kind=kind,
                text=text,
                by=named(by),
                sentence=sentence,
                upheld=upheld,
                profile=found.report.profile if found.report.profile in profiles else "general",
                models=models,
                fallbacks=asked.fallbacks if asked else (),
            ),
        )
        handle = await start_refresh(connection.client, request, connection.task_queue)
    finally:
        connection.release()
    try:
        outcome = await handle.result()
    except WorkflowFailureError as error:
        cause = error.cause.cause if isinstance(error.cause, ActivityError) else error.cause
        if isinstance(cause, ApplicationError) and cause.type in ASKED_WRONGLY:
            raise BadInput(cause.message) from error
        raise Failure(f"{found.run_id}: {why(error)}") from error
    archive = Archive(settings.evidence_url)
    report = found.report
    if outcome.blob:
        report = Report.model_validate_json(await store.get_bytes(outcome.blob))
    elif outcome.made:
        version = next(v for v in await archive.versions(found.first) if v.number == outcome.version)
        report = await archive.version(version)
    return Answered(outcome, found.report, report)
