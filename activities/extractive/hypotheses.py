"""Drug -> target -> pathway -> effect, from sentences that name a drug.

A drug that one clause calls approved, indicated, first-line or effective for the disease asked about comes
before one that works merely mention.
"""

import re
from collections import Counter
from collections.abc import Sequence

from activities.candidates.records import facts_of, is_record_of_another, standing_of
from activities.steps import Hypotheses, HypothesisInput, MechanismHypothesis
from activities.text.drugs import drug, drugs_in, drugs_named, spellings
from activities.text.evidence_strength import direction, weight
from activities.text.needle import Needle
from activities.text.ranking import Item, calls_for_research, rank, relevant
from activities.text.sentences import Sentence
from activities.text.tokens import fold, is_function, phrases, terms
from activities.text.uses import Asked, acting, asked_about, drugs_in_use, without_other_diseases
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
_STUDY_NAME = re.compile(r"\b[A-Z]{4,}(?:[ -]\d)?(?= (?:study|studies|trial|trials)\b)")
_NOT_TARGETS = vocabulary("not_targets")
_PATHWAY = re.compile(
    r"\b((?:[\w/-]+ ){1,3}(?:pathway|signal(?:l)?ing|axis|cascade|metabolism|transmission|response))\b"
    r"|\b(oxidative stress|neuro-?inflammation|inflammation|autophagy|apoptosis|angiogenesis"
    r"|insulin resistance|mitochondrial \w+|immune \w+|lipid metabolism|glucose metabolism)\b",
    re.IGNORECASE,
)


_TREATS = re.compile(
    r"\b(?:treat\w*|therap\w*|effica\w*|effective\w*|improv\w*|reduc\w*|benefi\w*|approv\w*|indicated|inhibit\w*"
    r"|attenuat\w*|protect\w*|prevent\w*|alleviat\w*|ameliorat\w*|promising|candidate\w*|respon[ds]\w*|surviv\w*"
    r"|remission\w*|suppress\w*|slow\w*|delay\w*|restor\w*|trials?|safe\w*|tolerat\w*|superior|used|option\w*"
    r"|antagoni\w*|agoni\w*|block\w*)\b",
    re.IGNORECASE,
)
"""What a sentence says that relates a drug to a disease; one without any only mentions the drug."""


def has_mechanism(text: str) -> bool:
    """True when a sentence describes how something works. `PATHWAY study` is the name of a study."""
    text = _STUDY_NAME.sub(" ", text)
    return len({m.casefold() for m in _MECHANISM.findall(text)}) >= 2 or bool(
        re.search(
            r"\b(mechanism|pathway|signal(?:l)?ing|inhibitor|agonist|antagonist)s?\b", text, re.IGNORECASE
        )
    )


def hypothesise(step: HypothesisInput, documents: Sequence[Evidence]) -> Hypotheses:
    """Drug -> target -> pathway -> effect from sentences that name a drug, best supported first."""
    sought = asked_about(step.question)
    ranked = rank(step.question, [d for d in documents if weight(d) > 0])
    items = relevant(ranked)
    items += [i for i in ranked if i not in items and _names_drug_in_use(i, sought)]
    asked = {name for name, _ in drugs_named(step.question)}
    wanted = {drug(name) or fold(name) for name in step.chosen}
    strength: Counter[str] = Counter()
    for item in items:
        used = {name for r in item.ranked for name in drugs_in_use(r.sentence.text, sought)}
        for name, count in drugs_in(item.document).items():
            share = 1.0 if name in used else min(count, 4) / 4
            strength[name] += item.relevance * weight(item.document) * (share + (name in used))  # type: ignore[assignment]
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


def _names_drug_in_use(item: Item, sought: Asked) -> bool:
    """Whether a work says of a drug that it is in use for what is asked about: its subject may be wider."""
    return any(drugs_in_use(r.sentence.text, sought) for r in item.ranked)


