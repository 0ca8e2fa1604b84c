"""Starting a review: its protocol and files of records read here, and kept where the workers read."""

import asyncio
from pathlib import Path

from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.exceptions import WorkflowAlreadyStartedError

from activities.contracts.evidence import NO_ABSTRACT, EvidenceRef
from activities.review.archive import Archive
from activities.review.files import read_records_file
from activities.review.protocol import Columns, Protocol, ProtocolError, parse_protocol, read_protocol
from activities.review.records import UnreadableRecords
from activities.review.state import FileOfRecords
from activities.sources.library.records import SetAside
from client.failures import BadInput, NoSuchRun, SeveralRuns
from client.listing import as_row, description, matching
from client.runs.start import launch, readable_id, user_name
from workflows.review.types import WORKFLOW, ReviewRequest

AT_ONCE = 16
"""Records that are stored at the same time."""


def check_text(text: str) -> Protocol:
    """Read a protocol that comes without files. Raises BadInput."""
    try:
        protocol = parse_protocol(text)
    except ProtocolError as error:
        raise BadInput(str(error)) from error
    if protocol.records:
        raise BadInput("files of records are read by `determinator review start` only; leave `records` out")
    return protocol


async def read_all(archive: Archive, source: Path | str) -> tuple[Protocol, str, tuple[FileOfRecords, ...]]:
    """Return a protocol and its files of records, kept in the store. Raises BadInput, StoreError.

    `source`: its file; or its text, which names no files.
    """
    from client.reviews.drafting import unfilled_keys

    if isinstance(source, str):
        protocol = check_text(source)
        return protocol, await archive.put(protocol), ()
    try:
        protocol = read_protocol(source)
        if keys := unfilled_keys(protocol):
            raise BadInput(f"{source.name} has the template's words in {', '.join(keys)}; fill them in")
        files = [await _store(archive, source.parent / name, protocol.columns) for name in protocol.records]
    except (ProtocolError, UnreadableRecords) as error:
        raise BadInput(str(error)) from error
    names = [file.name for file in files]
    if duplicate := next((name for name in names if names.count(name) > 1), None):
        raise BadInput(f"two files of records are called {duplicate}; rename one")
    return protocol, await archive.put(protocol), tuple(files)


async def _store(archive: Archive, path: Path, columns: Columns) -> FileOfRecords:
    rows = await asyncio.to_thread(lambda: list(read_records_file(path, columns)))
    records = [row for row in rows if not isinstance(row, SetAside)]
    if not records:
        why = next((f": {row.reason}" for row in rows if isinstance(row, SetAside)), "")
        raise BadInput(f"{path.name} has no record that can be read{why}")
    refs: list[EvidenceRef] = []
    for start in range(0, len(records), AT_ONCE):
        refs += await asyncio.gather(*map(archive.store.put, records[start : start + AT_ONCE]))
    blob = await archive.put_lines(refs)
    counts = {"records": len(refs), "set_aside": len(rows) - len(refs)}
    titles_only = sum(NO_ABSTRACT in record.facts for record in records)
    return FileOfRecords(name=path.name, blob=blob, titles_only=titles_only, **counts)


async def start_review(client: Client, request: ReviewRequest, task_queue: str, user: str = "") -> str:
    """Start a review, or join the one of the same protocol and records that is under way; return its id.

    Its id has no words of the protocol where payloads are encrypted, since ids are not. Raises RPCError.
    """
    title, by, number = request.protocol.title, user or user_name(), 1
    content = "".join((request.protocol.model_dump_json(), *(file.blob for file in request.files)))
    id_text = title if client.data_converter.payload_codec is None else "protocol"
    while True:
        run_id = readable_id("review", id_text, content, number)
        earlier = await description(client, run_id)
        if earlier is None:
            try:
                await launch(client, WORKFLOW, request, run_id, task_queue, title, "review", by)
            except WorkflowAlreadyStartedError:  # by another command, a moment ago
                continue
            return run_id
        is_running = earlier.status == WorkflowExecutionStatus.RUNNING
        if is_running and (not user or (await as_row(earlier)).user == user):
            return run_id
        number += 1


async def review_ids(client: Client) -> list[str]:
    query = f"WorkflowType = '{WORKFLOW}' AND ExecutionStatus != 'ContinuedAsNew'"
    rows = [workflow async for workflow in client.list_workflows(query, page_size=200)]
    rows.sort(key=lambda row: row.start_time, reverse=True)
    return list(dict.fromkeys(row.id for row in rows))


def no_such_review(name: str) -> NoSuchRun:
    """Return the error for a name that no review has; `last` is that of the newest."""
    if name == "last":
        return NoSuchRun("there are no reviews yet; `determinator review start PROTOCOL` starts one")
    return NoSuchRun(f"no review is called {name[:100]}; `determinator review list` lists them")


async def find_review(client: Client, name: str) -> str:
    """Return the id for a full id, any unambiguous part of one, or `last`. Raises NoSuchRun."""
    if name.startswith("review-") and await description(client, name) is not None:
        return name
    ids = await review_ids(client)
    matches = ids[:1] if name == "last" else matching(ids, name)
    if not matches:
        raise no_such_review(name)
    if len(matches) > 1:
        raise SeveralRuns(name, matches)
    return matches[0]
