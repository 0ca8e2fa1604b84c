"""The content that every format shows, in the order of the page, as plain text.

`activities.report.formats.view` fills it from a report; a format escapes it and lays it out, and decides
nothing.
"""

from dataclasses import dataclass

from activities.types import Grade

SEARCH_HEAD = ("Source", "Query as sent", "Status", "Hits", "Kept", "Times", "Seconds", "Attempts")
CANDIDATE_HEAD = (
    *("Candidate", "Mechanism or effect", "Indications now", "Approval", "Trials", "Literature", "Safety"),
    *("Evidence", "Sources"),
)
JUDGEMENT_HEAD = ("Work", "Answers", "Direction", "About", "Finding", "Compared with", "n", "Design", "Why")
REFUSED_HEAD = ("What", "Text", "Why", "Where")
CHECK_HEAD = ("Check", "Refused")
LONG = frozenset(
    {
        *("Query as sent", "Mechanism or effect", "Indications now", "Trials", "Check", "Finding", "Text"),
        *("Why", "Compared with"),
    }
)
"""Columns that hold sentences."""
CANDIDATE_NOTE = (
    "Names, sources and the grade of the evidence are checked by code. A field is shown only where a cited "
    "item or a record that was looked up says it; otherwise it is not found."
)
NAMED_NOTE = (
    "Names by the vocabularies, each beside the passages that name it and what registers say of it; whether "
    "one helps is not judged."
)
WORKS_NOTE = "Every cited work. A dotted line leads to the sentence that a field is from."
JUDGEMENTS_NOTE = "What a model judged of each work after reading it; a finding has its quote beside it."
REFUSED_TITLE = "What was refused"
REFUSED_NOTE = "What was written and did not pass the checks, or was removed, each with its reason."


@dataclass(frozen=True, slots=True)
class Cite:
    """One citation of a claim."""

    number: int
    pmid: str
    anchor: str
    """Of the quote that supports it."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote in its context."""

    anchor: str
    number: int
    """Of the reference; 0 for a work that is none."""
    title: str
    text: str
    before: str
    after: str
    same: bool
    """The claim says the quote word for word, so that a format without pop-ups need not print it again."""
    place: str = ""
    """`p. 3`, `OCR, p. 3`, `transcript, at 1:05`; empty where it is not known."""
    url: str | None = None
    """Opens the document where the quote stands."""


@dataclass(frozen=True, slots=True)
class ClaimView:
    """A claim as it is shown."""

    anchor: str
    text: str
    mark: str
    """`[1, 3] [PMID: 1]`."""
    cites: tuple[Cite, ...]
    quotes: tuple[Quote, ...]
    strength: Grade | None
    studies: int
    disputed: bool
    quoted: bool
    """Its text is the quote itself."""

    @property
    def basis(self) -> str:
        """Its support: `strong evidence, 2 independent studies`; empty without a model."""
        if self.strength is None:
            return ""
        studies = "study" if self.studies == 1 else "studies"
        return f"{self.strength} evidence, {self.studies} independent {studies}"

    @property
    def short_basis(self) -> str:
        """`strong, 2 studies`; empty without a model."""
        if self.strength is None:
            return ""
        return f"{self.strength}, {self.studies} {'study' if self.studies == 1 else 'studies'}"

    @property
    def new_quotes(self) -> tuple[Quote, ...]:
        """The quotes whose words differ from the claim's."""
        return tuple(quote for quote in self.quotes if not quote.same)


Paragraph = tuple[ClaimView, ...]


def quotes_once(paragraph: Paragraph) -> list[Quote]:
    """The quotes of a paragraph whose words differ from their claim's, each once."""
    once: dict[tuple[int, str], Quote] = {}
    for claim in paragraph:
        for quote in claim.new_quotes:
            once.setdefault((quote.number, quote.text), quote)
    return list(once.values())


@dataclass(frozen=True, slots=True)
class PassageView:
    """A passage of one work, quoted and not judged."""

    anchor: str
    number: int
    title: str
    """Of the work."""
    about: str
    """`Doe 2020, cohort study`."""
    url: str | None
    """Its place in the work, else the work."""
    before: str
    quotes: tuple[Quote, ...]
    after: str
    mentions: str
    """Names and words of the question that the work mentions; empty where none is known."""
    lacks: str

    @property
    def text(self) -> str:
        """The quotes as one text."""
        return " \u2026 ".join(quote.text for quote in self.quotes)


@dataclass(frozen=True, slots=True)
class RelatedView:
    """Passages of works that lack the same of what the question names."""

    title: str
    """`Related, without mention of frost`."""
    passages: tuple[PassageView, ...]


