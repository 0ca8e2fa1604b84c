"""Inputs and outputs of the first steps of a run: what the worker has, and what an earlier run left."""

from pydantic import Field

from activities.contracts.evidence import EvidenceRef, Frozen, ModelChoice, Price, SourceOption
from activities.contracts.parts import PartData
from activities.contracts.profile import Profile
from activities.messages import ENGLISH


class WorkerChoice(Frozen):
    """What a request names of that which a worker has."""

    profile_path: str | None = None
    sources: tuple[str, ...] = ()
    """Empty: the profile's preference among what is enabled."""
    library: str | None = None
    """Folder of the user's own documents, as the worker sees it."""
    models: dict[str, ModelChoice] = Field(default_factory=dict)
    """Per role; the key `default` serves every role that is not named. Empty: the worker's setting."""
    fallbacks: tuple[ModelChoice, ...] = ()
    """Models to try when one is down, in order. Empty: the worker's setting."""
    signatures: dict[str, str] = Field(default_factory=dict)
    """Signatures of `library` and `profile_path`, made with a key of the home; see `activities.permits`."""


class PrepareInput(WorkerChoice):
    """Ask the worker what it has: sources, profile, models and prices."""

    profile: str
    question: str = Field(default="", max_length=4_000)
    language: str = ""
    """Of the report, as it was asked for; empty for that of the question."""
    chooses_profile: bool = False
    """Whether the question will choose the profile; `profile` serves until then."""


class Prepared(Frozen):
    profile: Profile
    sources: tuple[SourceOption, ...]
    models: dict[str, ModelChoice]
    """Has an entry for `default`."""
    fallbacks: tuple[ModelChoice, ...] = ()
    prices: dict[str, Price | None] = Field(default_factory=dict)
    """By model name; None where no price is known."""
    contexts: dict[str, int] = Field(default_factory=dict)
    """Model name -> tokens that it reads and writes in one exchange."""
    profiles: dict[str, str] = Field(default_factory=dict)
    """Every profile that may be chosen, with its description."""
    preferences: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Profile -> the sources it prefers, best first."""
    own_library: bool = False
    """Whether the library holds the user's own documents and not the bundled sample."""
    unpaywall: bool = False
    """Whether Unpaywall may be asked for open full texts: it wants an e-mail address."""
    pubmed_queue: str | None = None
    """Task queue on which PubMed may be asked about the works a report cites; None when it may not."""
    language: str = ENGLISH
    """ISO 639-1 code of the language of the report."""
    asked_in: str = ENGLISH
    """That of the question."""
    library_languages: tuple[str, ...] = ()
    """Those of the library; empty where they are not known."""
    alternatives: dict[str, Profile] = Field(default_factory=dict)
    """The other profiles by name, where the question is to choose among them: a run that chooses one need not
    prepare again. Empty once one is chosen."""


class FollowUp(Frozen):
    run_id: str
    blob: str
    """Key of a blob with references to its items, one JSON object a line, the best first."""


class Imported(Frozen):
    items: tuple[EvidenceRef, ...] = ()
    unreadable: int = 0
    """Items of the list whose text is not in this worker's store."""
    question: str = ""
    """What the earlier run answered; empty where its report is not in this worker's store."""
    answer: tuple[str, ...] = ()
    """Its answer, else its first claims or passages, sentence by sentence, in at most 2,000 characters."""


class Continued(Frozen):
    """A finished run that another one follows up."""

    run_id: str
    question: str = ""


PART = PartData[Continued | None, Continued | None](
    "continues", Continued | None, None, Continued | None, None
)
