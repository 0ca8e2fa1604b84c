"""The report as plain Markdown without figures, whose numbers are in its tables.

The HTML in it folds what stands behind the text, where a viewer can, and is a comment that says what made it.
"""

from collections.abc import Iterable, Iterator

from activities.messages import in_its_language
from activities.report.formats import blocks as page
from activities.report.formats.page import document
from activities.report.formats.text import (
    INDENT,
    LINE,
    escape_markdown,
    in_quotes,
    marker,
    pipe_table,
    sent_url,
    stressed_markdown,
    with_citation,
)
from activities.report.schema import Report

RULE = "---"
"""Stands above and below a text that leaves the report, which can be copied between the two."""
NEW_LINE = "\n"


def markdown(report: Report) -> bytes:
    return write(document(report, with_pictures=False))


@in_its_language
def write(tree: page.Document) -> bytes:
    parts = [f"# {escape_markdown(tree.title)}", *map(as_markdown, tree.head)]
    for chapter in page.on_paper(tree):
        parts += _chapter(chapter)
    parts += [_comment(tree.about.get("made", ""))]
    return ("\n\n".join(filter(None, parts)) + "\n").encode()


def _chapter(chapter: page.Chapter) -> Iterator[str]:
    """Write a chapter; one that is closed at first opens at its title."""
    title, blocks = escape_markdown(chapter.title, inline=True), map(as_markdown, chapter.blocks)
    if chapter.kind == "folded":
        yield from (f"<details>\n<summary>{title}</summary>", *blocks, "</details>")
    else:
        yield from (f"## {title}", *blocks)


def _comment(text: str) -> str:
    """Write what a reader of the page does not see; nothing in it may end the comment."""
    return f"<!-- {text.replace('--', '-').replace('>', '')} -->" if text else ""


def as_markdown(block: page.Block) -> str:
    match block:
        case page.Heading():
            return f"### {escape_markdown(block.text)}"
        case page.Text():
            return _text(block)
        case page.Bullets():
            return "\n".join(_items(block))
        case page.Fields():
            return "\n".join(_field(label, lines) for label, lines in block.fields)
        case page.Table():
            caption = f"\n\n*{_plain(block.caption)}*" if block.caption else ""
            return _table(block) + caption
        case page.Figure():
            return as_markdown(block.table) if block.table else escape_markdown(block.words)
        case page.Code():
            return "\n".join(f"    {row}" for row in block.rows)
        case page.References():
            return "\n".join(map(_reference, block.items))
        case page.Group():
            texts = map(as_markdown, block.blocks)
            return "\n\n".join((RULE, *texts, RULE) if block.kind == "letter" else texts)


def _items(block: page.Bullets, indent: str = "") -> Iterator[str]:
    for number, item, below in block.rows:
        line = _line(item).replace(NEW_LINE, f"{NEW_LINE}{indent}{INDENT}")
        yield f"{indent}{marker(number)} {line}"
        yield from _items(below, indent + INDENT) if below else ()


def _text(text: page.Text) -> str:
    line = _line(text.parts, with_marks=text.kind != "quote")
    match text.kind:
        case "notice":
            return f"**{line}**"
        case "question" | "note":
            return f"*{line}*"
        case "quote":
            return f"> {line}"
        case _:
            return line


def _line(parts: page.Parts, *, with_marks: bool = True) -> str:
    texts: list[str] = []
    for place, part in enumerate(parts):
        space = page.space_before(part) if place else ""
        if place and texts[-1].endswith("**"):  # whose last sign closes nothing before a letter
            space = space or " "
        text = _part(part, inline=space != NEW_LINE and bool(place), with_marks=with_marks)
        texts.append(f"{LINE if space == NEW_LINE else space}{text}")
    return "".join(texts).replace("** **", " ")  # bold print goes on; a star of a text is escaped


def _part(part: page.Part, *, inline: bool, with_marks: bool) -> str:
    """Write a part of a line.

    `inline`: it does not begin it. `with_marks`: quoted words have quotation marks.
    """
    if isinstance(part, page.Cite):
        return part.text
    if isinstance(part, page.Sentence):
        text = stressed_markdown(part.text, part.emphasis, inline=inline or part.strong)
        sign = part.cite.text
        text = " ".join(filter(None, (text, sign))) if part.goes_on else with_citation(text, sign)
        return f"**{text}**" if part.strong else text
    label = escape_markdown(part.text, inline=inline)
    match part.style:
        case "bold" | "alert":
            return f"**{_plain(part.text)}**"
        case "badge":
            return f"*{_plain(part.text)}*"
        case "grade":
            return f"*({_plain(part.text)})*"
        case "said":
            return in_quotes(label) if with_marks else label
        case "around":
            return f"({label})"
        case "source":
            return f"({_link(part.text, part.url)})"
        case _:
            return _link(part.text, part.url) if sent_url(part.url) else label


def _field(label: str, lines: Iterable[page.Parts]) -> str:
    texts = [" ".join(_part(part, inline=True, with_marks=True) for part in line) for line in lines]
    label = _plain(label)
    if len(texts) == 1:
        return f"- **{label}:** {texts[0]}"
    return "\n".join([f"- **{label}:**", *(f"  - {line}" for line in texts)])


def _reference(reference: page.Reference) -> str:
    return f"{reference.number}. {_line(reference.parts)}"


def _plain(text: str) -> str:
    return escape_markdown(text, inline=True)


def _link(text: str, url: str | None) -> str:
    url = sent_url(url)
    label = escape_markdown(text, linked=bool(url), inline=True)
    return f"[{label}]({url})" if url else label


def _table(table: page.Table) -> str:
    numbers = [place for place, kind in enumerate(table.columns) if kind == "number"]
    return pipe_table(table.head, ([_cell(cell) for cell in row] for row in table.rows), numbers)


def _cell(cell: page.Cell) -> str:
    return " ".join(map(_in_cell, cell.parts))


def _in_cell(part: page.Part) -> str:
    if isinstance(part, page.Cite):
        return part.text
    if isinstance(part, page.Run):
        text = _plain(part.text)
        return f"**{text}**" if part.style == "bold" and text else text
    text = stressed_markdown(part.text, part.emphasis, inline=True)
    text = f"**{text}**" if part.strong and text else text
    return f"{text} {part.cite.text}".strip()
