"""What kind of answer a question asks for, and whether a sentence gives one of that kind."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from activities.text import thesaurus
from activities.text.amounts import asks_for_date_or_sum, asks_for_money, gives_amount
from activities.text.entities import Kind, link
from activities.text.persons_and_places import persons, places
from activities.text.tokens import fold, is_function, stem

Form = Literal["yes_no", "fact", "list", "definition", "open"]
Thing = Literal[
    "number", "drug", "disease", "gene", "cause", "definition", "name", "inheritance", "person", "place"
]

_AUXILIARY = r"(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|may|might|must)"
_YES_OR_NO = re.compile(rf"^\W*{_AUXILIARY}\s+\S|[:.;,?\u2013\u2014-]\s*{_AUXILIARY}\b[^?]*\?", re.IGNORECASE)
"""A question that begins with an auxiliary, also after a colon: `Statins: do they help?` At the beginning it
needs no question mark."""
_RELATIONS = (
    r"cause|role|effect|mechanism|incidence|prevalence|risk|inheritance|onset|generic|brand|alternative|main|most"
    r"|best|function|treatment|evidence|name|age|dose|phase|target|gene|protein|drug|disease"
)
"""Words after `what is the` that ask for one fact about something and not for what it is."""
_DEFINES = re.compile(
    r"^(?:please )?(?:what (?:is|are) (?!(?:\w+ )?(?:known|there)\b)"
    rf"(?!(?:an? |the )?(?:\w+ )?(?:{_RELATIONS})s?\b)[^?,]{{2,60}}\?*$"
    r"|define|describe|explain|what does .{1,40} mean\b)",
    re.IGNORECASE,
)
_LISTS = re.compile(r"^(?:please )?(?:list|enumerate|name) ", re.IGNORECASE)
_COMPARES = re.compile(r"\bas \w+ as\b|\bcompared (?:with|to)\b|\bversus\b|\bvs\b\.?", re.IGNORECASE)
_WH = re.compile(r"\b(?:which|what)\b|^(?:please )?(?:list|enumerate|name)\b", re.IGNORECASE)
_FOCUS_TOKEN = re.compile(r"[^\W_]+(?:[-'\u2019/][^\W_]+)*|[?,:;()]")
_BE = frozenset({"is", "are", "was", "were", "be"})
_NO_NOUN_FOLLOWS = frozenset(
    {"do", "does", "did", "can", "could", "should", "would", "will", "may", "might", "must", "has", "have"}
    | {"had", "of", "for", "in", "to", "with", "by", "on", "from", "at", "that", "about"}
)
"""Function words after which no noun phrase that is asked for can begin; others are skipped before one."""
_SORTS = frozenset({"type", "types", "kind", "kinds", "sort", "sorts"})
_USED_FOR = re.compile(
    r"\b(?:used|tested|developed|indicated|approved|given|designed|prescribed|intended|studied)"
    r" (?:for|in|against)\s*\?*$",
    re.IGNORECASE,
)
"""A question that ends so asks for a disease: `What is X used for?`"""
_ARE = re.compile(r"^(?:which|what) (?:are|were)\b", re.IGNORECASE)
_ENDS_OPEN = re.compile(r"\b(?:called|named|for|of|by|with|in|from|to|against)\s*\?*$", re.IGNORECASE)
"""A question that ends in the middle of a clause asks for what completes it, not for a definition."""
_OBJECT = re.compile(
    r"\bwhat (?:does|do|did) .+? (?:inhibit|block|target|bind|activate|antagoni[sz]e)s?(?: to)?\s*\?*$",
    re.IGNORECASE,
)
_INHERITED = re.compile(
    r"\b(?:modes?|patterns?|types?|way|form) of (?:genetic )?(?:inheritance|transmission)\b"
    r"|\binheritance (?:patterns?|modes?)\b|\bhow (?:is|are) .+ inherited\b",
    re.IGNORECASE,
)
INHERITANCE = re.compile(
    r"\b(?:autosomal|X-linked|Y-linked|semi-?dominant|pseudoautosomal)"
    r"(?:[ -](?:co-?|semi-?)?(?:dominant|recessive))?\b"
    r"|\b(?:mitochondrial|maternal|digenic|oligogenic|polygenic|multifactorial)"
    r" (?:inherit|transmi)\w+"
    r"|\b(?:maternally|paternally) inherited\b|\bsporadic\b",
    re.IGNORECASE,
)
"""Modes of inheritance: the Human Phenotype Ontology's terms under HP:0000005."""
_WHAT = re.compile(r"^(?:what|who)\b", re.IGNORECASE)
_AMOUNT = (
    "how (?:many|much|often|long|old|common|rare|frequent|likely|large|big|small|high|low|fast|slow|far|tall"
    "|deep|wide|heavy|expensive)"
)
"""Questions for an amount: `how` with adjectives of number, time, frequency, dimension, speed and price."""
_ASKS_FACT = re.compile(rf"\b(?:what|which|who|when|where|how (?:is|are)|{_AMOUNT})\b", re.IGNORECASE)
_NUMBER = re.compile(
    r"\b(?:when|how (?:many|much|often|long|old)|incidence|prevalence|frequency|percentage"
    r"|proportion|rate|dose"
    r"|dosage|age|year|phase|number|median|mean|average|sensitivity|specificity|accuracy)\b",
    re.IGNORECASE,
)
_WHO = re.compile(r"(?:(?:to|by|for|from|with|of) )?(?:who|whom|whose)\b", re.IGNORECASE)
_WHERE = re.compile(r"(?:from )?where\b", re.IGNORECASE)
_HOW_MUCH = re.compile(rf"(?:when|{_AMOUNT})\b", re.IGNORECASE)
_QUANTITIES = frozenset({"23", "28"})
"""WordNet's files of quantities and times."""
_DRUG = re.compile(r"\b(?:drugs?|medications?|medicines?|treatments?|therap(?:y|ies)|compounds?"
    r"|inhibitors?|generic name"
                   r"|brand name|agents?|vaccines?|antibod(?:y|ies))\b", re.IGNORECASE)  # fmt: skip
