"""Candidates without a model.

Drugs that the vocabularies find beside the passages that name them, and what registers say of them. Nothing
is judged."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from activities.candidates.reading import facts_of, is_record_of_another, standing_of
from activities.contracts.evidence import Evidence, Support
from activities.contracts.judge import Hypotheses, HypothesisInput, MechanismHypothesis
from activities.text.entities import drug, drugs, drugs_named
from activities.text.ranking import Item, best_first, rank
from activities.text.tokens import fold

_FACTS = re.compile(r"mesh|drug|generic|interven|substance", re.IGNORECASE)
MAX_READ = 60_000
"""Characters of a document that are read for names."""
MAX_PASSAGES = 3
"""Passages that name a candidate."""


def hypothesise(step: HypothesisInput, documents: Sequence[Evidence]) -> Hypotheses:
    """List the drugs that the works name, each with the passages that name it.

    Those of the question stand first, then those that most and the nearest works name. Effect, confidence and
    direction are left open."""
    items = best_first(rank(step.question, [d for d in documents if d.standing != "retracted"]))
    asked = {name for name, _ in drugs_named(step.question)}
    wanted = {drug(name) or fold(name) for name in step.chosen}
    named: Counter[str] = Counter()
    for place, item in enumerate(items):
        for name in drugs_in(item.document):
            if not is_record_of_another(item.document, name):
                named[name] += 1_000_000 // (place + 10)
    names = [name for name in named if not wanted or name in wanted]
    names.sort(key=lambda name: (name not in asked, -named[name], name))
    candidates = (_candidate(name, items, documents) for name in names)
    return Hypotheses(hypotheses=tuple(one for one in candidates if one is not None)[: step.max_candidates])


def _candidate(name: str, items: Sequence[Item], every: Sequence[Evidence]) -> MechanismHypothesis | None:
    quotes: list[Support] = []
    for item in items:
        sentences = (one.sentence.quote for one in item.ranked if name in drugs_in(item.document))
        best = next((quote for quote in sentences if name in dict(drugs_named(quote))), "")
        if best and len(quotes) < MAX_PASSAGES:
            quotes.append(Support(evidence_id=item.document.evidence_id, quote=best))
    standing = standing_of(name, every)
    if not quotes and not standing.quotes:
        return None
    return MechanismHypothesis(
        drug=as_written(name, [item.document for item in items]),
        generic_name=name,
        target=facts_of(standing.label, "mechanism_class"),
        supporting_evidence=tuple(quotes),
        current_indications=standing.indications,
        regulatory_status=standing.regulatory_status,
        trial_status=standing.trial_status,
        records=standing.quotes,
    )


def as_written(name: str, documents: Iterable[Evidence]) -> str:
    """Return how works write the name of a drug most often, given by its preferred name.

    Salbutamol for albuterol. In small letters, unless it has a capital or a digit within."""
    written = Counter(
        entity.surface.casefold() if entity.surface[1:].islower() else entity.surface
        for document in documents
        for entity in drugs(_read(document))
        if entity.name.casefold() == name
    )
    return max(written, key=lambda text: (written[text], text == name, text), default=name)


def drugs_in(document: Evidence) -> Counter[str]:
    """Count the drugs named in a document, its title and its facts."""
    facts = " ".join(value for key, value in document.facts.items() if _FACTS.search(key))
    return Counter(dict(drugs_named(f"{_read(document)}\n{facts}")))


def _read(document: Evidence) -> str:
    return f"{document.title}\n{document.text[:MAX_READ]}"
