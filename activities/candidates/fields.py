"""The fields of a candidate's page, in order: what each is called, and who answers it.

Imports nothing but types, so that workflow code may read it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from activities.contracts.candidates import CandidateField, CandidateFieldName, FieldStatus
from activities.messages import N_


@dataclass(frozen=True, slots=True)
class Field:
    """What is known of a field before anybody is asked."""

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


def unanswered(permitted: Collection[str]) -> tuple[CandidateField, ...]:
    """Return the fields of a failed look-up, with the sources that were to be asked."""
    fields = []
    for name, sources in ANSWERS.items():
        silent = tuple(source for source in sources if source in permitted)
        status: FieldStatus = "unreachable" if silent else "not_looked_up"
        fields.append(CandidateField(name=name, status=status, silent=silent))
    return tuple(fields)
