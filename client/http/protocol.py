"""A run as the Responses protocol tells it, as JSON.

The id of a response is `resp_` and that of its run. A stream is computed from the run's event log and its
report alone, so it has the same numbers whoever asks for it, and whenever: who lost one asks for what comes
after its last number. A gate is an `mcp_approval_request`, which the protocol has for what a person decides.
`tests/client/http/test_protocol.py` holds each event to the types of the protocol's own client.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from typing import Any

from activities.contracts.evidence import Usage
from activities.report.formats import render
from activities.report.formats.prose import model_fault
from activities.report.formats.text import safe_url
from activities.report.schema import Reference, Report
from client.failures import NoSuchRun
from client.listing import FAILED
from client.reports.load import NoReport
from client.run import Run
from workflows.event_types import AgentEvent

ID = "resp_"
MODELS = "determinator/"
LABEL = "determinator"
CITED = re.compile(r"(?<!\\)\[(\d{1,4}[a-z]{0,2}(?:, \d{1,4}[a-z]{0,2}){0,60})\](?!\()")
"""A citation in the Markdown of a report."""
CHUNK_CHARS = 2_000
APPROVAL = re.compile(r"apr_(\d{1,9})_(plan|candidates|report)")
LAST_EVENT = {"failed": "failed", "cancelled": "incomplete"}
"""Status of a response -> the event that ends its stream, else `completed`; for a cancel the protocol has no
event of its own."""

Json = dict[str, Any]


def run_id_of(name: str) -> str:
    """Return the id of the run that a response is. Raises NoSuchRun."""
    if not name.startswith(ID) or name == f"{ID}last":
        raise NoSuchRun(f"there is no response {name[:100]}")
    return name.removeprefix(ID)


def text_of(report: Report) -> Json:
    """Return the report in Markdown; each citation in it is annotated with its work."""
    text = render(report, "md").decode()
    return output_text(text, [*annotations(text, report.references)])


def output_text(text: str, citations: Sequence[Json] = ()) -> Json:
    return {"type": "output_text", "text": text, "annotations": [*citations], "logprobs": []}


def annotations(text: str, references: Iterable[Reference]) -> Iterator[Json]:
    works = {str(reference.number): reference for reference in references}
    for citation in CITED.finditer(text):
        for number in dict.fromkeys(re.findall(r"\d+", citation[1])):
            if (work := works.get(number)) is None:
                continue
            start, end = citation.span()
            if url := safe_url(work.url):
                place = {"start_index": start, "end_index": end}
                yield {"type": "url_citation", "url": url, "title": work.title, **place}
            else:
                file = {"file_id": work.evidence_id, "filename": work.title}
                yield {"type": "file_citation", **file, "index": start}


def usage_of(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.tokens,
    }


class Output:
    """The output items of a run, and the protocol's events for each event of the run."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.items: list[Json] = []
        self._lines: list[str] = []
        self._number = -1

    def begin(self, response: Json) -> Iterator[Json]:
        yield self._event("created", response=response)
        yield self._event("in_progress", response=response)
        yield self._add_item(self._reasoning("in_progress"))
        yield self._summary("part.added", part={"type": "summary_text", "text": ""})

    def event(self, event: AgentEvent) -> Iterator[Json]:
        """Yield an event of the run as progress; a gate as a request for approval."""
        if event.type == "streaming":  # paragraphs of drafts, which later ones replace
            return
        line = f"{event.message}\n"
        self._lines.append(line)
        yield self._summary("text.delta", delta=line)
        if event.type == "awaiting_approval":
            gate = str(event.data.get("gate", ""))
            request = {
                "type": "mcp_approval_request",
                "id": f"apr_{event.seq}_{gate}",
                "name": f"approve_{gate}",
                "arguments": json.dumps({"run": self.run_id, "gate": gate}),
                "server_label": LABEL,
            }
            yield self._add_item(request)
            yield self._finish_item(len(self.items) - 1, request)

    def end(self, text: Json | None) -> Iterator[Json]:
        """Yield what comes after the last event: the end of the progress, and the report."""
        summary = "".join(self._lines)
        yield self._summary("text.done", text=summary)
        yield self._summary("part.done", part={"type": "summary_text", "text": summary})
        yield self._finish_item(0, self._reasoning("completed"))
        if text is not None:
            yield from self._message(text)

    def final_event(self, response: Json) -> Json:
        return self._event(LAST_EVENT.get(response["status"], "completed"), response=response)

    def add_all(self, events: Sequence[AgentEvent], text: Json | None, *, is_over: bool) -> None:
        """Take in all events at once, for a response that is not streamed."""
        self.items.append(self._reasoning("in_progress"))
        for event in events:
            for _ in self.event(event):
                pass
        self.items[0] = self._reasoning("completed" if is_over else "in_progress")
        if text is not None:
            self.items.append(self._answer([text], "completed"))

    def _message(self, text: Json) -> Iterator[Json]:
        place = len(self.items)
        position = {"item_id": f"msg_{self.run_id}", "output_index": place, "content_index": 0}
        yield self._add_item(self._answer([], "in_progress"))
        yield self._event("content_part.added", part=output_text(""), **position)
        for start in range(0, len(text["text"]), CHUNK_CHARS):
            delta = text["text"][start : start + CHUNK_CHARS]
            yield self._event("output_text.delta", delta=delta, logprobs=[], **position)
        for index, annotation in enumerate(text["annotations"]):
            yield self._event(
                "output_text.annotation.added", annotation=annotation, annotation_index=index, **position
            )
        yield self._event("output_text.done", text=text["text"], logprobs=[], **position)
        yield self._event("content_part.done", part=text, **position)
        yield self._finish_item(place, self._answer([text], "completed"))

    def _answer(self, content: list[Json], status: str) -> Json:
        name = f"msg_{self.run_id}"
        return {"type": "message", "id": name, "role": "assistant", "status": status, "content": content}

    def _reasoning(self, status: str) -> Json:
        summary = [{"type": "summary_text", "text": "".join(self._lines)}] if self._lines else []
        return {"type": "reasoning", "id": f"rs_{self.run_id}", "summary": summary, "status": status}

    def _summary(self, kind: str, **fields: object) -> Json:
        position = {"item_id": f"rs_{self.run_id}", "output_index": 0, "summary_index": 0}
        return self._event(f"reasoning_summary_{kind}", **position, **fields)

    def _add_item(self, item: Json) -> Json:
        self.items.append(item)
        return self._event("output_item.added", item=item, output_index=len(self.items) - 1)

    def _finish_item(self, place: int, item: Json) -> Json:
        self.items[place] = item
        return self._event("output_item.done", item=item, output_index=place)

    def _event(self, kind: str, **fields: object) -> Json:
        self._number += 1
        return {"type": f"response.{kind}", "sequence_number": self._number, **fields}


