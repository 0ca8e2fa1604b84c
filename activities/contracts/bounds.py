"""Bounds of numbers and texts of strangers: model servers, MCP servers, APIs, documents and files; payloads.

A number outside its bounds is none: its reader goes on as if nothing had been said. The types bound the same
in contracts, so that what one door lets through ends at the next; a workflow meets no number that a search
attribute, a timer or a float cannot hold.
"""

import re
from collections.abc import Iterable
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, Field

T = TypeVar("T", bound=BaseModel | str)

MAX_CALL_TOKENS = 10**8
"""Tokens of one call of a model; the largest context window in use has ten million."""
MAX_RUN_TOKENS = 10**15
"""Tokens, calls and millionths of a dollar of all calls of a run."""
MAX_SECONDS = 10 * 365 * 86_400.0
"""Seconds of anything that is waited for; a timer of more does not exist."""
MAX_SLOTS = 256
"""Calls that a server says it serves at once."""
MAX_PARAMETERS = 10**14
"""Parameters of a model."""
MAX_COUNT = 10**10
"""Records that match, participants, events: more than there are people."""
YEARS = (1000, 2999)
INT64 = 2**63 - 1
"""The largest number that a search attribute holds."""
_DIGITS = re.compile(r"[0-9]{1,18}")


def integer(value: object, most: int, least: int = 0) -> int | None:
    """Return an integer within bounds; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if least <= value <= most else None


def real_number(value: object, most: float, least: float = 0.0) -> float | None:
    """Return a number within bounds; None for anything else, such as infinity and what is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if least <= value <= most else None


def digits(text: str, most: int = MAX_COUNT) -> int | None:
    """Return the integer that a text of ASCII digits is, within bounds; None for any other text."""
    return integer(int(text), most) if _DIGITS.fullmatch(text) else None


def _within(value: object) -> object:
    return max(min(value, MAX_COUNT), 0) if isinstance(value, int) else value


def _year(value: object) -> object:
    return integer(value, YEARS[1], YEARS[0]) if isinstance(value, int) else value


def _people(value: object) -> object:
    return integer(value, MAX_COUNT, 1) if isinstance(value, int) else value


def _storable(value: object) -> object:
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


Storable = Annotated[str, BeforeValidator(_storable)]
"""A text without lone surrogates, which are no part of UTF-8: it is printed, stored and sent."""
Tokens = Annotated[int, Field(ge=0, le=MAX_RUN_TOKENS)]
Money = Annotated[int, Field(ge=0, le=MAX_RUN_TOKENS)]
"""Millionths of a US dollar."""
Matches = Annotated[int, BeforeValidator(_within)]
"""How many records a source says match: at most `MAX_COUNT`, whatever it says."""
Year = Annotated[int | None, BeforeValidator(_year)]
Participants = Annotated[int | None, BeforeValidator(_people)]


def size(value: BaseModel | str) -> int:
    """Return the bytes of a value as it is sent."""
    return len((value if isinstance(value, str) else value.model_dump_json()).encode())


def within(items: Iterable[T], room: int) -> tuple[T, ...]:
    """Return the longest prefix of the items that fits into `room` bytes."""
    prefix: list[T] = []
    for item in items:
        room -= size(item) + 1
        if room < 0:
            break
        prefix.append(item)
    return tuple(prefix)
