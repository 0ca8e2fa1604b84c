"""The words of a question and everything a text may call them by.

A text mentions a word of a question when it has the word in any form, a synonym, a narrower word, the noun of
an adjective, or an abbreviation or its long form as one of the texts at hand defines it. Several words of a
question that are one name (`heart attack`) are matched by what stands for the name as well.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from activities.text import age_groups, thesaurus
from activities.text.abbreviations import Abbreviations
from activities.text.compact import compact, pattern
from activities.text.entities import link, synonyms
from activities.text.forms import OPPOSED, Held, has_form, possible, said
from activities.text.numbered import numbered
from activities.text.numerals import number_of
from activities.text.pico import parts_of
from activities.text.technical import (
    ENTITY,
    LONGEST_NAME,
    PART,
    PREFIXES,
    TECHNICAL,
    THINGS,
    Marks,
    is_verb,
    last_part,
    technical,
)
from activities.text.tokens import (
    fold,
    is_function,
    terms,
    weak_stems,
    without_markup,
)

if TYPE_CHECKING:
    from activities.text.likeness import Vectors

_DISEASES = ("disease", "phenotype")
MOST_SYNONYMS = 40

_TOKEN = re.compile(r"[^\W_]+(?:[-'./][^\W_]+)*")
_FILES_OF_KIND: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(_DISEASES, frozenset({"19", "26"})),
    **dict.fromkeys(("drug", "chemical"), frozenset({"06", "13", "20", "27"})),
}
"""WordNet's files of diseases and findings (phenomena, states), and of substances (artefacts, food, plants)
among them."""
_INITIAL = re.compile(r"(?<!\w)[a-z]\. (?=[a-z])")
"""The abbreviated first word of a name of two: `E. coli`."""
_COMMA = re.compile(r"[,;:]\s")
_LONGEST_TURNED = 2
"""Content words behind the comma of a name that is turned round, at most."""
_HYPHEN = re.compile(r"-[a-z]")
_NUMBER = 0.0
"""`Word.technical` of a number that sets a name apart: a work on diabetes of no stated type may help with a
question about type 2; only one that states other types does not."""
_LEAST_INITIALS = 3
_LEAST_VARIANT = 3
"""Letters of a variant of one word at least; shorter ones are ambiguous."""


@dataclass(frozen=True, slots=True)
class Word:
    """A content word of a question."""

    shown: str
    terms: tuple[str, ...]
    """Its comparison forms."""
    technical: float
    """0 to 1: how surely it names one thing, so that a text on another thing answers another question."""
    exact: bool = False
    """A name that is matched as it is written: prednisone is not prednisolone."""
    after: str = ""
    """Comparison form of the word before a single letter, which names something only behind it: vitamin E."""
    entity: bool = False
    """Part of a name that the vocabularies hold."""
    noun: bool = False
    """A noun, a word that no dictionary of general English has, or a part of a compound (`self-care`)."""
    compound: bool = False
    """One of several words that name one thing (music therapy), or an act (smoking)."""
    verb: bool = False
    """A form of a verb that is no name: it says what one thing does to another."""
    opposed: bool = False
    """Written behind a prefix that makes it its opposite (`non-smokers`)."""


@dataclass(frozen=True, slots=True)
class Name:
    """One or more neighbouring words of a question and what else they are called."""

    places: tuple[int, ...]
    """Places of its content words among the question's."""
    variants: tuple[tuple[str, ...], ...]
    """Comparison forms of each other name."""


