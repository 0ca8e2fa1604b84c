"""Drugs by their names, and the cues of mechanism around them.

Name stems are those of the USAN and INN lists (https://www.ama-assn.org/about/united-states-adopted-names,
WHO INN stem book); frequent drugs without a stem are listed by name.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from activities.models.extractive.grading import direction, weight
from activities.models.extractive.ranking import calls, rank, relevant
from activities.models.extractive.sentences import Sentence, sentences
from activities.models.extractive.vocabulary import vocabulary
from activities.models.extractive.words import fold, is_function
from activities.steps import Hypotheses, HypothesisInput, MechanismHypothesis
from activities.types import Evidence, Support

_STEM = re.compile(
    r"^(?=.{6,})(?!.*peptide)[a-z]+?(?:mab|tinib|rafenib|ciclib|parib|zomib|nib|statin|vastatin|pril|prilat|olol|alol|"
    r"sartan|dipine|azole|mycin|micin|cillin|cycline|formin|gliptin|gliflozin|glitazone|glutide|natide|"
    r"floxacin|oxacin|tidine|prazole|setron|triptan|azepam|azolam|barbital|oxetine|faxine|peridone|apine|"
    r"azine|triptyline|ipramine|caine|curium|dronate|dronic|profen|fenac|oxicam|coxib|asone|solone|olone|"
    r"onide|terol|tropium|lukast|parin|grel|xaban|gatran|teplase|ciclovir|navir|tegravir|buvir|previr|"
    r"vudine|amivir|virine|fovir|antel|bendazole|quine|platin|rubicin|taxel|trexate|bicin|poside|tecan|"
    r"limus|sulfan|mustine|fibrate|thiazide|semide|lactone|vaptan|entan|afil|osin|steride|oxifene|trozole|"
    r"relin|relix|zepine|bapentin|toin|racetam|giline|capone|stigmine|curonium|cept|kinra|poietin|tide)$"
)
_NOT_DRUGS = vocabulary("not_drugs")
_KNOWN = vocabulary("drugs")
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
_WORDS = re.compile(r"[^\W\d_][\w-]{4,}")


def is_drug(word: str) -> bool:
    """True for a word that is a drug's name by its stem or by the list."""
    name = fold(word).replace("\u2019", "'")
    singular = name.removesuffix("s")
    return (
        name in _KNOWN
        or singular in _KNOWN
        or (not {name, singular} & _NOT_DRUGS and bool(_STEM.match(name)))
    )


@lru_cache(maxsize=2048)
def _named(text: str) -> tuple[tuple[str, int], ...]:
    counts: Counter[str] = Counter(fold(w) for w in _WORDS.findall(text) if is_drug(w))
    return tuple(counts.items())


def drugs_in(document: Evidence) -> Counter[str]:
    """Drugs named in a document, its title and its facts, with how often."""
    facts = " ".join(
        value
        for key, value in document.facts.items()
        if re.search(r"mesh|drug|generic|interven|substance", key, re.IGNORECASE)
    )
    return Counter(dict(_named(f"{document.title}\n{document.text[:60_000]}\n{facts}")))


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
    asked = {fold(w) for w in _WORDS.findall(step.question)}
    wanted = {fold(name) for name in step.chosen}
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
        hypothesis = _hypothesis(name, [i.document for i in items], step.question)
        if hypothesis:
            found.append(hypothesis)
    return Hypotheses(hypotheses=tuple(found))


def _hypothesis(name: str, documents: Sequence[Evidence], question: str) -> MechanismHypothesis | None:
    own = [d for d in documents if name in drugs_in(d)]
    told: list[tuple[float, Sentence, Evidence]] = []
    for item in rank(f"{name} {question}", own):
        told += [(r.score, r.sentence, item.document) for r in item.ranked if name in fold(r.sentence.text)]
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
    label = next((d for d in own if d.evidence_type == "drug_label"), None)
    trial = next((d for d in own if d.evidence_type == "trial_registration"), None)
    return MechanismHypothesis(
        drug=name,
        generic_name=name,
        target=_target(mechanism or effect),
        pathway=_pathway(mechanism),
        effect=effect,
        confidence=round(confidence, 2),
        supporting_evidence=_supports(pro, 3),
        contradicting_evidence=_supports(against, 2),
        search_suggestions=(f"{name} mechanism of action", f"{name} clinical trial"),
        current_indications=_indications(label),
        regulatory_status="A drug label is among the evidence." if label else "",
        trial_status=" ".join(trial.facts.get(k, "") for k in ("phase", "overall_status", "status")).strip()
        if trial
        else "",
    )


def _supports(told: Sequence[tuple[float, Sentence, Evidence]], count: int) -> tuple[Support, ...]:
    """The best sentence of each document."""
    by_document: dict[str, Support] = {}
    for _, sentence, document in told:
        by_document.setdefault(
            document.evidence_id, Support(evidence_id=document.evidence_id, quote=sentence.quote)
        )
    return tuple(by_document.values())[:count]


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
