"""The report as one tree of blocks, in the order of the page: what Markdown, HTML, Word and PDF are made of.

`activities.report.formats.page` makes the tree from a report. A format writes each kind of block in its own
way and decides nothing else. All text is plain: a format escapes it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import groupby, zip_longest
from string import ascii_lowercase
from typing import Literal, TypeAlias

from activities.contracts.evidence import Emphasis, Grade, Stress
from activities.messages import ENGLISH, _
from activities.report.formats.text import INDENT, clean, marker

Column: TypeAlias = Literal["number", "short", "middle", "long"]
SHORT_CHARS, LONG_CHARS = 12, 40
"""Characters of the longest field up to which a column is narrow, and from which it holds sentences."""
MAX_LINES = 8
"""Lines over which a field of sentences is to go on paper; a column for more is no wider."""
MANY_COLUMNS = 6
"""Columns from which a table on paper is set small."""
MAX_WORDS_AMONG = 0.25
"""Share of short words (`none`, `not due`) in a column of numbers."""
CLOSING = (*",.;:!?)]\u2026", "\uff0c", "\u3002", "\uff1b", "\uff1a", "\u3001")
"""Signs before which no space stands."""
MIN_SPAN = 3
"""Works that follow each other from which their marks are one."""
_WITHOUT_BLANKS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
"""Han and kana, between whose sentences no blank stands; Thai, Lao and Khmer have one there."""
_NUMBER = re.compile(r"[\d.,\s$\u20ac\u00a3%*+\u2212-]*")


@dataclass(frozen=True, slots=True)
class Quote:
    evidence_id: str
    number: int
    """The reference; 0 for a work that is none."""
    title: str
    text: str
    before: str = ""
    after: str = ""
    place: str = ""
    """`p. 3`, `OCR, p. 3`, `transcript, at 1:05`; empty where it is not known."""
    url: str | None = None
    """Opens the document where the quote stands."""
    same: bool = False
    """The sentence says the quote word for word, so that no list need print it again."""
    language: str = ""
    """That of its work, where it is not that of the report."""
    translation: str = ""

    @property
    def is_listed(self) -> bool:
        """True where its reference lists it: a sentence in its words needs that only for a translation."""
        return bool(self.translation) or not self.same

    @property
    def translated(self) -> str:
        """Its translation, marked as one; empty without any."""
        text = _("Translation by the model, confirmed by the second reader: “{text}”")
        return text.format(text=self.translation) if self.translation else ""

    @property
    def behind(self) -> str:
        """What stands behind it on paper: its place, and its translation."""
        place = f" ({self.place})" if self.place else ""
        return f"{place} \u2014 {self.translated}" if self.translation else place


@dataclass(frozen=True, slots=True)
class Mark:
    """One number of a citation, with the quotes of that reference."""

    number: int
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True)
class Cite:
    marks: tuple[Mark, ...]
    hidden: bool = False
    """No sign is printed; where a page can open quotes, the sentence opens them."""

    @property
    def quotes(self) -> tuple[Quote, ...]:
        return tuple(quote for mark in self.marks for quote in mark.quotes)

    @property
    def spans(self) -> tuple[tuple[int, str], ...]:
        """The first number and the text of each mark; of works that follow each other as `1-9`."""
        pairs: list[tuple[int, str]] = []
        numbers = () if self.hidden else tuple(mark.number for mark in self.marks)
        for _distance, group in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
            run = [number for _place, number in group]
            span = [(run[0], f"{run[0]}\u2013{run[-1]}")]
            pairs += span if len(run) >= MIN_SPAN else [(number, str(number)) for number in run]
        return tuple(pairs)

    @property
    def text(self) -> str:
        return f"[{', '.join(text for _number, text in self.spans)}]" if self.spans else ""

    def joins(self, other: "Cite") -> bool:
        """Return True where both show the same works."""
        return bool(self.spans) and self.spans == other.spans


Style: TypeAlias = Literal["plain", "bold", "said", "around", "source", "alert", "badge", "grade"]


@dataclass(frozen=True, slots=True)
class Run:
    """Words in one style, maybe a link, maybe with the sentence they are from."""

    text: str
    style: Style = "plain"
    """`said`: quoted words; `around`: what stands around them; `source`: where a statement is from; `alert`:
    a warning; `badge`: what qualifies a reference; `grade`: the strength of evidence."""
    url: str | None = None
    anchor: str = ""
    """Id of a place of the report that it leads to."""
    quote: Quote | None = None
    """The sentence of a work that says it."""
    grade: Grade | Literal[""] = ""
    """What `grade` says."""
    line: bool = False
    """It begins another line."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, or what stands before a citation within it, with the numbers of its references."""

    text: str
    cite: Cite
    anchor: str = ""
    """Its id, where it is printed first."""
    disputed: bool = False
    strong: bool = False
    goes_on: bool = False
    """The sentence goes on in the next part."""
    line: bool = False
    """It begins another line."""
    emphasis: tuple[Emphasis, ...] = ()

    def runs(self, start: int = 0, end: int | None = None) -> tuple[tuple[str, tuple[Stress, ...]], ...]:
        """Return its text in parts, each with its styles."""
        styles: list[tuple[Stress, ...]] = [()] * len(self.text)
        for span in self.emphasis:
            styles[span.at : span.end] = [(*other, span.style) for other in styles[span.at : span.end]]
        runs = groupby(range(len(self.text))[start:end], styles.__getitem__)
        return tuple(("".join(self.text[place] for place in run), key) for key, run in runs)

    def without_sign(self) -> "Sentence":
        return replace(self, cite=replace(self.cite, hidden=True))


