"""What a sentence says a thing is, and which things it says are of a kind: definitions and appositions.

`X is a substrate of Y`, `X, a natural substrate of Y`, `two substrates, X and Z` name substrates; `X is a
redness of the palms`, `X ("liver palms")`, `X, a disorder of the skin,` say what X is. Forms of English
grammar; no words of any subject.
"""

import re
from collections.abc import Collection, Iterator

from activities.text.answer_phrases import DEFINED, clause, enumerated, noun_phrases
from activities.text.tokens import terms

_NEAR = 60
"""Characters before a definition in which the defined thing is named."""
_LEAST_WORDS = 2
_ALIAS = re.compile(
    r"\s?\((?:also )?(?:known as |called |termed )?[\"\u201c'](?P<quoted>[^()\"\u201d']{3,60})[\"\u201d']\)"
)
_LEADS_ON = (
    r"of|in|for|by|to|that|which|with|from|on|at|as|is|are|was|were|and|or"
    r"|has|have|had|can|may"
)
"""Words behind a kind that do not open a list of its things."""
_APPOSITION = re.compile(r",\s(?P<what>(?:an?|the|one of the)\s[^,;:()]{5,120}),")


ASKS_TREATMENT = re.compile(
    r"\b(?:treat(?:s|ed|ing|ments?)?|therap(?:y|ies|eutic)|medications?|managed?)\b", re.IGNORECASE
)
TREATS = re.compile(
    r"\b(?:treat\w*|\w*therap\w*|effective\w*|efficacy|efficacious|approv\w+|indicated|first-line|recommended"
    r"|respon(?:d|se)\w*|administ\w+|manag\w+|improv\w+|prescri\w+|surviv\w+|regimens?|doses?|randomi[sz]ed|trials?|received|given"
    r"|used (?:for|in|to)|relie[fv]\w*|remission|cur(?:e[ds]?|ative))\b",
    re.IGNORECASE,
)
"""Words by which a sentence says that something is given for a disease, not only met with it."""


def _kind(heads: Collection[str]) -> str:
    words = "|".join(re.escape(head) for head in sorted(heads, key=len, reverse=True))
    return rf"(?:{words})(?:s|es)?\b"


def things_of_kind(text: str, heads: Collection[str]) -> Iterator[tuple[str, int]]:
    """The phrases that a text says are of a kind, with where each begins. `heads`: the forms of its noun."""
    kind = _kind(heads)
    said = re.compile(
        rf"(?:\s\([^()]*\))?,?\s(?:(?:is|are|was|were)\s)?(?:an?|the|one of the|another)\s"
        rf"(?:[\w-]+\s){{0,4}}?{kind}",
        re.IGNORECASE,
    )
    for name, start in noun_phrases(text):
        if said.match(text, start + len(name)):
            yield name, start
    after = re.compile(
        rf"\b{kind}(?P<rest>(?:,|:|\s\()?(?!\s?(?:{_LEADS_ON})\b)[^.;]{{3,200}})", re.IGNORECASE
    )
    for match in after.finditer(text):
        rest = match["rest"]
        at = match.start("rest") + (len(rest) - len(rest.lstrip(" ,:(")))
        for name, start, _ in enumerated(f"include {text[at : match.end()]}"):
            if start - len("include ") <= _NEAR:
                yield name, at + start - len("include ")
            else:
                break


def meanings(text: str, thing: Collection[str]) -> Iterator[tuple[str, int, float]]:
    """What a text says a thing is: phrase, where it begins, weight. `thing`: the comparison forms of its
    name, all of which must stand shortly before."""
    for match in DEFINED.finditer(text):
        if _names(text[max(0, match.start() - _NEAR) : match.start()], thing):
            group = "what" if match["what"] else "more"
            yield clause(match[group]), match.start(group), 1.0
    for pattern, group, weight in ((_ALIAS, "quoted", 0.8), (_APPOSITION, "what", 1.0)):
        for match in pattern.finditer(text):
            before = text[max(0, match.start() - _NEAR) : match.start()]
            if _names(before, thing) and len(match[group].split()) >= _LEAST_WORDS:
                yield match[group].strip(), match.start(group), weight


def _names(before: str, thing: Collection[str]) -> bool:
    return bool(thing) and set(thing) <= set(terms(before.rsplit(". ", 1)[-1]))
