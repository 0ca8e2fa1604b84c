"""Word lists, one a file: words separated by white space; lines that begin with # are comments."""

from functools import cache
from importlib.resources import files


@cache
def vocabulary(name: str) -> frozenset[str]:
    """The words of `<name>.txt`, as they stand there."""
    text = (files(__name__) / f"{name}.txt").read_text("utf-8")
    return frozenset(w for line in text.splitlines() if not line.startswith("#") for w in line.split())


@cache
def irregular() -> dict[str, str]:
    """Irregular form -> its word, of `irregular.txt`: `came`, `come`."""
    text = (files(__name__) / "irregular.txt").read_text("utf-8")
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return dict(row for row in rows)