class Concepts:
    """A question as words and names."""

    def __init__(self, question: str, abbreviations: Abbreviations | None = None) -> None:
        bare = without_markup(question)
        plain = fold(bare)
        self._terms = terms(bare)
        shown = bare if len(bare) == len(plain) else plain
        if sum(c.isupper() for c in shown) > 0.6 * sum(c.isalpha() for c in shown):
            shown = plain
        tokens = list(_tokens(plain))
        marks = Marks(plain, shown, tokens)
        joined = _joined(plain, tokens)
        weak = weak_stems()
        self.words: list[Word] = []
        place_of: dict[int, int] = {}
        apart = dict(numbered(shown, tokens, marks.entities))
        for number, (token, start, end) in enumerate(tokens):
            if number in apart:
                continue
            found = () if _INITIAL.match(plain, start) else tuple(terms(token))
            if found and not (joined[number] and token in PREFIXES):
                letter = len(token) == 1 and bool(self.words)
                after = self.words[-1].terms[-1] if letter else ""
                place_of[number] = len(self.words)
                sure = marks.raised(technical(shown[start:end]), number, start, end)
                part = joined[number] and not set(found) <= weak
                noun = part or thesaurus.mostly_noun(token) or not thesaurus.parts_of_speech(token)
                sure = max(sure, PART) if part else sure
                exact = marks.is_substance(start, end) or sure >= 1.0
                entity = marks.is_entity(start, end)
                verb = not (noun or entity) and sure < TECHNICAL and is_verb(token)
                compound = marks.is_compound(start, end)
                opposed = joined[number] and number > 0 and tokens[number - 1][0] in OPPOSED
                word = Word(
                    shown[start:end], found, sure, exact, after, entity, noun, compound, verb, opposed
                )
                self.words.append(word)
        first = len(self.words)
        for before, name in marks.lettered(shown, tokens):
            letter_of = (fold(name[-1]),)
            self.words.append(Word(name, letter_of, ENTITY, exact=True, after=before, entity=True))
        given = set(terms(parts_of(bare).intervention)) - weak
        self.given = frozenset(
            place for place, word in enumerate(self.words) if word.noun and not given.isdisjoint(word.terms)
        )
        """Places of the nouns of the intervention or exposure; none where things of a kind are asked for."""
        known = abbreviations or Abbreviations(())
        self.names = tuple(self._named(plain, tokens, place_of, known))
        self._given_names = tuple(self._named(plain, tokens, place_of, known, only=self.given))
        self._diseases = tuple(_diseases(plain, tokens, place_of))
        self._marks = {
            place: mark for place, word in enumerate(self.words) if (mark := pattern(word.shown)) is not None
        }
        for place, word in enumerate(self.words[first:], first):
            self._marks[place] = re.compile(rf"\b{re.escape(word.after)}[a-z]* (?:type )?{word.terms[0]}\b")
        self._numbered = dict(enumerate(apart.values(), len(self.words)))
        self.words += [
            Word(f"{one.word} {one.number}", (str(one.number),), _NUMBER) for one in self._numbered.values()
        ]

    @cached_property
    def vector(self) -> "Vectors":
        """What the question means, for `likeness`."""
        from activities.text.likeness import unit  # with numpy, which printing a report does without

        return unit([self._terms])

    def _named(
        self,
        plain: str,
        tokens: Sequence[tuple[str, int, int]],
        place_of: Mapping[int, int],
        abbreviations: Abbreviations,
        only: frozenset[int] | None = None,
    ) -> Iterator[Name]:
        """The names in a question. `only`: those that hold one of these words, and what they mostly mean."""
        for size in range(LONGEST_NAME, 0, -1):
            for first in range(len(tokens) - size + 1):
                last = first + size - 1
                if first not in place_of or last not in place_of:
                    continue
                text = plain[tokens[first][1] : tokens[last][2]].removesuffix("'s")
                if size > 1 and not re.fullmatch(r"[\w\s'/-]+", text):
                    continue
                places = tuple(place_of[n] for n in range(first, last + 1) if n in place_of)
                if only is not None and only.isdisjoint(places):
                    continue
                variants = _variants(text, abbreviations, mostly=only is not None)
                own = tuple(t for p in places for t in self.words[p].terms)
                variants = tuple(v for v in variants if v != own)
                if variants:
                    yield Name(places, variants)

    def read(self, rows: Sequence[Sequence[str]], texts: Sequence[str]) -> list[frozenset[int]]:
        """For each sentence the places of the words it mentions. `rows`: the comparison forms of the
        sentences in order; `texts`: the same sentences as they stand."""
        held = Held(term for row in rows for term in row)
        near = {p for p, word in enumerate(self.words) if _has(word, held)}
        if self._numbered:
            numbers = [self._with_number(fold(text)) for text in texts]
        else:
            numbers = [frozenset()] * len(texts)
        marks = [compact(text).replace("ae", "e") if self._marks else "" for text in texts]
        names = [
            Name(name.places, held_ones)
            for name in self.names
            if (held_ones := tuple(v for v in name.variants if possible(v, held)))
        ]
        return [
            self._spoken(row, mark, near, names) | of_number
            for row, mark, of_number in zip(rows, marks, numbers, strict=True)
        ]

    def mentions_given(self, rows: Sequence[Sequence[str]], spoken: Collection[int]) -> bool:
        """Whether a text mentions the intervention or exposure by its words or by what they mostly mean; also
        where there is none. `spoken`: places of the words that it mentions by any other name."""
        held = Held(term for row in rows for term in row)
        return (
            not self.given
            or not self.given.isdisjoint(self._marks.keys() & spoken)
            or any(_has(self.words[place], held) for place in self.given)
            or any(possible(variant, held) for name in self._given_names for variant in name.variants)
        )

    def _with_number(self, folded: str) -> frozenset[int]:
        return frozenset(place for place, one in self._numbered.items() if one.number in one.numbers(folded))

    def numbered_otherwise(self, texts: Iterable[str]) -> frozenset[int]:
        """Places of the numbers that set a name apart which the texts give with other numbers only."""
        if not self._numbered:
            return frozenset()
        given = {
            place: frozenset().union(*(one.numbers(fold(text)) for text in texts))
            for place, one in self._numbered.items()
        }
        return frozenset(
            place
            for place, numbers in given.items()
            if numbers and self._numbered[place].number not in numbers
        )

    def displaced(self, title: str, texts: Iterable[str]) -> frozenset[int]:
        """Places of the words that set a disease of the question apart (`lung` of lung cancer), where no part
        of a text between commas names it although its words may stand there: lung metastases of breast
        cancer, or an atrophic muscle, and the spinal cord. A disease of two words may be named by words
        further apart, unless the title is on another one of the same kind."""
        if not self._diseases:
            return frozenset()
        found: set[int] = set()
        rows = [row for text in texts for row in _between_commas(text)]
        other = [set(terms(e.surface)) for e in link(title) if e.kind in _DISEASES]
        for places in self._diseases:
            *first, last = (self.words[place].terms for place in places)
            head = set(last)
            apart = [held for held in other if head <= held and not any(held.issuperset(f) for f in first)]
            if (apart or len(first) > 1) and not self._named_in(places, rows):
                found.update(places[:-1])
        return frozenset(found)

    def _named_in(self, places: Sequence[int], rows: Sequence[Sequence[str]]) -> bool:
        others = [v for name in self.names if set(places) <= set(name.places) for v in name.variants]
        return any(
            self._together(places, row) or any(said(v, row, held) for v in others)
            for row in rows
            for held in (Held(row),)
        )

    def _together(self, places: Sequence[int], row: Sequence[str]) -> bool:
        """Whether words close to each other mention all of these places, each in any form or by a synonym of
        one word."""
        said = {n: {place for place in places if self._mentions(form, place)} for n, form in enumerate(row)}
        span = len(places) + 1
        return any(
            set(places) <= set().union(*(said[n] for n in range(start, min(start + span, len(row)))))
            for start in said
            if said[start]
        )

    def _mentions(self, form: str, place: int) -> bool:
        held = Held((form,))
        if any(has_form(term, held, exact=False) for term in self.words[place].terms):
            return True
        return any((form,) in name.variants for name in self.names if name.places == (place,))

    def _spoken(
        self, row: Sequence[str], mark: str, near: Collection[int], names: Iterable[Name]
    ) -> frozenset[int]:
        held = Held(row)
        found = {
            place for place in near if _has(self.words[place], held) and _follows(self.words[place], row)
        }
        found |= {place for place, pattern in self._marks.items() if pattern.search(mark)}
        for name in names:
            if not found.issuperset(name.places) and any(said(v, row, held) for v in name.variants):
                found.update(name.places)
        return frozenset(found)