async def response_of(run: Run, output: Output | None = None) -> Json:
    """Return a run as a response now; `output`: its items where they are known."""
    row = await run.row()
    is_over = row.status != "running"
    text, status, error = await ending(run, row.status) if is_over else (None, "in_progress", None)
    if output is None:
        output = Output(run.id)
        output.add_all([event async for event in run.events(follow=False)], text, is_over=is_over)
    progress = await run.progress() if is_over else None
    return {
        "id": f"{ID}{run.id}",
        "object": "response",
        "created_at": row.started.timestamp(),
        "completed_at": row.closed.timestamp() if row.closed and status == "completed" else None,
        "model": f"{MODELS}{row.mode}",
        "status": status,
        "error": error,
        "background": True,
        "output": [*output.items],
        "parallel_tool_calls": False,
        "tool_choice": "none",
        "tools": [],
        "usage": usage_of(progress.budget.used) if progress else None,
        **dict.fromkeys(("incomplete_details", "instructions", "metadata", "temperature", "top_p")),
    }


async def ending(run: Run, status: str) -> tuple[Json | None, str, Json | None]:
    """Return the answer of a run that is over, how it ended, and what went wrong."""
    try:
        report = await run.draft()
    except NoReport as error:
        return None, "failed", {"code": "server_error", "message": str(error)}
    text = await asyncio.to_thread(text_of, report)
    if status in FAILED:
        failure = {"code": "server_error", "message": f"the run was {status}; this is what it had"}
        return text, "failed", failure
    if fault := model_fault(report):
        failure = {"code": "server_error", "message": f"the language model could not be used: {fault}"}
        return text, "failed", failure
    return text, "cancelled" if report.stop_reason == "cancelled" else "completed", None


async def stream(run: Run, after: int = -1) -> AsyncGenerator[Json, None]:
    """Yield the stream of a response behind a number, until its run ends."""
    async with aclosing(_stream(run)) as events:
        async for event in events:
            if event["sequence_number"] > after:
                yield event


async def _stream(run: Run) -> AsyncGenerator[Json, None]:
    output = Output(run.id)
    for frame in output.begin(await response_of(run, output)):
        yield frame
    async with aclosing(run.events()) as events:
        async for event in events:
            for frame in output.event(event):
                yield frame
    text, _, _ = await ending(run, (await run.row()).status)
    for frame in output.end(text):
        yield frame
    yield output.final_event(await response_of(run, output))


def pending_approval(events: Iterable[AgentEvent]) -> str | None:
    """Return the id of the request for approval that waits."""
    request_id = None
    for event in events:
        if event.type == "awaiting_approval":
            request_id = f"apr_{event.seq}_{event.data.get('gate', '')}"
        elif event.type in ("approved", "rejected"):
            request_id = None
    return request_id
