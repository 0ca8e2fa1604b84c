"""A hook: one line of JSON for each search, and no search for words that must not leave the machine.

Name it in `determinator.toml`, with this folder on `PYTHONPATH` or this file in an installed package:

    hooks = ["search_log:SearchLog"]

The lines go to the file that `SEARCH_LOG` names; `SEARCH_LOG_FORBIDDEN` is a comma-separated list of words.
"""

import json
import os
from pathlib import Path

from determinator import Call, CallOutcome, SearchTask, Veto


class SearchLog:
    """Sees each search on the worker, on every attempt."""

    def __init__(self) -> None:
        self._file = Path(os.environ.get("SEARCH_LOG", "searches.jsonl"))
        words = os.environ.get("SEARCH_LOG_FORBIDDEN", "").split(",")
        self._forbidden = [word.strip().casefold() for word in words if word.strip()]

    async def before(self, call: Call) -> None:
        """Raises Veto, which ends the search without a retry."""
        if isinstance(call.step, SearchTask) and call.step.source != "library":
            for word in self._forbidden:
                if word in call.step.query.text.casefold():
                    raise Veto(f"{call.step.source}: {word!r} must not leave this machine")

    async def after(self, call: Call, outcome: CallOutcome) -> None:
        if not isinstance(call.step, SearchTask):
            return
        line = {
            "run": call.run_id,
            "source": call.step.source,
            "query": call.step.query.text,
            "status": outcome.status or "failed",
            "kept": outcome.kept,
            "seconds": round(outcome.seconds, 3),
        }
        with self._file.open("a", encoding="utf-8") as file:  # one short line: writers do not mix theirs
            file.write(json.dumps(line) + "\n")
