"""Leaving the folder of a run when it ends (`activities.report.run_folder`).

What was found and what each iteration thought are asked of the run itself, which waits for its last step:
they would not fit through that step's input. Nothing that fails here harms the run.
"""

import asyncio
from pathlib import Path

from temporalio import activity

from activities.contracts.evidence import Evidence
from activities.evidence_store import EvidenceStore
from activities.logs import log
from activities.private_files import file_name
from activities.report.schema import Report
from client.runs.query import evidence_index, iterations

SECONDS = 20.0
"""For all of it."""


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
        refs = await evidence_index(client, report.run_id)
        records = await iterations(client, report.run_id)
        works = [one for one in await self._store.read_all(refs) if isinstance(one, Evidence)]
        files = await asyncio.to_thread(run_files, report, self._form, works, records)
        await asyncio.to_thread(write_files, self._folder / file_name(report.run_id), files)
