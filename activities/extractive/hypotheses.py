"""Drug -> target -> pathway -> effect, from sentences that name a drug.

A drug that one clause calls approved, indicated, first-line or effective for the disease asked about comes
before one that works merely mention.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from activities.candidates.records import facts_of, is_record_of_another, standing_of
from activities.candidates.status import states_approval
from activities.extractive.on_subject import about_subject, on_subject
from activities.extractive.topics import topic
from activities.steps import Hypotheses, HypothesisInput, MechanismHypothesis
from activities.text.abbreviations import Abbreviations
from activities.text.drug_findings import finding
from activities.text.drugs import as_written, drug, drugs_in, drugs_named, names_drug, spellings
from activities.text.entities import of_kind
from activities.text.evidence_strength import weight
from activities.text.needle import Needle
from activities.text.parts import Part, calls_for_research
from activities.text.ranking import Item, rank, relevant
from activities.text.sentences import Sentence
from activities.text.tokens import fold, is_function, phrases, terms
from activities.text.uses import (
    Asked,
    acting,
    asked_about,
    drugs_in_use,
    uses_elsewhere,
    without_other_diseases,
)
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
    r"\b((?:[a-z]+-like )?"
    r"(?:[A-Z][A-Za-z]?[A-Z0-9][A-Za-z0-9-]*|[a-z]+-?[A-Z0-9][A-Za-z0-9-]*|[a-z]{4,}(?:in|ase|ine|one|gen))"
    r"(?:[ -](?:receptors?|kinases?|channels?|transporters?|enzymes?|reductase|synthase|oxidase))"
    r"|[A-Z][A-Z0-9]{1,5}(?:-?[0-9A-Z\u03b1-\u03c9]{1,3})?(?=[ ,.;)](?!\d))"
    r"|[a-z]{5,}(?:ase|ases|kine|kines)\b)"
)
_FINDS: tuple[Part, ...] = ("conclusion", "results", "plain")
"""Parts of a work that find something, those that say it best first."""
MOST_READ = 20_000
"""Characters of a work that are read for its abbreviations."""
MOST_DRUGS = 20
"""Drugs, by the works that name them, that are looked at."""
_WORD = re.compile(r"[\w-]+")
_STUDY_NAME = re.compile(r"\b[A-Z]{4,}(?:[ -]\d)?(?= (?:study|studies|trial|trials)\b)")
_NOT_TARGETS = vocabulary("not_targets")
_PATHWAY = re.compile(
    r"\b((?:[\w/-]+ ){1,3}(?:pathway|signal(?:l)?ing|axis|cascade|metabolism|transmission|response))\b"
    r"|\b(oxidative stress|neuro-?inflammation|inflammation|autophagy|apoptosis|angiogenesis"
    r"|insulin resistance|mitochondrial \w+|immune \w+|lipid metabolism|glucose metabolism)\b",
    re.IGNORECASE,
)


def has_mechanism(text: str) -> bool:
    """True when a sentence describes how something works. `PATHWAY study` is the name of a study."""
    text = _STUDY_NAME.sub(" ", text)
    return len({m.casefold() for m in _MECHANISM.findall(text)}) >= 2 or bool(
        re.search(
            r"\b(mechanism|pathway|signal(?:l)?ing|inhibitor|agonist|antagonist)s?\b", text, re.IGNORECASE
        )
    )


def hypothesise(step: HypothesisInput, documents: Sequence[Evidence]) -> Hypotheses:
    """Drug -> target -> pathway -> effect from sentences that name a drug, best supported first: those that
    the question names, then the others of which works find a gain."""
    sought = asked_about(step.question)
    subject = topic(step.question).subject
    sound = [d for d in documents if weight(d) > 0]
    ranked = {item.document.evidence_id: item for item in rank(step.question, sound)}
    items = relevant(list(ranked.values()))
    near = about_subject(subject, relevant(rank(subject, sound)))
    known = {item.document.evidence_id for item in items}
    others = [ranked[item.document.evidence_id] for item in near]
    others += [i for i in ranked.values() if _names_drug_in_use(i, sought)]
    for item in others:
        if item.document.evidence_id not in known:
            known.add(item.document.evidence_id)
            items.append(item)
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
    made = [
        (name, hypothesis)
        for name in names[:MOST_DRUGS]
        if (hypothesis := _hypothesis(name, [i.document for i in items], documents, step.question, subject))
    ]
    made = [(name, one) for name, one in made if one.supporting_evidence or name in asked or wanted]
    made.sort(key=lambda pair: (pair[0] not in asked, not pair[1].supporting_evidence, -pair[1].confidence))
    return Hypotheses(hypotheses=tuple(hypothesis for _, hypothesis in made[: step.max_candidates]))


def _names_drug_in_use(item: Item, sought: Asked) -> bool:
    """Whether a work says of a drug that it is in use for what is asked about: its subject may be wider."""
    return any(drugs_in_use(r.sentence.text, sought) for r in item.ranked)


class _Said(NamedTuple):
    """A sentence that names a drug."""

    score: float
    sentence: Sentence
    document: Evidence
    speaks: bool
    """Whether it speaks of the disease itself."""


def _hypothesis(
    name: str, helpful: Sequence[Evidence], every: Sequence[Evidence], question: str, subject: str
) -> MechanismHypothesis | None:
    """What the helpful works say about a drug; labels and registrations of all works give its status."""
    own = [d for d in helpful if name in drugs_in(d) and not is_record_of_another(d, name)]
    sought = asked_about(question)
    on_topic, named = _naming(name, own, question, subject)
    stated = [t for t in on_topic if t.sentence.part not in ("aim", "methods")]
    used = [t for t in stated if name in drugs_in_use(t.sentence.text, sought)]
    outcome = [t for t in stated if t.sentence.part in _FINDS and not calls_for_research(t.sentence.text)]
    outcome = [t for t in outcome if not states_approval(t.sentence.text) and name in acting(t.sentence.text)]
    outcome.sort(key=lambda t: (_FINDS.index(t.sentence.part), not t.speaks))
    against = [t for t in outcome if finding(t.sentence.text) == "against"]
    refuted = {t.document.evidence_id for t in against if t.sentence.part == "conclusion"}
    pro = [t for t in outcome if finding(t.sentence.text) == "for" and t.document.evidence_id not in refuted]
    pro = pro or [t for t in used if t.document.evidence_id not in refuted]
    concluding = {t.document.evidence_id for t in pro if t.sentence.part == "conclusion"}
    against = [t for t in against if t.document.evidence_id not in concluding]
    if not pro and not against:
        return None
    # How a drug works is said without the disease as often as with it.
    says = (t.sentence.text for t in (*on_topic, *named) if t.sentence.part not in ("aim", "methods"))
    mechanism = next((text for text in says if has_mechanism(text) and not calls_for_research(text)), "")
    effect = mechanism or (pro or against)[0].sentence.text
    best = sum(
        sorted((weight(d) for d in {t.document.evidence_id: t.document for t in pro}.values()), reverse=True)[
            :3
        ]
    )
    confidence = max(0.0, min(0.95, best / 3 * (1 - 0.5 * len(against) / (len(against) + len(pro)))))
    standing = standing_of(name, every)
    supporting = _supports(pro, 3)
    elsewhere = [(use, t) for t in named for use in uses_elsewhere(t.sentence.text, name, sought)]
    records = _supports([*used, *(t for _, t in elsewhere)], 2)
    return MechanismHypothesis(
        drug=as_written(name, own),
        generic_name=name,
        target=_target(mechanism) or facts_of(standing.label, "mechanism_class"),
        pathway=_pathway(mechanism),
        effect=effect,
        confidence=round(confidence, 2),
        supporting_evidence=supporting,
        contradicting_evidence=_supports(against, 2),
        search_suggestions=_tests(name, question, disputed=bool(against)),
        current_indications=standing.indications or tuple(dict.fromkeys(use for use, _ in elsewhere)),
        regulatory_status=standing.regulatory_status,
        trial_status=standing.trial_status,
        records=(*(s for s in records if s not in supporting), *standing.quotes),
    )


def _naming(
    name: str, own: Sequence[Evidence], question: str, subject: str
) -> tuple[list[_Said], list[_Said]]:
    """The sentences that name a drug, best first: those on the subject, which speak of it or conclude a work
    that is about it; and all."""
    sought = asked_about(question)
    speaking = {r.sentence.quote for item in rank(subject, own) for r in item.ranked if r.coverage > 0}
    named = [
        _Said(r.score, r.sentence, item.document, r.sentence.quote in speaking)
        for item in rank(f"{name} {question}", own)
        for r in item.ranked
        if name in dict(drugs_named(without_other_diseases(r.sentence.text, sought)))
    ]
    named.sort(key=lambda t: (-t.score, t.sentence.evidence_id, t.sentence.place))
    if not Needle(question).strong - {t for other in spellings(name) for t in terms(other)}:
        return named, named
    about = {d.evidence_id for d, on in zip(own, on_subject(subject, own), strict=True) if on}
    on_topic = [
        t for t in named if t.speaks or (t.document.evidence_id in about and _concludes_on(name, t, sought))
    ]
    return on_topic, named


def _concludes_on(name: str, said: _Said, asked: Asked) -> bool:
    """Whether a sentence concludes a work on the drug, and names no other disease."""
    if said.sentence.part != "conclusion" or not names_drug(said.document.title, name):
        return False
    long = dict(Abbreviations([said.document.text[:MOST_READ]]).pairs())
    text = _WORD.sub(lambda word: long.get(word.group(), word.group()), said.sentence.text)
    return all(map(asked.covers, of_kind(text, ("disease",))))


def _tests(name: str, question: str, *, disputed: bool) -> tuple[str, ...]:
    """Searches that would test a hypothesis; what could refute it first, unless that was found already."""
    names = [phrase for phrase in phrases(question) if drug(phrase) != name and fold(phrase) != fold(name)]
    about = " ".join([name, *names[:1]])
    confirming = (f"{about} clinical trial", f"{name} mechanism of action")
    return confirming if disputed else (f"{about} no benefit", *confirming)


def _supports(said: Sequence[_Said], count: int) -> tuple[Support, ...]:
    """The best sentence of each document."""
    by_document: dict[str, Support] = {}
    for _, sentence, document, _ in said:
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
