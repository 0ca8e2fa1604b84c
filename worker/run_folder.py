"""Leaving the folder of a run when it ends (`activities.report.run_folder`).

What was found and what each iteration thought are asked of the run itself, which waits for its last step:
they would not fit through that step's input. Nothing that fails here harms the run.
"""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from temporalio import activity
from temporalio.client import Client

from activities.contracts.evidence import Evidence
from activities.evidence_store import EvidenceStore
from activities.logs import log
from activities.private_files import file_name
from activities.report.schema import Report
from workflows.types import EvidenceIndex, ItemsAfter, IterationHistory

SECONDS = 20.0
"""For all of it."""
QUERY = timedelta(seconds=5)


class RunFolders:
    def __init__(self, folder: Path, form: str, store: EvidenceStore) -> None:
        self._folder = folder
        self._form = form
        self._store = store

    async def leave(self, report: Report) -> None:
        """Write the folder of a run that has published its report. A failure is logged."""
        try:
            async with asyncio.timeout(SECONDS):
                await self._write(report)
        except Exception as error:  # noqa: BLE001 - a folder for people: the report is in the store
            log.warning(
                "run_folder_not_written", run_id=report.run_id, error=f"{type(error).__name__}: {error}"
            )

    async def _write(self, report: Report) -> None:
        from activities.report.run_folder import run_files, write_files

        client = activity.client()
        pages = await _pages(client, report.run_id, "evidence_index", EvidenceIndex)
        rounds = await _pages(client, report.run_id, "iterations", IterationHistory)
        refs = [ref for page in pages for ref in page.items]
        records = [record for page in rounds for record in page.items]
        works = [one for one in await self._store.read_all(refs) if isinstance(one, Evidence)]
        files = await asyncio.to_thread(run_files, report, self._form, works, records)
        await asyncio.to_thread(write_files, self._folder / file_name(report.run_id), files)


Page = TypeVar("Page", EvidenceIndex, IterationHistory)


async def _pages(client: Client, run_id: str, query: str, kind: type[Page]) -> list[Page]:
    """Return the whole answer to a query that answers in pages."""
    pages, count = list[Page](), 0
    while True:
        page = await client.get_workflow_handle(run_id).query(
            query, ItemsAfter(after=count), result_type=kind, rpc_timeout=QUERY
        )
        pages.append(page)
        count += len(page.items)
        if not page.items or count >= page.total:
            return pages
