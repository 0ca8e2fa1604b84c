"""The aspects a section may ask about: how its question is worded, and the cues of an answer."""

import re
from dataclasses import dataclass, replace

from activities.text.drugs import names_a_treatment
from activities.text.entities import of_kind
from activities.text.parts import Part
from activities.text.sentences import Sentence


@dataclass(frozen=True, slots=True)
class Facet:
    """One aspect of a topic."""

    name: str
    title: str
    """Pattern of the titles and questions that ask for it."""
    question: str
    """Wording of a section's key question; `{topic}` stands for what the run is about."""
    cues: str
    """Pattern of sentences about it."""
    parts: tuple[Part, ...] = ()
    """Parts of a work that are about it whatever their words."""


FACETS: tuple[Facet, ...] = (
    Facet(
        "candidates",
        r"candidate|\bcompounds\b|which (?:\w+ )?drugs",
        "Which drugs are candidates for {topic}?",
        r"",
    ),
    Facet(
        "mechanism",
        r"mechanis|pathway|biolog|\btargets?\b",
        "What is known of the mechanisms and pathways behind {topic}?",
        r"\b(mechanis\w+|pathway\w*|signal(?:l)?ing|inhibit\w+|activat\w+|receptor\w*|express\w+|mediat\w+|kinase\w*"
        r"|cytokine\w*|apoptosis|oxidative|inflammat\w+|molecul\w+|genes?|genetic\w*|protein\w*|cells?|pathogenesis"
        r"|(?<!liver )(?<!hepatic )enzym\w+"
        r"|induc\w+|antagonis\w+|agonis\w+|up-?regulat\w+|down-?regulat\w+)\b",
    ),
    Facet(
        "safety",
        r"\bsafe\b|safety|harm|adverse|side effect|toxic|regulatory|tolerab",
        "What harms, adverse effects and risks are reported for {topic}?",
        r"\b(safe\w*|harm\w*|adverse|complicat\w+|toxic\w*|side[- ]effects?|risks?|mortality|morbidity"
        r"|bleeding|tolerat\w+|contraindicat\w+|warning\w*|hazard\w*|infection\w*|failure\w*"
        r"|false[- ](?:positiv|negativ)\w*|over-?diagnos\w*|over-?treat\w*|unnecessar\w*)\b",
    ),
    Facet(
        "open",
        r"open question|limit|uncertain|dispute|gaps?\b|future|contradict|controvers",
        "What remains uncertain or contradictory about {topic}?",
        r"\b(further|future|more) (?:\w+ ){0,2}(?:research|stud(?:y|ies)|trials?|investigation\w*|work"
        r"|evidence)\b|\b(limitation\w*|unclear|uncertain\w*|unknown|controvers\w+|conflicting|inconsisten\w+|inconclusive"
        r"|remains? to|small (?:sample|number)|caution\w*|not (?:been )?(?:established|determined|clear)"
        r"|warrant\w*|insufficient|lack of|needed|debated?|questioned)\b",
        ("limitations",),
    ),
    Facet(
        "clinical",
        r"clinical|trial|people|patients|efficacy|effective",
        "What do trials and studies in patients show about {topic}?",
        r"\b(patients?|randomi[sz]ed|trials?|cohort|placebo|controls?|women|men|children|participants?|survival"
        r"|mortality|odds|hazard|95\s?%|p\s*[<=]|significan\w+|adults?|group)\b",
        ("results",),
    ),
    Facet(
        "background",
        r"background|introduc|context|overview|epidemi|prevalence|burden|disease\b",
        "What is the background of {topic}?",
        r"\b(common\w*|prevalen\w+|inciden\w+|leading cause|is (?:a|an|the|defined)|are (?:a|an|the)|known"
        r"|widely|frequent\w*|often|rare\w*|increasingly|characteri[sz]ed)\b",
        ("background",),
    ),
    Facet(
        "findings",
        r"finding|result|evidence|what is known",
        "What does the evidence show about {topic}?",
        r"",
        ("conclusion",),
    ),
)

DRUGS, FINDINGS = FACETS[0], FACETS[-1]
"""The aspect of a question for drugs, and that of a question for no aspect."""

