"""What a question names, and which of it a work mentions.

A *name* is a drug, disease or the like that the vocabularies hold, a word that no dictionary of general
English has, a specific noun, or a word with what sets it apart (`type 2`, `vitamin E`). What else names are
called is searched for as well (`wordings`). A work mentions a name when it has the name in any form, a
synonym of the vocabularies or of the thesaurus, a narrower word, or an abbreviation that the question or one
of the works at hand defines, or that a long name spells. What is found in no form may still be there in other
words; the encoder tells (`with_meaning`): a work lacks a word when the question without it is another
question, and nearer to the work. Works that lack a word are put below, and readers are shown what a work
mentions and lacks. Without the encoder names alone count."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from activities.contracts.evidence import Evidence
from activities.text import thesaurus
from activities.text.embeddings import embedder
from activities.text.entities import Entity, abbreviations, link
from activities.text.entities.definitions import long_form
from activities.text.language import ENGLISH, language_of
from activities.text.sentences import OF_THE_USER
from activities.text.tokens import MAX_COMMON, fold, is_function, terms, weak_stems, without_markup

MAX_READ = 400_000
"""Characters of a work that are searched for names: all that is split into sentences."""
MAX_DEFINED = 20_000
"""Characters of a work that are searched for definitions of abbreviations."""
MAX_NAMES = 12
"""Names of one question."""
MAX_WORDINGS = 12
"""Wordings of one name that are searched for."""
MAX_SENSES = 3
"""Meanings of a noun at most, so that it is held to be specific."""
MIN_FORM = 5
"""Letters of a word from which longer words that begin or end with it count as its forms."""
NEAR_WORD = 0.7
"""Cosine of a name and a word of a text from which the one stands for the other. Of 90 works asked about
another drug or disease the nearest word reaches 0.64; AIDS and HIV have 0.83 (`benchmarks/passages.py`)."""
TOWARDS = 2.5
"""How much it counts that a work lies where a word turns a question, beside how far the word turns it."""
MAX_FAR, MAX_FAR_OF_NAMES, MAX_FAR_OF_USER = 0.78, 0.57, 0.58
"""The difference from which a work lacks a word, a name that is no common word, or a text of the user's own
either. A logistic regression on 220 words that right works have in no form, and 340 that were put into their
questions, gave the weight and about the first two. In questions that were written before and not looked into,
9 % of the right works are said to lack a word (25 % by the nearest word alone), and 10 of 15 works that were
asked about another common thing (6 of 15). The third is that by which 6 % of the right texts of
`benchmarks/everyday.jsonl` are said to (`benchmarks/passages.py`)."""
LESS_FAR = 0.25
"""By so much less the difference may be where a nearer work lacks the word."""
NEAREST = 3
"""Sentences of a work, the nearest to the question without the word, that tell where the work lies. Of a text
of the user's own the one that lies there most tells it."""
MAX_COMPARED = 12
"""Sentences of a work, the nearest to the question, whose words are compared with one that it lacks."""
MIN_SHARED, MAX_DIFFERENT = 6, 3
"""Letters that two forms of one word share at their beginning at least, and in which they differ at most
(cirrhosis, cirrhotic)."""
_TOKEN = re.compile(r"[^\W_]+(?:[-'.][^\W_]+)*")
_CAPITALS = re.compile(r"\b[A-Z][A-Z0-9]+(?:-[A-Za-z0-9]+)*\b")
"""Abbreviations."""
_THINGS = frozenset({"04", "06", "08", "13", "18", "19", "22", "26", "27"})
"""WordNet's files of acts, artefacts, parts of the body, food, people, phenomena, processes, states (diseases
are among them) and substances (https://wordnet.princeton.edu/documentation/lexnames5wn)."""
_DESIGNATION = re.compile(
    r"\b(?P<word>[A-Za-z][a-z]{2,}) (?:(?P<number>\d{1,3}|[IVX]{1,4})|(?P<letter>[A-HJ-Z]))(?![\w.-])"
)
_NUMERALS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_ROMAN = {text: value for value, text in enumerate(_NUMERALS, start=1)}

