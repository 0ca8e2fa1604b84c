"""The Markdown of a writer as the sentences, items and rows of a draft, each with the works that it cites.

Read are headings, paragraphs, lists, tables, block quotes (letters), bold words in front of a sentence (its
lead), and what is stressed within it; all else is text. A citation is the labels of works in brackets:
`[E1]`, `[E2, E4]`, `[E1-E3]`; `[K]` marks general knowledge.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise, zip_longest

import sentencex
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from activities.contracts.evidence import CiteMark, Emphasis
from activities.contracts.write import DraftClaim, SentenceKind
from activities.report.formats.text import clean
from activities.roles.inline import LABELS, LINE, Styled, emphasis_of, parser, pieces, styled_text, with_signs
from activities.roles.validation import line
from activities.text.layout import ENDS
from activities.text.sentences import ORDINALS, ends_at_units

MAX_COLUMNS = 8
MAX_ROWS = 60
MAX_HEADING_CHARS = 100
MAX_LEAD_WORDS = 30
"""Words of bold print up to which it is a lead of what follows."""
MAX_HEAD_WORDS = 8
"""Words of bold print up to which it heads what follows; more of them, with a full stop, are a sentence."""
SECTION_LEVEL = "h2"
FIRST_MARK = 0xE000
"""The first of the private characters that stand for citations while a text is divided."""
MAX_MARKS = 0x1800
_LAST_FIELD = re.compile(r"\|[ \t]*+(\[[^\[\]|\n]*+\])[ \t]*+\|?[ \t]*+$", re.MULTILINE)
"""A last field in brackets, which a reader of Markdown drops where the heads of a table are fewer."""
_SEPARATORS = re.compile(r"[\s,;&]+")
_LABEL = re.compile(r"([-\u2010-\u2015]?) ?E?(\d{1,3})", re.IGNORECASE)
_STOP = f"[{''.join(ENDS)}]"
_STOP_BEFORE = re.compile(rf"(?<!{_STOP})({_STOP}+[\"'\u201d\u00bb]?)\s*([\ue000-\uf7ff]+)(?:\1)?")
"""A stop before citations, maybe with the same behind them: `at 1 p.m. [E4].`"""
GENERAL = "K"
"""The label of what a writer knows and no work says."""
_EDGES = " \t,;:\u00b7|"
_STATES = (".", "!", "\u3002", "\uff01", "\u0964", "\u06d4")
_CITES = re.compile(r"\s*[\ue000-\uf7ff]+\s*")
_NUMBER = re.compile(r"(?<![\d.,])\d{1,2}\.\s*$")
"""A number at the end of a part that is an ordinal in some languages: `bis zum 1.`."""
_MARK = re.compile(r"[\ue000-\uf7ff]")
_BOX = re.compile(r"^\[([ xX])\](?=\s)")
BOXES = {"": "\u2610", "x": "\u2611"}
"""The box of an item that is to be done, and of one that is done."""


@dataclass(frozen=True, slots=True)
class ProseRow:
    """A sentence, an item or a row as it was written."""

    claim: DraftClaim
    unknown: tuple[str, ...] = ()
    """Labels of works that were not shown."""


@dataclass(slots=True)
class Block:
    """A paragraph, a list, a table or a letter."""

    heading: str = ""
    section: str = ""
    """The heading of its section, where it begins another one."""
    rows: list[ProseRow] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ProseText:
    title: str
    answer: tuple[Block, ...]
    """The blocks before the second heading."""
    blocks: tuple[Block, ...]


def read_markdown(
    markdown: str, works: Mapping[str, str], language: str, *, to_send: bool = True
) -> ProseText:
    """Read the Markdown of a writer.

    `works`: label (`E1`) -> id of the works that were shown. `to_send`: its block quotes are texts that leave
    the report."""
    reader = _Reader(works, language, to_send=to_send)
    markdown = _LAST_FIELD.sub(lambda m: f"{m[1]} |" if LABELS.fullmatch(m[1]) else m[0], markdown.strip())
    return reader.read(SyntaxTreeNode(parser().parse(markdown)))


def read_sentence(markdown: str, works: Mapping[str, str]) -> ProseRow | None:
    """Read a text that is to be one sentence, maybe behind a lead; None without any."""
    return _Reader(works, "").sentence(" ".join(markdown.split()))


def read_row(fields: Sequence[str], heads: Sequence[str], works: Mapping[str, str]) -> ProseRow:
    """Read the fields of a row."""
    return _Reader(works, "").row(fields, heads)


def _inlines(node: SyntaxTreeNode) -> Iterator[Token]:
    """Yield the texts of a part of a document."""
    return (part.token for part in node.walk() if part.type == "inline" and part.token)


def _stressed(row: ProseRow, styled: Styled) -> ProseRow:
    """Return a sentence with what is stressed in it."""
    claim, lead = row.claim, len(row.claim.lead)
    cuts = (lead, *(lead + mark.at for mark in claim.marks))
    emphasis = emphasis_of(styled, claim.lead + claim.body, cuts)
    behind_lead = tuple(e.replace(at=e.at - lead) for e in emphasis if e.at >= lead)
    return replace(row, claim=claim.replace(emphasis=behind_lead))


def _with_columns(claim: DraftClaim, columns: Sequence[int]) -> DraftClaim:
    emphasis = (e.replace(field=columns.index(e.field)) for e in claim.emphasis if e.field in columns)
    return claim.replace(emphasis=tuple(emphasis)).shaped(claim.cells[at] for at in columns)


def _is_bold(token: Token) -> bool:
    """Tell whether all of a line is bold, as one that introduces a list."""
    children = [child for child in token.children or () if child.content.strip() or child.nesting]
    tags = [child.type for child in children if child.nesting]
    return tags == ["strong_open", "strong_close"] and [children[0].type, children[-1].type] == tags


def _join_numbers(parts: Iterable[str], language: str) -> Iterator[str]:
    """Yield the parts of a line, those that end in the number of a heading or of a day with what follows."""
    pending = ""
    for part in parts:
        pending += part
        is_open = _NUMBER.search(pending) if language in ORDINALS else not any(map(str.isalpha, pending))
        if not is_open:
            yield pending
            pending = ""
    if pending:
        yield pending


class _Reader:
    def __init__(self, works: Mapping[str, str], language: str, *, to_send: bool = False) -> None:
        self._to_send = to_send
        self._works = {label.upper(): name for label, name in works.items()}
        self._language = language
        self._soft_break = " "
        """What a line that ends within a paragraph becomes."""
        self._citations: list[tuple[str, ...]] = []
        """The labels of each citation, by the character that stands for it."""

    def read(self, text: SyntaxTreeNode) -> ProseText:
        title, heading, level, section, headings = "", "", "", "", 0
        answer, blocks = list[Block](), list[Block]()
        for node in text.children:
            if node.type == "heading":
                words = self._plain(*_inlines(node))
                if node.tag == "h1" and not (title or blocks or answer):
                    title = words
                else:
                    headings += bool(blocks or answer) or headings > 0
                    if node.tag == SECTION_LEVEL:
                        section = words
                    # one with nothing but another one below it goes in front of that
                    is_below = bool(heading) and node.tag > level
                    heading = "" if not headings else f"{heading}: {words}" if is_below else words
                    level = node.tag
            elif rows := self._rows(node):
                (blocks if headings else answer).append(Block(heading, section, rows))
                heading = section = ""
        return ProseText(title, tuple(answer), tuple(blocks))

    def _rows(self, node: SyntaxTreeNode) -> list[ProseRow]:
        match node.type:
            case "table":
                return self._table(node)
            case "bullet_list" | "ordered_list":
                return self._list(node)
            case "blockquote":
                return self._letter(node) if self._to_send else self._quoted(node)
            case "fence" | "code_block":
                return [*self._code(node.content)]
        return [row for token in _inlines(node) for row in self._sentences(token)]

    def sentence(self, markdown: str) -> ProseRow | None:
        (token,) = parser().parseInline(markdown)
        lead, text = self._text(token)
        row = self.claim(text + "".join(_MARK.findall(lead)), self._plain_lead(lead))
        return _stressed(row, styled_text(token)) if row else None

    def _code(self, text: str) -> Iterator[ProseRow]:
        """Read code as lines of one paragraph."""
        for number, row in enumerate(filter(None, map(self.claim, map(self.marked, text.splitlines())))):
            code = Emphasis(words=row.claim.text, at=0, style="code")
            yield replace(row, claim=row.claim.replace(begins=True, line=number > 0, emphasis=(code,)))

    def _letter(self, node: SyntaxTreeNode) -> list[ProseRow]:
        """Read a block quote as the sentences, items and rows of a text that leaves the report."""
        self._soft_break = LINE  # an address, a name below a greeting
        rows = self._quoted(node)
        self._soft_break = " "
        return [replace(row, claim=row.claim.replace(letter=True)) for row in rows]

    def _quoted(self, node: SyntaxTreeNode) -> list[ProseRow]:
        """Read a block quote, whose headings are lines in bold print."""
        rows: list[ProseRow] = []
        for part in node.children:
            if is_heading := part.type == "heading":
                texts = ("".join(self._text(token)) for token in _inlines(part))
                block = [*filter(None, map(self.claim, texts))]
            else:
                block = self._rows(part)
            for number, row in enumerate(block):
                claim = row.claim
                is_line = claim.begins and not claim.item and number > 0
                begins = claim.begins or not (number or claim.item)
                claim = claim.replace(begins=begins, line=is_line, strong=claim.strong or is_heading)
                rows.append(replace(row, claim=claim))
        return rows

    def _list(self, node: SyntaxTreeNode) -> list[ProseRow]:
        """Read a list, and lists within it, as items."""
        items: list[ProseRow] = []
        begins, item = False, 0
        for part in node.walk():
            if part.type == "list_item":
                begins, item = True, int(part.info or 0)
            elif part.type in ("inline", "fence", "code_block"):
                # a list, an item and a paragraph are a step each
                level = (part.level - node.level - (part.type == "inline")) // 2 - 1
                for place, row in enumerate(self._item(part)):
                    is_line = row.claim.line or not (begins or place)
                    claim = row.claim.replace(
                        item=True, begins=begins, number=item, level=level, line=is_line
                    )
                    items.append(ProseRow(claim, row.unknown))
                    begins = False
        return items

    def _item(self, node: SyntaxTreeNode) -> Iterable[ProseRow]:
        """Read a paragraph or the code of an item; the boxes of a checklist are signs."""
        if node.type != "inline" or not node.token:
            return self._code(node.content)
        for first in (node.token.children or ())[:1]:
            first.content = _BOX.sub(lambda m: BOXES[m[1].strip().lower()], first.content)
        return self._sentences(node.token)

    def _table(self, node: SyntaxTreeNode) -> list[ProseRow]:
        tokens = [[*map(with_signs, _inlines(row))] for row in node.walk() if row.type == "tr"]
        heads = [*map(self._field, tokens[0])]
        rows = [
            self._row(row, heads) for row in tokens[1 : MAX_ROWS + 1] if any(token.content for token in row)
        ]
        # a column of nothing but citations is the one that a report adds
        columns = [
            at
            for at in range(len(rows[0].claim.cells) if rows else 0)
            if any(char.isalnum() for row in rows for char in row.claim.cells[at][1])
        ]
        if len(columns) < 2:
            return rows
        return [replace(row, claim=_with_columns(row.claim, columns)) for row in rows]

    def _field(self, token: Token) -> str:
        """Return a field of a table; labels of works alone cite them, in brackets or not."""
        text = " ".join(filter(None, self._text(token)))
        labels = _SEPARATORS.split(text.strip().upper())
        are_labels = all(label in (*self._works, GENERAL) for label in labels)
        return self.marked(f"[{', '.join(labels)}]") if are_labels else text

    def row(self, fields: Sequence[str], heads: Sequence[str]) -> ProseRow:
        tokens = (token for field in fields for token in parser().parseInline(field))
        return self._row([*map(with_signs, tokens)], heads)

    def _row(self, tokens: Sequence[Token], heads: Sequence[str]) -> ProseRow:
        """Make a row; in its heads characters stand for citations."""
        fields = [*map(self._field, tokens)]
        names = [line(_MARK.sub("", head).strip(_EDGES), MAX_HEADING_CHARS) for head in heads]
        plain = [clean(_MARK.sub("", text)).strip(_EDGES) for text in fields]
        works, unknown = self._works_of("".join(fields))
        while len(plain) > len(names) and not plain[-1]:  # a field of citations alone
            plain.pop()
        pairs = [*zip_longest(names, plain, fillvalue="")][:MAX_COLUMNS]
        styled = (
            emphasis_of(styled_text(token), text, field=at)
            for at, (token, text) in enumerate(zip(tokens, plain, strict=False))
        )
        claim = self._claim("", works, general=not unknown and self._is_general("".join(fields)))
        return ProseRow(claim.shaped(pairs).replace(emphasis=(*chain(*styled),)), unknown)

    def _sentences(self, token: Token) -> Iterator[ProseRow]:
        styled = styled_text(token)
        return (_stressed(row, styled) for row in self._plain_sentences(token))

    def _plain_sentences(self, token: Token) -> Iterator[ProseRow]:
        lead, text = self._text(token)
        if len(lead.split()) > MAX_HEAD_WORDS and _MARK.sub("", lead).rstrip().endswith(_STATES):
            citations = _CITES.match(text)  # what is cited behind the bold words is cited by them
            bold = lead + (citations[0] if citations else "")
            yield from (replace(w, claim=w.claim.replace(strong=True)) for w in self._line_rows(bold, ""))
            lead, text = "", text[citations.end() :] if citations else text
        rows = self._line_rows(text, lead)
        if _is_bold(token):
            rows = (replace(w, claim=w.claim.replace(strong=True)) for w in rows)
        yield from rows

    def _line_rows(self, text: str, lead: str) -> Iterator[ProseRow]:
        for place, line_text in enumerate(text.split(LINE)):
            parts = sentencex.segment(self._language or "en", _STOP_BEFORE.sub(r"\2\1", line_text))
            parts = [part[a:b] for part in parts for a, b in pairwise([0, *ends_at_units(part), len(part)])]
            parts = [*_join_numbers(parts, self._language)]
            for number, part in enumerate(filter(str.strip, parts)):
                is_first = not (place or number)
                first = _STOP_BEFORE.sub(r"\2\1", part.rstrip() + "".join(_MARK.findall(lead)))
                if row := self.claim(first if is_first else part, self._plain_lead(lead) if is_first else ""):
                    begins = bool(place and not number)
                    yield replace(row, claim=row.claim.replace(begins=begins, line=begins))

    @staticmethod
    def _plain_lead(lead: str) -> str:
        return clean(_MARK.sub("", lead)).rstrip(": \uff1a")

    def claim(self, text: str, lead: str = "") -> ProseRow | None:
        """Make a sentence of a text in which characters stand for citations; None without any words."""
        plain, marks, text = "", list[CiteMark](), " ".join(text.split())
        works, unknown = self._works_of(text)
        for piece in re.split(r"([\ue000-\uf7ff]+)", text):
            if _MARK.match(piece):
                if piece_works := self._works_of(piece)[0]:
                    marks.append(CiteMark(at=len(plain.rstrip()), works=piece_works))
            else:
                plain += piece if plain else piece.lstrip()
        body = clean(plain)
        if not any(map(str.isalnum, body)):
            return None
        claim = self._claim(body, works, general=not unknown and self._is_general(text))
        if body == plain.rstrip():
            claim = claim.replace(marks=tuple(marks))
        return ProseRow(claim.shaped([(lead, body)]) if lead else claim, unknown)

    def _plain(self, token: Token) -> str:
        return line(_MARK.sub("", "".join(filter(None, self._text(token)))), MAX_HEADING_CHARS)

    def _text(self, token: Token) -> tuple[str, str]:
        """Return lead and text of an inline token, without marks of emphasis."""
        bold, text = "", ""
        for part, tags in pieces(token, self._soft_break):
            if text or tags.isdisjoint(("strong", "em")):
                text += part
            else:
                bold += part
        lead, after = self.marked(bold).strip(), text.lstrip()
        has_end = lead[-1:] in (*ENDS, ":", "\uff1a") or after[:1] in (":", "\uff1a")
        if lead and has_end and after and len(lead.split()) <= MAX_LEAD_WORDS:
            return lead, self.marked(after.lstrip(": \uff1a"))
        return "", self.marked(bold + text)

    def marked(self, text: str) -> str:
        """Put a private character in the place of each citation."""

        def mark(match: re.Match[str]) -> str:
            labels: list[str] = []
            for dash, number in _LABEL.findall(match[1]):
                first = int(labels[-1][1:]) + 1 if dash and labels else int(number)
                labels += [f"E{n}" for n in range(first, int(number) + 1)][:MAX_ROWS] or [f"E{number}"]
            labels += [GENERAL] if GENERAL in match[1].upper() else []
            self._citations.append(tuple(dict.fromkeys(labels)))
            return chr(FIRST_MARK + len(self._citations) - 1) if len(self._citations) <= MAX_MARKS else ""

        return LABELS.sub(mark, _MARK.sub("", text))

    @staticmethod
    def _claim(text: str, works: tuple[str, ...], *, general: bool) -> DraftClaim:
        kind: SentenceKind = "background" if general and not works else "finding"
        return DraftClaim(text=text, cites=works, kind=kind)

    def _is_general(self, text: str) -> bool:
        return any(GENERAL in self._citations[ord(mark) - FIRST_MARK] for mark in _MARK.findall(text))

    def _works_of(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the works that are cited in a text, and the labels that were not shown."""
        labels = dict.fromkeys(
            label
            for mark in _MARK.findall(text)
            for label in self._citations[ord(mark) - FIRST_MARK]
            if label != GENERAL
        )
        works = dict.fromkeys(self._works[label] for label in labels if label in self._works)
        return tuple(works), tuple(label for label in labels if label not in self._works)
