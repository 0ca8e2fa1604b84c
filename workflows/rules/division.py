"""Dividing evidence among sections before they are written, so that they can be written at the same time.

An item belongs to one of the sections that found it: the one it serves best, which is the one whose title and
key question share most with the item's title, then the one that ranked it highest. Other sections may still
cite it, for a statement of their own. Pure: no clock, no randomness, no I/O.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from activities.text.tokens import terms
from activities.types import EvidenceRef, ReportPlanSection


def divide(
    sections: Sequence[ReportPlanSection],
    evidence: Sequence[EvidenceRef],
    found: Mapping[str, Sequence[str]],
    owners: Mapping[str, str],
) -> dict[str, str]:
    """Evidence id -> id of the section it belongs to, for every item that a section in `found` found.

    `found` holds the ids each section found, best first; `owners` is what was decided before, and stays.
    """
    vocabularies = _distinct_terms(sections)
    titles = {ref.evidence_id: frozenset(terms(ref.title)) for ref in evidence}
    ranks = {section: {name: place for place, name in enumerate(ids)} for section, ids in found.items()}
    decided = dict(owners)
    for name, words in titles.items():
        finders = [section.id for section in sections if name in ranks.get(section.id, {})]
        if name not in decided and finders:
            decided[name] = min(
                finders, key=lambda section: (-len(words & vocabularies[section]), ranks[section][name])
            )
    return decided


def _distinct_terms(sections: Sequence[ReportPlanSection]) -> dict[str, frozenset[str]]:
    """The terms that set a section apart: those that not every section's title and key question share."""
    own = {section.id: frozenset(terms(f"{section.title} {section.key_question}")) for section in sections}
    counts = Counter(term for words in own.values() for term in words)
    return {
        section: frozenset(term for term in words if len(own) == 1 or counts[term] < len(own))
        for section, words in own.items()
    }
