"""The report as one HTML file: nothing is loaded from elsewhere, and it works without a script.

The frame of the page is `report.html.jinja` with `report.css`; both can be edited without touching code.
Figures are inline SVG. The only script sorts tables; the content security policy allows it and the style by
their digests, and nothing else.
"""

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator

from markupsafe import Markup, escape

from activities.report.formats import blocks as page
from activities.report.formats.figures import FOLDER, STYLE, templates
from activities.report.formats.page import document
from activities.report.schema import Report

Link = Callable[[page.Quote], str]
"""The address at which a page shows a quote in the stored text of its work."""
QUOTED = "An underlined field opens the sentence that it is from."
_JOINED = Markup(" ")
_BLANK = Markup(' target="_blank"')
_SMALL = Markup(' class="small"')
_DISPUTED = Markup(' <a class="badge" href="#contradictions">disputed</a>')
_TAGS = {
    "plain": "{}",
    "bold": "<b>{}</b>",
    "italic": "<i>{}</i>",
    "said": "<mark>{}</mark>",
    "around": '<span class="around">{}</span>',
    "source": '<span class="source">{}</span>',
    "alert": '<span class="badge alert">{}</span>',
}
_LINES = {
    "plain": '<div class="prose">{}</div>',
    "answer": '<div class="prose answer">{}</div>',
    "question": '<p class="question">{}</p>',
    "notice": '<p class="notice">{}</p>',
    "note": '<p class="note">{}</p>',
    "quote": "<blockquote>{}</blockquote>",
}


def html(report: Report) -> bytes:
    """A whole page that can be mailed, archived and printed."""
    return page_of(report).encode()