Form = tuple[str, ...]
"""The comparison forms of one wording of a name."""


@dataclass(frozen=True, slots=True)
class Name:
    shown: str
    """As typed."""
    forms: tuple[Form, ...]
    """Wordings that stand for it."""
    exact: bool = False
    """Only whole words count: prednisone is not prednisolone."""
    pattern: re.Pattern[str] | None = None
    """For a word with a number or letter, on the folded text."""
    proper: bool = True
    """It names one thing and is no common word."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a work mentions of the names of a question, as typed."""

    mentions: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    uses: tuple[tuple[str, str], ...] = ()
    """Names with the word that the work uses in their place."""
    common: tuple[str, ...] = ()
    """Common words that it has in no form: whether it lacks them is told by their meaning."""


@lru_cache(maxsize=1024)
def _defined(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(abbreviations(text).items())


def _also_called(pairs: Iterable[tuple[str, str]]) -> Mapping[str, set[str]]:
    """The long forms of each abbreviation and the abbreviations of each long form, by its folded form."""
    called: dict[str, set[str]] = defaultdict(set)
    for short, long in pairs:
        called[fold(short)].add(long)
        called[fold(long)].add(short)
    return called


def _others(name: str, called: Mapping[str, set[str]]) -> list[str]:
    plain = fold(name)
    return sorted(called.get(plain) or called.get(plain.removesuffix("s")) or ())


def coverage(question: str, documents: Sequence[Evidence]) -> list[Coverage]:
    """What each work mentions and lacks, in their order."""
    texts = (question, *(f"{document.title}\n{document.text[:MAX_DEFINED]}" for document in documents))
    every = names(question, tuple(dict.fromkeys(pair for text in texts for pair in _defined(text))))
    named = [name for name in every if name.proper]
    common = [*(name for name in every if not name.proper), *_words_beside(question, every)]
    asked_in = language_of(question)
    languages = [document.language or language_of(document.text) for document in documents]
    return [
        # vocabularies and dictionary are English: of other languages they know nothing
        _covered(named, common, document) if {asked_in, written_in} <= {"", ENGLISH} else Coverage((), ())
        for document, written_in in zip(documents, languages, strict=True)
    ]


def with_meaning(
    covered: Coverage, question: str, document: Evidence, quotes: Sequence[str], absent: Collection[str] = ()
) -> Coverage:
    """Coverage that calls lacking what the meaning of a work tells so. `quotes`: its sentences, the nearest
    to the question first, of which those count that the encoder has read. `absent`: what nearer works
    lack."""
    model, missing = embedder(), _joined(question, (*covered.lacks, *covered.common))
    if model is None or not missing:
        return covered
    texts = [document.title, *quotes] if document.title else quotes
    vectors = model.known(texts)
    if not vectors:
        return covered
    own = document.evidence_type in OF_THE_USER
    without = [" ".join(question.replace(name, " ", 1).split()) for name in missing]
    (asked, *others), read = model.encode([question, *without]), np.stack(list(vectors.values()))
    lacks = []
    for name, other in zip(missing, others, strict=True):
        turn = asked - other
        length = float(np.linalg.norm(turn))
        there = read @ turn / max(length, 1e-9)
        towards = float(there.max() if own else there[np.argsort(-(read @ other))[:NEAREST]].mean())
        least = MAX_FAR_OF_USER if own else MAX_FAR_OF_NAMES if name in covered.lacks else MAX_FAR
        if length - TOWARDS * towards > least - LESS_FAR * (name in absent):
            lacks.append(name)
    uses = _near_words(lacks, texts[:MAX_COMPARED]) if lacks else {}
    return Coverage(
        covered.mentions,
        tuple(name for name in dict.fromkeys(lacks) if name not in uses),
        tuple((name, word) for name, word in uses.items() if word),
    )


def _joined(question: str, words: Sequence[str]) -> Sequence[str]:
    """Missing words, those as one that stand side by side in a question: without "bowel" alone it still asks
    about cancer."""
    joined: list[str] = []
    for word in sorted(words, key=question.find):
        together = f"{joined[-1]} {word}" if joined else ""
        joined = [*joined[:-1], together] if together and together in question else [*joined, word]
    return joined


def _near_words(missing: Sequence[str], quotes: Sequence[str]) -> dict[str, str]:
    """Nouns and names of some sentences that stand for missing ones; empty for a part of a missing one:
    "cancer" alone is no other word for lung cancer."""
    model, text = embedder(), "\n".join(quotes)
    plain = {fold(match.group()): match.group() for match in _TOKEN.finditer(text)}
    nouns = (
        word
        for form, word in plain.items()
        if not is_function(form) and (thesaurus.mostly_noun(form) or not thesaurus.parts_of_speech(form))
    )
    words = list(dict.fromkeys([*nouns, *(entity.surface for entity in link(text))]))
    if model is None or not words:
        return {}
    vectors = model.encode([*missing, *words])
    likeness = vectors[: len(missing)] @ vectors[len(missing) :].T
    uses = {}
    for name, cosines in zip(missing, likeness, strict=True):
        word = words[int(cosines.argmax())]
        if float(cosines.max()) >= NEAR_WORD:
            uses[name] = "" if set(terms(word)) < set(terms(name)) else word
    return uses


def wordings(question: str) -> tuple[Form, ...]:
    """Comparison forms of what else the names of a question are called, for an index to search for."""
    forms = (form for name in names(question) for form in name.forms[:MAX_WORDINGS])
    return tuple(dict.fromkeys(forms))


@lru_cache(maxsize=64)
def names(question: str, short_forms: tuple[tuple[str, str], ...] = ()) -> tuple[Name, ...]:
    """The names of a question, in order, none within another. `short_forms`: the abbreviations of the works
    at hand, each with its long form."""
    called, text = _also_called(short_forms), without_markup(question)
    taken: list[tuple[int, int]] = []
    rows: list[tuple[int, Name]] = []
    for start, end, name in (*_entities(text, called), *_designated(text), *_words(text, called)):
        if name.forms and not any(start < last and first < end for first, last in taken):
            taken.append((start, end))
            rows.append((start, name))
    return tuple(name for _, name in sorted(rows, key=lambda pair: pair[0]))[:MAX_NAMES]


def _words_beside(question: str, named: Sequence[Name]) -> Iterator[Name]:
    """The nouns of a question beside its names, and words that no dictionary has, with their other names in
    the thesaurus: what somebody does is told in many ways (who owns it, whose it is)."""
    text = without_markup(question)
    for name in named:
        text = text.replace(name.shown, " ", 1)
    for match in _TOKEN.finditer(text):
        word = fold(match.group().removesuffix("'s"))
        if is_function(word) or set(terms(word)) <= weak_stems():
            continue
        if thesaurus.parts_of_speech(word) and not thesaurus.mostly_noun(word):
            continue
        forms = _forms(sorted({word, *thesaurus.synonyms(word), *thesaurus.narrower(word)}))
        if unique := tuple(dict.fromkeys(forms)):
            yield Name(match.group(), unique, proper=False)


def _entities(text: str, called: Mapping[str, set[str]]) -> Iterator[tuple[int, int, Name]]:
    for entity in link(text):
        if set(terms(entity.surface)) <= weak_stems():
            continue  # `drug`, `disease`
        short = (*_others(entity.surface, called), *_others(entity.name, called))
        forms = list(_forms((entity.surface, entity.name, *entity.synonyms, *short)))
        if entity.kind in ("disease", "phenotype"):
            forms += _forms(thesaurus.synonyms(fold(entity.surface), frozenset({"19", "26"})))
        word, exact = entity.surface, entity.kind in ("drug", "chemical", "protein")
        is_common = word.islower() and " " not in word and thesaurus.tagged_count(word) > MAX_COMMON  # water
        named = Name(word, tuple(dict.fromkeys(forms)), exact, _number(entity), not is_common)
        yield entity.start, entity.end, named


def _number(entity: Entity) -> re.Pattern[str] | None:
    """The number or letter that sets an entity apart must stand in the text as well, or another of its names
    that needs none (HBV)."""
    match = _DESIGNATION.search(entity.surface)
    if match is None:
        return None
    one_word = (fold(name) for name in entity.synonyms if len(name.split()) == 1 and len(name) > 2)
    others = "".join(rf"|\b{re.escape(name)}" for name in dict.fromkeys(one_word))
    return re.compile(_numbered(match) + others)


def _numbered(match: re.Match[str]) -> str:
    """A word with its number, Roman or Arabic, or letter, and what shortens it (T2D)."""
    word, mark = fold(match["word"]), (match["number"] or match["letter"]).lower()
    value = _ROMAN.get(mark) or (int(mark) if mark.isdigit() else 0)
    marks = dict.fromkeys((mark, str(value or mark), *(t for t, other in _ROMAN.items() if other == value)))
    short = rf"|\b[a-z]{{0,2}}{word[0]}{value}[a-z]{{0,3}}\b" if value and match["number"] else ""
    return rf"\b{word}[a-z]*[\s-]+(?:type[\s-]+)?(?:{'|'.join(marks)})\b{short}"


def _designated(text: str) -> Iterator[tuple[int, int, Name]]:
    """Words with a number or letter that sets them apart: `type 2`, `phase III`, `vitamin E`."""
    for match in _DESIGNATION.finditer(text):
        if not is_function(match["word"]):
            forms = (tuple(terms(match["word"])),)
            named = Name(match.group(), forms, pattern=re.compile(_numbered(match)), proper=False)
            yield match.start(), match.end(), named


def _words(text: str, called: Mapping[str, set[str]]) -> Iterator[tuple[int, int, Name]]:
    """Single words that are technical."""
    matches = [match for match in _TOKEN.finditer(text) if not is_function(match.group())]
    titled = 2 * sum(match.group()[0].isupper() for match in matches) > len(matches)
    for match in matches:
        word = match.group().removesuffix("'s")
        inner = not titled and bool(re.search(r"[\w,)]\s+$", text[: match.start()]))
        if is_technical(word, inner=inner):
            plain = fold(word)
            others = {word, *_others(word, called)}
            for part in {plain, *(p for p in plain.split("-") if len(p) >= MIN_FORM)}:
                others |= thesaurus.synonyms(part, mostly=True) | thesaurus.narrower(part, mostly=True)
            exact = any(c.isdigit() for c in word) or (word.isupper() and not titled)
            forms = tuple(dict.fromkeys(_forms(sorted(others))))
            proper = exact or (inner and word[0].isupper()) or _is_unknown(plain)
            yield match.start(), match.end(), Name(word, forms, exact, proper=proper)


def _is_unknown(plain: str) -> bool:
    """Whether no part of a word is in a dictionary of general English."""
    return not any(map(thesaurus.parts_of_speech, plain.split("-"))) and not _is_derived(plain)


def is_technical(word: str, *, inner: bool = False) -> bool:
    """Whether a word is a name or a specific noun: with digits or capitals inside, not in a dictionary of
    general English, or a noun for a thing that has few meanings. `inner`: it stands within a sentence, so
    that a capital makes it a name."""
    plain = fold(word)
    bare = plain.replace("-", "")
    if is_function(plain) or len(bare) < 2 or not bare[0].isalpha() or set(terms(plain)) <= weak_stems():
        return False
    if any(c.isdigit() for c in bare) or any(c.isupper() for c in word[1:]) or (inner and word[0].isupper()):
        return True
    if not thesaurus.parts_of_speech(plain):
        parts = plain.split("-")
        if len(parts) > 1:
            return not is_function(parts[0]) and len(parts[-1]) >= MIN_FORM and _is_specific(parts[-1])
        return not _is_derived(plain)
    return _is_specific(plain)


def _is_specific(plain: str) -> bool:
    """Whether a word is a noun for a thing that has few meanings and is not common."""
    if not thesaurus.mostly_noun(plain) or set(terms(plain)) <= weak_stems():
        return False
    common = thesaurus.senses(plain) > MAX_SENSES or thesaurus.tagged_count(plain) > MAX_COMMON
    return not common and thesaurus.files(plain)[0] in _THINGS


def _is_derived(plain: str) -> bool:
    """Whether an unknown word is made of an adjective (`safer`, `preoperatively`)."""
    return plain.endswith("ly") or any(
        plain.endswith(ending) and "a" in thesaurus.parts_of_speech(plain.removesuffix(ending) + more)
        for ending in ("er", "est", "ier", "iest")
        for more in ("", "e", "y")
    )


def _forms(wordings: Iterable[str]) -> Iterator[Form]:
    """Comparison forms of wordings, without words that any question may have beside others that are not."""
    weak = weak_stems()
    for wording in wordings:
        every = tuple(dict.fromkeys(terms(wording)))
        strong = tuple(term for term in every if term not in weak)
        if strong:
            yield strong


def _covered(named: Sequence[Name], common: Sequence[Name], document: Evidence) -> Coverage:
    text = f"{document.title}\n{document.text[:MAX_READ]}\n{document.facts.get('mesh', '')}"
    held, spelled = _held(text), set(_CAPITALS.findall(document.text[:MAX_READ]))
    folded = fold(text) if any(name.pattern for name in (*named, *common)) else ""

    def has(name: Name) -> bool:
        return _mentioned(name, held, folded) or _is_spelled(name.shown, spelled)

    return Coverage(
        tuple(name.shown for name in named if has(name)),
        tuple(name.shown for name in named if not has(name)),
        common=tuple(name.shown for name in common if not has(name)),
    )


def _is_spelled(name: str, capitals: set[str]) -> bool:
    """Whether a text has a name whole within a longer one (SARS-CoV), or an abbreviation that its words
    spell."""
    if any(name in longer.split("-") for longer in capitals):
        return True
    several = " " in name or "-" in name
    return several and any(long_form(short, name) == name for short in capitals if short.isalpha())


class _Held:
    """The comparison forms of a text: by sentence, as a set, and as one text in which parts are found."""

    __slots__ = ("forms", "lines", "rows")

    def __init__(self, text: str) -> None:
        self.rows = [frozenset(terms(row)) for row in re.split(r"[.;?!]\s|\n", text)]
        self.forms = frozenset().union(*self.rows)
        self.lines = "\n".join(("", *self.forms, ""))


_held = lru_cache(maxsize=1024)(_Held)
"""Kept for the works read last: each step of a run asks about the same ones."""


def _mentioned(name: Name, held: _Held, folded: str) -> bool:
    if name.pattern is not None and not name.pattern.search(folded):
        return False
    return any(_has(form, held, exact=name.exact) for form in name.forms)


def _has(form: Form, held: _Held, *, exact: bool) -> bool:
    """Whether a text has a wording: one word in any of its forms, several words within one sentence."""
    if len(form) == 1:
        return bool(_alike(form[0], held, exact=exact))
    alike = [_alike(term, held, exact=exact) for term in form]
    return all(alike) and any(all(not row.isdisjoint(forms) for forms in alike) for row in held.rows)


def _alike(term: str, held: _Held, *, exact: bool) -> frozenset[str]:
    """The words of a text that are a form of a word: longer ones that begin or end with it (tonsillectomy,
    atorvastatin) and ones with another ending."""
    if term in held.forms or exact or len(term) < MIN_FORM:
        return held.forms & {term}
    if term not in held.lines and term[:MIN_SHARED] not in held.lines:
        return frozenset()
    return frozenset(
        form for form in held.forms if form.startswith(term) or form.endswith(term) or _is_akin(term, form)
    )


def _is_akin(one: str, other: str) -> bool:
    shared = max(MIN_SHARED, max(len(one), len(other)) - MAX_DIFFERENT)
    return one[:shared] == other[:shared]
