"""How a row of a table stands in a text: written by `tables`, read by `activities.text.rows`."""

import re

HEADING_CHARS = 60
"""Longest heading of a column; longer cells are content."""
GROUP_CHARS = 80
"""Longest name of a group of rows."""
LEAST_CHARS = 25
"""Characters a row has at least, so that it can be quoted alone (`verification.quote_check`)."""
SHORT_ROW = "One row of the table: "
"""What a shorter row begins with."""
ROW = re.compile(
    r"One row of (?:the table|(?:Supplementary )?Table [A-Z]?\d{1,2}[A-Za-z]?)(?:, [^:\n]{1,80})?: ",
    re.IGNORECASE,
)
"""What says that a text is a row."""


def complete(row: str) -> str:
    """The row, if it is too short to be quoted alone with what says that it is one."""
    return row if len(row) >= LEAST_CHARS else f"{SHORT_ROW}{row}"


def row_of(table: str, group: str, row: str) -> str:
    """The row of a table of an article, which is given by its number (`Table 2`), or has none. `group`: what
    stands over all columns above the row; empty for nothing."""
    above = f", {group}" if group and len(group) <= GROUP_CHARS and ":" not in group else ""
    return f"One row of {table or 'the table'}{above}: {row.removeprefix(SHORT_ROW)}"
