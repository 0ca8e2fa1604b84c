"""The fields of a candidate's page, in order, and which sources answer each. Imports nothing but types, so
that workflow code may read it."""

from collections.abc import Collection, Mapping
from typing import get_args

from activities.contracts.candidates import CandidateField, CandidateFieldName, FieldStatus

FIELDS: tuple[CandidateFieldName, ...] = get_args(CandidateFieldName)
ANSWERS: Mapping[CandidateFieldName, tuple[str, ...]] = {
    "names": ("chembl",),
    "mechanism": ("openfda", "chembl", "opentargets"),
    "targets": ("chembl", "opentargets", "uniprot", "neo4j"),
    "pathways": ("reactome",),
    "indications": ("openfda", "opentargets"),
    "regulatory": ("openfda", "chembl"),
    "trials": ("clinicaltrials",),
    "safety": ("openfda", "opentargets", "chembl"),
}
"""Field -> sources that answer it. Literature is what the run itself cites."""
READ: frozenset[CandidateFieldName] = frozenset(
    {"mechanism", "targets", "pathways", "indications", "regulatory", "trials", "safety"}
)
"""Fields for which the role that names candidates reads the works."""
LEADS: Mapping[CandidateFieldName, tuple[str, ...]] = {"pathways": ("chembl", "opentargets")}
"""Field -> sources without which its own cannot be asked: they name the proteins."""
SOURCES = tuple(dict.fromkeys(name for names in ANSWERS.values() for name in names))
"""Every source that a candidate can be looked up in."""


def unanswered(permitted: Collection[str]) -> tuple[CandidateField, ...]:
    """The fields of a failed look-up, with the sources that were to be asked."""
    found = []
    for name, sources in ANSWERS.items():
        silent = tuple(source for source in sources if source in permitted)
        status: FieldStatus = "unreachable" if silent else "not_looked_up"
        found.append(CandidateField(name=name, status=status, silent=silent))
    return tuple(found)
