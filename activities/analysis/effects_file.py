"""Effects from a CSV file of the user's: one line a study."""

import csv
import io
import math
from pathlib import Path

from pydantic import ValidationError

from activities.configuration.wording import faults_of
from activities.contracts.effects import Arms, Effect
from activities.contracts.errors import Refused

MAX_FILE_BYTES = 5 * 1024 * 1024
REQUIRED = ("study", "outcome", "measure")
NUMBERS = ("estimate", "low", "high", "level")
COUNTS = ("n", "events", "total", "control_events", "control_total")
COLUMNS = (*REQUIRED, *NUMBERS, *COUNTS, "evidence_id", "quote")


def read_effects(path: Path) -> tuple[Effect, ...]:
    """Return the effects of a file.

    Raises Refused with the line and what is wrong in it."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise Refused(f"{path} is larger than {MAX_FILE_BYTES >> 20} MiB")
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise Refused(f"{path} is not UTF-8 text; save it as CSV UTF-8") from error
    return parse_effects(text, str(path))


def parse_effects(text: str, name: str) -> tuple[Effect, ...]:
    """Return the effects of a file's text.

    Raises Refused with the line and what is wrong in it."""
    rows = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    header = [column.strip().casefold() for column in rows.fieldnames or ()]
    if missing := [column for column in REQUIRED if column not in header]:
        hint = "; part them by commas" if len(header) == 1 else ""
        raise Refused(
            f"{name} has no column {', '.join(missing)}; the columns are {', '.join(COLUMNS)}{hint}"
        )
    if unknown := [column for column in header if column and column not in COLUMNS]:
        raise Refused(f"{name} has an unknown column {unknown[0]!r}; the columns are {', '.join(COLUMNS)}")
    rows.fieldnames = header
    effects = []
    for row in rows:
        location = f"{name}, line {rows.line_num}"
        values = {column: (row.get(column) or "").strip() for column in COLUMNS}
        if not any(values.values()):
            continue
        if any(value.strip() for value in row.get(None) or ()):  # a decimal comma moves the numbers behind it
            raise Refused(f"{location}: it has more values than columns; write 0.8, not 0,8")
        try:
            effects.append(_effect(values))
        except ValidationError as error:
            raise Refused(f"{location}: {faults_of(error, 'the line')}") from error
        except ValueError as error:
            raise Refused(f"{location}: {error}") from error
    if not effects:
        raise Refused(f"{name} has no effects")
    return tuple(effects)


def _effect(values: dict[str, str]) -> Effect:
    if empty_columns := [column for column in REQUIRED if not values[column]]:
        raise ValueError(f"{empty_columns[0]} is empty")
    counts = {column: values[column] for column in COUNTS if column != "n" and values[column]}
    if counts and len(counts) < len(COUNTS) - 1:
        raise ValueError("events, total, control_events and control_total belong together")
    fields = {column: value for column, value in values.items() if value and column not in counts}
    arms = Arms.model_validate(counts) if counts else None
    effect = Effect.model_validate({**fields, "measure": values["measure"].upper(), "arms": arms})
    if not_finite := [column for column in NUMBERS if not math.isfinite(getattr(effect, column) or 0)]:
        raise ValueError(f"{not_finite[0]} is no number: {values[not_finite[0]]!r}")
    return effect
