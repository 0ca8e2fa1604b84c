"""The words of a question that occur literally in none of some documents.

A word occurs where a text has it in any form: folded, stemmed by the language, or within a longer word, in
English at its beginning (`statins` are no part of somatostatin). A name of several words, as the vocabularies
hold it, and a compound occur where their parts stand side by side. `wordfreq` tells how rare a word is."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from activities.contracts.evidence import AbsentWord, Evidence
from activities.text.entities import link
from activities.text.language import ENGLISH, RARE_FORMS, STEMMERS, language_of_question, stop_words
from activities.text.normal_form import is_unspaced
from activities.text.sentences import language_in
from activities.text.tokens import MARKS, fold, is_function, stem, terms, without_articles, without_markup

MAX_ABSENT = 6
"""Words that are named, the rarest first."""
MIN_WITHIN = 4
"""Characters of a term from which a longer term that holds it counts as one of its forms."""
MIN_WITHIN_ENGLISH = 8
"""The same where the longer term does not begin with it and is English, which joins no words."""
MAX_OF_NAME = 2.0
"""The Zipf frequency (the logarithm of how often a word occurs in a billion) below which a word is a name."""
MIN_OF_PART = 2.5
"""The least Zipf frequency of each part of a compound: of 2,258 drug names 18 are such in German."""
MAX_OF_TOPIC = 5.0
"""The Zipf frequency from which a word carries no topic: nobody misses `son` or `help`."""
MAX_OF_RARE = 3.5
"""The same of a name that is rare: aspirin and TB, not cancer or fever."""
MIN_PART = 3
"""Letters of each part of a compound (`homebirth`)."""
_TOKEN = re.compile(rf"(?:[^\W_]++|[{MARKS}])+(?:[-'.\u2019](?:[^\W_]++|[{MARKS}])+)*")


class TermsOf:
    """The terms of documents in memory."""

    def __init__(self, documents: Iterable[Evidence]) -> None:
        documents = list(documents)
        self._plain = "\n".join(f"{document.title}\n{document.text}" for document in documents).casefold()
        rows = (terms(f"{document.title} {document.text}", language_in(document)) for document in documents)
        self._texts = [f" {' '.join(row)} " for row in rows]

    def holds(self, row: Sequence[str], language: str) -> bool:
        """Tell whether a document has a term, alone or within a longer one, or several side by side."""
        needle = pattern(row, language, " ")
        return any(needle in text for text in self._texts)

    def has(self, text: str) -> bool:
        """Tell whether a document has these letters in a row, in any case."""
        return text.casefold() in self._plain


def pattern(row: Sequence[str], language: str, separator: str) -> str:
    """Return what a text of terms has where it has these, alone or one of them within a longer one."""
    text = " ".join(row)
    length = len(text) if len(row) == 1 else 0
    prefix = "" if length >= (MIN_WITHIN_ENGLISH if language == ENGLISH else MIN_WITHIN) else separator
    return f"{prefix}{text}{'' if length >= MIN_WITHIN else separator}"


@dataclass(frozen=True, slots=True)
class _Word:
    """A word or a name of a question."""

    text: str
    rarity: float
    """Its Zipf frequency; that of its most frequent form."""
    is_name: bool
    """It is in the vocabularies, has a digit or a capital inside, or is in general unknown."""
    other_names: tuple[str, ...] = ()
    """Other names of it in the vocabularies."""


def absent_words(
    question: str,
    languages: Sequence[str],
    holds: Callable[[Sequence[str], str], bool],
    has: Callable[[str], bool],
) -> tuple[AbsentWord, ...]:
    """List the words of a question that occur in no document, the rarest first.

    `languages`: those of the documents, whose index `holds` terms and `has` letters (`TermsOf`). None of a
    language without a stemmer: its words would be missed in other forms."""
    language = language_of_question(question)
    if not language and all(c.isascii() for c in fold(question) if c.isalpha()):
        language = languages[0] if len(set(languages)) == 1 else ENGLISH
    if language not in STEMMERS:
        return ()
    all_languages = dict.fromkeys((language, *languages))

    def occurs(text: str) -> bool:
        rows = [terms(text, code) for code in all_languages]
        compact = fold(re.sub(r"[-\s.']", "", text))
        # an index has no function words of its language
        if not all(rows) or any(map(holds, (*rows, [compact]), (*all_languages, ENGLISH))):
            return True
        parts = ((text[:place], text[place:]) for place in range(MIN_PART, len(text) - MIN_PART + 1))
        if text.isalpha() and any(holds(terms(" ".join(pair), language), language) for pair in parts):
            return True
        return len(text) >= MIN_WITHIN and has(text)

    words = sorted(_words_of(question, language), key=lambda word: word.rarity)
    if languages and language not in languages:
        # a rare word may be one of its language, a code or a name of the vocabularies is the same in any
        words = [word for word in words if word.rarity < MAX_OF_RARE]
        words = [word for word in words if _is_marked(word.text) or link(word.text)]
    rarest = next((word for word in words if word.is_name), None)

    def absent_word(word: _Word) -> AbsentWord:
        """Return a word with the name that the vocabularies prefer, of those that occur."""
        names = tuple(islice((name for name in word.other_names if terms(name) and occurs(name)), 1))
        return AbsentWord(word=word.text, instead=names, decides=word is rarest and not names)

    missing = (word for word in words if not occurs(word.text))
    return tuple(map(absent_word, islice(missing, MAX_ABSENT)))


def _words_of(question: str, language: str) -> Iterator[_Word]:
    """Return the words of a question that carry its topic, and the names of several words, once each."""
    text, seen = without_markup(question), set[str]()
    mentions = [mention for mention in link(text) if language == ENGLISH]
    for entity in mentions:
        if fold(entity.surface) not in seen:
            seen.add(fold(entity.surface))
            names = (entity.name, *entity.synonyms)
            yield _Word(entity.surface, rarity(entity.surface, language), True, names)
    is_leading = True
    for match in _TOKEN.finditer(text):
        word = match.group()
        word = re.sub("['\u2019]s$", "", word) if language == ENGLISH else without_articles(word, language)
        is_within = any(mention.start <= match.start() < mention.end for mention in mentions)
        # where no blanks part words, a run of characters is no word
        is_spaced = not any(map(is_unspaced, word))
        is_number = word[:1].isdigit() and word[1:].islower()  # 5th, 80s
        is_topic = is_spaced and not is_number and not is_function(word) and terms(word, language)
        if is_within or fold(word) in seen or not is_topic:
            continue
        seen.add(fold(word))
        frequency = rarity(word, language)
        if frequency >= MAX_OF_TOPIC or (is_leading and language != ENGLISH and _asks(word, language)):
            continue
        is_leading = False
        may_be_form = language in RARE_FORMS and word.islower()
        is_usual = frequency >= MAX_OF_NAME or may_be_form or _is_compound(word, language)
        yield _Word(word, frequency, _is_marked(word) or not is_usual)


def _is_marked(word: str) -> bool:
    """Tell whether a word has a digit or a capital inside, as codes and names have."""
    return any(c.isupper() for part in word.split("-") for c in part[1:]) or any(map(str.isdigit, word[1:]))


def _is_compound(word: str, language: str) -> bool:
    """Tell whether a word of another language than English is joined of words that are not rare."""
    places = range(MIN_WITHIN, len(word) - MIN_WITHIN + 1) if language != ENGLISH else ()
    firsts = [word[:place] for place in places if rarity(word[place:], language) >= MIN_OF_PART]
    return any(rarity(first, language) >= MIN_OF_PART or _is_compound(first, language) for first in firsts)


def rarest_words(question: str) -> tuple[str, ...]:
    """Return the words of a question that carry its topic, the rarest first."""
    words = _words_of(question, language_of_question(question) or ENGLISH)
    return tuple(word.text for word in sorted(words, key=lambda word: word.rarity))


def _asks(word: str, language: str) -> bool:
    """Tell whether a word is a form of a function word, or two of them in one (`quantas`, `wofür`).

    Before any topic it asks: of 244 question words of 21 languages the lists lack 21, and this 4."""
    functions, plain = stop_words(language), word.casefold()
    pairs = ((plain[:place], plain[place:]) for place in range(2, len(plain) - 1))
    is_form = stem(plain, language) in {stem(function, language) for function in functions}
    return is_form or any(map(functions.issuperset, pairs))


def rarity(text: str, language: str = ENGLISH) -> float:
    """Return the Zipf frequency of a word, of its stem or of it without an -s, whichever is highest.

    `MAX_OF_NAME` in a language that is not known."""
    from wordfreq import zipf_frequency

    try:
        forms = {text, text.removesuffix("s"), " ".join(terms(text, language))}
        return max(zipf_frequency(form, language) for form in forms if form)
    except (LookupError, ImportError):  # some languages need a package more to be parted into words
        return MAX_OF_NAME
