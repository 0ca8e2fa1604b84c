"""What a question asks of its things beyond a finding: a cause, a part, a use, an occurrence, that something
exists, that a treatment works, that something is to be done, that all of a kind are alike; and how sentences
state or deny that.

Forms of English, none of them a subject; `activities.text.verdict` reads with them.
"""

import re

from activities.text import thesaurus
from activities.text.tokens import fold

CAUSAL = re.compile(
    r"\bside[- ]effects?\b|\b(?:symptom|complication|manifestation)s? of\b|\badverse (?:effects?"
    r"|events?|reactions?)\b|\bcaus(?:e[sd]?|ing|ation|ative"
    r"|al)\b|\bdue to\b|\bsecondary to\b|\battribut\w+ to\b|\bresponsible for\b"
    r"|\btrigger\w*|\bgives? rise to\b|-induced\b|\bresult(?:s|ed|ing)? (?:in|from)\b|\blead(?:s|ing)? to\b",
    re.IGNORECASE,
)
"""A cause that is asked about or stated."""
ROLE = re.compile(
    r"\broles?\b|\binvolv(?:ed|es?|ing|ement)\b|\bimplicat\w+|\bcontribut\w+|\bparticipat\w+|\bmediat\w+"
    r"|\bpathogenesis\b|\bpathogenic\b|\bimportan\w+|\bcrucial\b|\bcritical\b|\bassociat\w+|\blink(?:s|ed)?\b"
    r"|\brelat(?:ed|ion\w*)\b|\bpredispos\w+",
    re.IGNORECASE,
)
"""A part that something plays, asked about or stated."""
ASKS_OCCURRENCE = re.compile(
    r"\b(?:occur|present|develop|appear|happen|arise|emerge|manifest)\b[^?]*\b(?:after|following|with"
    r"|during|under|from)\b",
    re.IGNORECASE,
)
OCCURS = re.compile(
    r"\b(?:develop(?:s|ed|ing|ment)?|experienc\w+|occur\w*|present(?:s|ed|ing)?|appeared|arose"
    r"|manifest\w*|observed)\b"
    r"|-?\b(?:induced|related|associated)\b|\bcases? (?:of|report)|\bpatients? with\b|\bfollowing\b"
    r"|\bafter\b",
    re.IGNORECASE,
)
"""That something happened to somebody."""
USE = re.compile(
    r"\b(?:use[ds]?(?! in (?:this|our|the (?:present|current|study|trial)))|useful|approved"
    r"|indicated|prescribed|licen[sc]ed|recommended|treat(?:s|ed|ing|ment)?"
    r"|therap(?:y|ies|eutic\w*))\b",
    re.IGNORECASE,
)
"""What something is used for."""
EXISTENCE = re.compile(
    r"(?:^|[:.;,\u2013-]\s*)(?:is|are|was|were) there (?:currently |now )?(?:any |an? "
    r"|some )?(?P<what>[^?]+?)"
    r"(?= (?:for|against|of|in|that|to|with|between|available|on|among|from)\b|\?)",
    re.IGNORECASE,
)
"""A question whether there is something."""
MISSING = re.compile(
    r"\b(?:no|lack of|lacks?|absence of|without(?: an?| any)?)\s(?P<what>(?:[\w-]+ ){0,4}?[\w-]+)"
    r"(?=[,.;:)]|$|\s(?:for|against|of|in|that|to|is|are|has|have|was|were|exists?|available|currently"
    r"|yet)\b)"
    r"|(?P<named>(?:[\w-]+ ){1,8}?)(?:is|are|has|have|was|were) (?:currently |yet )?not (?:yet "
    r"|currently |been )*"
    r"(?:available|exist\w*|approved|found|developed|established)\b",
    re.IGNORECASE,
)
"""What is said not to be there."""
_AVAILABLE = re.compile(
    r"\b(?:used|available|approved|licen[sc]ed|marketed|recommended|prescribed|first-line|standard|exists?)\b",
    re.IGNORECASE,
)
"""What can be had."""
ASKS_USE = re.compile(
    r"\b(?:used|useful|approved|indicated|prescribed|licen[sc]ed|employed) (?:for|in|to|against|as)\b",
    re.IGNORECASE,
)
SAFETY_FIRST = re.compile(
    r"\b(?:safe(?:ty)?|well[- ]tolerated|tolerab\w+|feasib\w+)\b[^.;]*?,? (?:but|yet|however),? ",
    re.IGNORECASE,
)
"""A clause on safety before the one on what was hoped for."""
ASKS_SAFETY = re.compile(r"\bsafe\w*|\btolera\w+|\bfeasib\w+|\brisk\w*", re.IGNORECASE)
ASKS_EFFICACY = re.compile(
    r"\b(?:effective(?:ness)?|efficac\w+|works?|helps?|helpful|benefi\w+|improv\w+|treat(?:s|ed|ment)?"
    r"|useful)\b",
    re.IGNORECASE,
)
_END = r"(?:(?:co-?)?primary |main )?(?:efficacy )?(?:end ?-?points?|outcomes?)"
INEFFICACY = re.compile(
    rf"\b(?:not|never) (?:meet|met|reach|achieve|attain)\w* (?:its |the |their |any (?:of )?)?{_END}"
    rf"|\bfail(?:s|ed|ure)? to (?:meet|reach|achieve|attain) (?:its |the |their |any (?:of )?)?{_END}"
    r"|\b(?:terminated|stopped|halted|discontinued|ended)\b[^.;]*\b(?:futility"
    r"|lack of (?:\w+ )?(?:efficacy|benefit))"
    r"|\bnot? (?:\w+ ){0,3}?(?:better|superior|differ\w*|separat\w+) (?:\w+ ){0,2}?(?:than|to|from|between) "
    r"(?:\w+ ){0,2}?placebo"
    r"|\b(?:not|never|nor) (?:\w+ ){0,2}?(?:demonstrate|show|prove|establish|have|confirm)\w* (?:\w+ ){0,3}?"
    r"(?:efficacy|effectiveness|benefits?)\b|\b(?:no|lack(?:ed|s)?(?: of)?) (?:\w+ ){0,2}?(?:efficacy"
    r"|effectiveness)\b"
    r"|\b(?:efficacy|effectiveness|benefits?)\b[^.;]*?\b(?:was|were|has|have|is"
    r"|are) not (?:been )?(?:\w+ly )?"
    r"(?:shown|demonstrated|proven|proved|established|confirmed|seen|observed|found)\b"
    r"|\b(?:trials?|stud(?:y|ies)|results?) (?:[^.;]* )?(?:was|were|have been|has been) negative\b",
    re.IGNORECASE,
)
"""Statements of trials that a treatment did not do what was hoped."""
EFFICACY = re.compile(
    rf"\b(?:met|reached|achieved) (?:its |the |their |both )?{_END}"
    r"|\b(?:demonstrat|show|prov|confirm|establish)\w* (?:\w+ ){0,3}?(?:efficacy|effectiveness|benefits?)\b"
    r"|\bapproved (?:for|as|treatments?|therap(?:y|ies))\b",
    re.IGNORECASE,
)
"""Statements that it did."""
UNIVERSAL = re.compile(
    r"\b(?:all|always|necessarily|every|each|invariably|exclusively|universally)\b", re.IGNORECASE
)
NOT_ALL = re.compile(
    r"\bnot (?:all|always|every|necessarily|invariably|exclusively|universal\w*)\b"
    r"|\b(?:some|many|most|several|certain|other|a few|fraction|subset|proportion|minority)\b[^.;]*"
    r"\b(?:not|never|lacks?|lacking|without)\b",
    re.IGNORECASE,
)
"""A counter-example to a statement on all."""
_ALL_OF = re.compile(r"\b(?:all|every|each|any)\s(?:[\w-]+\s){0,2}?(?P<of>[a-z]{3,})\b", re.IGNORECASE)
_NOT_ALL_OF = re.compile(r"\bnot (?:all|every)\s(?P<of>(?:[\w-]+[\s.,;]?){1,3})", re.IGNORECASE)
ONLY = re.compile(r"\b(?:only|solely|exclusively)\b", re.IGNORECASE)
"""A question whether there is nothing beside something."""
_BESIDE = re.compile(
    r"\b(?:also|not (?:only|just|limited to|exclusively|solely)|in addition|as well|(?<!each )others?)\b",
    re.IGNORECASE,
)
_NECESSARY = (
    r"(?:necess(?:ary|it\w+)|needed|required?|warranted|justif\w+|indicated|recommend\w*|mandatory|essential"
    r"|obligatory|worthwhile)"
)
ASKS_DUTY = re.compile(rf"(?:^|[:.;,\u2013-]\s*)should\b|\bneed(?:s|ed)?\b|\b{_NECESSARY}\b", re.IGNORECASE)
"""A question for what is to be done."""
NO_DUTY = re.compile(
    rf"\b(?:not|no longer|never|nor)\b (?:[\w-]+ ){{0,4}}?{_NECESSARY}\b"
    rf"|\b(?:does|do|did) not (?:need|require|justify|warrant|support)\b|\bno (?:[\w-]+ )?need\b"
    r"|\bunnecessary\b|\bunwarranted\b|\bunjustified\b|\bcontra-?indicated\b|\bshould not\b"
    r"(?! (?:\w+ ){0,3}?(?:hesitat|preclud|deter|withh[eo]ld|den[yi]|exclu|discourag|barrier"
    r"|contra-?indicat|avoid"
    r"|delay|prevent|reason)\w*)"
    r"|\bshould be (?:avoided|abandoned|omitted|discouraged|discontinued)\b|\b(?:can|could"
    r"|may) be (?:safely )?"
    r"(?:avoided|omitted|abandoned)\b",
    re.IGNORECASE,
)
"""A statement that something is not to be done."""
DUTY = re.compile(
    rf"\b(?:is|are|be|remains?|seems?|appears?) (?:\w+ly )?{_NECESSARY}\b|\b(?:we|authors) recommend\b"
    r"|\bshould (?:\w+ly )?be\b|\bneeds? to be\b|\bmust be\b",
    re.IGNORECASE,
)
"""A statement that something is to be done."""


