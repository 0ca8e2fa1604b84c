"""Reports the paragraphs of a draft to its run while the model still writes it.

Each report is a signal, that is, an event of the run's history: at most `MAX_REPORTS` are sent an attempt,
after one paragraph, then after twice as many each time, and none of a draft that is written in less than
`PAUSE_SECONDS`. A report holds all paragraphs that are whole so far, so that one that is lost or sent twice
changes nothing; what the activity returns is the draft, whatever was reported before.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from temporalio import activity
from temporalio.service import RPCError

from activities.contracts.evidence import Frozen
from activities.logs import log
from activities.models.progress import Progress

SIGNAL = "draft_progress"
MAX_REPORTS = 3
PAUSE_SECONDS = 2.0
"""Time before the first report and between two."""
REPORT_SECONDS = 5.0
"""Time-out of one signal."""
PARAGRAPH_CHARS = 3_000
"""Characters of one paragraph; the rest is cut. A claim has at most 600 characters."""


class DraftProgress(Frozen):
    """Signal `draft_progress`: the paragraphs of a draft that are whole so far, from the first on."""

    section_id: str
    attempt: int = 1
    """The attempt of the activity; a report of an earlier attempt than the last one seen is out of date."""
    paragraphs: tuple[str, ...] = ()


@asynccontextmanager
async def reporting_draft(section_id: str, run_id: str, shown: Progress) -> AsyncIterator[None]:
    """Report the draft that `shown` follows to the run `run_id` while the body runs."""
    task = asyncio.create_task(_report(section_id, run_id, shown))
    try:
        yield
    finally:
        task.cancel()
        (ended,) = await asyncio.gather(task, return_exceptions=True)
        if isinstance(ended, Exception):  # what was paid for must not be lost for a report
            log.warning("draft_not_reported", run_id=run_id, section=section_id, error=repr(ended))


async def _report(section_id: str, run_id: str, shown: Progress) -> None:
    """Report a paragraph; one that fails is left out, since the draft itself holds every paragraph."""
    wanted = 1
    for _ in range(MAX_REPORTS):
        paragraphs: tuple[str, ...] = ()
        while len(paragraphs) < wanted:
            await asyncio.sleep(PAUSE_SECONDS)
            # in a thread: checking what was written must not block the heartbeats
            paragraphs = await asyncio.to_thread(shown.paragraphs, wanted)
        wanted = 2 * len(paragraphs)
        report = DraftProgress(
            section_id=section_id,
            attempt=shown.attempt,
            paragraphs=tuple(text[:PARAGRAPH_CHARS] for text in paragraphs),
        )
        try:
            await (
                activity.client()
                .get_workflow_handle(run_id)
                .signal(SIGNAL, report, rpc_timeout=timedelta(seconds=REPORT_SECONDS))
            )
        except RPCError as error:
            log.info("draft_not_reported", run_id=run_id, section=section_id, error=error.message)
