"""The report as others read it (`report --format json`). Keys are stable; more may be added.

`executive_summary`, `markdown` and `limitations` are text for those who read the JSON alone. Code reads the
fields beside them: `answer`, `paragraphs`, `passages`, `statements`.
"""

from collections.abc import Callable, Iterator
from typing import Literal, Self

from activities.contracts.evidence import (
    Claim,
    Compact,
    EvidenceType,
    Frozen,
    Grade,
    Statement,
    Vigilance,
    Work,
)
from activities.contracts.judge import WorkJudgement
from activities.contracts.parts import ReportParts
from activities.contracts.publish import Ended, Head, Method, SecondReader, SectionStatus
from activities.contracts.write import Passage, RefusedKind

UnusedReason = Literal["retracted", "refused", "not_relevant", "not_chosen", "not_read"]
"""Why a work that was found is not cited, as far as code knows:

- `retracted`: it supports nothing;
- `refused`: it was cited, and checks refused each sentence that cites it;
- `not_relevant`: it was judged to be on another subject or merely related;
- `not_chosen`: it was judged to answer, and no writer cited it;
- `not_read`: it was neither judged nor cited.
"""


class Reference(Work):
    number: int
    authors: tuple[str, ...] = ()
    venue: str | None = None
    full_text_from: str = ""
    """Where the full text was read, for a work that its source gave as an abstract."""
    study: int = 0
    """References with the same number report the same study; 0: not known."""
    pages: tuple[int, ...] = ()
    """Pages of the document, or parts of the recording, in which its quotes begin, where they are known."""
    text_from: Literal["", "ocr", "transcript"] = ""
    """What its text was recognised from; empty for a text that was read as it is."""
    times: tuple[float, ...] = ()
    """Seconds at which each of `pages` of a recording begins."""
    from_run: str = ""
    """Id of the earlier run it was imported from; empty for what this run found itself."""
    date: str = ""
    """ISO date of a document, where its file says it."""
    date_from: str = ""
    """`header` of a message, `text`, `file_name` or `properties` of the file."""
    design: str = ""
    """The kind of study or of document, as a judge read it, else by its record."""
    n: int | None = None
    """Number of participants."""
    strength: Grade | None = None
    """By design, size and directness; None where no strength is printed."""

    @property
    def in_registers(self) -> bool:
        """Whether a register could say that it was retracted: of a page without a DOI or PMID none does."""
        return self.evidence_type != "web_page" or bool(self.identifiers.doi or self.identifiers.pmid)


class UnusedWork(Frozen):
    evidence_id: str
    reason: UnusedReason
    title: str = ""


class QuoteContext(Frozen):
    """A quote with the text around it in its work."""

    evidence_id: str
    quote: str
    before: str = ""
    after: str = ""
    """With the space between them and the quote, where there is one."""
    language: str = ""
    """ISO 639-1 code of the language of its work, where it is not that of the report."""
    translation: str = ""
    """The quote in the language of the report, written by the model and confirmed by the second reader; empty
    where there is none."""
    page: int = 0
    """On which page of its document the quote begins, from 1; 0: not known."""


class QuotedPassage(Passage):
    """Sentences of one work with the number of its reference."""

    number: int = 0


class ReportSection(Frozen):
    id: str
    title: str
    key_question: str
    answer: tuple[Claim, ...] = ()
    """The direct answer to the key question, in a report of several sections."""
    markdown: str
    status: SectionStatus
    claims: tuple[Claim, ...] = ()
    """Without a model: its passages, each quote a claim."""
    paragraphs: tuple[tuple[str, ...], ...] = ()
    """Ids of the claims, by paragraph, list or table (`cells` of its claims)."""
    headings: tuple[str, ...] = ()
    """The heading above each of `paragraphs`; empty for one without."""
    passages: tuple[QuotedPassage, ...] = ()
    """Without a model: the passages nearest to the question, best first."""
    empty_because: Statement | None = None

    def changed(self, change: Callable[[Claim], Claim]) -> Self:
        return self.replace(answer=tuple(map(change, self.answer)), claims=tuple(map(change, self.claims)))


