"""The names under which reports are stored. They are in a module of their own, so that looking one up imports
nothing else."""

import hashlib
import re

MAX_NAME_BYTES = 220
"""Of one part of a path; file systems allow 255."""


def report_name(run_id: str, ending: str) -> str:
    """The name a run's report is stored under; the same run overwrites its own."""
    safe = re.sub(r"[^\w-]|(?<=/)\.+", "-", run_id.replace("/", "--")) or "run"
    if len(safe.encode()) > MAX_NAME_BYTES:
        safe = f"{safe[:40]}-{hashlib.sha256(run_id.encode()).hexdigest()[:32]}"
    return f"reports/{safe}/report.{ending}"
