"""How well each model reads as second reader, as the home has counted it over all runs.

A line for each call, appended whole; a call that is repeated with the same prompt counts once.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from activities.contracts.evidence import Frozen, Vigilance
from activities.logs import log

FILE = Path("state", "second-readers.jsonl")


class Reading(Frozen):
    """One call of a second reader."""

    model: str
    call: str
    """Digest of its prompt."""
    vigilance: Vigilance


def record(home: Path, model: str, prompt: str, vigilance: Vigilance) -> None:
    """Count a call. A home that cannot be written is logged and stops nothing."""
    if not vigilance.planted:
        return
    call = hashlib.sha256(prompt.encode()).hexdigest()[:24]
    line = Reading(model=model, call=call, vigilance=vigilance).model_dump_json()
    path = home / FILE
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, f"{line}\n".encode())
        finally:
            os.close(file)
    except OSError as error:
        log.warning("second_reader_not_counted", error=str(error))


def totals(home: Path) -> Mapping[str, Vigilance]:
    """Model -> how well it read in all calls of this home. Lines that cannot be read are left out."""
    try:
        lines = (home / FILE).read_text("utf-8").splitlines()
    except OSError:
        return {}
    calls: dict[tuple[str, str], Vigilance] = {}
    for line in lines:
        try:
            reading = Reading.model_validate(json.loads(line))
        except (ValueError, ValidationError):
            continue
        calls[reading.model, reading.call] = reading.vigilance
    by_model: dict[str, Vigilance] = {}
    for (model, _), vigilance in calls.items():
        by_model[model] = by_model.get(model, Vigilance()) + vigilance
    return by_model
