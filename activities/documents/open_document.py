"""Text documents of LibreOffice Writer (.odt) and rich text (.rtf)."""

import io
import re
import zipfile
from collections.abc import Mapping

from lxml import etree

from activities.documents import tables
from activities.documents.blocks import blocks_of, local_name, script, text_of
from activities.documents.encodings import decode
from activities.documents.office import XML
from activities.documents.text import Text, behind_extra, new_text

_HIDDEN = (
    "tracked-changes",
    "annotation",
    "note",
    "sequence-decls",
    "covered-table-cell",
    "title",
    "desc",
)
_TAGS = {
    "h": "h1",
    "p": "p",
    "list-item": "li",
    "line-break": "br",
    "text-box": "div",
    "note-body": "div",
    "table": "table",
    "table-row": "tr",
    "table-cell": "td",
}
_UNSEEN = "template"
_SPANS = {"number-columns-spanned": "colspan", "number-rows-spanned": "rowspan"}
_RTF_TOKEN = re.compile(r"\\([a-z]+)(-?\d+)? ?|\\'[0-9a-f]{2}|\\.|[{}]|[^\\{}]+", re.DOTALL)
_RTF_PLACES = {"super": "sup", "up": "sup", "sub": "sub", "dn": "sub", "nosupersub": "", "plain": ""}
_RTF_HIDING = ("deleted", "v", "annotation")
_RTF_ABOUT = re.compile(r"\{\\(title|author) ([^{}]*)\}")


def read_odt(data: bytes) -> Text:
    """Read a text document (OpenDocument) as Writer shows its final text, its notes behind it."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        content = etree.fromstring(archive.read("content.xml"), XML)
        root = (
            etree.fromstring(archive.read("meta.xml"), XML) if "meta.xml" in archive.namelist() else content
        )
        for element in content.iter("{*}object"):
            part = f"{_attributes(element).get('href', '').removeprefix('./')}/content.xml"
            formula = etree.fromstring(archive.read(part), XML) if part in archive.namelist() else None
            if formula is not None and local_name(formula.tag) == "math":
                element.text = f" {text_of(formula)} "
    styles = {"Title": "h1"}
    """Names of styles -> the elements of HTML that their words would stand in."""
    for style in content.iter("{*}style"):
        attributes = _attributes(style)
        if attributes.get("parent-style-name") == "Title":
            styles[attributes["name"]] = "h1"
        for properties in style.iterfind("{*}text-properties"):
            position = _attributes(properties).get("text-position", "0")
            if not position.startswith("0"):
                styles[attributes["name"]] = "sub" if position.startswith(("sub", "-")) else "sup"
    texts = [*content.iterfind("{*}body/{*}text"), *content.iter("{*}note-body")]
    for element in content.iter("{*}*"):
        _make_html(element, styles)
    headings = (text_of(heading, _is_hidden) for text in texts for heading in text.iter("h1"))
    field = {local_name(e.tag): " ".join((e.text or "").split()) for e in root.iterfind("{*}meta/{*}*")}
    return new_text(
        "\n\n".join(block for text in texts for block in blocks_of(text, _is_hidden)),
        title=field.get("title") or next(filter(None, headings), ""),
        authors=[field.get("initial-creator", "")],
        meta={"date": field.get("creation-date", "")[:10]},
    )


def _make_html(element: etree._Element, styles: Mapping[str, str]) -> None:
    """Give an element of OpenDocument the name and the attributes of one of HTML."""
    name, attributes = local_name(element.tag), _attributes(element)
    if name in _HIDDEN:
        element.tag = _UNSEEN
        return
    element.tag = styles.get(attributes.get("style-name", ""), _TAGS.get(name, "span"))
    for key in _SPANS.keys() & attributes.keys():
        element.set(_SPANS[key], attributes[key])
    element.text = {"s": " " * int(attributes.get("c", "1")), "tab": "\t"}.get(name, element.text)


def _is_hidden(element: etree._Element) -> bool:
    return element.tag == _UNSEEN


def _attributes(element: etree._Element) -> dict[str, str]:
    return {local_name(str(key)): str(value) for key, value in element.attrib.items()}


def read_rtf(data: bytes) -> Text:
    """Read rich text, its footnotes behind it."""
    with behind_extra("rich text", "office"):
        from striprtf.striprtf import rtf_to_text
    source, notes = _visible_rtf(decode(data))
    info = {match[1]: rtf_to_text(f"{{\\rtf1 {match[2]}}}").strip() for match in _RTF_ABOUT.finditer(source)}  # type: ignore[no-untyped-call]
    blocks: list[str] = []
    rows: list[list[str]] = []
    for line in [*rtf_to_text(source).split("\n"), ""]:  # type: ignore[no-untyped-call]
        if line.endswith("|"):
            rows.append(line[:-1].split("|"))
            continue
        blocks.append("\n".join(tables.from_rows(rows).lines()))
        blocks.append(line)
        rows = []
    blocks += (rtf_to_text(f"{{\\rtf1 {note}}}").strip() for note in notes)  # type: ignore[no-untyped-call]
    return new_text("\n\n".join(filter(None, blocks)), info.get("title", ""), [info.get("author", "")])


def _visible_rtf(source: str) -> tuple[str, list[str]]:
    """Return rich text without its hidden words, its super- and subscripts as characters, and its footnotes.

    Both hold to the end of their group, or until a word with 0 ends them.
    """
    body: list[str] = []
    target = body
    notes: list[list[str]] = []
    depth = 0
    """Groups that are open where the footnote began."""
    states = [("", False)]
    for token in _RTF_TOKEN.finditer(source):
        text, word, is_on = token[0], token[1], token[2] != "0"
        place, is_hidden = states[-1]
        if text == "{":
            states.append(states[-1])
        elif text == "}":
            del states[max(1, len(states) - 1) :]
            if target is not body and len(states) < depth:
                target = body
        elif word == "footnote":
            depth = len(states)
            notes.append([])
            target = notes[-1]
            continue
        elif word in _RTF_PLACES:
            states[-1] = (_RTF_PLACES[word] if is_on else "", is_hidden)
        elif word in _RTF_HIDING:
            states[-1] = (place, is_on)
        if is_hidden and word == "u":
            continue
        if word or text[0] in "{}" or (text[0] == "\\" and text[1] != "'"):
            target.append(text)
        elif not is_hidden:
            target.append(script(text, place) if place and text[0] != "\\" else text)
    return "".join(body), ["".join(note) for note in notes]
