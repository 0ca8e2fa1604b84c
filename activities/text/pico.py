"""The parts of a question: population, intervention or exposure, comparison and outcome (PICO: Richardson et
al., ACP J Club 1995, 123:A12).

Each part is a run of the question's own words, read by the grammar of common questions and by the
vocabularies. A part that the question does not name, or names in a form that is not read for certain, is
empty.
"""

import re
from dataclasses import dataclass, fields, replace

from activities.text.entities import of_kind
from activities.text.study_wording import PEOPLE
from activities.text.tokens import is_function

LONGEST = 14
"""Words of a part at most."""

_AUXILIARY = r"(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|may|might|must)"
_CHANGES = (
    r"(?:reduc|improv|increas|decreas|lower|rais|prevent|affect|influenc|impact|predict|worsen"
    r"|delay|chang|alter"
    r"|enhanc|impair|slow|promot|shorten|prolong|modif|determin|caus|accelerat|harm|hurt|damag|injur"
    r"|trigger|induc|aggravat|alleviat|eas|boost|weaken|strengthen|suppress|stimulat|limit)(?:e|es|ed|s|y|ies|ied)?"
    r"|lead to|leads to|result in|results in|contribute to|contributes to|protect (?:from|against)"
    r"|protects (?:from|against)|have an? (?:\w+ )?(?:effect|impact|influence) on|play a role in"
)
_TREATS = r"(?:treats?|cures?|helps?(?: with| against)?|works? (?:for|in|against)|benefits?|relieves?)"
_RELATED = (
    r"(?:independently |significantly |causally )?(?:associated|correlated|related|linked"
    r"|connected) (?:with|to)"
    r"|(?:an? |the )?(?:\w+ ){0,2}?(?:risk factor|predictor|cause|marker|biomarker|indicator"
    r"|determinant)s? (?:of|for)"
    r"|predictive of|responsible for"
)
_JUDGED = (
    r"(?:(?:an? |the )(?:\w+ ){0,2}?)?(?:effective|efficacious|safe|useful|accurate|reliable|valid"
    r"|sensitive|specific|beneficial|feasible"
    r"|helpful|recommended"
    r"|indicated|appropriate|necessary|justified|superior|better|worse)"
    r"(?: and (?:effective|safe|feasible|useful))?(?: (?:treatment|therapy|option|alternative"
    r"|procedure|intervention))?"
)
_AGAINST = re.compile(
    r"\b(?:versus|vs\.?|compared (?:with|to)|in comparison (?:with|to)|rather than|instead of|than"
    r"|as (?:\w+ ){1,3}as|alternatives? to|superior to|inferior to|equivalent to)\s+(?P<found>.+)$",
    re.IGNORECASE,
)
_WHO = re.compile(
    rf"\b(?:in|among|for|of|with|to)\s+(?P<found>(?:(?!(?:in|on|of|the|for)\b)[\w-]+ ){{0,4}}?{PEOPLE}\b.*)$",
    re.IGNORECASE,
)
_WHERE = re.compile(r"\s(?:in|among|for|during|following)\s+(?P<found>[^,;?]+)$", re.IGNORECASE)
_PURPOSE = re.compile(
    r"\s(?:for|in|to) (?:the )?(?:prevent|reduc|improv|lower|decreas|increas|detect|diagnos"
    r"|predict)\w*(?: of)? "
    r"(?P<found>.+)$",
    re.IGNORECASE,
)
_FORMS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            rf"^{_AUXILIARY} (?:there )?(?:an? |any )?(?:association|relation(?:ship)?|correlation"
            rf"|link|connection)"
            r"s? (?:between|of) (?P<i>.+?) (?:and|with) (?P<o>.+)$"
        ),
        (
            rf"^{_AUXILIARY} (?P<p>.+?) at (?:an? )?(?:high|higher|increased|greater|lower|reduced) risk "
            r"(?:of|for) (?P<o>.+)$"
        ),
        (
            rf"^{_AUXILIARY} (?P<p>.+?) at (?:an? )?(?:high|higher|increased|greater|lower|reduced) risk "
            r"(?:after|during|with) (?P<i>.+)$"
        ),
        rf"^{_AUXILIARY} (?P<i>.+?) (?:{_RELATED}) (?P<o>.+)$",
        rf"^{_AUXILIARY} (?!there\b)(?P<i>.+?) (?<!\bbe )(?<!\bbeen )(?:{_CHANGES})(?! by\b) (?P<o>.+)$",
        rf"^{_AUXILIARY} (?P<i>.+?) {_TREATS} (?P<p>.+)$",
        rf"^{_AUXILIARY} (?P<i>.+?) {_JUDGED}(?: (?:in|for|against|among|to treat) (?P<p>.+))?$",
        r"\b(?:effects?|impact|influence|efficacy|effectiveness|safety) of (?P<i>.+?) (?:on|upon) (?P<o>.+)$",
        (
            r"\b(?:role|use|place|effects?|efficacy|effectiveness|safety) of (?P<i>.+?) (?:in|for"
            r"|against) (?P<p>.+)$"
        ),
        (
            r"^(?:which|what) (?P<i>(?:\w+ ){0,3}?(?:drugs?|medications?|medicines?|treatments?"
            r"|therap(?:y|ies)|interventions?|compounds?|agents?))\b.*?\b(?:treat|for|against|in|slow"
            r"|repurposed for)\s+(?P<p>.+)$"
        ),
        rf"^how (?:does|do|did) (?P<i>.+?) (?:{_CHANGES}) (?P<o>.+)$",
        r"^what causes (?P<o>.+)$",
        r"^what (?:is|do we) (?:currently )?known? (?:about|of|on) (?P<o>.+?) (?:in|among) (?P<p>[^,;]+)$",
    )
)


