"""Drug -> target -> pathway -> effect, from sentences that name a drug."""

import re
from collections import Counter
from collections.abc import Sequence

from activities.steps import Hypotheses, HypothesisInput, MechanismHypothesis
from activities.text.drugs import drug, drugs_in, drugs_named, spellings
from activities.text.evidence_strength import direction, weight
from activities.text.ranking import Needle, calls, rank, relevant
from activities.text.sentences import Sentence, sentences
from activities.text.tokens import fold, is_function, terms
from activities.text.vocabulary import vocabulary
from activities.types import Evidence, Support

_MECHANISM = re.compile(
    r"\b(inhibit\w*|activat\w+|antagoni\w+|agonis\w+|block(?:s|ed|ade|ing|er|ers)|bind(?:s|ing)?|modulat\w+|"
    r"target(?:s|ed|ing)?|pathway\w*|signal(?:l)?ing|receptor\w*|mechanism\w*|mediat\w+|express\w+|"
    r"up-?regulat\w+|down-?regulat\w+|phosphorylat\w+|suppress\w+|induc\w+|apoptosis|enzyme\w*|kinase\w*|"
    r"transcription\w*|cytokine\w*|oxidative stress|inflammat\w+|autophagy|uptake|occupancy)\b",
    re.IGNORECASE,
)
_TARGET = re.compile(
    r"\b((?:[A-Z][A-Za-z]?[A-Z0-9][A-Za-z0-9-]*|[a-z]+-?[A-Z0-9][A-Za-z0-9-]*|[a-z]{4,}(?:in|ase|ine|one|gen))"
    r"(?:[ -](?:receptors?|kinases?|channels?|transporters?|enzymes?|reductase|synthase|oxidase))"
    r"|[A-Z][A-Z0-9]{1,5}(?:-?[0-9A-Z\u03b1-\u03c9]{1,3})?(?=[ ,.;)](?!\d))"
    r"|[a-z]{5,}(?:ase|ases|kine|kines)\b)"
)
_NOT_TARGETS = vocabulary("not_targets")
_PATHWAY = re.compile(
    r"\b((?:[\w/-]+ ){1,3}(?:pathway|signal(?:l)?ing|axis|cascade|metabolism|transmission|response))\b"
    r"|\b(oxidative stress|neuro-?inflammation|inflammation|autophagy|apoptosis|angiogenesis"
    r"|insulin resistance|mitochondrial \w+|immune \w+|lipid metabolism|glucose metabolism)\b",
    re.IGNORECASE,
)


def has_mechanism(text: str) -> bool:
    """True when a sentence speaks of how something works."""
    return len({m.casefold() for m in _MECHANISM.findall(text)}) >= 2 or bool(
        re.search(
            r"\b(mechanism|pathway|signal(?:l)?ing|inhibitor|agonist|antagonist)s?\b", text, re.IGNORECASE
        )
    )


def hypothesise(step: HypothesisInput, documents: Sequence[Evidence]) -> Hypotheses:
    """Drug -> target -> pathway -> effect from sentences that name a drug, best supported first."""
    items = relevant(rank(step.question, [d for d in documents if weight(d) > 0]))
    asked = {name for name, _ in drugs_named(step.question)}
    wanted = {drug(name) or fold(name) for name in step.chosen}
    strength: Counter[str] = Counter()
    for item in items:
        for name, count in drugs_in(item.document).items():
            strength[name] += item.relevance * weight(item.document) * min(count, 4) / 4  # type: ignore[assignment]
    names = [n for n, _ in sorted(strength.items(), key=lambda p: (-(p[1] + (p[0] in asked)), p[0]))]
    if wanted:
        names = [n for n in names if n in wanted]
    found: list[MechanismHypothesis] = []
    for name in names:
        if len(found) >= step.max_candidates:
            break
        hypothesis = _hypothesis(name, [i.document for i in items], documents, step.question)
        if hypothesis:
            found.append(hypothesis)
    return Hypotheses(hypotheses=tuple(found))


def _hypothesis(
    name: str, helpful: Sequence[Evidence], every: Sequence[Evidence], question: str
) -> MechanismHypothesis | None:
    """What the helpful works say of a drug; labels and registrations of all works say where it stands."""
    own = [d for d in helpful if name in drugs_in(d)]
    told: list[tuple[float, Sentence, Evidence]] = []
    topic = Needle(question).strong - {t for other in spellings(name) for t in terms(other)}
    for item in rank(f"{name} {question}", own):
        told += [
            (r.score, r.sentence, item.document)
            for r in item.ranked
            if name in dict(drugs_named(r.sentence.text)) and (not topic or topic & r.sentence.held)
        ]
    told.sort(key=lambda t: (-t[0], t[1].evidence_id, t[1].place))
    outcome = [t for t in told if t[1].part in ("conclusion", "results", "plain") and not calls(t[1])]
    pro = [t for t in outcome if direction(t[1].text) in ("yes", "none")]
    against = [t for t in outcome if direction(t[1].text) == "no"]
    if not pro and not against:
        return None
    mechanism = next((s.text for _, s, _ in told if has_mechanism(s.text)), "")
    effect = (pro or against)[0][1].text
    best = sum(sorted((weight(d) for d in {t[2].evidence_id: t[2] for t in pro}.values()), reverse=True)[:3])
    confidence = max(0.0, min(0.95, best / 3 * (1 - 0.5 * len(against) / (len(against) + len(pro)))))
    label, approval, trial = (
        next((d for d in every if d.evidence_type == kind and name in drugs_in(d)), None)
        for kind in ("drug_label", "regulatory", "trial_registration")
    )
    return MechanismHypothesis(
        drug=name,
        generic_name=name,
        target=_target(mechanism) or _facts(label, "mechanism_class"),
        pathway=_pathway(mechanism),
        effect=effect,
        confidence=round(confidence, 2),
        supporting_evidence=_supports(pro, 3),
        contradicting_evidence=_supports(against, 2),
        search_suggestions=(f"{name} mechanism of action", f"{name} clinical trial"),
        current_indications=_indications(label),
        regulatory_status=_facts(approval, "approval_status", "marketing_status")
        or ("a drug label is on file" if label else ""),
        trial_status=_facts(trial, "phase", "overall_status"),
    )


def _supports(told: Sequence[tuple[float, Sentence, Evidence]], count: int) -> tuple[Support, ...]:
    """The best sentence of each document."""
    by_document: dict[str, Support] = {}
    for _, sentence, document in told:
        by_document.setdefault(
            document.evidence_id, Support(evidence_id=document.evidence_id, quote=sentence.quote)
        )
    return tuple(by_document.values())[:count]


def _facts(document: Evidence | None, *names: str) -> str:
    """What a record says under these names, in one line."""
    return ", ".join(filter(None, (document.facts.get(n, "") for n in names))) if document else ""


def _target(text: str) -> str:
    for match in _TARGET.finditer(text):
        if match.group() not in _NOT_TARGETS:
            return match.group().strip()
    return ""


def _pathway(text: str) -> str:
    match = _PATHWAY.search(text)
    if not match:
        return ""
    words = match.group().split()
    while len(words) > 1 and (is_function(words[0]) or words[0].endswith(("s", "ed", "ing"))):
        words = words[1:]
    return " ".join(words)


def _indications(label: Evidence | None) -> tuple[str, ...]:
    if label is None:
        return ()
    for sentence in sentences(label):
        if re.search(r"\bindicated (?:for|in|as)\b", sentence.text, re.IGNORECASE):
            return (sentence.text,)
    return ()
