"""The contracts between packages: everything that crosses a boundary is one of these frozen models.

They are imported by workflow code as passed-through modules, so nothing here may read a clock, draw a random
number or perform I/O. Bodies of documents are never passed along: an `EvidenceRef` names the blob in the
evidence store.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from activities.contracts.bounds import Matches, Money, Storable, Tokens, Year
from activities.contracts.stop_reasons import StopReason as StopReason
from activities.plugins import points

EvidenceType = Literal[
    "meta_analysis",
    "systematic_review",
    "randomized_trial",
    "clinical_trial",
    "observational",
    "case_report",
    "review",
    "guideline",
    "preclinical",
    "article",
    "preprint",
    "trial_registration",
    "drug_label",
    "regulatory",
    "adverse_events",
    "database_record",
    "knowledge_graph",
    "web_page",
    "document",
]
SourceKind = Literal["peer_reviewed", "trials", "preprints", "other"]
"""What counts are made by: published works, registrations of trials, preprints, and what is none of these."""
NOT_PEER_REVIEWED: Mapping[EvidenceType, SourceKind] = {
    "trial_registration": "trials",
    "preprint": "preprints",
    **dict.fromkeys(("drug_label", "regulatory", "adverse_events", "database_record"), "other"),
    **dict.fromkeys(("knowledge_graph", "web_page", "document"), "other"),
}
"""The kinds of evidence that did not appear in a journal, with what they are counted as."""
UNSPECIFIC: frozenset[EvidenceType] = frozenset({"article", "document", "web_page"})
"""Types that say nothing of how a work was done."""
NOT_STUDIES: frozenset[EvidenceType] = frozenset(
    {"drug_label", "regulatory", "adverse_events", "trial_registration", "database_record", "knowledge_graph"}
)
"""Kinds that are no study, whatever they speak of; `Purpose` above a part of them is no aim."""


def kind_of_source(evidence_type: EvidenceType) -> SourceKind:
    return NOT_PEER_REVIEWED.get(evidence_type, "peer_reviewed")


Standing = Literal["none", "retracted", "concern", "corrected", "unknown"]
SearchStatus = Literal["ok", "empty", "rate_limited", "unavailable", "malformed", "refused"]
Grade = Literal["strong", "moderate", "weak"]
BuiltInMode = Literal["simple", "iterative", "deep", "graph", "team", "hierarchical"]
Mode = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
"""The name of a mode: a built-in one or one that an installed package adds (`mode_names`)."""
MODE_ALIASES: Mapping[str, Mode] = {"advanced": "team", "magentic": "team"}
"""Other names that a mode may be written by; `workflows.modes` lists them with their modes."""


def mode_names() -> tuple[str, ...]:
    """Every mode that can be named, those of installed packages included; nothing is loaded."""
    return (*get_args(BuiltInMode), *(point.name for point in points("determinator.modes")))


Length = Literal["brief", "standard", "full"]
"""How much of a report is printed: the answer, what is open and its works; the report; all that is known."""
ApprovalGate = Literal["plan", "candidates", "report"]
Gate = Literal["clarification", ApprovalGate]
Clarify = Literal["ask", "assume", "off"]
"""Whether a model may ask back before a run: a person answers, its assumptions hold, or it is not asked."""


class Frozen(BaseModel):
    """Base of every model that crosses a boundary.

    Unknown fields are ignored so that an older worker can read what a newer one wrote.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    def model_copy(self, *, update: Mapping[str, object] | None = None, deep: bool = False) -> Self:
        """Return a copy with other values.

        Raises TypeError for a name that is no field: pydantic would keep it.
        """
        if unknown_names := sorted(set(update or ()) - self._own_names()):
            raise TypeError(f"{type(self).__name__} has no {', '.join(unknown_names)}")
        return super().model_copy(update=update, deep=deep)

    def replace(self, **changes: object) -> Self:
        """Return the same by keyword, as `dataclasses.replace`."""
        return self.model_copy(update=changes)

    def _own_names(self) -> set[str]:
        """Return the names of the values that it may have."""
        return set(type(self).model_fields)


def fields_of(kind: type[Frozen], item: Frozen) -> dict[str, Any]:
    """Return the values of an item that a base of its model declares, for another model of that base."""
    return {name: getattr(item, name) for name in kind.model_fields}


class Compact(Frozen):
    """A model that workflows and steps send each other in every round.

    It travels without fields that have their defaults (`activities.payloads`), since a history keeps all that
    was sent.
    """