_COMPARED = re.compile(
    r"^(?:what (?:is|do we) (?:currently )?known? (?:about|of|on)|compare) (?P<found>.+)$", re.IGNORECASE
)
_NOTHING = re.compile(r"(?:it|they|this|these|\w+ly)?", re.IGNORECASE)
"""What stands in the place of a subject that was named before a colon."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a question asks about, in its own words; a part is empty where the question does not name it."""

    population: str = ""
    intervention: str = ""
    """Also an exposure, a test, or whatever else is said to have an effect."""
    comparison: str = ""
    outcome: str = ""

    def __bool__(self) -> bool:
        return any(getattr(self, part.name) for part in fields(self))


def parts_of(question: str) -> Parts:
    """The parts of a question. Empty for a question of a form that is not read."""
    text = re.sub(r"[?.\s]+$", "", " ".join(question.split()))
    topic = ""
    if re.search(rf": {_AUXILIARY}\b", text, re.IGNORECASE):
        topic, _, text = text.rpartition(": ")
    against = _AGAINST.search(text)
    comparison, population, outcome = "", "", ""
    if against is not None:
        comparison, population = _split(re.split(r"[,;]", against["found"])[0])
        if (purpose := _PURPOSE.search(comparison)) is not None:
            comparison, outcome = comparison[: purpose.start()], purpose["found"]
        kept = text[: against.start()].rstrip(" ,")
        text = f"{kept} {_word_of(against.group())}".rstrip()
    known = Parts(population=_bare(population), comparison=_bare(comparison), outcome=_bare(outcome))
    for form in _FORMS:
        found = form.search(text)
        if found is not None:
            read = _read(found, known)
            subject = _bare(topic) if _NOTHING.fullmatch(read.intervention) else read.intervention
            return replace(read, intervention=subject)
    compared = _COMPARED.search(text) if comparison else None
    if compared is not None:
        return replace(known, intervention=_bare(compared["found"]))
    return _by_names(question, known)


def _read(found: re.Match[str], known: Parts) -> Parts:
    groups = found.groupdict()
    given, outcome, who = (groups.get(name) or "" for name in ("i", "o", "p"))
    if outcome:
        outcome, own = _split(outcome)
        who = who or own
    if who or outcome:
        given, own = _split(given, only_people=True)
    else:
        given, own = _split(given)
    return replace(
        known,
        intervention=_bare(given),
        outcome=_bare(outcome) or known.outcome,
        population=_bare(who or known.population or own),
    )


def _by_names(question: str, known: Parts) -> Parts:
    """By the kinds of the things that are named: a drug is given, a disease is whom it is given to."""
    drugs, diseases = (of_kind(question, kinds) for kinds in (("drug", "drug_class"), ("disease",)))
    return replace(
        known,
        intervention=known.intervention or (drugs[0].surface if drugs else ""),
        population=known.population or (diseases[0].surface if diseases else ""),
    )


def _split(text: str, *, only_people: bool = False) -> tuple[str, str]:
    """A phrase without the people it is about, and the people."""
    found = _WHO.search(text) or (None if only_people else _WHERE.search(text))
    return (text[: found.start()], found["found"]) if found is not None else (text, "")


def _word_of(compared: str) -> str:
    """The judgement in `as safe as`, without which the rest of the question is no sentence."""
    found = re.match(r"as ((?:\w+ ){1,3})as\b", compared, re.IGNORECASE)
    return found.group(1).strip() if found else ""


def _bare(text: str) -> str:
    """A phrase without function words at its ends; empty when it is too long to be one."""
    words = text.strip(" ,;:?").split()
    while words and is_function(words[-1]):
        words.pop()
    while words and is_function(words[0]) and words[0].casefold() not in ("no", "not", "without"):
        words.pop(0)
    return " ".join(words) if len(words) <= LONGEST else ""
