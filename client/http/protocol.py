"""A run as the Responses protocol tells it.

The id of a response is `resp_` and that of its run. A stream is computed from the run's event log and its
report alone, so it has the same numbers whoever asks for it, and whenever: who lost one asks for what comes
after its last number. A gate is an `mcp_approval_request`, which the protocol has for what a person decides.
"""

import json
import re
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from typing import Any

from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseContentPartAddedEvent,
    ResponseContentPartDoneEvent,
    ResponseCreatedEvent,
    ResponseError,
    ResponseFailedEvent,
    ResponseIncompleteEvent,
    ResponseInProgressEvent,
    ResponseOutputItem,
    ResponseOutputItemAddedEvent,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseOutputTextAnnotationAddedEvent,
    ResponseReasoningItem,
    ResponseReasoningSummaryPartAddedEvent,
    ResponseReasoningSummaryPartDoneEvent,
    ResponseReasoningSummaryTextDeltaEvent,
    ResponseReasoningSummaryTextDoneEvent,
    ResponseStatus,
    ResponseStreamEvent,
    ResponseTextDeltaEvent,
    ResponseTextDoneEvent,
    ResponseUsage,
)
from openai.types.responses.response_output_item import McpApprovalRequest
from openai.types.responses.response_output_text import (
    Annotation,
    AnnotationFileCitation,
    AnnotationURLCitation,
)
from openai.types.responses.response_reasoning_item import Summary
from openai.types.responses.response_reasoning_summary_part_added_event import Part as AddedPart
from openai.types.responses.response_reasoning_summary_part_done_event import Part as DonePart
from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails

from activities.contracts.evidence import Usage
from activities.report.formats import render
from activities.report.formats.text import safe_url
from activities.report.schema import Reference, Report
from client.failures import NoSuchRun
from client.reports.load import NoReport
from client.run import Run
from workflows.event_types import AgentEvent

ID = "resp_"
MODELS = "determinator/"
LABEL = "determinator"
CITED = re.compile(r"(?<!\\)\[(\d{1,4}(?:, \d{1,4}){0,30})\](?!\()")
"""A citation in the Markdown of a report."""
CHUNK_CHARS = 2_000
APPROVAL = re.compile(r"apr_(\d{1,9})_(plan|candidates|report)")


def response_id(run_id: str) -> str:
    """The id of the response that a run is."""
    return f"{ID}{run_id}"


def run_id_of(name: str) -> str:
    """The id of the run that a response is. Raises NoSuchRun."""
    if not name.startswith(ID) or name == f"{ID}last":
        raise NoSuchRun(f"there is no response {name[:100]}")
    return name.removeprefix(ID)


def text_of(report: Report) -> ResponseOutputText:
    """The report in Markdown; each citation in it is annotated with its work."""
    text = render(report, "md").decode()
    return ResponseOutputText(
        type="output_text", text=text, annotations=list(annotations(text, report.references)), logprobs=[]
    )


def annotations(text: str, references: Iterable[Reference]) -> Iterator[Annotation]:
    """An annotation for each work of each citation in a text."""
    works = {str(reference.number): reference for reference in references}
    for citation in CITED.finditer(text):
        for number in citation[1].split(", "):
            if (work := works.get(number)) is None:
                continue
            if url := safe_url(work.url):
                yield AnnotationURLCitation(
                    type="url_citation",
                    url=url,
                    title=work.title,
                    start_index=citation.start(),
                    end_index=citation.end(),
                )
            else:
                yield AnnotationFileCitation(
                    type="file_citation",
                    file_id=work.evidence_id,
                    filename=work.title,
                    index=citation.start(),
                )


def usage_of(used: Usage) -> ResponseUsage:
    """What the models of a run used."""
    return ResponseUsage(
        input_tokens=used.input_tokens,
        input_tokens_details=InputTokensDetails(cached_tokens=used.cached_tokens, cache_write_tokens=0),
        output_tokens=used.output_tokens,
        output_tokens_details=OutputTokensDetails(reasoning_tokens=used.reasoning_tokens),
        total_tokens=used.tokens,
    )


