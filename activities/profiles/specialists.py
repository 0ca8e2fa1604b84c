"""Searchers for one kind of question each, with sources of their own.

The manager of a team gives them turns, and mode `auto` hands a question over to one. Another one is a row
here and a prompt file of its name in `activities/roles/prompts`, or `[[specialists]]` in a profile."""

from collections.abc import Mapping

from activities.contracts.profile import Profile, Specialist

GENERAL = "general"
"""Searches where no kind of question is more fitting; in a team it is the searcher."""
LITERATURE = ("pubmed", "europepmc")
SPECIALISTS: tuple[Specialist, ...] = (
    Specialist(
        name="mechanism",
        does="how a drug, gene or pathway acts: targets, binding, expression, models of disease",
        sources=("opentargets", "chembl", "uniprot", "reactome", *LITERATURE),
    ),
    Specialist(
        name="clinical_trials",
        does="what was tried in people: designs, arms, outcomes, effects, trials under way",
        sources=("clinicaltrials", *LITERATURE),
    ),
    Specialist(
        name="drug_data",
        does="what is known of a drug: approval, label, doses, interactions, adverse events",
        sources=("openfda", "chembl", *LITERATURE),
    ),
    Specialist(name=GENERAL, does="any other question, and one of several kinds"),
)


def specialists_of(profile: Profile) -> Mapping[str, Specialist]:
    """Return the specialists of a run by name: the profile's in place of built-in ones, or beside them."""
    return {one.name: one for one in (*SPECIALISTS, *profile.specialists)}