_DISEASE = re.compile(
    r"\b(?:diseases?|disorders?|syndromes?|conditions?|cancers?|infections?|indications?|used for|tested for"
    r"|symptoms?|features?|adverse|side effects?|complications?|harms?|risks)\b",
    re.IGNORECASE,
)
_GENE = re.compile(
    r"\b(?:genes?|proteins?|receptors?|enzymes?|(?:transcription|growth|clotting|coagulation) factors?"
    r"|targets?|kinases?|mutations?"
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
    focus: str = ""
    """The noun phrase that says what kind of thing is asked for: `amino acid` in `which amino acid`."""


def compared(question: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Stems of the nouns and adjectives that only one side of a comparison has, of each side: for `Is open
    surgery as safe as keyhole surgery?` those of open and of keyhole. None where nothing is compared."""
    found = _COMPARES.search(question)
    if found is None:
        return None
    one, other = stems(question[: found.start()]), stems(question[found.end() :])
    sides = frozenset(one - other), frozenset(other - one)
    return sides if all(sides) else None


def stems(text: str) -> set[str]:
    """The stems of the nouns, the adjectives and the unknown words of a text."""
    words = [w for w in re.findall(r"[a-z][a-z-]{2,}", fold(text)) if w not in _BE]
    kinds = {word: thesaurus.parts_of_speech(word) for word in words}
    return {stem(w) for w in words if kinds[w] & {"n", "a"} or not (kinds[w] or is_function(w))}


def is_yes_or_no(question: str) -> bool:
    """Whether a question can be answered yes or no."""
    return bool(_YES_OR_NO.search(question))


@lru_cache(maxsize=512)
def asked(question: str) -> Asked:
    """The form of answer and what it has to name, by the question's wording."""
    text = " ".join(question.split())
    found = _WH.search(text)
    if found is None and is_yes_or_no(text):
        return Asked("yes_no")
    focus = _focus(text[found.end() :]) if found else ""
    several = bool(_LISTS.search(text)) or _plural(focus) or bool(focus and _ARE.search(text))
    if is_yes_or_no(text) and not several:
        return Asked("yes_no")
    open_end = bool(_ENDS_OPEN.search(text))
    whole = not focus or bool(re.search(rf"{re.escape(focus)}\s*(?:[?(]|$)", text))
    if _DEFINES.search(text) and not open_end and whole:
        return Asked("definition", ("definition",), focus)
    things = _things(text, focus)
    if not several and not (_ASKS_FACT.search(text) and (focus or things or not _WHAT.search(text))):
        return Asked("open")  # also `what is known about X`, `what affects X`, which name no kind of thing
    if several and open_end and re.search(r"\bcalled\b", text):
        several = False  # `what are X called?` asks for one name
    return Asked("list" if several else "fact", things, focus)


def _things(text: str, focus: str) -> tuple[Thing, ...]:
    """What an answer has to name: by the noun that is asked for, else by how the question ends or begins."""
    if re.search(r"\bstands? for\b|\babbreviation\b", text):
        return ("definition",)
    if _USED_FOR.search(text):
        return ("disease",)
    if _INHERITED.search(text):
        return ("inheritance",)
    if asks_for_money(text):
        return ("number",)
    if _OBJECT.search(text):
        return ("gene",)
    if re.search(r"\bcalled\s*\?*$", text):
        return ("name",)
    if re.search(r"\b(?:what causes|why)\b", text, re.IGNORECASE):
        return ("cause",)
    kinds: tuple[tuple[Thing, re.Pattern[str]], ...] = (
        ("number", _NUMBER), ("cause", _CAUSE), ("drug", _DRUG), ("disease", _DISEASE), ("gene", _GENE),
    )  # fmt: skip
    if _HOW_MUCH.match(text):
        return ("number",)
    if _WHO.match(text):
        return ("person",)
    if _WHERE.match(text):
        return ("place",)
    found = tuple(thing for thing, pattern in kinds if pattern.search(focus))[:2]
    return found or _kind_of(focus) or (("number",) if _is_measure(focus) else ())


def _is_measure(focus: str) -> bool:
    """Whether a noun phrase names a quantity or a time by one of the two most frequent meanings of its last
    word: mortality, half-life."""
    return not _QUANTITIES.isdisjoint(thesaurus.files(focus.rpartition(" ")[2])[:2])


def _kind_of(focus: str) -> tuple[Thing, ...]:
    """The kind of a noun phrase that ends in a name of the vocabularies: `inflammatory myopathies`."""
    named = [entity for entity in link(focus) if entity.end == len(focus)]
    return tuple(thing for thing, kinds in _KINDS.items() if named and named[-1].kind in kinds)[:1]


def _focus(rest: str) -> str:
    """The noun phrase that follows `which` or `what`, as typed: without the verb to be, articles and adverbs
    before it; empty for a question about what a verb does (`what does X inhibit`)."""
    tokens = _FOCUS_TOKEN.findall(rest)
    place = 0
    direct = True
    while place < len(tokens):
        plain = fold(tokens[place])
        sort = direct and plain in _SORTS and tokens[place + 1 : place + 2] == ["of"]
        if sort:
            place += 2
        elif plain in _NO_NOUN_FOLLOWS or not plain[0].isalnum():
            break
        elif is_function(plain) or plain in _BE or thesaurus.parts_of_speech(plain) == {"r"}:
            direct = direct and plain not in _BE
            place += 1
        else:
            break
    phrase: list[str] = []
    if direct and place < len(tokens) and _is_finite_verb(fold(tokens[place])):
        return ""
    for token in tokens[place:]:
        plain = fold(token)
        verb = bool(phrase) and "v" in thesaurus.parts_of_speech(plain) and not thesaurus.mostly_noun(plain)
        if is_function(plain) or not plain[0].isalnum() or verb:
            break
        phrase.append(token)
    return " ".join(phrase)


def _is_finite_verb(word: str) -> bool:
    """Whether a word after `what` is its verb (`what affects survival`) and no plural noun or adjective."""
    kinds = thesaurus.parts_of_speech(word)
    return word.endswith("s") and "v" in kinds and "a" not in kinds and not thesaurus.mostly_noun(word)


def _plural(phrase: str) -> bool:
    """Whether a noun phrase is a plural, by its last word."""
    last = fold(phrase.rsplit(" ", 1)[-1]) if phrase else ""
    return last.endswith("s") and any(
        single != last and thesaurus.senses(single) for single in thesaurus.singulars(last)
    )


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


def says_what_sort(question: str) -> bool:
    """Whether the first word of a question says what sort of thing answers it: a person (who), a place
    (where), a date (when), a sum (how much money)."""
    things = asked(question).things
    if things == ("number",):
        return asks_for_date_or_sum(question)
    return things in (("person",), ("place",))


def _names(thing: Thing, question: str, sentence: str) -> bool:
    if thing == "inheritance":
        return bool(INHERITANCE.search(sentence))
    if thing == "number":
        gives = gives_amount(question, sentence)
        return bool(_GIVES_NUMBER.search(sentence)) if gives is None else gives
    if thing in ("person", "place"):
        known = fold(question)
        found = persons(sentence) if thing == "person" else places(sentence)
        return any(fold(name) not in known for name, _, _ in found)
    if thing == "cause":
        return bool(_GIVES_CAUSE.search(sentence))
    if thing == "definition":
        return bool(_GIVES_DEFINITION.search(sentence))
    known = fold(question)
    if thing == "gene" and any(fold(m) not in known for m in _SYMBOL.findall(sentence)):
        return True
    kinds = _KINDS.get(thing, frozenset())
    return any(e.kind in kinds and fold(e.surface) not in known for e in link(sentence))
