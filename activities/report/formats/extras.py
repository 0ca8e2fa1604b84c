"""Formats whose library is an extra of the package."""

from activities.errors import DeterminatorError


class MissingExtra(DeterminatorError):
    """The library behind a format is not installed."""

    def __init__(self, extra: str) -> None:
        super().__init__(
            f"this format needs an extra: pip install 'determinator[{extra}]'; "
            "md, html, json and csl need nothing"
        )
