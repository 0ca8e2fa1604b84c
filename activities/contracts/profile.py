"""What is specific to a domain, as the steps of a run are given it."""

from pydantic import Field

from activities.contracts.evidence import Frozen
from activities.messages import N_


class Criterion(Frozen):
    """One thing the judge scores from 0 to 10."""

    name: str
    description: str
    minimum: int = Field(default=0, ge=0, le=10)
    """The score at which this criterion is met."""


class Aspect(Frozen):
    """A section that a report usually has."""

    title: str
    search: str
    """Words that are added to the question to search for it."""


class Words(Frozen):
    """What a report calls what was read (`[words]` of a profile), and what it says of it."""

    one: str = "source"
    many: str = "sources"
    title: str = N_("Sources")
    """The title of the table of works."""
    found: str = N_("Finding")
    """The title of the column that holds what a work found."""
    design: str = N_("Design")
    """The title of the column that holds what kind of work it is."""
    graded: bool = False
    """Whether the design of a study says how strong its evidence is; else no strength is printed."""
    standing: bool = True
    """Whether works can be retracted or corrected."""
    counted: bool = True
    """Whether it is counted how many stand on each side of a yes-or-no question."""


STUDIES = Words(one="study", many="studies", title=N_("Studies"), graded=True)
OWN_DOCUMENTS = Words(
    one="document",
    many="documents",
    title=N_("Documents"),
    found=N_("Says"),
    design=N_("Kind"),
    standing=False,
    counted=False,
)
"""Words for a person's own documents, whatever the profile: letters and minutes are not studies."""


class Specialist(Frozen):
    """A searcher for one kind of question."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    does: str = Field(max_length=200)
    """What it searches for: by that the manager of a team, or `auto`, chooses it."""
    sources: tuple[str, ...] = ()
    """The only sources that it searches, of those that the run may; where it has none of them, all."""
    prompt: str = Field(default="", max_length=4_000)
    """What it is told beside the step's own prompt; empty for the file of its name."""


class Profile(Frozen):
    """What is specific to a domain: the judge's criteria, preferred sources and wording."""

    name: str
    description: str
    criteria: tuple[Criterion, ...]
    roles: tuple[str, ...] = ()
    """What a work may contribute to the answer, in one word each; the judge chooses, or says `background`."""
    confidence_threshold: float = Field(default=0.8, ge=0, le=1)
    columns: tuple[str, ...] = ()
    """Columns of the reader's table of works, where the request names none."""
    candidates: bool = False
    """Whether the report lists candidates and the candidate gate applies."""
    sources: tuple[str, ...] = ()
    """Sources to prefer, best first; those that are not enabled are passed over."""
    look_up: tuple[str, ...] = ()
    """Sources that candidates are looked up in when the run may use the network, beside those it searches."""
    guidance: str = ""
    """Sentences added to the prompts of every role."""
    words: Words = Words()
    """What its reports call what was read."""
    aspects: tuple[Aspect, ...] = ()
    """What a report on such a question usually looks at, in order."""
    specialists: tuple[Specialist, ...] = ()
    """Searchers of its own, beside the built-in ones or in their place."""
