"""Values as people write them in a configuration file."""

import difflib
import math
import re
from collections.abc import Collection

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def seconds(value: object) -> float:
    """Seconds from a number, or from a number with `s`, `m`, `h` or `d`. Raises ValueError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", str(value).strip().lower())
    duration = float(match.group(1)) * _UNITS[match.group(2)] if match else 0.0
    if not 0 < duration < math.inf:
        raise ValueError(f"{value!r} is not a duration; write 90s, 30m, 2h or 3d")
    return duration


def closest(name: str, names: Collection[str]) -> str | None:
    return next(iter(difflib.get_close_matches(name, sorted(names), n=1)), None)


def did_you_mean(name: str, names: Collection[str]) -> str:
    """Hint at the nearest of the names that exist; empty where none is near."""
    match = closest(name, names)
    return f"; did you mean {match}?" if match else ""


def nearest(name: str, names: Collection[str]) -> str:
    """Hint at the nearest of the names that exist, or at all of them."""
    return did_you_mean(name, names) or f". There are: {', '.join(sorted(names))}"
