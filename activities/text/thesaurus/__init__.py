"""What else a word or phrase of English is called: synonyms, narrower words, and the noun behind an
adjective.

From WordNet 3.1 (Princeton University; `LICENSE` beside this file), reduced to the words, their
hypernyms and their derivations. Read at first use; 83,000 synsets.
"""

import gzip
import re
import threading
from array import array
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple

import marisa_trie

from activities.text.vocabulary import irregular

MAX_COMMON_SENSES = 3
"""Senses of a word that are used, the most frequent first; rarer ones mislead more than they help."""
MAX_MAIN_SENSES = 2
"""Senses of a word, the most frequent first, that it mostly has."""
MIN_SHARE = 0.15
"""The share of the times that a noun was met in tagged texts from which it mostly has a sense."""
MAX_NARROWER = 60
"""A word with more narrower words than this (`disease`) names a field and not a thing."""
_PLURALS = (
    ("ies", "y"),
    ("sses", "ss"),
    ("ses", "sis"),
    ("ices", "ix"),
    ("men", "man"),
    ("es", ""),
    ("s", ""),
)
"""Plural endings with the singular's, after WordNet's own `morphy`."""
_VERB_FORMS = (("ing", ""), ("ing", "e"), ("ed", ""), ("ed", "e"), ("es", ""), ("s", ""))


class _Synset(NamedTuple):
    part: str
    file: str
    words: tuple[str, ...]
    met: tuple[int, ...]
    ranks: tuple[int, ...]
    below: tuple[int, ...]
    related: tuple[int, ...]


class _Data(NamedTuple):
    """A list of lines and a dictionary of words would take four times the memory."""

    text: str
    ends: "array[int]"
    """Where each line ends, one for each synset."""
    places: marisa_trie.RecordTrie
    """Word -> numbers of the lines of its synsets."""

    def line(self, place: int) -> str:
        return self.text[self.ends[place - 1] + 1 if place else 0 : self.ends[place]]

    def of(self, word: str) -> tuple[int, ...]:
        """The lines of a word's synsets, in the order of the text."""
        return tuple(sorted(place for (place,) in self.places.get(word, ())))


_READING = threading.Lock()


def _data() -> _Data:
    """Read at the first call; other threads wait for it. Each of the sections that were ranked at the same
    time read it for itself once."""
    with _READING:
        return _read()


@cache
def _read() -> _Data:
    packed = resources.files(__package__).joinpath("wordnet.txt.gz").read_bytes()
    text = gzip.decompress(packed).decode("ascii")
    ends = array("I")

    def words() -> Iterator[tuple[str, tuple[int]]]:
        begin = 0
        while (end := text.find("\n", begin)) >= 0:
            for name in text[begin:end].split("\t", 2)[1].split(";"):
                yield name.partition("=")[0].partition("~")[0], (len(ends),)
            ends.append(end)
            begin = end + 1

    places = marisa_trie.RecordTrie(">I", words())
    return _Data(text, ends, places)


@lru_cache(maxsize=16_384)
def _synset(place: int) -> _Synset:
    part, named, _above, below, related = _data().line(place).split("\t")
    words, ranks, met = [], [], []
    for name in named.split(";"):
        word, _, count = name.partition("=")
        word, _, rank = word.partition("~")
        words.append(word)
        ranks.append(int(rank or 1))
        met.append(int(count or 0))
    return _Synset(
        part[0],
        part[1:],
        tuple(words),
        tuple(met),
        tuple(ranks),
        _places(below),
        _places(related),
    )


def _places(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(",")) if text else ()


def singulars(word: str) -> Iterator[str]:
    """The word, then what it may be the plural or another irregular form of."""
    yield word
    if word in irregular():
        yield irregular()[word]
    for ending, single in _PLURALS:
        if word.endswith(ending) and len(word) >= len(ending) + 2:
            yield word[: len(word) - len(ending)] + single


@lru_cache(maxsize=16_384)
def _senses(phrase: str) -> tuple[tuple[int, _Synset, int], ...]:
    """(rank, synset, how often it was met), by rank; those of the singular as well."""
    phrase = re.sub(r"\s+", " ", phrase.casefold().replace("-", " ")).strip()
    by_place: dict[int, tuple[int, _Synset, int]] = {}
    for form in singulars(phrase):
        for spelled in dict.fromkeys((form, form.replace(" ", "-"))):
            for place in _data().of(spelled):
                synset = _synset(place)
                at = synset.words.index(spelled)
                by_place.setdefault(place, (synset.ranks[at], synset, synset.met[at]))
    return tuple(sorted(by_place.values(), key=lambda sense: sense[0]))