def _hypothesis(
    name: str, helpful: Sequence[Evidence], every: Sequence[Evidence], question: str
) -> MechanismHypothesis | None:
    """What the helpful works say about a drug; labels and registrations of all works give its status."""
    own = [d for d in helpful if name in drugs_in(d) and not is_record_of_another(d, name)]
    sought = asked_about(question)
    named: list[tuple[float, Sentence, Evidence]] = []
    topic = Needle(question).strong - {t for other in spellings(name) for t in terms(other)}
    for item in rank(f"{name} {question}", own):
        named += [
            (r.score, r.sentence, item.document)
            for r in item.ranked
            if name in dict(drugs_named(without_other_diseases(r.sentence.text, sought)))
        ]
    named.sort(key=lambda t: (-t[0], t[1].evidence_id, t[1].place))
    on_topic = [t for t in named if not topic or topic & t[1].held]
    used = [t for t in on_topic if name in drugs_in_use(t[1].text, sought)]
    outcome = [
        t
        for t in on_topic
        if t[1].part in ("conclusion", "results", "plain") and not calls_for_research(t[1].text)
    ]
    outcome = [t for t in outcome if t not in used and name in acting(t[1].text)]
    pro = [
        t for t in outcome if direction(t[1].text) in ("yes", "none") and _TREATS.search(t[1].text)
    ] or used
    against = [t for t in outcome if direction(t[1].text) == "no"]
    if not pro and not against:
        return None
    # How a drug works is said without the disease as often as with it.
    mechanism = next((s.text for _, s, _ in (*on_topic, *named) if has_mechanism(s.text)), "")
    effect = mechanism or (pro or against)[0][1].text
    best = sum(sorted((weight(d) for d in {t[2].evidence_id: t[2] for t in pro}.values()), reverse=True)[:3])
    confidence = max(0.0, min(0.95, best / 3 * (1 - 0.5 * len(against) / (len(against) + len(pro)))))
    standing = standing_of(name, every)
    supporting = _supports(pro, 3)
    return MechanismHypothesis(
        drug=name,
        generic_name=name,
        target=_target(mechanism) or facts_of(standing.label, "mechanism_class"),
        pathway=_pathway(mechanism),
        effect=effect,
        confidence=round(confidence, 2),
        supporting_evidence=supporting,
        contradicting_evidence=_supports(against, 2),
        search_suggestions=_tests(name, question, disputed=bool(against)),
        current_indications=standing.indications,
        regulatory_status=standing.regulatory_status,
        trial_status=standing.trial_status,
        records=(*(s for s in _supports(used, 2) if s not in supporting), *standing.quotes),
    )


def _tests(name: str, question: str, *, disputed: bool) -> tuple[str, ...]:
    """Searches that would test a hypothesis; what could refute it first, unless that was found already."""
    names = [phrase for phrase in phrases(question) if drug(phrase) != name and fold(phrase) != fold(name)]
    about = " ".join([name, *names[:1]])
    confirming = (f"{about} clinical trial", f"{name} mechanism of action")
    return confirming if disputed else (f"{about} no benefit", *confirming)


def _supports(ranked: Sequence[tuple[float, Sentence, Evidence]], count: int) -> tuple[Support, ...]:
    """The best sentence of each document."""
    by_document: dict[str, Support] = {}
    for _, sentence, document in ranked:
        by_document.setdefault(
            document.evidence_id, Support(evidence_id=document.evidence_id, quote=sentence.quote)
        )
    return tuple(by_document.values())[:count]


def _target(text: str) -> str:
    for match in _TARGET.finditer(_STUDY_NAME.sub(" ", text)):
        if match.group() not in _NOT_TARGETS:
            return match.group().strip()
    return ""


def _pathway(text: str) -> str:
    match = _PATHWAY.search(_STUDY_NAME.sub(" ", text))
    if not match:
        return ""
    words = match.group().split()
    while len(words) > 1 and (is_function(words[0]) or words[0].endswith(("s", "ed", "ing"))):
        words = words[1:]
    return " ".join(words)