FOUND_IN = re.compile(
    r"\b(?:present|found|detect(?:ed|able)|expressed|expression|contain(?:s|ed|ing)?|secreted|located"
    r"|identified"
    r"|isolated)\b",
    re.IGNORECASE,
)
ASKS_FOUND_IN = re.compile(
    r"\b(?:present|found|detect(?:ed|able)|expressed|secreted|located) (?:in|on|by|from|within)\b",
    re.IGNORECASE,
)
"""Where something is, asked about or stated."""
PENDING = re.compile(
    r"\b(?:await\w*|pending|submitted|under review|seek\w*|sought|appl(?:y|ied|ication) for|request\w*"
    r"|expected|not yet)\b",
    re.IGNORECASE,
)
ASKS_APPROVAL = re.compile(r"\bapprov\w+|\blicen[cs]ed?\b|\bauthori[sz]ed\b", re.IGNORECASE)
"""An approval that is asked about, and one that has not come."""
RELATIONS = (
    (CAUSAL, CAUSAL),
    (ROLE, ROLE),
    (ASKS_OCCURRENCE, OCCURS),
    (ASKS_USE, USE),
    (ASKS_FOUND_IN, FOUND_IN),
)
"""What asks for a relation, and what states it."""


def denied(question: str, sentence: str) -> bool:
    """Whether a sentence denies what is asked by a form of its own: it is not to be done, the trial missed
    its
    end point, there is no such thing."""
    return bool(
        (ASKS_DUTY.search(question) and NO_DUTY.search(sentence))
        or (ASKS_EFFICACY.search(question) and INEFFICACY.search(sentence))
        or _absent(question, sentence)
    )


