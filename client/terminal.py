"""Text on a terminal: lines broken between words, links, and untrusted text without control characters.

Control characters move the cursor, change the title or the clipboard and hide what was printed before; marks
of direction (Unicode TR 36, 3.1) make a line appear in another order. Files and pipes get every character.
"""

import io
import os
import sys
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

ACTING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")
"""Bidirectional controls (UAX 9) and separators. Joiners and the like are left: scripts need them."""
TEMPORALS_VIEW = "Temporal's view: "
"""Before the address of a run in Temporal's Web UI."""
WIDE = 240
"""Columns of a table that goes into a pipe or a file."""


def harmless(text: str) -> str:
    """Return the text without control and direction characters; lines and tabs stay."""
    acts = ("Cc", "Cs")
    return "".join(c for c in text if c in "\n\t" or not (c in ACTING or unicodedata.category(c) in acts))


def printable(text: str) -> str:
    """`harmless` when stdout is a terminal, else the text as it is."""
    return harmless(text) if sys.stdout.isatty() else text


def plain(text: str) -> str:
    """Text on one line that cannot move the cursor, change colours or hide what follows."""
    return "".join(c for c in " ".join(text.split()) if c.isprintable())


def open_streams() -> None:
    """Open the null device for each missing stream, and replace letters that stdout cannot show."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - until the end
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.encoding.lower().startswith("utf"):
        sys.stdout.reconfigure(errors="replace")


def interactive() -> bool:
    """Tell whether there is a person to ask: one who can type and sees what is asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def print_error(message: str) -> None:
    """Print the line that a command fails with on stderr, red on a terminal."""
    import click

    from activities.credentials import redacted

    line = folded(f"Error: {' '.join(harmless(redacted(message)).split())}", sys.stderr)
    click.secho(line, err=True, fg="red" if "NO_COLOR" not in os.environ else None)


def columns(stream: TextIO) -> int | None:
    """Width of the terminal that a stream is; None for a file or a pipe."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None
    except (OSError, ValueError):
        return None


def folded(text: str, stream: TextIO) -> str:
    """Return text with its lines broken between words where the stream is a terminal.

    What follows a break is indented. A word that is longer than a line stays whole, so that it can be
    copied.
    """
    width = columns(stream)
    if width is None:
        return text
    return "\n".join(_break(line, width) for line in text.split("\n"))


def _break(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(
        line,
        width,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        drop_whitespace=True,
    )


def to_stdout(width: int = WIDE) -> "Console":
    """Return a console for tables: as wide as the terminal, else of this width.

    By default that is wide enough for whole lines.
    """
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=width)


def plain_table(*columns: str, right: Sequence[str] = ()) -> "Table":
    """Return a table without lines, with these columns; those of `right` are aligned there."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left")
    return table
