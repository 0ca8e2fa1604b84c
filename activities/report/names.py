"""The names under which reports are stored. They are in a module of their own, so that looking one up imports
nothing else."""

import re


def report_name(run_id: str, ending: str) -> str:
    """The name a run's report is stored under; the same run overwrites its own."""
    safe = re.sub(r"[^\w-]|(?<=/)\.+", "-", run_id.replace("/", "--")) or "run"
    return f"reports/{safe}/report.{ending}"