Value = int | float | str | tuple[str, ...]
MODEL_REFUSED = "model_refused"
"""Code of the statement that a model's server refused all work: its key, its account, the model's name."""
MODEL_SILENT = "model_did_not_answer"
"""Code of the statement that a model gave a step no answer."""


class Statement(Frozen):
    """A sentence as data: a code and its values. `activities.report.formats.statements` words it.

    Limitations, reasons and notes are statements from where they arise to where they are printed, so that no
    code has to parse a sentence. An unknown code is printed with its values: a newer worker may write it.
    """

    code: str
    values: dict[str, Value] = Field(default_factory=dict)

    @classmethod
    def of(cls, code: str, **values: Value) -> Self:
        return cls(code=code, values=values)

    def __hash__(self) -> int:
        return hash((self.code, tuple(sorted(self.values.items(), key=lambda pair: pair[0]))))

    def text(self, name: str) -> str:
        """Return a value as text; empty when it is missing."""
        value = self.values.get(name, "")
        return ", ".join(value) if isinstance(value, tuple) else str(value)

    def number(self, name: str) -> int:
        """Return a whole number; 0 when it is missing."""
        value = self.values.get(name, 0)
        return int(value) if isinstance(value, int | float) else 0

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; empty when it is missing."""
        value = self.values.get(name, ())
        return value if isinstance(value, tuple) else (str(value),)


class Identifiers(Frozen):
    """The names one work goes by.

    Each is stored in its canonical spelling (see `activities.contracts.identifiers`).
    """

    pmid: str | None = None
    pmcid: str | None = None
    """With its prefix, as in `PMC6329583`."""
    doi: str | None = None
    """Lower case, without a resolver's address."""
    nct: str | None = None
    arxiv: str | None = None
    """Without a version suffix."""
    openalex: str | None = None
    s2: str | None = None
    """Semantic Scholar paper id."""
    fda: str | None = None
    """FDA application number, label set id or safety report id."""
    url: str | None = None
    """Normalised address; the last resort."""

    def items_in_order(self) -> Iterator[tuple[str, str]]:
        """Yield the identifiers that are set, that which names the work best first, as they are declared."""
        yield from ((name, value) for name, value in self if value)


class Provenance(Frozen):
    """Who found a record, and with which query."""

    source: str
    query: str


NoticeKind = Literal["retraction", "concern", "correction", "withdrawal", "reinstatement"]


class StandingNotice(Frozen):
    """A notice that affects whether a work may be cited."""

    kind: NoticeKind
    date: str | None = None
    """ISO date as far as the source knows it."""
    doi: str | None = None
    """The notice's own DOI, never the work's."""
    pmid: str | None = None
    reported_by: str = ""


class Work(Frozen):
    """What every shape of a work has."""

    evidence_id: str
    source: str
    title: str
    year: Year = None
    identifiers: Identifiers = Identifiers()
    url: str | None = None
    evidence_type: EvidenceType = "article"
    standing: Standing = "unknown"
    full_text: bool = False
    """False when only the abstract (or a summary) was seen."""


class Evidence(Work):
    """One document as a source gave it. Kept in the evidence store; only its `EvidenceRef` is passed on."""

    text: str
    """What may be quoted: the abstract, label section, registration or full text. Neither the title nor a
    citation line is part of it."""
    authors: tuple[str, ...] = ()
    venue: str | None = None
    notices: tuple[StandingNotice, ...] = ()
    language: str = ""
    """ISO 639-1 code of the language of `text`; empty where it is too short to tell."""
    facts: dict[str, str] = Field(default_factory=dict)
    """Source-specific facts worth showing: phase, overall status, sponsor, MeSH terms, sample size ..."""
    provenance: tuple[Provenance, ...] = ()
    pages: tuple[int, ...] = ()
    """Where in `text` each page of a document, or each part of a recording, begins, in order; empty where
    neither is known."""
    times: tuple[float, ...] = ()
    """Seconds at which each part of `pages` of a recording begins; empty for every other document."""


NO_ABSTRACT = "no_abstract"
"""The fact of a record whose text is its title."""
FULL_TEXT_FROM = "full_text_from"
"""The fact that says where the full text of a work was read that its source gave as an abstract."""


