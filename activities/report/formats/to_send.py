"""The texts of a report that leave it, as plain text: a letter, minutes, a protocol."""

from collections.abc import Iterator

from activities.messages import in_its_language
from activities.report.formats import blocks as page
from activities.report.formats.page import document
from activities.report.formats.text import numbered
from activities.report.schema import Report


@in_its_language
def texts_to_send(report: Report) -> tuple[str, ...]:
    """Write each text as its user sends it: paragraphs, lists, and the fields of a table between tabs."""
    groups = (block for chapter in document(report, drawn=False).chapters for block in chapter.blocks)
    return tuple(
        "\n\n".join("\n".join(_lines(block)) for block in group.blocks) + "\n"
        for group in groups
        if isinstance(group, page.Group) and group.kind == "letter"
    )


def _lines(block: page.Block) -> Iterator[str]:
    match block:
        case page.Text():
            yield _line(block.parts)
        case page.Bullets():
            numbers = block.numbers or [0] * len(block.items)
            yield from (f"{numbered(n)} {_line(item)}" for n, item in zip(numbers, block.items, strict=True))
        case page.Table():
            rows = ([cell.text for cell in row] for row in block.rows)
            yield from map("\t".join, (block.head, *rows))


def _line(parts: page.Parts) -> str:
    return "".join(f"{page.space_before(part)}{part.text}" for part in parts).removeprefix(" ")
