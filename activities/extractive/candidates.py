"""Candidates without a model: the drugs that the vocabularies find and their passages. Nothing is judged."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from activities.candidates.reading import facts_of, is_record_of_another, standing_of
from activities.contracts.evidence import Evidence, Support
from activities.contracts.judge import Hypotheses, HypothesisInput, MechanismHypothesis
from activities.text.entities import drug, drug_counts, drugs
from activities.text.ranking import Item, best_first, rank
from activities.text.tokens import fold

_FACTS = re.compile(r"mesh|drug|generic|interven|substance", re.IGNORECASE)
MAX_READ = 60_000
"""Characters of a document that are read for names."""
MIN_MENTIONS = 2
"""Times that the works name a candidate for which nobody asked: what a drug acts by (cGMP) is named once."""
MAX_PASSAGES = 3
"""Passages that name a candidate."""


def hypothesise(step: HypothesisInput, documents: Sequence[Evidence]) -> Hypotheses:
    """List the drugs that the works name, each with the passages that name it.

    Those of the question stand first, then those that most and the nearest works name. Effect, confidence and
    direction are left open."""
    items = best_first(rank(step.question, [d for d in documents if d.standing != "retracted"]))
    question_drugs = {name for name, _ in drug_counts(step.question)}
    choice = {drug(name) or fold(name) for name in step.chosen}
    weights, mentions = Counter[str](), Counter[str]()
    for place, item in enumerate(items):
        for name, count in drugs_in(item.document).items():
            if not is_record_of_another(item.document, name):
                weights[name] += 1_000_000 // (place + 10)
                mentions[name] += count
    pool = choice or question_drugs | {name for name, count in mentions.items() if count >= MIN_MENTIONS}
    names = [name for name in weights if name in pool]
    names.sort(key=lambda name: (name not in question_drugs, -weights[name], name))
    candidates = filter(None, (_candidate(name, items, documents) for name in names))
    return Hypotheses(hypotheses=tuple(islice(candidates, step.max_candidates)))


def _candidate(name: str, items: Sequence[Item], documents: Sequence[Evidence]) -> MechanismHypothesis | None:
    """Return a drug with its passages, called as the nearest of them writes it."""
    works = [item for item in items if name in drugs_in(item.document)]
    sentences = (
        next((r.sentence for r in item.sentences if _spelling(name, r.sentence.quote)), None)
        for item in works
    )
    quotes = [Support(evidence_id=s.evidence_id, quote=s.quote) for s in sentences if s][:MAX_PASSAGES]
    standing = standing_of(name, documents)
    if not quotes and not standing.quotes:
        return None
    return MechanismHypothesis(
        drug=_spelling(name, quotes[0].quote) if quotes else name,
        generic_name=name,
        target=facts_of(standing.label, "mechanism_class"),
        supporting_evidence=tuple(quotes),
        current_indications=standing.indications,
        regulatory_status=standing.regulatory_status,
        trial_status=standing.trial_status,
        records=standing.quotes,
    )


def _spelling(name: str, text: str) -> str:
    """Return how a text writes a drug of this preferred name; empty where it does not name it."""
    surface = next((drug.surface for drug in drugs(text) if drug.name.casefold() == name), "")
    return surface.casefold() if surface[1:].islower() else surface


def drugs_in(document: Evidence) -> Counter[str]:
    """Count the drugs named in a document, its title and its facts."""
    facts = " ".join(value for key, value in document.facts.items() if _FACTS.search(key))
    return Counter(dict(drug_counts(f"{document.title}\n{document.text[:MAX_READ]}\n{facts}")))
