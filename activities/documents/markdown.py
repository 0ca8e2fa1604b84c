"""Markdown as it stands, and notebooks, whose text, code and output become Markdown."""

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from activities.documents.encodings import decode
from activities.documents.text import TITLE_CHARS, Text, Unreadable, not_empty, tidied

if TYPE_CHECKING:
    from markdown_it.token import Token


_Lines = str | list[str]


class _Output(BaseModel):
    text: _Lines = ""
    data: dict[str, JsonValue] = {}


class _Cell(BaseModel):
    source: _Lines = ""
    outputs: list[_Output] = []


class _Notebook(BaseModel):
    cells: list[_Cell]


def _shown(cell: _Cell) -> str:
    plain = TypeAdapter(_Lines)
    parts = [cell.source]
    for output in cell.outputs:
        parts += [output.text, plain.validate_python(output.data.get("text/plain", ""))]
    return "\n\n".join(filter(None, ("".join(part).strip() for part in parts)))


def read_markdown(data: bytes) -> Text:
    """A Markdown file as it stands, so that a quote of it is what the file says. The title is that of the
    front matter, else the first heading."""
    meta, source = _front_matter(decode(data))
    from markdown_it import MarkdownIt

    title = meta.get("title", "")
    if not title:
        tokens = MarkdownIt("commonmark").parse(source)
        after = (other for token, other in pairwise(tokens) if token.type == "heading_open")
        title = next(map(_inline, after), "")
    authors = tuple(a.strip() for a in re.split(r"[;,]", meta.get("authors", meta.get("author", ""))))
    text, cut = tidied(source)
    return Text(not_empty(text), title[:TITLE_CHARS], tuple(a for a in authors if a), meta, cut)


def read_notebook(data: bytes) -> Text:
    """A Jupyter notebook (nbformat 4): its text, its code and what the code printed, in order."""
    try:
        cells = _Notebook.model_validate_json(decode(data)).cells
        shown = [*filter(None, map(_shown, cells))]
    except ValidationError as error:
        raise Unreadable("it is no notebook of the format 4") from error
    return read_markdown("\n\n".join(shown).encode())


def _inline(token: "Token") -> str:
    breaks = {"softbreak": " ", "hardbreak": "\n"}
    shown = ("text", "code_inline", "image")
    children = token.children or ()
    return "".join(one.content if one.type in shown else breaks.get(one.type, "") for one in children).strip()


def _front_matter(source: str) -> tuple[dict[str, str], str]:
    """Simple `key: value` lines between two `---` lines at the top."""
    match = re.match(r"---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)", source, re.DOTALL)
    if not match:
        return {}, source
    meta = {}
    for line in match.group(1).splitlines():
        key, colon, value = line.partition(":")
        if colon and re.fullmatch(r"\w[\w-]*", key):
            meta[key.lower()] = value.strip().strip("[]").strip("\"'")
    return meta, source[match.end() :]