def not_all(question: str, sentence: str) -> bool:
    """Whether a question asks about all of a kind, and a sentence says something of `not all` of it."""
    asked = {form for match in _ALL_OF.finditer(question) for form in thesaurus.singulars(fold(match["of"]))}
    said = (
        word for match in _NOT_ALL_OF.finditer(sentence) for word in re.findall(r"\w+", fold(match["of"]))
    )
    return any(asked & {*thesaurus.singulars(word)} for word in said)


def beside(question: str, sentence: str) -> bool:
    """Whether a question asks if something is the only one, and a sentence says that there is another."""
    return bool(ONLY.search(question) and _BESIDE.search(sentence))


def works(question: str, stated: str) -> bool:
    """Whether a question asks for an efficacy, and a statement says that trials showed it."""
    return bool(ASKS_EFFICACY.search(question) and EFFICACY.search(stated))


def pending(question: str, sentence: str) -> bool:
    """Whether a question asks for an approval that a sentence says is awaited."""
    return bool(ASKS_APPROVAL.search(question) and PENDING.search(sentence))


def to_be_done(question: str, stated: str) -> bool:
    """Whether a question asks what is to be done, and a statement says that it is."""
    return bool(ASKS_DUTY.search(question) and DUTY.search(stated))


def without_safety(question: str, sentence: str) -> str:
    """A sentence without its clause on safety before a `but`, for a question that does not ask for that."""
    return sentence if ASKS_SAFETY.search(question) else SAFETY_FIRST.sub("", sentence)


def exists(question: str, sentence: str) -> bool:
    """Whether a question asks if there is something against or for a thing, and a sentence says that it is
    used or can be had. `sentence`: without what it denies."""
    asked = EXISTENCE.search(question)
    if asked is None or not _AVAILABLE.search(sentence) or PENDING.search(sentence):
        return False
    wanted = {*thesaurus.singulars(fold(asked["what"].rsplit(" ", 1)[-1]))}
    return any(wanted & {*thesaurus.singulars(word)} for word in re.findall(r"\w+", fold(sentence)))


def _absent(question: str, sentence: str) -> bool:
    """Whether a sentence says that what a question asks for does not exist: `no vaccine is available`."""
    asked = EXISTENCE.search(question)
    if asked is None:
        return False
    wanted = {*thesaurus.singulars(fold(asked["what"].rsplit(" ", 1)[-1]))}
    for match in MISSING.finditer(sentence):
        for word in fold(match["what"] or match["named"]).split():
            forms = {*thesaurus.singulars(word)}
            if wanted & forms.union(*(thesaurus.broader(form) for form in forms)):
                return True
    return False
