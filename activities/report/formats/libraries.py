"""What formats need beside the report: templates, and libraries that are extras of the package."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from activities.errors import DeterminatorError

FOLDER = Path(__file__).parent


class MissingExtra(DeterminatorError):
    """The library behind a format is not installed."""

    def __init__(self, extra: str) -> None:
        super().__init__(
            f"this format needs an extra: pip install 'determinator[{extra}]'; "
            "md, html, json, csl and csv need nothing"
        )


@cache
def templates() -> Environment:
    """The templates beside this file. Autoescaped: whatever text a report holds, it cannot become markup."""
    return Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
