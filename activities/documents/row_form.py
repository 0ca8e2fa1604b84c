"""How a row of a table stands in a text: written by `tables`, read by `activities.text.rows`."""

HEADING_CHARS = 60
"""Longest heading of a column; longer cells are content."""
LEAST_CHARS = 25
"""Characters a row has at least, so that it can be quoted alone (`verification.quote_check`)."""
SHORT_ROW = "One row of the table: "
"""What a shorter row begins with."""


def complete(row: str) -> str:
    """The row, if it is too short to be quoted alone with what says that it is one."""
    return row if len(row) >= LEAST_CHARS else f"{SHORT_ROW}{row}"