def _tokens(plain: str) -> Iterator[tuple[str, int, int]]:
    """The words of a folded text with their places; the parts of a compound (`pain-related`) one by one,
    unless it is a name (`IL-6`)."""
    for match in _TOKEN.finditer(plain):
        text = match.group().removesuffix("'s")
        parts = re.split(r"[-/]", text)
        if len(parts) == 1 or not all(p.isalpha() and len(p) > 2 for p in parts):
            yield text, match.start(), match.start() + len(text)
            continue
        start = match.start()
        for part in parts:
            yield part, start, start + len(part)
            start += len(part) + 1


def _joined(plain: str, tokens: Sequence[tuple[str, int, int]]) -> list[bool]:
    """Whether each token is a part of a compound that is written with a hyphen."""
    return [plain[start - 1 : start] == "-" or bool(_HYPHEN.match(plain, end)) for _, start, end in tokens]


def _diseases(
    plain: str, tokens: Sequence[tuple[str, int, int]], place_of: Mapping[int, int]
) -> Iterator[tuple[int, ...]]:
    """Places of the content words of each disease or finding that is named by several."""
    for entity in link(plain):
        inside = (
            n for n, (_, begin, end) in enumerate(tokens) if entity.start <= begin and end <= entity.end
        )
        places = tuple(place_of[n] for n in inside if n in place_of)
        if entity.kind in _DISEASES and len(places) > 1:
            yield places