class Output:
    """The output items of a run, and the protocol's events for each event of the run."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.items: list[ResponseOutputItem] = []
        self._lines: list[str] = []
        self._number = -1

    def begin(self, response: Response) -> Iterator[ResponseStreamEvent]:
        """What a stream begins with."""
        yield ResponseCreatedEvent(type="response.created", response=response, sequence_number=self._next())
        yield ResponseInProgressEvent(
            type="response.in_progress", response=response, sequence_number=self._next()
        )
        self.items.append(self._reasoning("in_progress"))
        yield self._added(0)
        yield ResponseReasoningSummaryPartAddedEvent(
            type="response.reasoning_summary_part.added",
            part=AddedPart(type="summary_text", text=""),
            sequence_number=self._next(),
            **self._summary,
        )

    def event(self, event: AgentEvent) -> Iterator[ResponseStreamEvent]:
        """An event of the run as progress; a gate as a request for approval."""
        if event.type == "streaming":  # paragraphs of drafts, which later ones replace
            return
        line = f"{event.message}\n"
        self._lines.append(line)
        yield ResponseReasoningSummaryTextDeltaEvent(
            type="response.reasoning_summary_text.delta",
            delta=line,
            sequence_number=self._next(),
            **self._summary,
        )
        if event.type == "awaiting_approval":
            gate = str(event.data.get("gate", ""))
            self.items.append(
                McpApprovalRequest(
                    type="mcp_approval_request",
                    id=f"apr_{event.seq}_{gate}",
                    name=f"approve_{gate}",
                    arguments=json.dumps({"run": self.run_id, "gate": gate}),
                    server_label=LABEL,
                )
            )
            yield self._added(-1)
            yield self._done(-1)

    def end(self, text: ResponseOutputText | None) -> Iterator[ResponseStreamEvent]:
        """What comes after the last event: the end of the progress, and the report."""
        summary = "".join(self._lines)
        self.items[0] = self._reasoning("completed")
        yield ResponseReasoningSummaryTextDoneEvent(
            type="response.reasoning_summary_text.done",
            text=summary,
            sequence_number=self._next(),
            **self._summary,
        )
        yield ResponseReasoningSummaryPartDoneEvent(
            type="response.reasoning_summary_part.done",
            part=DonePart(type="summary_text", text=summary),
            sequence_number=self._next(),
            **self._summary,
        )
        yield self._done(0)
        if text is not None:
            yield from self._message(text)

    def last(self, response: Response) -> ResponseStreamEvent:
        """How the stream ends."""
        number = self._next()
        match response.status:
            case "failed":
                return ResponseFailedEvent(type="response.failed", response=response, sequence_number=number)
            case "cancelled":  # for which the protocol has no event of its own
                return ResponseIncompleteEvent(
                    type="response.incomplete", response=response, sequence_number=number
                )
        return ResponseCompletedEvent(type="response.completed", response=response, sequence_number=number)

    def whole(self, events: Sequence[AgentEvent], text: ResponseOutputText | None, *, over: bool) -> None:
        """Take in all events at once, for a response that is not streamed."""
        self.items.append(self._reasoning("in_progress"))
        for event in events:
            for _ in self.event(event):
                pass
        self.items[0] = self._reasoning("completed" if over else "in_progress")
        if text is not None:
            self.items.append(self._answer(text, "completed"))

    def _message(self, text: ResponseOutputText) -> Iterator[ResponseStreamEvent]:
        place = len(self.items)
        where: dict[str, Any] = {"item_id": f"msg_{self.run_id}", "output_index": place, "content_index": 0}
        self.items.append(self._answer(None, "in_progress"))
        yield self._added(place)
        empty = ResponseOutputText(type="output_text", text="", annotations=[], logprobs=[])
        yield ResponseContentPartAddedEvent(
            type="response.content_part.added", part=empty, sequence_number=self._next(), **where
        )
        for start in range(0, len(text.text), CHUNK_CHARS):
            yield ResponseTextDeltaEvent(
                type="response.output_text.delta",
                delta=text.text[start : start + CHUNK_CHARS],
                logprobs=[],
                sequence_number=self._next(),
                **where,
            )
        for index, annotation in enumerate(text.annotations):
            yield ResponseOutputTextAnnotationAddedEvent.model_validate(
                {
                    "type": "response.output_text.annotation.added",
                    "annotation": annotation.model_dump(),
                    "annotation_index": index,
                    "sequence_number": self._next(),
                    **where,
                }
            )
        yield ResponseTextDoneEvent(
            type="response.output_text.done",
            text=text.text,
            logprobs=[],
            sequence_number=self._next(),
            **where,
        )
        yield ResponseContentPartDoneEvent(
            type="response.content_part.done", part=text, sequence_number=self._next(), **where
        )
        self.items[place] = self._answer(text, "completed")
        yield self._done(place)

    def _answer(self, text: ResponseOutputText | None, status: Any) -> ResponseOutputMessage:  # noqa: ANN401 - a literal of the protocol
        return ResponseOutputMessage(
            type="message",
            id=f"msg_{self.run_id}",
            role="assistant",
            status=status,
            content=[text] if text else [],
        )

    def _reasoning(self, status: Any) -> ResponseReasoningItem:  # noqa: ANN401 - a literal of the protocol
        summary = [Summary(type="summary_text", text="".join(self._lines))] if self._lines else []
        return ResponseReasoningItem(type="reasoning", id=f"rs_{self.run_id}", summary=summary, status=status)

    @property
    def _summary(self) -> dict[str, Any]:
        return {"item_id": f"rs_{self.run_id}", "output_index": 0, "summary_index": 0}

    def _added(self, place: int) -> ResponseOutputItemAddedEvent:
        place %= len(self.items)
        return ResponseOutputItemAddedEvent(
            type="response.output_item.added",
            item=self.items[place],
            output_index=place,
            sequence_number=self._next(),
        )

    def _done(self, place: int) -> ResponseOutputItemDoneEvent:
        place %= len(self.items)
        return ResponseOutputItemDoneEvent(
            type="response.output_item.done",
            item=self.items[place],
            output_index=place,
            sequence_number=self._next(),
        )

    def _next(self) -> int:
        self._number += 1
        return self._number


async def response_of(run: Run, output: Output | None = None) -> Response:
    """A run as a response now; `output`: its items where they are known."""
    row = await run.row()
    over = row.status != "running"
    text, status, error = None, "in_progress", None
    if over:
        text, status, error = await ending(run, row.status)
    if output is None:
        output = Output(run.id)
        output.whole([event async for event in run.events(follow=False)], text, over=over)
    seen = await run.progress() if over else None
    return Response.model_validate(
        {
            "id": response_id(run.id),
            "object": "response",
            "created_at": row.started.timestamp(),
            "completed_at": row.closed.timestamp() if row.closed and status == "completed" else None,
            "model": f"{MODELS}{row.mode}",
            "status": status,
            "error": error,
            "background": True,
            "output": [item.model_dump() for item in output.items],
            "parallel_tool_calls": False,
            "tool_choice": "none",
            "tools": [],
            "usage": usage_of(seen.budget.used).model_dump() if seen else None,
        }
    )


async def ending(
    run: Run, status: str
) -> tuple[ResponseOutputText | None, ResponseStatus, ResponseError | None]:
    """The answer of a run that is over, how it ended, and what went wrong."""
    try:
        report = await run.draft()
    except NoReport as error:
        return None, "failed", ResponseError(code="server_error", message=str(error))
    if status in ("failed", "terminated", "timed_out"):
        broken = ResponseError(code="server_error", message=f"the run was {status}; this is what it had")
        return text_of(report), "failed", broken
    return text_of(report), "cancelled" if report.stop_reason == "cancelled" else "completed", None


async def stream(run: Run, after: int = -1) -> AsyncGenerator[ResponseStreamEvent, None]:
    """The stream of a response behind a number, until its run ends."""
    output = Output(run.id)
    for told in output.begin(await response_of(run, output)):
        if told.sequence_number > after:
            yield told
    async with aclosing(run.events()) as events:
        async for event in events:
            for told in output.event(event):
                if told.sequence_number > after:
                    yield told
    text, _, _ = await ending(run, (await run.row()).status)
    for told in output.end(text):
        if told.sequence_number > after:
            yield told
    yield output.last(await response_of(run, output))


def pending_approval(events: Iterable[AgentEvent]) -> str | None:
    """The id of the request for approval that waits."""
    waiting = None
    for event in events:
        if event.type == "awaiting_approval":
            waiting = f"apr_{event.seq}_{event.data.get('gate', '')}"
        elif event.type in ("approved", "rejected"):
            waiting = None
    return waiting
