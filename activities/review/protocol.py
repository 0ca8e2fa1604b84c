"""The protocol of a systematic review: what is asked, searched, screened, extracted and pooled.

A person writes it as TOML (`read_protocol`), and it is approved before anything is searched. A change is a
new version with its date, name and reason (`amendment`).
"""

import tomllib
from pathlib import Path, PurePath
from typing import Annotated, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from activities.configuration.declaration import nearest
from activities.configuration.wording import in_words, keys_of
from activities.contracts.effects import Measure
from activities.contracts.errors import DeterminatorError
from activities.contracts.evidence import Frozen, SearchKind
from activities.messages import N_, _, code_of
from activities.text.language import language_of_question

MAX_BYTES = 256 * 1024
"""A protocol is a few pages of text."""
MAX_CRITERIA = 40

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,39}$")]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
"""A person, as they sign in on the page, or a screener."""
Language = Annotated[str, AfterValidator(lambda text: code_of(text) if text else "")]
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]


class ProtocolError(DeterminatorError):
    """A protocol cannot be used; the message is one line that names the key and how to mend it."""


class ReviewQuestion(Frozen):
    population: Line
    intervention: Line
    comparator: str = ""
    outcomes: tuple[Line, ...] = ()
    designs: tuple[Line, ...] = ()
    """Designs of studies that count, such as `randomised controlled trial`."""

    def text(self) -> str:
        """Return the question as one paragraph, as models and rankers read it."""
        parts = {
            N_("Population"): self.population,
            N_("Intervention"): self.intervention,
            N_("Comparator"): self.comparator,
            N_("Outcomes"): ", ".join(self.outcomes),
            N_("Designs"): ", ".join(self.designs),
        }
        return ". ".join(f"{_(name)}: {text}" for name, text in parts.items() if text)


class Criterion(Frozen):
    id: Id
    text: Line
    kind: Literal["include", "exclude"] = "include"
    """`include`: a work has to meet it; `exclude`: one that meets it is left out."""


class Columns(Frozen):
    """The headings that the tables of records have for the fields of a record, where they are others."""

    title: str = ""
    abstract: str = ""
    authors: str = ""
    year: str = ""
    journal: str = ""
    keywords: str = ""
    doi: str = ""
    pmid: str = ""


class SourceQuery(Frozen):
    source: Id
    query: Line
    limit: int = Field(default=200, ge=1, le=200)
    """Records that are taken of its answer at most; a source that has more is said to have more."""


class FileSearch(Frozen):
    """The search in another database whose results a file has, as PRISMA-S asks for it."""

    database: str = ""
    """The database and its platform: `Embase (Ovid)`."""
    query: str = ""
    """The whole strategy, with its limits, as it was run."""
    date: str = Field(default="", pattern=r"^(\d{4}-\d{2}-\d{2})?$")
    """ISO date on which it was run."""
    kind: SearchKind | Literal[""] = ""
    """Empty: a database where one is named or the file is in a format of PubMed's, else another method."""


PUBMED_XML, MEDLINE = OF_PUBMED = (".xml", ".nbib")
"""Endings of files that only PubMed writes."""


class Screener(Frozen):
    name: Name
    kind: Literal["model", "person"] = "person"
    model: str = ""
    """The model's name; empty for the one that the settings name."""


class Calibration(Frozen):
    """The records that a person labels blind, from which the accuracy of the screeners is stated."""

    half_width: float = Field(default=0.1, ge=0.02, le=0.5)
    """Half of the widest interval that is wanted of a share of the sample."""
    records: int | None = Field(default=None, ge=0, le=5_000)
    """The size itself, in the place of the interval; 0 for no sample."""


FieldKind = Literal["text", "number", "choice"]


class ExtractionField(Frozen):
    id: Id
    label: Line
    kind: FieldKind = "text"
    choices: tuple[Line, ...] = ()
    hint: str = ""

    @model_validator(mode="after")
    def _check_choices(self) -> Self:
        if (self.kind == "choice") != bool(self.choices):
            raise ValueError("a field of kind `choice`, and no other, needs choices")
        return self