Part: TypeAlias = Run | Cite | Sentence
Parts: TypeAlias = tuple[Part, ...]
"""What stands in one line or paragraph, with spaces between (`space_before`)."""


def with_works_once(parts: Iterable[Part]) -> Parts:
    """Show the works of sentences that follow each other on the same ones once, behind the last of them."""
    result: list[Part] = []
    for part in parts:
        before = result[-1] if result else None
        if isinstance(part, Sentence) and isinstance(before, Sentence) and part.cite.joins(before.cite):
            result[-1] = before.without_sign()
        result.append(part)
    return tuple(result)


def space_before(part: Part) -> str:
    """Return what separates a part from the one before it.

    Nothing before the rest of a clause and a sentence of a script without blanks."""
    if not isinstance(part, Cite) and part.line:
        return "\n"
    character = part.text[:1] if isinstance(part, Sentence) else ""
    return "" if character and (character in CLOSING or _WITHOUT_BLANKS.match(character)) else " "


@dataclass(frozen=True, slots=True)
class Heading:
    text: str
    anchor: str = ""
    new_page: bool = False


TextKind = Literal["plain", "answer", "question", "notice", "note", "quote", "screen"]
"""`screen`: a note that paper does not have."""


@dataclass(frozen=True, slots=True)
class Text:
    parts: Parts
    kind: TextKind = "plain"

    @property
    def is_written(self) -> bool:
        """Whether it is sentences of a writer, in the language of the report."""
        return any(isinstance(part, Sentence) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Bullets:
    items: tuple[Parts, ...]
    numbers: tuple[int, ...] = ()
    """The number of each item of an ordered list."""
    below: tuple["Bullets | None", ...] = ()
    """The list within each item, where any has one."""

    @property
    def rows(self) -> Iterator[tuple[int, Parts, "Bullets | None"]]:
        """Yield number, words and list of each item."""
        return zip_longest(self.numbers, self.items, self.below)


@dataclass(frozen=True, slots=True)
class Fields:
    fields: tuple[tuple[str, tuple[Parts, ...]], ...]


@dataclass(frozen=True, slots=True)
class Cell:
    parts: Parts = ()
    rank: str = ""
    """What the table is sorted by, where that is not the text."""
    anchor: str = ""

    @property
    def text(self) -> str:
        return " ".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class Table:
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    sortable: bool = False
    wide: bool = False
    """It needs the long side of a sheet of paper."""

    @property
    def small(self) -> bool:
        """True where paper has room for it in small print only."""
        return len(self.head) >= MANY_COLUMNS

    @property
    def columns(self) -> tuple[Column, ...]:
        """The kind of each column, by its longest field."""
        return tuple(_column([row[place].text for row in self.rows]) for place in range(len(self.head)))

    @property
    def shares(self) -> tuple[int, ...]:
        """The width of each column on paper: its longest word, and of sentences what a few lines need."""

        def share(texts: Sequence[str]) -> int:
            longest_word = max((len(word) for text in texts for word in text.split()), default=0)
            longest = max(map(len, texts), default=0)
            sentences = min(max(longest - LONG_CHARS, 0), MAX_LINES * LONG_CHARS)
            return max(longest_word + 1, min(LONG_CHARS, longest) // 2 + sentences // MAX_LINES)

        fields = ([name, *(row[place].text for row in self.rows)] for place, name in enumerate(self.head))
        return tuple(map(share, fields))

    @property
    def quoted(self) -> bool:
        return any(isinstance(p, Run) and p.quote for row in self.rows for cell in row for p in cell.parts)


def _column(texts: Sequence[str]) -> Column:
    longest = max(map(len, texts), default=0)
    words = [text for text in texts if not _NUMBER.fullmatch(text)]
    if len(words) <= MAX_WORDS_AMONG * len(texts) and all(len(text) <= SHORT_CHARS for text in words):
        return "number"
    return "short" if longest <= SHORT_CHARS else "middle" if longest <= LONG_CHARS else "long"


@dataclass(frozen=True, slots=True)
class Figure:
    caption: str
    svg: str
    """Empty for a format without pictures."""
    table: Table | None = None
    """The same in numbers, where it cannot be drawn."""
    words: str = ""
    """The same in a sentence, for a format without pictures."""


@dataclass(frozen=True, slots=True)
class Code:
    rows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    number: int
    parts: Parts


@dataclass(frozen=True, slots=True)
class References:
    items: tuple[Reference, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Blocks that belong together: a passage with its work, a candidate's page, a letter."""

    blocks: tuple["Block", ...]
    kind: Literal["passage", "candidate", "letter"] = "passage"
    """`letter`: a text that leaves the report as it stands."""

    @property
    def text(self) -> str:
        """Its plain text: paragraphs, lists, and the fields of a table between tabs."""
        return "\n\n".join("\n".join(_lines(block)) for block in self.blocks)


Block: TypeAlias = Heading | Text | Bullets | Fields | Table | Figure | Code | References | Group


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Text():
            yield _plain(block.parts)
        case Bullets():
            for number, item, below in block.rows:
                yield f"{marker(number)} {_plain(item)}"
                yield from (f"{INDENT}{line}" for line in (_lines(below) if below else ()))
        case Table():
            rows = ([cell.text for cell in row] for row in block.rows)
            yield from map("\t".join, (block.head, *rows))


def _plain(parts: Parts) -> str:
    return "".join(f"{space_before(part)}{part.text}" for part in parts).removeprefix(" ")


ChapterKind: TypeAlias = Literal["plain", "answer", "folded", "screen"]
"""`folded`: closed at first where a format can open and close it. `screen`: the same, and not on paper."""


@dataclass(frozen=True, slots=True)
class Chapter:
    anchor: str
    title: str
    blocks: tuple[Block, ...]
    kind: ChapterKind = "plain"


@dataclass(frozen=True, slots=True)
class Document:
    title: str
    kicker: str
    """What kind of report, and of when."""
    head: tuple[Block, ...]
    chapters: tuple[Chapter, ...]
    run_line: str = ""
    language: str = ENGLISH
    """ISO 639-1 code of the language of its texts."""
    about: dict[str, str] = field(default_factory=dict)
    """For the properties of a file: question, profile, time, what made it."""


def on_paper(tree: Document) -> Iterator[Chapter]:
    """Yield the chapters of a document that paper has."""
    for chapter in tree.chapters:
        if chapter.kind != "screen":
            blocks = (b for b in chapter.blocks if not (isinstance(b, Text) and b.kind == "screen"))
            yield replace(chapter, blocks=tuple(blocks))


def bullets(texts: Iterable[str]) -> Iterator[Bullets]:
    if items := tuple((Run(clean(text)),) for text in texts):
        yield Bullets(items)


def cell(
    text: str,
    style: Style = "plain",
    *,
    quote: Quote | None = None,
    rank: str = "",
    grade: Grade | Literal[""] = "",
) -> Cell:
    """Make a field of plain text; an empty one without text."""
    return Cell((Run(clean(text), style, quote=quote, grade=grade),), rank) if text else Cell()


def table(head: tuple[str, ...], rows: Iterable[Iterable[str]], caption: str = "") -> Table:
    """Make a table of plain text without the columns that are empty in every row; its head is in messages."""
    return Table(
        *trim([_(name) for name in head], [tuple(Cell((Run(text),)) for text in row) for row in rows]),
        caption,
    )


def trim(
    head: Sequence[str], rows: Sequence[tuple[Cell, ...]]
) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Head and rows of a table without the columns that are empty in every row."""
    places = [place for place in range(len(head)) if not rows or any(row[place].text for row in rows)]
    fields = (tuple(row[place] for place in places) for row in rows)
    return tuple(head[place] for place in places), tuple(fields)


def quotes_in(value: object) -> Iterator[Quote]:
    """Yield the quotes of the sentences in blocks, in order, but those that a field opens."""
    if isinstance(value, Quote):
        yield value
    elif isinstance(value, Run):
        return
    elif is_dataclass(value):
        for entry in fields(value):
            yield from quotes_in(getattr(value, entry.name))
    elif isinstance(value, tuple):
        for part in value:
            yield from quotes_in(part)


def listed_quotes(chapters: Sequence[Chapter]) -> tuple[Quote, ...]:
    """Return the quotes behind the sentences of chapters, each once.

    A quote that its sentence says word for word is not listed, nor is a part of another one that is; a quote
    that a field opens is shown there.
    """
    quotes: dict[tuple[int, str], Quote] = {}
    for quote in quotes_in(tuple(chapters)):
        if quote.is_listed:
            quotes.setdefault((quote.number, quote.text), quote)

    def is_part(quote: Quote) -> bool:
        group = (other for other in quotes.values() if other.number == quote.number and other is not quote)
        return not quote.translation and any(quote.text in other.text for other in group)

    return tuple(quote for quote in quotes.values() if not is_part(quote))


def letter_of(place: int) -> str:
    """Name a place from 0: `a` to `z`, then `aa`."""
    rest, letter = divmod(place, len(ascii_lowercase))
    return (letter_of(rest - 1) if rest else "") + ascii_lowercase[letter]