class EvidenceRef(Work):
    """A small pointer to a stored `Evidence`, whose title it cuts to 300 characters: what workflows hold."""

    blob: str
    """Key of the body in the evidence store."""
    chars: int = 0
    fingerprint: str = ""
    """Digest of the normalised title and year: the same work under two records."""
    first_author: str = ""
    """The plain names of its first author; empty where none is known."""
    figures: str = ""
    """Digest of the numbers in its text (`activities.contracts.identifiers.figures`)."""
    sections: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    """`source: query` of each search that found it, at most eight."""
    from_run: str = ""
    """Id of the earlier run it was imported from; empty for what this run found itself."""

    def bare(self) -> Self:
        """Return the same without its history: all that a step needs which reads the text from the store."""
        return self.replace(queries=(), sections=(), fingerprint="", first_author="", figures="", url=None)


class Filters(Frozen):
    """What a search may be narrowed by. A source applies those it supports and ignores the others."""

    year_from: int | None = None
    year_to: int | None = None
    publication_types: tuple[str, ...] = ()
    """Evidence types (`review`, `randomized_trial`), or types of a source's own vocabulary."""
    free_full_text: bool = False
    """Only works whose full text is free to read, where the source knows it."""
    phases: tuple[str, ...] = ()
    """Phases of a trial, such as `PHASE2`."""
    options: dict[str, str] = Field(default_factory=dict)
    """Source-specific switches, such as `trial_status` or `library` (a folder)."""


class Query(Frozen):
    """One search as it is to be sent. The text is kept as typed: no lower-casing, no term rewriting."""

    text: str
    limit: int = Field(default=10, ge=1, le=200)
    filters: Filters = Filters()
    titles: bool = False
    """A record without a text is kept, with its title as its text and the fact `NO_ABSTRACT`."""


SearchKind = Literal["database", "register", "other"]
"""Ways of finding works that PRISMA 2020 tells apart: databases, registers of studies, other methods."""


class SourceInfo(Frozen):
    name: str
    title: Storable
    covers: Storable
    """One sentence for the tool selector and for `determinator sources`."""
    needs_key: bool = False
    key_setting: str | None = None
    """Environment variable that holds the key."""
    how_to_enable: Storable = ""
    rate: Storable = "unlimited"
    rate_per_second: float | None = None
    """Requests a second allowed to one fleet; None when the API names no limit."""
    queue: str | None = None
    """Task queue of its own for a strictly limited API; None for the general queue."""
    domains: tuple[str, ...] = ("general",)
    """Some of `biomedical`, `clinical`, `regulatory`, `general`, `web`, `local`."""
    role: Literal["search", "lookup"] = "search"
    """`lookup` sources answer by identifier and are never selected for a query."""
    kind: SearchKind = "database"


class SourceOption(Frozen):
    """A source as one worker sees it."""

    info: SourceInfo
    enabled: bool
    reason: Storable = ""
    """Why it is not enabled, and how to enable it."""
    fault: Literal["", "unreachable", "not_loaded"] = ""
    """Set where it is not a person's choice that it is not enabled."""

    @property
    def searchable(self) -> bool:
        return self.enabled and self.info.role == "search"


ANSWERED: frozenset[SearchStatus] = frozenset({"ok", "empty"})
"""Statuses of a search that was answered: it needs no repetition, and an empty result means that nothing
matches."""


class AbsentWord(Frozen):
    """A word of the question that occurs literally in none of some documents."""

    word: str
    """As typed."""
    instead: tuple[str, ...] = ()
    """Other names of it, by the vocabularies, that do occur."""
    decides: bool = False
    """It is the rarest name of the question, and no other name of it occurs."""


class SearchEnd(Frozen):
    """How one search ended."""

    source: str
    query: str
    """As it was sent."""
    status: SearchStatus
    hits: Matches = 0
    """What the source says it has."""
    listed: int = 0
    """Results that were found and, in that round, not read: others were nearer to the question."""
    set_aside: int = 0
    """Records of the answer that could not be read."""
    absent: tuple[AbsentWord, ...] = ()
    """Words of the query that no document of a folder has, the rarest first."""
    documents: int = 0
    """Documents of that folder."""
    seconds: float = 0.0
    attempts: int = 1
    detail: str = ""


class SearchRecord(SearchEnd):
    """A row of the search ledger: one search and its true outcome."""

    asked: str = ""
    """As it was selected; what a repetition is recognised by."""
    kept: int = 0
    """Records that entered the store from this search."""
    gap: str = ""
    """What the search is to close; for the test of a hypothesis, the test."""
    tests_hypothesis: bool = False
    section: str = ""
    iteration: int = 0