@lru_cache(maxsize=4096)
def _other_names(text: str, *, mostly: bool) -> tuple[str, ...]:
    """What a phrase is also called, by the vocabularies of drugs and diseases and by the thesaurus. Kinds of
    a thing mention it; kinds of an abstraction (`number` of `amount`) are other abstractions. `mostly`: see
    `thesaurus.synonyms`."""
    if aged := age_groups.other_names(text):
        return aged
    meant = _meaning(text)
    is_thing = THINGS.intersection(thesaurus.files(text))
    kinds = thesaurus.narrower(text, meant, mostly=mostly) if is_thing else frozenset()
    return tuple(
        sorted({*thesaurus.synonyms(text, meant, mostly=mostly), *kinds, *synonyms(text, MOST_SYNONYMS)})
    )


def _meaning(text: str) -> frozenset[str]:
    """WordNet's files of what a phrase means that is the name of a disease, a finding or a substance."""
    kinds = {entity.kind for entity in link(text) if len(entity.surface) == len(text)}
    return frozenset().union(*(_FILES_OF_KIND.get(kind, frozenset()) for kind in kinds))


def _hides_another(word: str, form: str) -> bool:
    """Whether the comparison form of a word is that of another, more usual one: a conditioner, and a
    condition."""
    return (
        " " not in word
        and form != word
        and thesaurus.tagged_count(form) > thesaurus.tagged_count(word)
        and form not in thesaurus.synonyms(word)
    )


def _variants(text: str, abbreviations: Abbreviations, *, mostly: bool) -> tuple[tuple[str, ...], ...]:
    weak = weak_stems()
    found: dict[tuple[str, ...], None] = {}
    if len(text) == 1:
        return ()
    for other in _other_names(text, mostly=mostly):
        forms = tuple(terms(other))
        if not forms or all(f in weak for f in forms):
            continue
        if len(forms) == 1 and len(other) < _LEAST_VARIANT:
            continue
        if len(forms) == 1 and mostly and _hides_another(other, forms[0]):
            continue
        if number_of(other) is not None and number_of(text) is None:
            continue  # three of anything is no triad
        found[forms] = None
    if text.isalpha() and not thesaurus.senses(text) and not link(text):
        part = last_part(text)  # a shockwave is a wave; nonenhanced is not enhanced
        if part and text.removesuffix(part) not in PREFIXES:
            found[tuple(terms(part))] = None
    initials = "".join(part[0] for part in re.split(r"[\s-]+", text) if part and not is_function(part))
    several = len(initials) >= _LEAST_INITIALS and " " in re.sub(r"-", " ", text)
    if several and _may_abbreviate(initials, text, abbreviations):
        found[tuple(terms(initials))] = None
    for other in abbreviations.of(text):
        forms = tuple(terms(other))
        if forms:
            found[forms] = None
    return tuple(found)


def _between_commas(text: str) -> Iterator[list[str]]:
    """The comparison forms of each part of a text, a short one also with the part before it, as in a name
    that is turned round (`diabetes mellitus, type 2`)."""
    before: list[str] = []
    for part in _COMMA.split(text):
        row = terms(part)
        yield row
        if before and len(row) <= _LONGEST_TURNED:
            yield [*before, *row]
        before = row


def _may_abbreviate(initials: str, text: str, abbreviations: Abbreviations) -> bool:
    """Whether initials may stand for a phrase: they are no prefix of English (`pre`), and where the texts at
    hand define them, it is by the phrase's own words in some form (CST is not both cervicogenic and
    cryptogenic somatic tinnitus)."""
    defined = abbreviations.of(initials)
    if not defined:
        return initials not in PREFIXES
    held = Held(terms(text))
    return any(all(has_form(term, held, exact=False) for term in terms(long)) for long in defined)


def _has(word: Word, held: Held) -> bool:
    return all(has_form(term, held, exact=word.exact, opposed=word.opposed) for term in word.terms)


def _follows(word: Word, row: Sequence[str]) -> bool:
    """Whether a single letter stands behind its word, or soon after it (vitamins C and E)."""
    if not word.after:
        return True
    starts = [n for n, form in enumerate(row) if form == word.after]
    return any(word.terms[0] in row[n + 1 : n + 4] for n in starts)
