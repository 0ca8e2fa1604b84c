"""Reports of one study that no identifier joins: by meaning, with the bundled encoder.

Two works are reports of one study when they appeared in one year, no identifier of theirs contradicts it, and
title and first sentences say the same. That joins a preprint with its journal article under a reworded title,
and one work that two sources describe differently.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

from activities.contracts.evidence import Evidence
from activities.text.drugs import drugs_named
from activities.text.embeddings import embedder

MIN_COSINE = 0.86
"""The cosine of the vectors of title and first words. On the bundled sample no two works reach 0.82, and 412
of 600 reach this value with themselves under another title (`python -m benchmarks.same_study`)."""
MAX_WORDS = 60
"""Words of title and text that are compared: the title and about two sentences."""
_OWN = ("pmid", "pmcid", "nct")
"""Identifiers of which one work, or one study, has one."""


def joined(study: Mapping[str, int], items: Sequence[Evidence]) -> dict[str, int]:
    """The number of the study of each work, with those joined that are reports of one. Unchanged where the
    encoder is not installed."""
    pairs = [(a, b) for a, b in combinations(items, 2) if may_be_one(a, b)]
    encoder = embedder() if pairs else None
    if encoder is None:
        return dict(study)
    numbers = dict(study)
    wanted = {item.evidence_id: item for pair in pairs for item in pair}
    vectors = dict(zip(wanted, encoder.encode([opening(i) for i in wanted.values()]), strict=True))
    for one, other in pairs:
        kept, gone = sorted((numbers[one.evidence_id], numbers[other.evidence_id]))
        if kept != gone and float(vectors[one.evidence_id] @ vectors[other.evidence_id]) >= MIN_COSINE:
            numbers = {name: kept if number == gone else number for name, number in numbers.items()}
    return numbers


def may_be_one(one: Evidence, other: Evidence) -> bool:
    """Whether two works appeared in one year, none of them is a document of one's own, and neither an
    identifier nor the drugs of their titles say that they are two. A preprint has another DOI than its
    journal article."""
    own = "document" in (one.evidence_type, other.evidence_type)  # two bills have the same words
    if own or one.year is None or one.year != other.year:
        return False
    ours, theirs = ({name for name, _ in drugs_named(item.title)} for item in (one, other))
    if ours and theirs and not ours & theirs:
        return False
    names = _OWN if "preprint" in (one.evidence_type, other.evidence_type) else (*_OWN, "doi")
    pairs = ((getattr(one.identifiers, name), getattr(other.identifiers, name)) for name in names)
    return not any(mine and theirs and mine != theirs for mine, theirs in pairs)


def opening(item: Evidence) -> str:
    """What is compared of a work."""
    return " ".join(f"{item.title}. {item.text}".split()[:MAX_WORDS])
