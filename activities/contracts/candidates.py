"""What is known of a candidate, and the step that looks one up in the sources."""

from typing import Literal

from pydantic import Field

from activities.contracts.evidence import Frozen, Grade, Statement, Support
from activities.contracts.parts import PartData

CandidateFieldName = Literal[
    "names",
    "mechanism",
    "targets",
    "pathways",
    "indications",
    "regulatory",
    "trials",
    "literature_for",
    "literature_against",
    "safety",
]


FieldStatus = Literal["found", "not_found", "unreachable", "not_looked_up"]
"""`unreachable`: a source that would know did not answer, so that nothing is known either way.
`not_looked_up`: no source that would know was one the run may use."""


class FieldEntry(Frozen):
    """One statement on a candidate, with its place."""

    text: str = ""
    """As the source has it, on one line."""
    code: str = ""
    """A status as data: `approved`, `TERMINATED`. `activities.report.formats.candidate_words` words it."""
    values: dict[str, str] = Field(default_factory=dict)
    """What belongs to the code: a trial's phase, an application's number."""
    source: str
    """The source's name; `quote` for an item of this run, `vocabulary` for the bundled vocabularies."""
    url: str | None = None
    evidence_id: str = ""
    """Set for an item of this run."""
    quote: str = ""
    """Verbatim in the record's text."""


class CandidateField(Frozen):
    """What is known of one field of a candidate, or why nothing is."""

    name: CandidateFieldName
    status: FieldStatus = "not_looked_up"
    entries: tuple[FieldEntry, ...] = ()
    silent: tuple[str, ...] = ()
    """Sources that would know and did not answer."""
    read: bool = False
    """Whether a model read the works that the run found for it."""


class Drug(Frozen):
    """What is said of a drug, by a hypothesis on it and by the candidate that follows from it."""

    generic_name: str = ""
    target: str = ""
    """What it acts on, and through which pathway, as the works that name it say."""
    pathway: str = ""
    current_indications: tuple[str, ...] = ()
    regulatory_status: str = ""
    """A code of `activities.candidates.fields`, or words of a writer."""
    trial_status: str = ""
    records: tuple[Support, ...] = ()
    """Quotes that say where it stands and not whether it works: of labels, approvals and registrations, and
    of works that call it approved."""
    safety: tuple[Support, ...] = ()
    """Quotes of works on its harms, or on their absence."""
    search_suggestions: tuple[str, ...] = ()
    """Searches that would test it."""


class Candidate(Drug):
    """A drug put forward for repurposing."""

    name: str
    mechanism: str = ""
    proposed_mechanism: str = ""
    evidence_quality: Grade = "weak"
    support: tuple[Support, ...] = ()
    against: tuple[Support, ...] = ()
    quality_reasons: tuple[Statement, ...] = ()
    """What the quality of the evidence follows from."""
    fields: tuple[CandidateField, ...] = ()
    """Its page: every field with its source. Empty in reports of before candidates had pages."""
    looked_up: str = ""
    """Key of what was looked up (`CandidateFindings`) in the evidence store."""

    @property
    def quotes(self) -> tuple[Support, ...]:
        """Everything that it cites."""
        quotes = (*self.support, *self.against, *self.records, *self.safety)
        return tuple(dict.fromkeys(quotes))


LOOK_UP_ATTEMPTS = 2
"""Attempts at sources that fail: a report does not wait for long for what it can do without."""


class CandidateLookUp(Frozen):
    """Look one candidate up in the sources that the run may use."""

    run_id: str
    name: str
    generic_name: str = ""
    question: str
    """The diseases it names are what trials are looked for."""
    sources: tuple[str, ...]


class CandidateFindings(Frozen):
    """What sources say about a candidate. Kept in the evidence store; only its `LookedUp` is passed on."""

    name: str
    fields: tuple[CandidateField, ...] = ()
    silent: dict[str, str] = Field(default_factory=dict)
    """Source -> why it did not answer."""


class LookedUp(Frozen):
    """A small pointer to stored `CandidateFindings`."""

    name: str
    blob: str
    found: int = 0
    """Fields with at least one entry."""
    silent: tuple[str, ...] = ()


PART = PartData[tuple[Candidate, ...], tuple[Candidate, ...]](
    "candidates", tuple[Candidate, ...], (), tuple[Candidate, ...], ()
)
