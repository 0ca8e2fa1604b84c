"""Serving the lanes of a home: see `activities.lanes`."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError
from temporalio.worker import Worker

from activities.lanes import Lane
from activities.logs import log

LOOK_SECONDS = 0.5
"""How often it is looked for new lanes, which reads the names in one folder."""
USED_SECONDS = 30 * 86_400.0
"""Lanes that no command has used for so long are not served until one does."""
MAX_LANES = 20
"""Lanes that are served, those used last."""

Build = Callable[[str, bool], Worker]
"""Makes the worker of a queue, with or without activities."""


async def serve_lanes(folder: Path, own: Lane, queue: str, build: Build) -> None:
    """Serve the lanes of a home as they appear.

    Decide what comes next in all of them, and execute the steps of those whose settings are the worker's.
    Raises what ended one of its workers.
    """
    served: dict[str, tuple[Worker, asyncio.Task[None]]] = {}
    try:
        while True:
            for lane in lanes_in(folder):
                if lane.id not in served and len(served) < MAX_LANES:
                    worker = build(lane.queue(queue), not own.lacks(lane))
                    served[lane.id] = worker, asyncio.create_task(worker.run())
                    log.info("lane_served", lane=lane.id, lacks=own.lacks(lane))
            for _, task in served.values():
                if task.done():
                    task.result()
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        await asyncio.gather(*(worker.shutdown() for worker, task in served.values() if not task.done()))
        await asyncio.gather(*(task for _, task in served.values()), return_exceptions=True)


def lanes_in(folder: Path) -> list[Lane]:
    """Return the lanes that were used lately, the latest first."""
    used = {file: file.stat().st_mtime for file in folder.glob("*.json")}
    since = time.time() - USED_SECONDS
    lanes = []
    for file in sorted((file for file, at in used.items() if at > since), key=lambda file: -used[file]):
        try:
            lanes.append(Lane.model_validate_json(file.read_bytes()))
        except (OSError, ValidationError) as error:
            log.warning("lane_not_read", file=file.name, error=str(error))
    return lanes