@lru_cache(maxsize=16_384)
def parts_of_speech(word: str) -> frozenset[str]:
    """What a word may be (`n`, `v`, `a`, `r`); empty for one that is not in WordNet. Verb forms in -s, -ed
    and -ing count as their verb."""
    word = word.casefold()
    parts = {synset.part for _, synset, _ in _senses(word)}
    for ending, stem in _VERB_FORMS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            places = _data().of(word[: len(word) - len(ending)] + stem)
            parts |= {"v" for place in places if _synset(place).part == "v"}
    return frozenset(parts)


def _meant(phrase: str, files: frozenset[str], *, mostly: bool) -> Iterator[_Synset]:
    """The senses of a phrase that are in one of these files; where none is, its common ones, or those that it
    mostly has as a noun."""
    senses = _senses(phrase)
    fitting = [synset for _, synset, _ in senses if synset.file in files]
    if not fitting and mostly:
        senses = tuple(sense for sense in senses if sense[1].part == "n")
        least = MIN_SHARE * sum(met for _, _, met in senses)
        senses = tuple(sense for sense in senses if sense[2] >= least)
    yield from fitting or (synset for rank, synset, _ in senses if rank <= MAX_COMMON_SENSES)


@lru_cache(maxsize=16_384)
def synonyms(phrase: str, files: frozenset[str] = frozenset(), *, mostly: bool = False) -> frozenset[str]:
    """Other words for the same thing: of one synset, or the noun and the adjective of one another. `files`:
    WordNet's files of the meaning, where it is known (a stroke is a disease and not a hit). `mostly`: only of
    what the phrase mostly means as a noun, and words that mostly mean it: exercise is seldom use, and a cell
    seldom a mobile phone."""
    words: set[str] = set()
    for synset in _meant(phrase, files, mostly=mostly):
        for one in (synset, *map(_synset, synset.related)):
            words.update(_words(one, mostly=mostly))
    return frozenset(words - {phrase.casefold()})


@lru_cache(maxsize=16_384)
def narrower(phrase: str, *, mostly: bool = False) -> frozenset[str]:
    """Words for kinds of the thing, two levels down, or one where two have too many; empty for a word that
    names a whole field. `mostly`: see `synonyms`; a set is an exercise, but mostly not."""
    words: set[str] = set()
    for synset in _meant(phrase, frozenset(), mostly=mostly):
        if synset.part == "n":
            below = [_synset(place) for place in synset.below]
            kinds = {word for one in below for word in _words(one, mostly=mostly)}
            lower = {place for one in below for place in one.below}
            both = kinds | {word for place in lower for word in _words(_synset(place), mostly=mostly)}
            words |= both if len(both) <= MAX_NARROWER else kinds if len(kinds) <= MAX_NARROWER else set()
    return frozenset(words)


def _words(synset: _Synset, *, mostly: bool) -> Iterator[str]:
    ranked = zip(synset.words, synset.ranks, strict=True)
    return (word for word, rank in ranked if not mostly or rank <= MAX_MAIN_SENSES)


def senses(word: str) -> int:
    """How many meanings a word has; 0 for one that is not in WordNet."""
    return len(_senses(word))


def tagged_count(word: str) -> int:
    """How often a word, in any meaning, was met in WordNet's tagged texts: a measure of how common it is in
    general English (`way` 347, `kidney` 9)."""
    return sum(count for _, _, count in _senses(word))


def files(word: str) -> tuple[str, ...]:
    """WordNet's files of a word's meanings, the most frequent meaning first (`08`: parts of the body)."""
    return tuple(synset.file for _, synset, _ in _senses(word))


def mostly_noun(word: str) -> bool:
    """Whether a word is a noun more often than anything else. A form in -ing or -ed of a verb is held to be
    the verb's (`performing`), unless it names a state (`bleeding`)."""
    plain = word.casefold()
    count = dict.fromkeys("nvar", 0)
    for _, synset, times in _senses(plain):
        count[synset.part] += 1 + times
    if plain.endswith(("ing", "ed")) and "v" in parts_of_speech(plain):
        return "26" in files(plain)[:1]
    return count["n"] > 0 and count["n"] >= max(count["v"], count["a"], count["r"])