class JudgedWork(WorkJudgement):
    """A judgement with the name of its work. What the checks refused of it is empty."""

    title: str = ""
    year: int | None = None
    evidence_type: EvidenceType | None = None
    """None where the work was not at hand when the report was made: then nothing of it is quoted."""


class Dropped(Frozen):
    """Something that was written and that a check refused or the editor removed."""

    text: str
    reason: str
    """The end of a sentence: `its quote is not in the text of the item it cites`."""
    kind: RefusedKind = "claim"
    section: str = ""
    """Id of its section; empty for the report as a whole."""
    evidence_ids: tuple[str, ...] = ()
    statement: Statement


class Verification(Frozen):
    """What the checks found, counted before anything is merged for display."""

    claims: int = 0
    verified: int = 0
    """Those that stand, the quotes in the place of refused ones included."""
    replaced: int = 0
    """Quotes that are printed in the place of refused sentences."""
    by_quote: int = 0
    """Sentences that stand since they are in the words of their quote, and the quotes in place of others."""
    by_reader: int = 0
    """Sentences that stand since a second reader said so."""
    computed: int = 0
    """Sentences whose figures code computed from quoted numbers."""
    fell: int = 0
    """Sentences that were refused, also where a quote is printed in their place."""
    reader: SecondReader = ""
    vigilance: Vigilance = Vigilance()
    """How well it read, by the control sentences among those that it was asked about."""
    unread: int = 0
    """Sentences that no second reader has read, since none answered; they are among `fell`."""
    dropped: tuple[Dropped, ...] = ()


class Methodology(Method):
    tokens: int = 0
    model_calls: int = 0
    cost_usd: float | None = None
    """None when a price was not known."""


class Report(Head, ReportParts):
    answer: tuple[Claim, ...] = ()
    """The direct answer, in the model's order; empty without a model."""
    executive_summary: str
    mechanism: tuple[Claim, ...] = ()
    """The mechanism of the disease, where the profile asks for it."""
    sections: tuple[ReportSection, ...]
    references: tuple[Reference, ...] = ()
    judgements: tuple[JudgedWork, ...] = ()
    methodology: Methodology = Methodology()
    verification: Verification = Verification()
    limitations: tuple[str, ...] = ()
    statements: tuple[Statement, ...] = ()
    """The limitations as data, in the order of `limitations`."""
    unanswered: Statement | None = None
    """Why no claim and no passage stands; None when one does."""
    contexts: tuple[QuoteContext, ...] = ()
    unused: tuple[UnusedWork, ...] = ()
    """Works that were found and are not cited, by reason; empty where not recorded."""
    made_from: str = ""
    """Key of the blob of what it was published from: a later version publishes that again."""
    made_with: str = ""
    """Version of Determinator that wrote its fixed sentences; empty where not recorded."""

    def claims(self) -> Iterator[Claim]:
        for section in self.sections:
            yield from section.claims

    def sentences(self) -> Iterator[Claim]:
        """Everything that is stated with a quote, in the order of the page."""
        yield from self.answer
        yield from self.mechanism
        for section in self.sections:
            yield from section.answer
            yield from section.claims

    def changed(self, change: Callable[[Claim], Claim]) -> Self:
        return self.replace(
            answer=tuple(map(change, self.answer)),
            mechanism=tuple(map(change, self.mechanism)),
            sections=tuple(section.changed(change) for section in self.sections),
        )


MAX_SUMMARY_CHARS = 8_000


class Published(Compact, Ended):
    """The result of the publishing activity: where the report is, and what the workflow decides and shows."""

    blob: str
    mode: str = ""
    written_by: Literal["model", "extractive"]
    confidence: float | None = None
