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
WORK_HEAD = (
    "Work",
    "Design",
    "Year",
    "n",
    "Population",
    "Compared",
    "Outcome",
    "Finding",
    "Results",
    "Conduct",
    "Direction",
    "Strength",
    "Standing",
)
CERTAINTY_HEAD = ("Outcome", "Certainty", "Works", "Reasons")
CERTAINTY_NOTE = (
    "Certainty by outcome, computed by the domains of GRADE from what was read, mostly of abstracts; "
    "no replacement for a person's GRADE. Publication bias is not assessed."
)
CHECK_HEAD = ("Check", "Claims refused")
CANDIDATE_NOTE = (
    "Names, sources and the grade of the evidence are checked by code. A field is shown only where a cited "
    "item or a record that was looked up says it; otherwise it is not found."
)
OLD_CANDIDATE_NOTE = (
    "Names, sources and the grade of the evidence are checked by code; mechanism, indications and status are "
    "as the writer put them: read the quotes."
)
NEAR_HEAD = "Near the question"
NEAR_NOTE = "Near, not judged to answer: no claim rests on these passages. Each is word for word in its work."
LEFT_OUT = "Claims that did not pass the checks:"


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
    title: str
    text: str
    before: str
    after: str
    same: bool
    """The claim says the quote word for word, so that a format without pop-ups need not print it again."""
    page: int = 0
    """Of its document; 0: not known."""
    url: str | None = None
    """Opens the document where the quote stands."""


@dataclass(frozen=True, slots=True)
class NearView:
    """A passage that comes near to a question that nothing answers."""

    title: str
    """Of the work."""
    about: str
    """`Doe 2020; does not mention frost`."""
    url: str | None
    quote: Quote


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
    added_by_code: bool = False

    @property
    def basis(self) -> str:
        """Its support: `strong evidence, 2 independent studies`; empty in reports without grades."""
        if self.strength is None:
            return ""
        count = self.studies
        studies = "study" if count == 1 else "studies"
        return f"{self.strength} evidence, {count} independent {studies}{self._by_code}"

    @property
    def short_basis(self) -> str:
        """`strong, 2 studies`; empty in reports without grades."""
        if self.strength is None:
            return ""
        return f"{self.strength}, {self.studies} {'study' if self.studies == 1 else 'studies'}{self._by_code}"

    @property
    def _by_code(self) -> str:
        return ", added by code" if self.added_by_code else ""

    @property
    def numbers(self) -> str:
        """`[1, 3]`: the mark without PMIDs, for where a heading has them."""
        return f"[{', '.join(str(cite.number) for cite in self.cites)}]" if self.cites else ""

    def basis_beside(self, strength: Grade) -> str:
        """The support, where a heading says that one study of this strength stands below it."""
        return "" if self.studies <= 1 and self.strength == strength else self.short_basis

    @property
    def new_quotes(self) -> tuple[Quote, ...]:
        """The quotes whose words differ from the claim's."""
        return tuple(quote for quote in self.quotes if not quote.same)


@dataclass(frozen=True, slots=True)
class BriefView:
    """A sentence of the short answer."""

    text: str
    """The whole sentence, with the numbers of the references."""
    lead: str
    """What stands before the claim that it quotes; empty where it quotes none."""
    said: str
    """The quoted words."""
    claim: ClaimView | None
    alone: bool = False
    """Whether it names answers, and so is a line of its own."""


def lines(answer: tuple[BriefView, ...]) -> list[tuple[BriefView, ...]]:
    """The sentences of a short answer by line."""
    made: list[tuple[BriefView, ...]] = []
    for sentence in answer:
        if made and not sentence.alone and not made[-1][-1].alone:
            made[-1] = (*made[-1], sentence)
        else:
            made.append((sentence,))
    return made


def quotes_once(paragraph: tuple[ClaimView, ...]) -> list[Quote]:
    """The quotes of a paragraph whose words differ from their claim's, each once."""
    once: dict[tuple[int, str], Quote] = {}
    for claim in paragraph:
        for quote in claim.new_quotes:
            once.setdefault((quote.number, quote.text), quote)
    return list(once.values())


@dataclass(frozen=True, slots=True)
class WorkClaims:
    """What a brief quotes from one work in one section."""

    title: str
    """Of the work."""
    about: str
    """`Doe 2020, cohort study, n = 88, moderate evidence, PMID 1`."""
    strength: Grade
    number: int
    claims: tuple[ClaimView, ...]


