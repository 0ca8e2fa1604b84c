"""The fields of a candidate's page, in order: what each is called, and who answers it.

Imports nothing but types, so that workflow code may read it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from activities.contracts.candidates import CandidateField, CandidateFieldName, FieldStatus
from activities.messages import N_


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a page, before anybody is asked."""

    label: str
    sources: tuple[str, ...] = ()
    """Those that answer it. Literature is what the run itself cites."""
    led_by: tuple[str, ...] = ()
    """Sources without which its own cannot be asked: they name the proteins."""
    read: bool = True
    """Whether the role that names candidates reads the works for it."""
    unjudged: str = ""
    """Its label without a model, where nothing is for or against."""


FIELDS: Mapping[CandidateFieldName, Field] = {
    "names": Field(N_("Names"), ("chembl",), read=False),
    "mechanism": Field(N_("Mechanism"), ("openfda", "chembl", "opentargets")),
    "targets": Field(N_("Targets"), ("chembl", "opentargets", "uniprot", "neo4j")),
    "pathways": Field(N_("Pathways"), ("reactome",), led_by=("chembl", "opentargets")),
    "indications": Field(N_("Current indications"), ("openfda", "opentargets")),
    "regulatory": Field(N_("Regulatory status"), ("openfda", "chembl")),
    "trials": Field(N_("Trials"), ("clinicaltrials",)),
    "literature_for": Field(N_("Literature in favour"), read=False, unjudged=N_("Passages that name it")),
    "literature_against": Field(N_("Literature against"), read=False, unjudged=N_("Further passages")),
    "safety": Field(N_("Safety"), ("openfda", "opentargets", "chembl")),
}
ANSWERS = {name: field.sources for name, field in FIELDS.items() if field.sources}
SOURCES = tuple(dict.fromkeys(source for sources in ANSWERS.values() for source in sources))


def unanswered_fields(names: Collection[str]) -> tuple[CandidateField, ...]:
    """Return the fields of a failed look-up, with the sources that were to be asked."""
    fields = []
    for name, sources in ANSWERS.items():
        silent = tuple(source for source in sources if source in names)
        status: FieldStatus = "unreachable" if silent else "not_looked_up"
        fields.append(CandidateField(name=name, status=status, silent=silent))
    return tuple(fields)


RegulatoryCode = Literal[
    "approved",
    "tentatively_approved",
    "discontinued",
    "labelled",
    "withdrawn",
    "investigational",
]
"""`discontinued`: approved, and no product is marketed. `labelled`: a label is on file, and no application
was found (monograph or unapproved)."""
CODES: tuple[RegulatoryCode, ...] = get_args(RegulatoryCode)
"""The one that says most of what may be prescribed first."""
APPROVED_PHASE = 4.0
"""The phase in ChEMBL of a drug that some authority has approved for some disease."""
STOPPED_TRIALS = ("TERMINATED", "WITHDRAWN", "SUSPENDED")
"""https://clinicaltrials.gov/data-api/about-api/study-data-structure, overall status"""


def application_code(facts: Mapping[str, str]) -> RegulatoryCode | None:
    """Return the code of a Drugs@FDA application; None when it was not approved."""
    approval = facts.get("approval_status", "")
    if approval == "tentatively approved":
        return "tentatively_approved"
    if approval != "approved":
        return None
    statuses = [part.strip() for part in facts.get("marketing_status", "").split(";") if part.strip()]
    return "discontinued" if statuses and all(part == "Discontinued" for part in statuses) else "approved"


def molecule_code(facts: Mapping[str, str]) -> RegulatoryCode | None:
    if facts.get("withdrawn"):
        return "withdrawn"
    try:
        phase = float(facts.get("max_phase", ""))
    except ValueError:
        return None
    if phase < 0:
        return None
    return "approved" if phase >= APPROVED_PHASE else "investigational"