ASPECTS: tuple[Facet, ...] = (
    Facet(
        "treatment",
        r"\btreat(?:ments?|ing)\b|\btherap(?:y|ies)\b|\bmanag(?:ing|ement)\b|\boptions for\b"
        r"|\binterventions?\b|\bdrugs?\b|\bmedic(?:ines?|ations?)\b",
        "What treatments are there for {topic}?",
        r"\b(?:treat(?:s|ed|ing|ments?)?|therap(?:y|ies|eutic\w*)|\w*surg(?:ery|eries|ical\w*)"
        r"|operat(?:ed|ions?|ive)|manage(?:d|ment)|interventions?|drugs?|medications?|regimens?"
        r"|\w{2,}(?:ectom(?:y|ies)|plast(?:y|ies)|[st]om(?:y|ies)|desis|rrhaphy)|\w*resections?|repair\w*"
        r"|\w*radi(?:o|ation)\w*|brachytherapy|administ\w+|prescri\w+|rehabilitat\w+|transplant\w*|prophyla\w+"
        r"|vaccin\w+|approved|efficacy)\b",
    ),
    Facet(
        "risk factors",
        r"\b(?:risk|prognostic) factors?\b|\bfactors? associated\b|\bpredictors?\b|\bdeterminants?\b",
        "Which factors are associated with {topic}?",
        r"\b(?:risks?|associat\w+|predict\w*|odds|hazard|correlat\w+|factors?|independent\w*|influenc\w+"
        r"|(?:more|less) (?:likely|frequent\w*|common\w*)|relat(?:ed|ion\w*)|linked?|leads? to|led to"
        r"|prognostic|differ\w*|significan\w*|better|worse|longer|shorter|higher|lower|prolong\w*)\b",
    ),
    Facet(
        "benefits",
        r"\b(?:benefits?|advantages?|effectiveness|efficacy)\b",
        "What are the benefits of {topic}?",
        r"\b(?:benefi\w+|advantag\w+|effective\w*|effica\w+|improv\w+|better|superior\w*|success\w*|feasib\w+|safe"
        r"|reduc\w+|decreas\w+|lower|less|fewer|shorter|faster|prevent\w*|protect\w*|gains?|help\w*)\b",
    ),
    Facet(
        "survival",
        r"\bsurvival\b|\blife expectancy\b|\bmortality\b",
        "What is known of survival in {topic}?",
        r"\b(?:surviv\w+|mortality|deaths?|died|life expectancy|prognos\w+|fatal\w*|alive)\b",
    ),
    Facet(
        "prognosis",
        r"\bprognos\w+|\boutcomes?\b",
        "What is the prognosis of {topic}?",
        r"\b(?:prognos\w+|surviv\w+|mortality|deaths?|died|recurren\w+|outcomes?|recover\w*|remission|relapse\w*"
        r"|progress\w*|disab\w+|impairments?|quality of life|years? (?:after|later))\b",
    ),
    Facet(
        "diagnosis",
        r"\bdiagnos\w+|\bdetect(?:ion|ing)\b",
        "How is {topic} diagnosed?",
        r"\b(?:diagnos\w+|detect\w*|sensitivity|specificity|predictive value|tests?|imaging|biops\w+"
        r"|markers?|biomarker\w*|screen\w*|scor(?:e|es|ing)|criteria|assess\w*)\b",
    ),
    Facet(
        "inheritance",
        r"\binheritance\b",
        "How is {topic} inherited?",
        r"\b(?:inherit\w+|autosomal|X-linked|Y-linked|recessive|dominant|maternal\w*|familial|sporadic|heritab\w+"
        r"|transmi(?:tted|ssion))\b",
    ),
    Facet(
        "causes",
        r"\bcauses?\b|\ba?etiolog\w+",
        "What causes {topic}?",
        r"\b(?:caus\w+|due to|mutat\w+|result(?:s|ing)? from|deficien\w+|genes?|factors?|associated with"
        r"|induced|attributed to)\b",
    ),
    replace(
        next(facet for facet in FACETS if facet.name == "safety"),
        title=r"\b(?:harms?|risks?|adverse (?:effects?|events?)|side effects?|complications?|safety"
        r"|toxicity)\b",
    ),
)
"""Aspects that a broad question may ask for in its first words (`treatment options for hernia`)."""

_NOT_PEOPLE = re.compile(
    r"\b(?:mice|mouse|rats?|murine|rodents?|rabbits?|dogs?|pigs?|porcine|sheep|ewes?|monkeys?|zebrafish|animals?"
    r"|in vitro|cultured|cell lines?|ic50)\b",
    re.IGNORECASE,
)
"""Findings in animals and cell cultures are no evidence from people."""
_TREATMENT = next(facet for facet in ASPECTS if facet.name == "treatment")
_AUTHORS_ACT = re.compile(r"\b(?:we|our|the authors?'?)\b|\bhere,? (?:we|the)\b", re.IGNORECASE)
"""What the authors of a work did or wish is no background."""
_LESS_HARM = re.compile(
    r"\b(?:lower(?:s|ed)?|reduc(?:es|ed|ing)|decreas(?:es|ed|ing)|fewer|less|prevent(?:s|ed|ing)|improv(?:es|ed|ing))"
    r"(?: [\w'\u2019-]+){0,4} (?:risks?|mortality|morbidity|complications?|infections?|bleeding|failures?)\b"
    r"(?: (?:of|for|from)(?: \w+){1,3})?"
    r"|\b(?:mortality|morbidity|risk|complication) reduction\b"
    r"|\breductions? (?:of|in)(?: \w+){0,3} (?:risks?|mortality|morbidity|complications?|infections?"
    r"|bleeding)\b",
    re.IGNORECASE,
)
_NOT_SO = re.compile(r"\b(?:no|not|nor|without|neither)\b(?! only\b)(?: [\w'\u2019-]+){0,4}", re.IGNORECASE)
"""A denial with the words it denies: `not useful in reducing`."""
_ASKED = ("mechanism", "safety", "open")
"""Aspects that a question alone can identify; `effective` in a question does not ask for a section on
trials."""