@dataclass(frozen=True, slots=True)
class SectionView:
    anchor: str
    title: str
    question: str
    """Empty where the report's or the section's title says it."""
    paragraphs: tuple[tuple[ClaimView, ...], ...]
    by_work: tuple[WorkClaims, ...] = ()
    """In a brief, in place of paragraphs of prose: the same claims by the work they quote."""
    note: str = ""
    """Where the section's other claims are."""

    @property
    def claims(self) -> tuple[ClaimView, ...]:
        return tuple(claim for paragraph in self.paragraphs for claim in paragraph)


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
    """Its page; empty in reports of before candidates had pages."""
    quality: tuple[str, ...]
    """Grade of the evidence, then what it follows from."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a cell of the table of works says, with the place it was read from."""

    text: str
    anchor: str = ""
    """Of its place; empty where it was not read from the text."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the table of works."""

    readings: tuple[Reading, ...] = ()

    @property
    def text(self) -> str:
        return "; ".join(reading.text for reading in self.readings)


@dataclass(frozen=True, slots=True)
class PlaceView:
    """A sentence of a work from which fields of its row were read."""

    anchor: str
    fields: tuple[str, ...]
    pieces: tuple[tuple[str, bool], ...]
    """The sentence in runs; True for what was read."""


@dataclass(frozen=True, slots=True)
class WorkView:
    """A row of the table of works."""

    number: int
    label: str
    """`Doe 2020`."""
    title: str
    pmid: str
    design: Cell
    year: int | None
    n: int | None
    people: Cell
    """How many took part, and how many were analysed where that is another number."""
    population: Cell
    compared: Cell
    outcome: str
    """What the table is grouped by."""
    measured: Cell
    """The outcome with its place."""
    finding: str
    """Empty where a claim prints the same sentence."""
    results: Cell
    """What was found in numbers, each once: in each of two groups, computed from them, and other numbers."""
    conduct: Cell
    """What the work states of randomization, blinding, losses and the like."""
    direction: str
    strength: Grade
    standing: str
    study: int
    places: tuple[PlaceView, ...] = ()

    @property
    def columns(self) -> tuple[Cell, ...]:
        """Under `WORK_HEAD`."""
        plain = (self.finding, self.direction, self.strength, self.standing)
        finding, direction, strength, standing = (Cell((Reading(t),)) if t else Cell() for t in plain)
        return (
            Cell((Reading(f"[{self.number}] {self.label}"),)),
            self.design,
            Cell((Reading(str(self.year)),)) if self.year else Cell(),
            self.people,
            self.population,
            self.compared,
            self.measured,
            finding,
            self.results,
            self.conduct,
            direction,
            strength,
            standing,
        )

    @property
    def cells(self) -> tuple[str, ...]:
        """The columns as plain text."""
        return tuple(cell.text for cell in self.columns)


@dataclass(frozen=True, slots=True)
class WorkGroup:
    """Works that measured the same."""

    name: str
    """Empty for the only group of a table that is not grouped."""
    works: tuple[WorkView, ...]


def used_columns(works: tuple[WorkView, ...]) -> list[int]:
    """Places of the columns that say something: not empty in every row, and no standing that all share,
    since the limitations say that."""
    used = [place for place in range(len(WORK_HEAD)) if any(work.cells[place] for work in works)]
    standings = {work.standing for work in works}
    shared = len(standings) == 1 and not any(standing.isupper() for standing in standings)
    return used[:-1] if shared and used and used[-1] == len(WORK_HEAD) - 1 else used


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
    draft: bool
    answer: tuple[BriefView, ...]
    """The short answer; empty where a model wrote the report."""
    summary: tuple[ClaimView, ...]
    """The points that the short answer does not quote."""
    summary_text: tuple[str, ...]
    """Paragraphs in place of the points: why there is no answer, or the text of an older report."""
    near: tuple[NearView, ...]
    """What comes nearest where nothing answers, under `NEAR_NOTE`."""
    balance: str
    confidence: str
    confidence_reasons: tuple[str, ...]
    verified: str
    sections: tuple[SectionView, ...]
    candidate_head: tuple[str, ...]
    """Columns of the table of candidates in which something was found."""
    candidates: tuple[CandidateView, ...]
    candidate_note: str
    contradictions: tuple[tuple[ClaimView, ClaimView], ...]
    gaps: tuple[str, ...]
    limitations: tuple[str, ...]
    read_as: str
    """The parts of the question; empty where none was read."""
    flow: Flow
    flow_text: str
    years: tuple[Bar, ...]
    strengths: tuple[Bar, ...]
    works: tuple[WorkView, ...]
    work_groups: tuple[WorkGroup, ...]
    """The same rows by what was measured."""
    certainty: tuple[tuple[str, ...], ...]
    """Under `CERTAINTY_HEAD`; empty where nothing can be computed."""
    brief: bool
    """Written without a model: quotes by work rather than prose, each claim once, and the table of works
    before them."""
    checks: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]
    spent: str
    searches: tuple[tuple[str, ...], ...]
    decisions: tuple[str, ...]
    run_line: str
    references: tuple[ReferenceView, ...]
