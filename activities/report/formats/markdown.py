"""The report as Markdown: what a researcher reads in an editor, and what `ask` saves. Plain: no HTML, no
figures; the numbers of the figures are in its text and tables."""

import re
from collections.abc import Sequence

from activities.report.formats import layout as page
from activities.report.formats.model import ClaimView, ReferenceView
from activities.report.formats.text import cited, escape_markdown
from activities.report.formats.view import view_of
from activities.report.schema import Report

_CITATIONS = re.compile(r"\[\d+(?:, \d+)*\](?: \[PMID: \d+(?:, \d+)*\])?")
_NUMBERED = re.compile(r"(\[\d+\] )(.*)")


def markdown(report: Report) -> bytes:
    """The whole report."""
    blocks = map(_block, page.layout(view_of(report), report.analysis, {}))
    return ("\n\n".join(filter(None, blocks)) + "\n").encode()


def _block(block: page.Block) -> str:
    match block:
        case page.Opening():
            return "\n\n".join(filter(None, map(_block, block.blocks)))
        case page.Heading():
            return f"{'#' * (block.level + 1)} {escape_markdown(block.text)}"
        case page.Text():
            return _text(block)
        case page.Bullets():
            return "\n".join(f"- {_line(item)}" for item in block.items)
        case page.Fields():
            return "\n".join(_field(label, lines) for label, lines in block.fields)
        case page.Table():
            caption = f"\n\n*{escape_markdown(block.caption, inline=True)}*" if block.caption else ""
            return _table(block) + caption
        case page.Figure():
            return escape_markdown(block.words)
        case page.Code():
            return "\n".join(f"    {row}" for row in block.rows)
        case page.References():
            return "\n".join(map(_reference, block.items))


def _text(text: page.Text) -> str:
    line = _line(text.parts)
    match text.kind:
        case "question":
            return f"**Question:** {line}"
        case "subtitle":
            return f"*{line}*"
        case "notice":
            return f"**{line}**"
        case "quote":
            return f"> {_line(text.parts, marks='')}"
        case "plain":
            return line


def _line(parts: page.Parts, marks: str = '"') -> str:
    return " ".join(_part(part, bool(place), marks) for place, part in enumerate(parts))


def _part(part: page.Run | ClaimView, inline: bool, marks: str) -> str:
    """A part of a line; `inline`: it does not begin it. `marks`: the quotation marks of quoted words."""
    if isinstance(part, ClaimView):
        text = cited(escape_markdown(part.text), part.mark)
        return f"{text} *({part.short_basis})*" if part.short_basis else text
    match part.style:
        case "mark":
            return part.text
        case "bold":
            return f"**{escape_markdown(part.text)}**"
        case "italic":
            return f"*{escape_markdown(part.text, inline=True)}*"
        case "said":
            return f"{marks}{escape_markdown(part.text, inline=inline)}{marks}"
        case "source":
            return f"({_link(part.text, part.url)})"
        case "plain":
            return _link(part.text, part.url) if part.url else escape_markdown(part.text, inline=inline)


def _field(label: str, lines: Sequence[page.Parts]) -> str:
    said = [" ".join(_part(part, inline=True, marks='"') for part in line) for line in lines]
    if len(said) == 1:
        return f"- **{label}:** {said[0]}"
    return "\n".join([f"- **{label}:**", *(f"  - {line}" for line in said)])


def _reference(reference: ReferenceView) -> str:
    parts = [
        f"{reference.number}.",
        escape_markdown(reference.authors, inline=True),
        _link(reference.title, reference.url),
        escape_markdown(reference.place, inline=True),
    ]
    links = [_link(link.text, link.url) for link in reference.links]
    if links:
        parts.append(f"{', '.join(links)}.")
    if reference.same_study:
        parts.append(f"Also published as {', '.join(f'[{n}]' for n in reference.same_study)}.")
    return " ".join(filter(None, [*parts, f"*{escape_markdown(reference.notes)}*"]))


def _link(text: str, url: str | None) -> str:
    shown = escape_markdown(text, linked=bool(url), inline=True)
    return f"[{shown}]({url})" if url else shown


def _table(table: page.Table) -> str:
    """A GitHub table."""
    rows = ([_cell(text, cites=place == table.cites) for place, text in enumerate(row)] for row in table.rows)
    lines = [map(escape_markdown, table.head), ["---"] * len(table.head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(text: str, *, cites: bool) -> str:
    """A cell, escaped; one that `cites` but for its citations, or the number that it begins with."""
    if cites and _CITATIONS.fullmatch(text):
        return text
    if cites and (numbered := _NUMBERED.fullmatch(text)):
        return numbered[1] + escape_markdown(numbered[2], inline=True)
    return escape_markdown(text)