def facet_of(text: str) -> Facet | None:
    """The aspect a section's title or question asks for; None when it asks for no special one."""
    for facet in FACETS:
        if re.search(facet.title, text, re.IGNORECASE):
            return facet
    return None


def chapter(title: str) -> Facet | None:
    """The one aspect a section with this title is confined to; None when it may cover any."""
    named = facet_of(title)
    return None if named is None or named.name == "findings" else named


def facet_of_section(title: str, question: str) -> Facet | None:
    """The aspect a section is about: by its title, else by its question where that leaves no doubt."""
    named = chapter(title)
    if named is not None:
        return named
    asked = facet_of(question)
    return asked if asked is not None and asked.name in _ASKED else None


def framed(question: str) -> tuple[Facet, str] | None:
    """The aspect and the topic of a section's question that is worded by `Facet.question`; None for others.

    What is asked of works is the topic: that of the aspect, its wording matches any text."""
    for facet in (*FACETS, *ASPECTS):
        before, after = facet.question.split("{topic}")
        topic = question.removeprefix(before).removesuffix(after)
        if len(topic) == len(question) - len(before) - len(after) and topic.strip():
            return facet, topic
    return None


def is_about(facet: Facet, sentence: Sentence) -> bool:
    """True when a sentence is about the aspect."""
    if facet.name in ("candidates", "treatment") and names_a_treatment(sentence.text):
        return True
    if facet.name == "clinical" and _NOT_PEOPLE.search(sentence.text):
        return False
    if facet.name == "background" and (
        sentence.part not in ("background", "plain") or _AUTHORS_ACT.search(sentence.text)
    ):
        return False
    text = without_diseases(sentence.text) if facet.name == "mechanism" else sentence.text
    return sentence.part in facet.parts or says_cue(facet, text)


def names_intervention(text: str) -> bool:
    """Whether a text names something that people are given or that is done to them: a drug, or a treatment by
    its words."""
    return names_a_treatment(text) or says_cue(_TREATMENT, text)


def without_diseases(text: str) -> str:
    """A text without the names of diseases: small cell carcinoma says nothing of cells."""
    for name in of_kind(text, ("disease",))[::-1]:
        text = f"{text[: name.start]} {text[name.end :]}"
    return text


_NAMED_HARM = re.compile(
    r"\b(?:adverse (?:events?|effects?|reactions?|outcomes?)|side[- ]effects?|complications?|toxicit\w+"
    r"|false[- ](?:positiv|negativ)\w*|over-?diagnos\w*)\b",
    re.IGNORECASE,
)
_HAPPENED = re.compile(
    r"\b(?:occurred|developed|experienced|(?:more|most) (?:frequent|common)\w*"
    r"|(?:was|were) (?:frequent|common)|reported (?:by|in))\b",
    re.IGNORECASE,
)
_NEAR_THE_VERB = 30
"""Characters between a symptom and the word that says that it happened."""


def reports_harm(text: str) -> bool:
    """Whether a sentence says by itself that harm was found: adverse events by that name, or a symptom or
    disease that people got."""
    if _NAMED_HARM.search(_LESS_HARM.sub(" ", text)):
        return True
    verbs = list(_HAPPENED.finditer(text))
    named = of_kind(text, ("phenotype", "disease")) if verbs else ()
    return any(
        0 <= verb.start() - entity.end <= _NEAR_THE_VERB or 0 <= entity.start - verb.end() <= _NEAR_THE_VERB
        for verb in verbs
        for entity in named
    )


def says_cue(facet: Facet, text: str) -> bool:
    """Whether a text has a cue of the aspect. A harm that is said to be less is a benefit, and a benefit that
    is denied is none."""
    if facet.name == "safety":
        text = _LESS_HARM.sub(" ", text)
    if facet.name == "benefits":
        text = _NOT_SO.sub(" ", text)
    return bool(facet.cues and re.search(facet.cues, text, re.IGNORECASE))