class Usage(Frozen):
    """What model calls consumed, as the provider reported it. Adds up with `+`."""

    calls: Tokens = 0
    input_tokens: Tokens = 0
    """Includes cached tokens."""
    cached_tokens: Tokens = 0
    output_tokens: Tokens = 0
    """Includes reasoning tokens."""
    reasoning_tokens: Tokens = 0
    cost_microusd: Money | None = 0
    """Millionths of a US dollar; None once any call had no known price."""
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """From requests to their last word, added up; what came from the store of answers took none."""

    @property
    def tokens(self) -> int:
        """Tokens that count against the budget."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        cost = (
            None
            if self.cost_microusd is None or other.cost_microusd is None
            else self.cost_microusd + other.cost_microusd
        )
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cost_microusd=cost,
            seconds=round(self.seconds + other.seconds, 3),
        )


class Support(Frozen):
    """A verbatim quote and the one item it is from."""

    evidence_id: str
    quote: str


ClaimKind = Literal["finding", "synthesis", "computed", "inference", "background"]
"""The kind of a sentence: a finding of the work it quotes; one that rests on several; a figure that follows
from quoted numbers; what follows from the sentences around it, or what no work has, and quotes nothing."""
StandsBy = Literal["quote", "computation", "reader"]
"""Who let a sentence stand: code, as it is its quote; or a second reader, whom code asked. `computation` is
in reports of earlier versions."""


class Vigilance(Frozen):
    """How well a second reader read, by control sentences whose truth code knows. Adds up with `+`."""

    planted: int = 0
    """Errors that were planted, and that it gave a verdict on."""
    noticed: int = 0
    """Those of them that it did not confirm."""
    true: int = 0
    """True sentences among them."""
    refused: int = 0
    """Those of them that it did not confirm."""

    @property
    def missed(self) -> int:
        return self.planted - self.noticed

    @property
    def is_believed(self) -> bool:
        """Whether what the reader confirms counts: it let less than a third of the errors pass."""
        return 3 * self.missed < self.planted or not self.planted

    def __add__(self, other: "Vigilance") -> "Vigilance":
        return Vigilance(
            **{name: getattr(self, name) + getattr(other, name) for name in Vigilance.model_fields}
        )


class CiteMark(Frozen):
    """A place within a sentence at which works are cited."""

    at: int
    """Characters of the sentence before it; of an item with a lead, those behind the lead."""
    works: tuple[str, ...]


STOPS = ".\u3002\u0964\u06d4"
"""Full stops of several scripts."""
Stress = Literal["strong", "em", "code"]


class Emphasis(Frozen):
    """Words of a sentence that its writer stressed or set as code."""

    words: str
    at: int
    """Characters before them; of an item with a lead, those behind the lead."""
    style: Stress
    field: int = 0
    """The number of their field in a row, from 0."""

    @property
    def end(self) -> int:
        return self.at + len(self.words)


class Sentence(Frozen):
    """A sentence with what supports it. One on several works has a support for each."""

    id: str = ""
    """Given once it is written, and never changed: `s1.2` in a section, `s1.a1` in its answer; `a1` and `m1`
    in the answer and mechanism of the report."""
    text: str
    """All that it says; of a row of a table `heading: field; heading: field`, of a sentence with a lead
    `lead: words`."""
    cells: tuple[tuple[str, str], ...] = ()
    """Headings and fields of a row; one pair, of its lead and its words, for a sentence with a lead."""
    item: bool = False
    """It stands in an item of a list, which it begins where `begins` says so."""
    number: int = 0
    """The number of its item; 0 in a list without numbers."""
    level: int = 0
    """In how many other items its item lies."""
    support: tuple[Support, ...] = ()
    stands_by: StandsBy = "quote"
    marks: tuple[CiteMark, ...] = ()
    """Where it cites which of its works, in order; a work without a mark is cited at its end."""
    emphasis: tuple[Emphasis, ...] = ()
    """Words that its writer stressed within it, maybe twice, as `***both***`."""
    computed: tuple[str, ...] = ()
    """The computations that its writer shows and code checked: `43 + 12 = 55`."""
    leans: bool = False
    """It cannot be read without the sentence before it in its paragraph: with that one it falls."""
    strong: bool = False
    """Its writer stressed the whole of it: it is in bold print."""
    begins: bool = False
    """It begins another paragraph of the answer or of a letter, or an item."""
    letter: bool = False
    """It stands in a text that leaves the report: its citations are printed below, not within."""
    line: bool = False
    """It begins another line of its paragraph of such a text: of an address, of a signature."""

    @property
    def is_row(self) -> bool:
        return len(self.cells) > 1

    @property
    def lead(self) -> str:
        """Return the words in front of it, in bold print; empty without any."""
        return self.cells[0][0] if len(self.cells) == 1 else ""

    @property
    def body(self) -> str:
        """Return what it says behind its lead."""
        return self.cells[0][1] if len(self.cells) == 1 else self.text

    def emphasis_in(self, text: str, at: int = 0, field: int = 0) -> tuple[Emphasis, ...]:
        """Return the emphasis of a part of it that begins at a character, as far as its words stand there."""
        own = (e for e in self.emphasis if e.field == field and not (self.strong and e.style == "strong"))
        moved = (e.replace(at=e.at - at, field=0) for e in own if e.at >= at)
        return tuple(e for e in moved if text.startswith(e.words, e.at))

    def worded(self, text: str, fields: Sequence[str] = ()) -> Self:
        """Return it in other words, in its shape; as it is where these do not fill its row."""
        if self.is_row:
            if len(fields) != len(self.cells):
                return self
            pairs = ((head, field) for (head, _), field in zip(self.cells, fields, strict=True))
            return self.shaped(pairs).stressed_as(self)
        if self.cells:
            text = text.removeprefix(self.text.removesuffix(self.body))
            return self.shaped([(self.lead, text)]).replace(marks=()).stressed_as(self)
        return self.replace(text=text, marks=()).stressed_as(self)

    def stressed_as(self, other: "Sentence") -> Self:
        """Return it with the emphasis of another one, as far as its words stand once in this one."""
        fields, kept = [field for _, field in self.cells] or [self.text], list[Emphasis]()
        for emphasis in other.emphasis:
            text, words = f" {fields[emphasis.field]} ", emphasis.words
            before, found, after = text.partition(words)
            is_within_word = before[-1:].isalnum() or after[:1].isalnum()
            if found and words not in after and not is_within_word:
                kept.append(emphasis.replace(at=len(before) - 1))
        return self.replace(emphasis=tuple(kept))

    def shaped(self, cells: Iterable[tuple[str, str]]) -> Self:
        """Return it as a row or an item of these fields."""
        pairs = tuple(cells)
        if len(pairs) == 1:  # a lead that is a sentence is one in print
            ((lead, body),) = pairs
            return self.replace(cells=pairs, text=f"{lead.rstrip(STOPS)}: {body}" if lead else body)
        text = "; ".join(f"{head}: {field}" if head else field for head, field in pairs if field)
        return self.replace(cells=pairs, text=text)


class Claim(Sentence):
    """One sentence of a report."""

    id: str
    strength: Grade | None = None
    """The grade of its best evidence; None until the report is assembled."""
    quoted: bool = False
    """Whether the text is the quote itself: chosen without a model, or in the place of a refused wording."""
    rests_on: tuple[str, ...] = ()
    """Ids of the claims that it restates, for a sentence of the answer, the summary or the mechanism."""
    kind: ClaimKind = "finding"


UNPLANNED = "Findings"
"""Title of the one section of a run without a plan."""


class ReportPlanSection(Frozen):
    """One section of a plan. The id is given by code and never changes."""

    id: str = ""
    title: str
    key_question: str
    queries: tuple[str, ...] = ()
    """The first searches of the section, as the planner words them."""
    aspect: str = ""
    """Title of the aspect of its question that it is on, by the profile; empty for all of it."""


class ReportPlan(Frozen):
    """What a deep run will do; a person may edit it before it runs."""

    report_title: str
    background_context: str = ""
    report_outline: tuple[ReportPlanSection, ...] = ()


class Price(Frozen):
    """US dollars for a million tokens; the dearest tier where a model has several."""

    input_per_million: float
    output_per_million: float
    cached_input_per_million: float | None = None


Effort = Literal["small", "normal", "large"]


class ModelChoice(Frozen):
    """Which back end and model serve one role. Never carries a secret."""

    backend: Literal["extractive", "openai"] = "extractive"
    model: str = ""
    base_url: str | None = None
    """None: the worker's own setting."""
    temperature: float | None = None
    """Sampling temperature of one step; None: the worker's setting. Not sent to a model that accepts none."""
    effort: Effort | None = None
    """How much the model is asked for (`activities.roles.allowances`); None until the worker has found it
    out."""


class Allowance(Frozen):
    """What one step may spend at most, all attempts and repairs together."""

    input_tokens: int
    output_tokens: int

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens
