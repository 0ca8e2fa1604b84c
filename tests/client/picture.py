"""A picture of `determinator ask` in a terminal, for the documents:

DETERMINATOR_HOME=$(mktemp -d) python -m tests.client.picture docs/images/cli.svg QUESTION [FLAG ...]
"""

import io
import sys
from pathlib import Path

from rich.console import Console
from rich.style import Style
from rich.text import Text

from tests.client.terminal import Terminal

COLUMNS = 100


def drawn(terminal: Terminal) -> Text:
    """What the screen shows at the end, with colours and weights."""
    picture = Text()
    top = list(terminal.screen.history.top)
    shown = [terminal.screen.buffer[row] for row in range(terminal.screen.lines)]
    for line in (*top, *shown):
        row = Text()
        for column in range(COLUMNS):
            cell = line[column]
            colour = None if cell.fg == "default" else f"#{cell.fg}" if len(cell.fg) == 6 else cell.fg
            row.append(cell.data, Style(bold=cell.bold, color=NAMES.get(colour or "", colour)))
        row.rstrip()
        if row.plain or (picture.plain and not picture.plain.endswith("\n\n")):
            picture.append_text(row).append("\n")
    picture.rstrip()
    return picture


NAMES = {"brown": "yellow", "brightblack": "bright_black", "brightcyan": "bright_cyan"}
"""Names of colours that pyte and rich do not share."""


def main(path: Path, *arguments: str) -> None:
    terminal = Terminal("ask", *arguments, columns=COLUMNS)
    terminal.end()
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    asked = " ".join(f'"{word}"' if " " in word else word for word in arguments)
    console.print(Text(f"$ determinator ask {asked}", Style(bold=True)))
    console.print(drawn(terminal))
    path.write_text(console.export_svg(title="determinator"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