@dataclass(frozen=True, slots=True)
class SectionView:
    anchor: str
    title: str
    question: str
    """Empty where the report's or the section's title says it."""
    lead: str
    answer: Paragraph
    paragraphs: tuple[Paragraph, ...]
    """Empty without a model: the passages are shown instead."""
    passages: tuple[PassageView, ...]
    related: tuple[RelatedView, ...]

    @property
    def claims(self) -> tuple[ClaimView, ...]:
        return (*self.answer, *(claim for paragraph in self.paragraphs for claim in paragraph))


@dataclass(frozen=True, slots=True)
class LineView:
    """One statement on a candidate's page, with its source."""

    text: str
    quote: str
    """Empty where the text is the quote."""
    source: str
    """The source's title; empty where a reference is cited."""
    url: str | None
    number: int
    """Of the reference; 0 for a record that is none."""

    @property
    def where(self) -> str:
        """The source as plain text: `[3]` or `openFDA`."""
        return f"[{self.number}]" if self.number else self.source


@dataclass(frozen=True, slots=True)
class FieldView:
    label: str
    lines: tuple[LineView, ...]
    missing: str
    """Why there is no line; empty when there is one."""


@dataclass(frozen=True, slots=True)
class CandidateView:
    anchor: str
    title: str
    cells: tuple[str, ...]
    """Under `View.candidate_head`, the sources last."""
    cites: tuple[Cite, ...]
    quotes: tuple[Quote, ...]
    fields: tuple[FieldView, ...]
    quality: tuple[str, ...]
    """Grade of the evidence, then what it follows from; empty without a model."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table of works."""

    text: str = ""
    anchor: str = ""
    """Of the sentence that it is from; empty where it is from no sentence."""
    rank: str = ""
    """What the table is sorted by, where that is not the text."""


@dataclass(frozen=True, slots=True)
class WorksTable:
    """Works in rows."""

    title: str
    note: str
    head: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    places: tuple[Quote, ...] = ()
    """The sentences that fields are from."""

    @property
    def texts(self) -> list[list[str]]:
        """The rows as plain text."""
        return [[cell.text for cell in row] for row in self.rows]


@dataclass(frozen=True, slots=True)
class Link:
    text: str
    url: str | None


@dataclass(frozen=True, slots=True)
class Badge:
    text: str
    alarming: bool


@dataclass(frozen=True, slots=True)
class ReferenceView:
    number: int
    anchor: str
    authors: str
    title: str
    url: str | None
    place: str
    links: tuple[Link, ...]
    badges: tuple[Badge, ...]
    same_study: tuple[int, ...]
    """Other references that report the same study."""

    @property
    def notes(self) -> str:
        """The badges in one line."""
        return "; ".join(badge.text for badge in self.badges)


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a figure."""

    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Flow:
    """The boxes of a PRISMA 2020 flow diagram, as far as they apply to an automatic search."""

    identified: int
    sources: tuple[Bar, ...]
    """Records kept, by source."""
    duplicates: int
    screened: int
    excluded: int
    included: int
    """Works cited."""
    studies: int
    failed: int
    """Searches without an answer."""


@dataclass(frozen=True, slots=True)
class View:
    """The whole report, in the order of the page."""

    title: str
    kicker: str
    """What kind of report, and of when."""
    question: str
    """Empty where the title says it."""
    continues: str
    """Which earlier question it continues; empty for none."""
    draft: bool
    notice: str
    """That no language model has read this; empty where one has."""
    answer: Paragraph
    balance: str
    """How many works are on each side, by strength; empty where nothing has two sides."""
    summary: Paragraph
    """The editor's summary, as prose."""
    points: Paragraph
    """In place of an answer and a summary: the first claims."""
    summary_text: tuple[str, ...]
    """Why there is no answer."""
    reservations: tuple[str, ...]
    confidence: str
    confidence_reasons: tuple[str, ...]
    verified: str
    mechanism: Paragraph
    sections: tuple[SectionView, ...]
    candidate_head: tuple[str, ...]
    """Columns of the table of candidates in which something was found."""
    candidates: tuple[CandidateView, ...]
    candidate_note: str
    works: WorksTable
    judgements: WorksTable
    contradictions: tuple[tuple[ClaimView, ClaimView], ...]
    gaps: tuple[str, ...]
    limitations: tuple[str, ...]
    flow: Flow
    flow_text: str
    years: tuple[Bar, ...]
    strengths: tuple[Bar, ...]
    checks: tuple[tuple[str, str], ...]
    spent: str
    searches: tuple[tuple[str, ...], ...]
    decisions: tuple[str, ...]
    run_line: str
    refused: tuple[tuple[str, ...], ...]
    """Under `REFUSED_HEAD`."""
    references: tuple[ReferenceView, ...]

    @property
    def tables(self) -> tuple[WorksTable, ...]:
        """The tables of works that have rows."""
        return tuple(table for table in (self.works, self.judgements) if table.rows)
