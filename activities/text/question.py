"""What kind of answer a question asks for, and whether a sentence gives one of that kind."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from activities.text.entities import Kind, link
from activities.text.tokens import fold

Form = Literal["yes_no", "fact", "list", "definition", "open"]
Thing = Literal["number", "drug", "disease", "gene", "cause", "definition", "name"]

_YES_OR_NO = re.compile(
    r"(?:^|[:.;,\u2013\u2014-]\s*)(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|may|might|must)\b"
    r"[^?]*\?",
    re.IGNORECASE,
)
"""A question that begins with an auxiliary, also after a colon: `Statins: do they help?`"""
_RELATIONS = (
    r"cause|role|effect|mechanism|incidence|prevalence|risk|inheritance|onset|generic|brand|alternative|main|most"
    r"|best|function|treatment|evidence|name|age|dose|phase|target|gene|protein|drug|disease"
)
"""Words after `what is the` that ask for one fact about something and not for what it is."""
_DEFINES = re.compile(
    rf"^(?:please )?(?:what (?:is|are) (?!(?:an? |the )?(?:\w+ )?(?:{_RELATIONS})s?\b)[^?,]{{2,60}}\?*$"
    r"|define|describe|explain|what does .{1,40} mean\b)",
    re.IGNORECASE,
)
_LISTS = re.compile(
    r"^(?:please )?(?:list|enumerate|name) |^(?:which|what) (?:\w+ ){0,3}?(?:are|were|causes"
    r"|factors|genes|drugs"
    r"|types|symptoms|features|diseases|proteins|examples)\b|\b(?:types|examples|hallmarks|features|symptoms"
    r"|outcomes|steps) of\b",
    re.IGNORECASE,
)
_ASKS_FACT = re.compile(
    r"\b(?:what|which|who|when|where|how (?:many|much|often|long|old|is|are))\b", re.IGNORECASE
)
_NUMBER = re.compile(
    r"\b(?:when|how (?:many|much|often|long|old)|incidence|prevalence|frequency|percentage"
    r"|proportion|rate|dose"
    r"|dosage|age|year|phase|number)\b",
    re.IGNORECASE,
)
_DRUG = re.compile(r"\b(?:drugs?|medications?|medicines?|treatments?|therap(?:y|ies)|compounds?"
    r"|inhibitors?|generic name"
                   r"|brand name|agents?|vaccines?|antibod(?:y|ies))\b", re.IGNORECASE)  # fmt: skip
_DISEASE = re.compile(
    r"\b(?:diseases?|disorders?|syndromes?|conditions?|cancers?|infections?|indications?|used for|tested for"
    r"|symptoms?|features?|adverse|side effects?)\b",
    re.IGNORECASE,
)
_GENE = re.compile(
    r"\b(?:genes?|proteins?|receptors?|enzymes?|factors?|target|inhibit|kinases?|mutations?"
    r"|amino acid|hormones?)\b",
    re.IGNORECASE,
)
_CAUSE = re.compile(r"\bcauses?\b|\bcaused\b|\bwhy\b|\bdue to\b", re.IGNORECASE)
_GIVES_CAUSE = re.compile(
    r"\b(?:caused? by|due to|results? from|resulting from|causes?|causing|because of|mutations?"
    r"|deficien\w+|expansion"
    r"|induced by|attributed to|leads? to|associated with)\b",
    re.IGNORECASE,
)
_GIVES_DEFINITION = re.compile(
    r"\b(?:is|are|was) (?:\w+ ){0,2}?(?:an?|the|one of)\b|\brefers? to\b|\bdefined as\b"
    r"|\bcharacteri[sz]ed by\b"
    r"|\bdescribes?\b|\bconsists? of\b|\bknown as\b|\(",
    re.IGNORECASE,
)
_GIVES_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|first|second|third|fourth|decade)\b",
    re.IGNORECASE,
)
_SYMBOL = re.compile(r"\b[A-Z][A-Z0-9]{1,6}(?:-?\d+[A-Za-z]?)?\b")
_SEVERAL = re.compile(r",[^,]+(?:,|\band\b)|\band\b|\binclud\w+|\bsuch as\b|:", re.IGNORECASE)
_KINDS: dict[Thing, frozenset[Kind]] = {
    "drug": frozenset({"drug", "drug_class", "chemical"}),
    "disease": frozenset({"disease", "phenotype"}),
    "gene": frozenset({"protein", "chemical", "drug"}),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks for."""

    form: Form
    things: tuple[Thing, ...] = ()
    """What an answer must name, any of them; empty where any sentence may answer."""


def is_yes_or_no(question: str) -> bool:
    """Whether a question can be answered yes or no."""
    return bool(_YES_OR_NO.search(question))


@lru_cache(maxsize=512)
def asked(question: str) -> Asked:
    """The form of answer and what it has to name, by the question's wording."""
    text = " ".join(question.split())
    several = bool(_LISTS.search(text))
    if is_yes_or_no(text) and not several:
        return Asked("yes_no")
    if _DEFINES.search(text) and not several:
        return Asked("definition", ("definition",))
    if not several and not _ASKS_FACT.search(text):
        return Asked("open")
    things: list[Thing] = []
    for thing, pattern in (
        ("number", _NUMBER), ("cause", _CAUSE), ("drug", _DRUG), ("disease", _DISEASE), ("gene", _GENE),
    ):  # fmt: skip
        if pattern.search(text):
            things.append(thing)  # type: ignore[arg-type]
    if "stand for" in text or "abbreviation" in text:
        things = ["definition"]
    return Asked("list" if several else "fact", tuple(things[:2]))


def answer_fit(want: Asked, question: str, sentence: str) -> float:
    """How well a sentence gives the kind of thing that is asked for: 1 in full, 0 not at all, and 0.5 where
    nothing in particular is asked for."""
    if want.form in ("yes_no", "open"):
        return 0.5
    value = 0.5
    if want.things:
        value = float(any(_names(thing, question, sentence) for thing in want.things))
    if want.form == "list":
        value = 0.6 * value + 0.4 * bool(_SEVERAL.search(sentence))
    return value


def _names(thing: Thing, question: str, sentence: str) -> bool:
    if thing == "number":
        return bool(_GIVES_NUMBER.search(sentence))
    if thing == "cause":
        return bool(_GIVES_CAUSE.search(sentence))
    if thing == "definition":
        return bool(_GIVES_DEFINITION.search(sentence))
    known = fold(question)
    if thing == "gene" and any(fold(m) not in known for m in _SYMBOL.findall(sentence)):
        return True
    kinds = _KINDS.get(thing, frozenset())
    return any(e.kind in kinds and fold(e.surface) not in known for e in link(sentence))