def page_of(report: Report, link: Link | None = None) -> str:
    """The page; with `link`, beside a frame named `evidence` in which each citation opens its quote."""
    made = document(report)
    # Both are files of this package, never text of a report.
    css = Markup(templates().get_template("report.css").render())  # noqa: S704
    script = Markup((FOLDER / "report.js").read_text(encoding="utf-8"))  # noqa: S704
    writer = _Writer(link)
    head = Markup("").join(map(writer.block, made.head))
    chapters = [(chapter, Markup("\n").join(map(writer.block, chapter.blocks))) for chapter in made.chapters]
    policy = (
        f"default-src 'none'; style-src '{_digest(css)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    values = {"css": css, "script": script, "policy": policy, "framed": link is not None}
    template = templates().get_template("report.html.jinja")
    return template.render(document=made, head=head, chapters=chapters, **values)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _m(template: str, *values: object, **named: object) -> Markup:
    """The template with its values escaped."""
    return Markup(template).format(*values, **named)  # noqa: S704 - templates are written here


def _each(template: str, values: Iterable[object]) -> Markup:
    return Markup("").join(_m(template, value) for value in values)


class _Writer:
    """Writes blocks; every text of a report is escaped."""

    def __init__(self, link: Link | None) -> None:
        self._shown_at = link
        self._opened = False
        """The quotes are printed where their numbers stand."""

    def _link(self, url: str, text: object) -> Markup:
        """A link out of the page; out of a frame it opens in a window of its own."""
        target = _BLANK if self._shown_at else ""
        return _m('<a href="{}" rel="noreferrer noopener"{}>{}</a>', url, target, text)

    def block(self, block: page.Block) -> Markup:
        match block:
            case page.Heading():
                anchor = _m(' id="{}"', block.anchor) if block.anchor else ""
                return _m("<h3{}>{}</h3>", anchor, block.text)
            case page.Text():
                return _m(_LINES[block.kind], self.line(block.parts))
            case page.Bullets():
                return _m('<ul class="plain">{}</ul>', _each("<li>{}</li>", map(self.line, block.items)))
            case page.Fields():
                return _m("<dl>{}</dl>", Markup("").join(self._field(*field) for field in block.fields))
            case page.Table():
                return self._table(block)
            case page.Figure():
                caption = _m("<figcaption>{}</figcaption>", block.caption) if block.caption else ""
                # drawn by code, which escapes what it is given
                svg = Markup(block.svg.replace(STYLE, ""))  # noqa: S704
                return _m("<figure{}>{}{}</figure>", _SMALL if block.small else "", caption, svg)
            case page.Code():
                return _m("<pre><code>{}</code></pre>", "\n".join(block.rows))
            case page.References():
                items = Markup("\n").join(map(self._reference, block.items))
                return _m('<ol class="references">{}</ol>', items)
            case page.Notes():
                rows = (self._note(number, quotes) for number, quotes in block.quotes)
                return _m('<ul class="notes">{}</ul>', Markup("").join(rows))
            case page.Group():
                tag = "article" if block.kind == "candidate" else "figure"
                self._opened = block.kind == "passage"
                inside = Markup("").join(map(self.block, block.blocks))
                self._opened = False
                return _m('<{0} class="{1}">{2}</{0}>', tag, block.kind, inside)

    def line(self, parts: page.Parts) -> Markup:
        return _JOINED.join(map(self._part, parts))

    def _part(self, part: page.Part) -> Markup:
        match part:
            case page.Cite():
                return self._cite(part)
            case page.Sentence():
                anchor = _m(' class="claim" id="{}"', part.anchor) if part.anchor else ""
                grade = _grade(f"{part.grade} evidence") if part.grade else ""
                disputed = _DISPUTED if part.disputed else ""
                said = _m("<span{}>{}</span> {}", anchor, part.text, self._cite(part.cite))
                return _m("{}{}{}", said, grade, disputed)
            case page.Run():
                return self._run(part)

    def _run(self, run: page.Run) -> Markup:
        if run.style == "grade":
            return _grade(run.text)
        if run.quote is not None:
            body = self._quotes((run.quote,))
            return _m('<details class="read" name="quote"><summary>{}</summary>{}</details>', run.text, body)
        text = _m(_TAGS[run.style], run.text)
        if run.url:
            return self._link(run.url, text)
        return _m('<a href="#{}">{}</a>', run.anchor, text) if run.anchor else text

    def _cite(self, cite: page.Cite) -> Markup:
        if not cite.marks:
            return Markup("")
        return _m('<span class="cites">[{}]</span>', Markup(", ").join(map(self._mark, cite.marks)))

    def _mark(self, mark: page.Mark) -> Markup:
        number = mark.number
        if not mark.quotes or (self._opened and self._shown_at is None):
            return _m('<a href="#ref-{0}" aria-label="Reference {0}">{0}</a>', number)
        if self._shown_at is not None:
            return Markup(", ").join(self._beside(mark))
        label = f"Quote from reference {number}"
        template = '<details class="cite" name="quote"><summary aria-label="{}">{}</summary>{}</details>'
        return _m(template, label, number, self._quotes(mark.quotes))

    def _beside(self, mark: page.Mark) -> Iterator[Markup]:
        """A link to each quote in its work: `3`, or `3a` and `3b`."""
        assert self._shown_at is not None
        template = '<a class="cite" href="{}" target="evidence" title="{}">{}{}</a>'
        for place, quote in enumerate(mark.quotes):
            letter = chr(ord("a") + place % 26) if len(mark.quotes) > 1 else ""
            yield _m(template, self._shown_at(quote), quote.text, mark.number, letter)

    def _quotes(self, quotes: Iterable[page.Quote]) -> Markup:
        return Markup("").join(map(self._quote, quotes))

    def _quote(self, quote: page.Quote) -> Markup:
        where = _m(", {}", quote.place) if quote.place else ""
        said = _m("{}<mark>{}</mark>{}", quote.before, quote.text, quote.after)
        links = [self._link(quote.url, "in the document")] if quote.url else []
        if quote.number:
            links.append(_m('<a href="#ref-{}">reference</a>', quote.number))
        rest = Markup(" &#183; ").join(["", *links])
        footer = _m("<footer>{}{}{}</footer>", quote.title, where, rest)
        return _m('<div class="quote"><blockquote>{}</blockquote>{}</div>', said, footer)

    @staticmethod
    def _note(number: int, quotes: Iterable[page.Quote]) -> Markup:
        said = (
            _m("\u201c{}\u201d{}", quote.text, f" ({quote.place})" if quote.place else "") for quote in quotes
        )
        return _m("<li>[{}] {}</li>", number, Markup(" \u00b7 ").join(said))

    def _field(self, label: str, lines: tuple[page.Parts, ...]) -> Markup:
        items = [self.line(parts) for parts in lines]
        body = items[0] if len(items) == 1 else _m("<ul>{}</ul>", _each("<li>{}</li>", items))
        return _m("<dt>{}</dt><dd>{}</dd>", label, body)

    def _table(self, table: page.Table) -> Markup:
        heads = Markup("").join(_m('<th scope="col"{}>{}</th>', _kind(name), name) for name in table.head)
        rows = Markup("\n").join(self._row(table.head, row) for row in table.rows)
        template = (
            '{}<div class="scroll" tabindex="0" role="region" aria-label="{}"><table{}>'
            "<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>"
        )
        quoted = any(isinstance(p, page.Run) and p.quote for row in table.rows for c in row for p in c.parts)
        told = table.caption or (QUOTED if quoted else "")
        caption = _m('<p class="caption">{}</p>', told) if told else ""
        kinds = " ".join(name for name, on in (("sortable", table.sortable), ("wide", table.wide)) if on)
        classes = _m(' class="{}"', kinds) if kinds else ""
        label = f"Table: {', '.join(table.head[:3])}"
        return _m(template, caption, label, classes, heads, rows)

    def _row(self, head: tuple[str, ...], cells: tuple[page.Cell, ...]) -> Markup:
        anchor = next((cell.anchor for cell in cells if cell.anchor), "")
        shown = Markup("").join(
            _m(
                "<td{}{}>{}</td>",
                _kind(name),
                _m(' data-value="{}"', cell.rank) if cell.rank else "",
                self.line(cell.parts),
            )
            for name, cell in zip(head, cells, strict=True)
        )
        return _m("<tr{}>{}</tr>", _m(' id="{}"', anchor) if anchor else "", shown)

    def _reference(self, reference: page.Reference) -> Markup:
        title = self._link(reference.url, reference.title) if reference.url else escape(reference.title)
        links = _JOINED.join(map(self._run, reference.links))
        twins = Markup(", ").join(_m('<a href="#ref-{0}">[{0}]</a>', n) for n in reference.same_study)
        also = _m("Also published as {}.", twins) if twins else ""
        parts = (escape(reference.authors), title, escape(reference.place), links, also)
        badges = _JOINED.join(
            _m('<span class="badge{}">{}</span>', " alert" if b.style == "alert" else "", b.text)
            for b in reference.badges
        )
        template = '<li id="ref-{0}"><b>{0}</b><div>{1}<br>{2}</div></li>'
        return _m(template, reference.number, _JOINED.join(filter(None, parts)), badges)


def _kind(name: str) -> Markup:
    """The class of a column's cells."""
    kind = "number" if name in page.NUMERIC else "long" if name in page.LONG else ""
    return _m(' class="{}"', kind) if kind else Markup("")


def _grade(text: str) -> Markup:
    return _m(' <span class="basis {}">{}</span>', text.partition(" ")[0], text)
