"""The state of a systematic review, which it carries over when it continues as new, and what it publishes.

Bodies are in the evidence store; the state holds keys, numbers and letters.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from pydantic import ConfigDict, Field

from activities.contracts.evidence import (
    Compact,
    EvidenceRef,
    Frozen,
    ModelChoice,
    Price,
    SearchKind,
    Usage,
)
from activities.review.bias import ASSESSED
from activities.review.decisions import (
    LETTERS,
    OPEN,
    SCREENED,
    Decision,
    Marks,
    ScreenedStage,
    Stage,
    latest_decisions,
)
from activities.review.protocol import Amendment, Protocol
from activities.review.results import ReviewReport

Phase = Literal["ranked", "sample", "done"]
FullText = Literal["", "got", "not_retrieved"]
TaskKind = Literal["label", "screen", "conflict", "overrule", "extract", "text", "field", "bias"]
"""`overrule` waits for nobody: a settled record that a person asks for."""
NOT_A_TRIAL = "-"
"""Stands for the key of an assessment where a person says that the study is no randomised trial."""
Unit = tuple[int, str]
"""A record, and the outcome whose risk of bias is assessed; else nothing."""


class TaskKey(NamedTuple):
    """A work, or a part of one, that a person decides on."""

    record: int
    kind: TaskKind
    stage: ScreenedStage = "titles"
    about: str = ""
    """Id of the field, or label of the outcome."""


class Sample(Frozen):
    """A random sample of the records that were left when it began, and the looks that were planned then."""

    left: int
    """Records that were not read when the sample began."""
    drawn: int = 0
    relevant: int = 0
    """Relevant ones among those drawn."""
    looks: tuple[tuple[int, int], ...] = ()
    """Size of the sample at each look, and the included ones with which it ends there."""
    passed: int = 0
    """Looks that were made."""
    start: int = 0
    """Records of an earlier sample, which found too much to show the recall."""

    @property
    def fails(self) -> bool:
        """Return True where more relevant records were drawn than any look but the last allows."""
        return len(self.looks) > 1 and self.relevant > self.looks[-2][1]


class Course(Compact):
    """The course of screening: the rule for stopping, and the records that are read now."""

    total: int
    first: int = 0
    """The first record that this screening is about; those before it were screened earlier."""
    read: int = 0
    found: int = 0
    """Included records, however they were found."""
    mistaken: int = 0
    """Included ones that screeners may be expected to have included by mistake."""
    sample: Sample | None = None
    phase: Phase = "ranked"
    recall: float | None = None
    """The recall that the review may state; None before screening ends."""
    batch: tuple[int, ...] = ()
    """In the order of reading."""
    drawn: tuple[int, ...] = ()
    """Records of the random sample so far."""
    number: int = 0
    """Of the round."""
    before: "Course | None" = None
    """The course of the screening of earlier records, where some of them, or of these, are left unread."""

    @property
    def left(self) -> int:
        return self.total - self.read

    @property
    def all_drawn(self) -> int:
        """Records of the random samples on which the recall rests: of this screening and of those before."""
        earlier = self.sample.start if self.sample else 0
        return len(self.drawn) - earlier + (self.before.all_drawn if self.before else 0)

    @property
    def until_look(self) -> int:
        """Records of the sample that are read before the next look."""
        assert self.sample is not None
        return self.sample.looks[self.sample.passed][0] - self.sample.drawn


class FileOfRecords(Frozen):
    """A file that a client has read: references to its records as lines of a blob."""

    name: str
    blob: str
    records: int = 0
    set_aside: int = 0
    """Records that could not be read."""
    titles_only: int = 0
    """Records without an abstract."""


class SearchRow(Frozen):
    """A search or a file as PRISMA-S asks it to be reported."""

    origin: str
    source: str
    query: str = ""
    at: str = ""
    status: str = "ok"
    hits: int = 0
    """Records that the source says match."""
    records: int = 0
    """Records that were taken."""
    new: int = 0
    """Of these, works that no earlier search had."""
    set_aside: int = 0
    detail: str = ""
    kind: SearchKind = "database"
    database: str = ""
    """That of a file, and the date on which it was searched."""
    date: str = ""


class ToolUse(Frozen):
    """A model as it was used, from the steps themselves."""

    stage: str
    screener: str
    model: str
    prompt: str
    calls: int = 0
    decisions: int = 0
    usage: Usage = Usage()


class MutableState(Compact):
    """A state that its workflow changes in place."""

    model_config = ConfigDict(frozen=False)


class Data(Frozen):
    """The data of a study as one of two extractors read them."""

    key: str
    version: int = 1
    """The version of the protocol by which they were read."""


Pair = tuple[Data | None, Data | None]


def of_places(data: Pair, places: Sequence[int | None]) -> Pair:
    """Return what the extractors of these places read; None: one who has read nothing."""
    first, second = (None if place is None else data[place] for place in places)
    return first, second


class StudiesState(MutableState):
    """The data of the studies and what was decided on them, by keys."""

    texts: dict[int, EvidenceRef] = Field(default_factory=dict)
    """Record -> the work with its full text."""
    extracted: dict[int, Pair] = Field(default_factory=dict)
    """Record -> what each extractor read, by the place of the screener."""
    since: dict[str, int] = Field(default_factory=dict)
    """Field -> version of the protocol by which it changed last."""
    unsettled: bool = False
    """Extractions, or decisions on fields, were not compared yet."""
    pending: dict[int, tuple[str, ...]] = Field(default_factory=dict)
    """Record -> fields on which a person has to decide."""
    silent: tuple[str, ...] = ()
    """Results that a study does not report: their risk of bias is not assessed."""
    proposed: dict[str, str] = Field(default_factory=dict)
    """`record/outcome` -> key of the answers that a model proposes on the risk of bias."""
    assessed: dict[str, str] = Field(default_factory=dict)
    """`record/outcome` -> key of the assessment of the risk of bias, or `NOT_A_TRIAL`."""
    replaced: dict[int, str] = Field(default_factory=dict)
    """Record -> time at which its full text was replaced: earlier decisions on its data are void."""

    def of(self, record: int) -> Pair:
        return self.extracted.get(record, (None, None))

    def outdated_fields(self, data: Data) -> tuple[str, ...]:
        """Return the fields that were amended since data were read."""
        return tuple(field for field, version in self.since.items() if version > data.version)


class ReviewState(MutableState):
    """Everything that a review is made of."""

    protocol: Protocol
    protocol_key: str
    amendments: list[Amendment] = Field(default_factory=list)
    touched: list[str] = Field(default_factory=list)
    """Keys of the protocol that were amended and not applied yet."""
    files: list[FileOfRecords] = Field(default_factory=list)
    models: dict[str, ModelChoice] = Field(default_factory=dict)
    """By screener."""
    queues: dict[str, str | None] = Field(default_factory=dict)
    kinds: dict[str, SearchKind] = Field(default_factory=dict)
    """Source -> whether it is a database, a register or neither."""
    prices: dict[str, Price | None] = Field(default_factory=dict)
    unpaywall: bool = False
    counted: dict[str, int] = Field(default_factory=dict)
    """Search -> records that its source says match, before it is searched."""
    estimate: str = ""
    approved_by: str = ""
    searches: list[SearchRow] = Field(default_factory=list)
    records: str = ""
    """Key of the records."""
    titles: Marks = Marks()
    full_texts: Marks = Marks()
    sample: list[int] = Field(default_factory=list)
    sampled: bool = False
    labellers: list[str] = Field(default_factory=list)
    course: Course | None = None
    orders: list[str] = Field(default_factory=list)
    """Keys of the orders of unread records, one for each round."""
    log: list[str] = Field(default_factory=list)
    loose: list[str] = Field(default_factory=list)
    """Decisions of models that are not in the log yet, by the keys of their steps."""
    pending: list[Decision] = Field(default_factory=list)
    """Decisions of people that are not in the log yet."""
    unanswered: dict[str, int] = Field(default_factory=dict)
    """`stage/place/record` -> calls in which a model did not decide on it."""
    got: dict[int, FullText] = Field(default_factory=dict)
    """Record whose full text was looked for -> what came of it."""
    studies: StudiesState = Field(default_factory=StudiesState)
    released: bool = False
    """A report was approved: from then on a conclusion that changes is told."""
    untold: str = ""
    """Why a change of conclusions could not be told."""
    tools: dict[str, ToolUse] = Field(default_factory=dict)
    spent: dict[str, int] = Field(default_factory=dict)
    """Stage -> millionths of a US dollar; a call of unknown price counts nothing."""
    changes: int = 0
    """Grows with everything that a report rests on."""
    published: int = -1
    """`changes` when the newest report was made."""
    reports: int = 0
    report: ReviewReport | None = None
    paused: bool = False
    closed: bool = False
    """A person has ended screening, so that what is open is not read."""
    report_by: str = ""
    restate: bool = False
    to_part: list[str] = Field(default_factory=list)
    """Blobs of copies that become records of their own."""
    again: int = 0
    """Decisions that amendments and overruling opened again."""
    next_search: str = ""

    @property
    def version(self) -> int:
        return 1 + len(self.amendments)

    @property
    def total(self) -> int:
        return self.titles.total

    def marks(self, stage: ScreenedStage) -> Marks:
        return self.titles if stage == "titles" else self.full_texts

    def reported_searches(self) -> list[SearchRow]:
        """Return the searches as they are reported: that of a file is what the protocol says of it."""
        return [
            row.replace(**dict(self.protocol.search_of(row.origin))) if row.source == "file" else row
            for row in self.searches
        ]

    def mark(self, stage: ScreenedStage, marks: Marks) -> None:
        if stage == "titles":
            self.titles = marks
        else:
            self.full_texts = marks

    def drop_text(self, record: int, at: str) -> None:
        """Open again what rests on the full text of a record, which another one replaces."""
        studies, prefix = self.studies, study_key(record, "")
        self.full_texts = self.full_texts.without(record)
        for rows in (studies.texts, studies.extracted, studies.pending):
            rows.pop(record, None)
        studies.silent = tuple(key for key in studies.silent if not key.startswith(prefix))
        for keys in (studies.proposed, studies.assessed):
            for key in [key for key in keys if key.startswith(prefix)]:
                del keys[key]
        for place in range(2):
            self.unanswered.pop(f"full_texts/{place}/{record}", None)
        studies.replaced[record] = at

    @property
    def is_labelling(self) -> bool:
        """Records of the sample wait for their labels."""
        return any(self.titles.labels[number] == OPEN for number in self.sample)

    def sought_records(self) -> list[int]:
        """Return the records that are included by title, whose full texts are sought."""
        return [number for number, state in enumerate(self.titles.states()) if state == "included"]

    def missing_texts(self) -> list[int]:
        """Return the records whose full texts are neither here nor given up."""
        return [number for number in self.sought_records() if not self.got.get(number)]

    def retrieved_records(self) -> list[int]:
        """Return the records whose full texts are here."""
        return [number for number in self.sought_records() if self.got.get(number) == "got"]

    def included_records(self) -> list[int]:
        """Return the records that are in the review after their full texts."""
        return [number for number in self.retrieved_records() if self.full_texts.state(number) == "included"]

    def units(self, stage: Stage) -> list[Unit]:
        """Return what is read and decided at a stage: of titles, the records of the round."""
        protocol = self.protocol
        if stage == "titles":
            return [(number, "") for number in (self.course.batch if self.course else ())]
        if stage == "full_texts":
            return [(number, "") for number in self.retrieved_records()]
        if stage == "extraction":
            return [(number, "") for number in self.included_records() if protocol.extracts]
        outcomes = [outcome.label for outcome in protocol.outcomes] or [""]
        records = self.included_records() if protocol.bias == "rob2" else []
        units = [(record, outcome) for record in records for outcome in outcomes]
        return [unit for unit in units if study_key(*unit) not in self.studies.silent]

    def unread_units(self, stage: Stage, place: int, units: Iterable[Unit]) -> list[Unit]:
        """Return the units that the screener at a place still has to read."""
        studies = self.studies
        if stage == "bias":
            units = self.undecided_units(stage, units)
            return [unit for unit in units if study_key(*unit) not in studies.proposed]
        if stage == "extraction":
            is_model = self.protocol.screeners[place].kind == "model"
            data = ((unit, studies.of(unit[0])[place]) for unit in units)
            return [unit for unit, row in data if row is None or (is_model and studies.outdated_fields(row))]
        marks = self.marks(stage)
        letters = marks.of_screener(place)
        return [unit for unit in units if letters[unit[0]] == marks.words[unit[0]] == OPEN]

    def undecided_units(self, stage: Stage, units: Iterable[Unit]) -> list[Unit]:
        """Return the units of a stage that are not settled."""
        studies = self.studies
        if stage == "bias":
            return [unit for unit in units if not self.assessment(*unit)]
        if stage == "extraction":
            return [unit for unit in units if None in studies.of(unit[0]) or studies.pending.get(unit[0])]
        return [unit for unit in units if self.marks(stage).state(unit[0]) in ("open", "conflict")]

    def assessment(self, record: int, outcome: str) -> str:
        """Return the key of the assessment of a result; `NOT_A_TRIAL` for a kind of work that is none."""
        trial = self.studies.texts[record].evidence_type in ASSESSED
        return self.studies.assessed.get(study_key(record, outcome), "" if trial else NOT_A_TRIAL)

    def tasks_of(self, by: str, order: Sequence[int] = ()) -> Iterator[TaskKey]:
        """Yield what a person decides on, in order.

        A sample that waits for labels comes first, for everybody; then, for a screener, the records of the
        round, those behind it in the stored `order`, full texts and data; for all others, conflicts. Full
        texts that are missing, fields and risks of bias come last, for everybody.
        """
        titles, place = self.titles, self.place_of(by)
        if self.is_labelling:
            yield from (TaskKey(n, "label") for n in self.sample if titles.labels[n] == OPEN)
            return
        for stage in SCREENED if place is None else ():
            states = self.marks(stage).states()
            works = self.retrieved_records() if stage == "full_texts" else range(self.total)
            yield from (TaskKey(n, "conflict", stage) for n in works if states[n] == "conflict")
        if place is not None:
            course = self.course
            numbers = dict.fromkeys((*course.batch, *order)) if course and course.phase != "done" else ()
            units = [(n, "") for n in numbers if not titles.is_labelled(n)]
            units = self.unread_units("titles", place, units)
            yield from (TaskKey(n, "screen") for n, _ in units)
            units = self.unread_units("full_texts", place, self.units("full_texts"))
            yield from (TaskKey(n, "screen", "full_texts") for n, _ in units)
            units = self.unread_units("extraction", place, self.units("extraction"))
            yield from (TaskKey(n, "extract", "full_texts") for n, _ in units)
        yield from (TaskKey(n, "text") for n in self.sought_records() if self.got.get(n) == "")
        for n in self.included_records():
            fields = self.studies.pending.get(n, ())
            yield from (TaskKey(n, "field", "full_texts", field) for field in fields)
        for n, outcome in self.undecided_units("bias", self.units("bias")):
            has_data = not self.protocol.extracts or None not in self.studies.of(n)
            if study_key(n, outcome) in self.studies.proposed if self.protocol.models else has_data:
                yield TaskKey(n, "bias", "full_texts", outcome)

    def task_counts(self) -> dict[str, int]:
        """Count the works that each person who screens has not decided on."""
        if self.is_labelling:
            return {}
        kinds, people = ("screen", "extract"), self.protocol.people
        counts = {name: sum(task.kind in kinds for task in self.tasks_of(name)) for name in people}
        return {name: count for name, count in counts.items() if count}

    def decisions_in_force(self, log: Sequence[Decision]) -> list[Decision]:
        """Return the decisions that hold: the last of each person on each part of a record.

        Those that an amendment has opened again, or that somebody has overruled, are left out.
        """
        names = [screener.name for screener in self.protocol.screeners]

        def is_in_force(decision: Decision) -> bool:
            if decision.stage not in SCREENED:
                return not self.is_void(decision)
            marks = self.marks(decision.stage)
            # that of a screener who has left stands in either row
            places = [names.index(decision.by)] if decision.by in names else [0, 1]
            rows = (marks.of_part(decision.part, place) for place in places)
            record, letter = decision.record, LETTERS.get(decision.verdict)
            return any(row[record : record + 1] == letter for row in rows)

        return list(filter(is_in_force, latest_decisions(log)))

    def is_void(self, decision: Decision) -> bool:
        """Tell whether a decision on a study rests on a full text that another one has replaced."""
        return decision.at < self.studies.replaced.get(decision.record, "")

    def place_of(self, by: str) -> int | None:
        """Return the place of a person among the screeners; None for anybody else."""
        screeners = [(screener.kind, screener.name) for screener in self.protocol.screeners]
        return screeners.index(("person", by)) if ("person", by) in screeners else None


def study_key(record: int, outcome: str) -> str:
    """Name a result of a study: its record and the label of the outcome."""
    return f"{record}/{outcome}"