class PooledOutcome(Frozen):
    id: Id
    label: Line
    measure: Measure | None = None
    """Scale of the pooled effect; None: that of most studies."""
    pool: bool = True


Rows = TypeVar("Rows", tuple[Criterion, ...], tuple[ExtractionField, ...], tuple[PooledOutcome, ...])


class Budgets(Frozen):
    """US dollars that a stage may spend on models; None for no limit of its own."""

    titles: float | None = Field(default=None, ge=0)
    full_texts: float | None = Field(default=None, ge=0)
    extraction: float | None = Field(default=None, ge=0)
    bias: float | None = Field(default=None, ge=0)


class Living(Frozen):
    """The schedule by which searches are made again; without it the review ends with its report."""

    every_days: int = Field(ge=1, le=3_650)


class Protocol(Frozen):
    title: Line
    question: ReviewQuestion
    criteria: tuple[Criterion, ...] = Field(min_length=1, max_length=MAX_CRITERIA)
    sources: tuple[SourceQuery, ...] = ()
    records: tuple[Line, ...] = ()
    """Files of records from other databases (RIS, BibTeX, CSV, PubMed's .nbib), beside the protocol."""
    searched: dict[str, FileSearch] = Field(default_factory=dict)
    """File of `records` -> how it was searched."""
    columns: Columns = Columns()
    screeners: tuple[Screener, ...] = (Screener(name="first"), Screener(name="second"))
    stopping: Literal["read_all", "recall"] = "recall"
    """`recall`: stop when a recall of 95 % holds with 95 % confidence, by a random sample."""
    calibration: Calibration = Calibration()
    extraction: tuple[ExtractionField, ...] = ()
    outcomes: tuple[PooledOutcome, ...] = ()
    bias: Literal["rob2", "none"] = "none"
    """`rob2`: risk of bias of randomised trials by the five domains of RoB 2."""
    budgets: Budgets = Budgets()
    living: Living | None = None
    deciders: tuple[Name, ...] = ()
    """People beside the screeners who may open the review on a page with sign-in, to label and to decide."""
    language: Language = ""
    """ISO 639-1 code of the language of the report; empty: that of the question."""
    registration: str = ""

    @field_validator("criteria", "extraction", "outcomes")
    @classmethod
    def _check_ids(cls, rows: Rows) -> Rows:
        ids = [row.id for row in rows]
        if duplicate := next((name for name in ids if ids.count(name) > 1), None):
            raise ValueError(f"the id {duplicate} stands twice")
        return rows

    @field_validator("outcomes")
    @classmethod
    def _check_labels(cls, rows: tuple[PooledOutcome, ...]) -> tuple[PooledOutcome, ...]:
        labels = [row.label for row in rows]
        if duplicate := next((name for name in labels if labels.count(name) > 1), None):
            raise ValueError(f"two outcomes are called {duplicate!r}; say at what time each was measured")
        return rows

    @field_validator("screeners")
    @classmethod
    def _check_screeners(cls, rows: tuple[Screener, ...]) -> tuple[Screener, ...]:
        if len(rows) != 2 or len({row.name for row in rows}) != 2:
            raise ValueError("name two screeners, who decide independently of each other")
        return rows

    @model_validator(mode="after")
    def _check_records(self) -> Self:
        if not self.sources and not self.records:
            raise ValueError("name [[sources]] to search, or files of `records`, or both")
        if unknown := next((name for name in self.searched if name not in self.records), None):
            raise ValueError(f"`searched` names {unknown}, which is no file of `records`")
        return self

    def text(self) -> str:
        """Return question and criteria as one text, by which records are first ordered."""
        return "\n".join((self.title, self.question.text(), *(rule.text for rule in self.criteria)))

    @property
    def report_language(self) -> str:
        return self.language or language_of_question(f"{self.title}. {self.question.population}")

    def search_of(self, origin: str) -> FileSearch:
        """Return how the records of a file were searched, as far as the protocol says it, with its kind."""
        rows = (row for name, row in self.searched.items() if PurePath(name).name == origin)
        search = next(rows, FileSearch())
        is_of_database = search.database or PurePath(origin).suffix.casefold() in OF_PUBMED
        return search.replace(kind=search.kind or ("database" if is_of_database else "other"))

    def criterion(self, name: str) -> Criterion | None:
        return next((rule for rule in self.criteria if rule.id == name), None)

    @property
    def reaches_out(self) -> bool:
        """Tell whether it searches a source of others, so that they may be asked about its works."""
        return any(source.source != "library" for source in self.sources)

    @property
    def extracts(self) -> bool:
        return bool(self.extraction or self.outcomes)

    @property
    def people(self) -> tuple[str, ...]:
        return tuple(screener.name for screener in self.screeners if screener.kind == "person")

    @property
    def models(self) -> tuple[Screener, ...]:
        return tuple(screener for screener in self.screeners if screener.kind == "model")


