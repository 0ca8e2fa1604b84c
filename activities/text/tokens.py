"""Words as the ranking sees them: folded, stemmed, without function words; and the names in a text.

Only the comparison forms are folded. What is shown, searched or quoted stays as it was typed.
"""

import re
import unicodedata
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain, filterfalse, pairwise

from breame.data.spelling_constants import BRITISH_ENGLISH_SPELLINGS
from Stemmer import Stemmer

from activities.text.language import ENGLISH, STEMMERS, stop_words
from activities.text.normal_form import is_hangul, is_unspaced

MARKS = "\u0300-\u036f\u064b-\u065f\u0900-\u0963\u0970-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Signs that belong to a word, and scripts whose vowels are such signs."""
_WORD = re.compile(rf"[\w{MARKS}]++(?:[-'./][\w{MARKS}]++)*+")
"""A word of a text without `_`, which joins no word."""
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_BETWEEN = re.compile(r"[^\w\s'\u2019\u2010-\u2015./+-]+|(?<!\w)[./-]+|[./-]+(?!\w)")
"""What ends a phrase."""
_SURFACE = re.compile(r"[^\W_]+(?:[-'\u2019\u2010-\u2015./+][^\W_]+)*\+?")

GREEK = {
    chr(code): unicodedata.name(chr(code)).rsplit(" ", 1)[-1].lower().replace("lamda", "lambda")
    for code in range(0x3B1, 0x3CA)
    if code != 0x3C2
}
"""Small Greek letters by name: alpha for the sign of alpha."""
_PLAIN = str.maketrans({**GREEK, **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")})
_SINGLES = {"b", "c", "d", "e", "k"}
"""Letters that stand for something (hepatitis B, vitamin D); other single letters are noise."""


def _rows(name: str) -> list[list[str]]:
    """Return the lines of a vocabulary as their words."""
    text = (files("activities.text") / "vocabulary" / f"{name}.txt").read_text("utf-8")
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


def _vocabulary(name: str) -> frozenset[str]:
    return frozenset(chain.from_iterable(_rows(name)))


_FUNCTION = _vocabulary("function")
_BREAKERS = _vocabulary("breakers")
_IRREGULAR: dict[str, str] = dict(_rows("irregular"))
"""Each irregular form with its word: `came`, `come`."""
_MARKUP = re.compile(
    r"\$\([^()]*\)|</?[A-Za-z][^<>]*>|\[[^\[\]]*\]\([^()]*\)|\b\w+://\S+|(?:&&|;\s*~|\|\|).*$|(?:^|(?<=\s))~?/\S+|[`*]"
)


def fold(text: str) -> str:
    """NFKC, no accents, plain dashes and apostrophes, Greek letters by name, case folded."""
    if text.isascii():  # of ASCII the other steps change nothing
        return text.casefold()
    text = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    return _BEYOND_ASCII.sub(lambda run: _fold_run(run[0]), text)


@lru_cache(maxsize=4096)
def _fold_run(run: str) -> str:
    """Return characters beyond ASCII without accents, dashes as plain ones and Greek letters by name."""
    plain = filterfalse(unicodedata.combining, unicodedata.normalize("NFD", run))
    return "".join(plain).translate(_PLAIN)


def american(word: str) -> str:
    """Return a folded word in American spelling, by the list of `breame`, and without `ae` and `oe`."""
    word = BRITISH_ENGLISH_SPELLINGS.get(word, word)
    return word.replace("ae", "e").replace("oe", "e") if len(word) > 4 else word


@lru_cache(maxsize=65_536)
def stem(word: str, language: str = ENGLISH) -> str:
    """Return the comparison form of a word in small letters: Snowball's stem in its language, folded.

    In English of an irregular form its word, and British spellings made American."""
    if language == ENGLISH:
        word = american(_IRREGULAR.get(word, word)).replace("isation", "ization")
    if language not in STEMMERS:
        return fold(word)
    # threads must not share a stemmer, which is made in some microseconds
    return fold(Stemmer(language, 0).stemWord(word))


def terms(text: str, language: str = ENGLISH) -> list[str]:
    """Comparison forms of the content words, in order, repeated as often as they occur.

    `drug-eluting` gives both of its parts, `IL-6` one joined form; of scripts without blanks, and of Korean,
    whose particles are joined to their words, each pair of neighbouring characters is a word."""
    # another language than English is folded when its words are reduced
    plain = fold(text) if language == ENGLISH else unicodedata.normalize("NFKC", text).casefold()
    words = _WORD.findall(plain.replace("_", " "))
    return [*chain.from_iterable(_terms_of_word(word, language) for word in words)]


def plain_words(text: str) -> list[str]:
    """Return the words of a text as it has them, in small letters and without marks."""
    return "".join(c if c.isalnum() else " " for c in text.casefold()).split()


def is_named(name: str, text: str) -> bool:
    """Tell whether the words of a name stand side by side in a text."""
    row = " ".join(plain_words(name))
    return bool(row) and f" {row} " in f" {' '.join(plain_words(text))} "


def without_articles(word: str, language: str) -> str:
    """Return a word without the articles and pronouns that are joined to it: `l'eau`, `coûte-t-il`."""
    parts = re.split("['\u2019]", word)[-1].split("-")
    return "-".join(part for part in parts if fold(part) not in _stop_words(language))


@lru_cache(maxsize=65_536)
def _terms_of_word(word: str, language: str) -> tuple[str, ...]:
    """Return the terms of a word: most words of a text are met again."""
    word = word.removesuffix("'s") if language == ENGLISH else without_articles(word, language)
    if not word.isascii() and any(is_unspaced(sign) or is_hangul(sign) for sign in word):
        return _pairs_of_characters(word)
    parts = re.split(r"[-/]", word)
    if len(parts) > 1 and not all(p.isalpha() and len(p) > 2 for p in parts):
        parts = ["".join(parts)]
    plain_parts = (part.replace("'", "").replace(".", "") for part in parts)
    return tuple(
        stem(part, language)
        for part in plain_parts
        if fold(part) not in _stop_words(language)
        and (len(part) > 1 or part in _SINGLES)
        and not part.isdigit()
    )


def _pairs_of_characters(word: str) -> tuple[str, ...]:
    runs = re.findall(r"[a-z0-9]{2,}|[^a-z0-9\s'./-]+", word)
    pairs = ([run] if run.isascii() or len(run) == 1 else map("".join, pairwise(run)) for run in runs)
    return tuple(chain.from_iterable(pairs))


@cache
def _stop_words(language: str) -> frozenset[str]:
    """List the function words of a language, folded: questions accent what their list does not (`cuánto`)."""
    return _FUNCTION if language == ENGLISH else frozenset(map(fold, stop_words(language)))


@cache
def weak_stems() -> frozenset[str]:
    """List the stems of words that any question of this kind may have: they count, but little."""
    return frozenset(map(stem, _vocabulary("weak")))


def is_function(word: str) -> bool:
    """Tell whether a word carries no topic."""
    return fold(word).removesuffix("'s") in _FUNCTION


def without_markup(text: str) -> str:
    """Return a question without addresses, tags, links and commands that were pasted with it."""
    return _MARKUP.sub(" ", text)


def phrases(text: str) -> tuple[str, ...]:
    """Return the names and noun phrases of a question as they were typed, in order of appearance.

    Runs of content words; one of only weak words is left out unless there is no other."""
    text = without_markup(text)
    marked_text = _SURFACE.sub(lambda word: word[0].rstrip(".") if _is_content(word[0]) else ";", text)
    strong_phrases, weak_phrases = list[str](), list[str]()
    for words in filter(None, map(str.split, _BETWEEN.split(marked_text))):
        strong_words = [word for word in words if not (word.isdigit() or stem(fold(word)) in weak_stems())]
        if not strong_words:
            weak_phrases.append(" ".join(words))
            continue
        while words[-1] != strong_words[-1] and not words[-1].isdigit():  # phase 3, vitamin B 12
            words.pop()
        strong_phrases.append(" ".join(words[words.index(strong_words[0]) :]))
    by_form = {fold(phrase): phrase for phrase in reversed(strong_phrases) if len(phrase) > 1}
    return tuple(sorted(by_form.values(), key=text.find)) or tuple(dict.fromkeys(weak_phrases))


def _is_content(word: str) -> bool:
    """Tell whether a word of a question may be part of a name: no function word and no verb of asking."""
    is_code = word.isupper() and len(word) > 1 and word not in ("AND", "OR", "NOT")
    return (is_code or not is_function(word)) and fold(word) not in _BREAKERS