class Amendment(Frozen):
    """A version of the protocol after the first."""

    version: int
    at: str
    by: str
    reason: str
    keys: tuple[str, ...]
    """Keys that were changed: `criteria.E3`, `sources`, `extraction.dose`."""


def read_protocol(path: Path) -> Protocol:
    """Read a protocol file. Raises ProtocolError."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ProtocolError(f"cannot read {path}: {error.strerror or error}") from error
    if len(data) > MAX_BYTES:
        raise ProtocolError(f"{path} is over {MAX_BYTES // 1024} KiB; a protocol is a few pages of text")
    try:
        return parse_protocol(data.decode("utf-8-sig"), path.name)
    except UnicodeDecodeError as error:
        raise ProtocolError(f"{path} is not UTF-8 text") from error


def parse_protocol(text: str, name: str = "the protocol") -> Protocol:
    """Read a protocol from TOML. Raises ProtocolError with the key and the nearest right one."""
    try:
        return Protocol.model_validate(tomllib.loads(text), extra="forbid")
    except ValidationError as error:
        raise ProtocolError(f"{name}: {_first_fault(error)}") from error
    except ValueError as error:
        raise ProtocolError(f"{name} is not valid TOML: {error}") from error


def _first_fault(error: ValidationError) -> str:
    faults = error.errors(include_url=False)
    fault = min(
        faults, key=lambda problem: problem["type"] != "extra_forbidden"
    )  # a misspelt key is missing as well
    keys = [str(part) for part in fault["loc"]]
    key = ".".join(keys) or "the protocol"
    if fault["type"] == "extra_forbidden":
        return f"`{key}` is no key of a protocol{nearest(keys[-1], KEYS)}"
    if fault["type"] == "missing":
        return f"`{key}` is missing; `determinator review draft` shows a whole protocol"
    return f"`{key}`: {in_words([fault])}"


KEYS = keys_of(Protocol)


def changed_keys(before: Protocol, after: Protocol) -> tuple[str, ...]:
    """Return the keys in which two protocols differ; for what has ids, those that differ."""
    keys: list[str] = []
    for name in Protocol.model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if old == new:
            continue
        if name in ("criteria", "extraction", "outcomes"):
            old, new = ({row.id: row for row in rows} for rows in (old, new))
            rows = [f"{name}.{row}" for row in dict.fromkeys((*old, *new)) if old.get(row) != new.get(row)]
            keys += rows or [name]
        else:
            keys.append(name)
    return tuple(keys)


def amendment(before: Protocol, after: Protocol, *, version: int, at: str, by: str, reason: str) -> Amendment:
    """Make one version of a protocol the next.

    Raises ProtocolError where nothing is changed or no reason is stated.
    """
    keys = changed_keys(before, after)
    if not keys:
        raise ProtocolError("the protocol is the one in force: nothing is changed")
    if not reason.strip():
        raise ProtocolError("an amendment needs a reason")
    return Amendment(version=version, at=at, by=by, reason=reason.strip(), keys=keys)
