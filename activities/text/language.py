"""The language of a text, told by a library, and what each language needs: stems, stop words, scripts.

Languages are ISO 639-1 codes. A text too short to tell has none.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from activities.logs import log
from activities.text.normal_form import is_unspaced

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

ENGLISH = "en"
MIN_LETTERS, MIN_UNSPACED = 30, 4
"""Letters from which a text tells its language, and those of a script without blanks. Of 567 questions each
in English, German and Spanish 563, 566 and 566 are told right."""
MIN_PROBABILITY = 0.85
"""Probability from which the language of a short question is believed: `Wer ist Kassenwart?` has 0.93, `Does
aspirin help?` 0.63 and `metformin survival` 0.11."""
MIN_SHARE = 0.02
"""Share of documents from which their language counts among those of a folder."""
SAMPLE_CHARS = 300
"""Characters at the beginning of a text, and in its middle, that are read for its language."""
STEMMERS = frozenset({
    "ar", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu", "fa", "fi", "fr", "ga", "hi", "hu", "hy",
    "id", "it", "lt", "ne", "nl", "no", "pl", "pt", "ro", "ru", "sr", "sv", "ta", "tr", "yi",
})  # fmt: skip
"""Languages whose words PyStemmer reduces."""
UNSTEMMED = frozenset({
    "bg", "he", "hr", "ja", "ko", "lv", "ms", "sk", "sl", "th", "tl", "uk", "ur", "vi", "zh",
})  # fmt: skip
"""Further languages that are told apart; their words are compared as they stand."""
RARE_FORMS = frozenset({"de", "et", "eu", "fi", "hu", "tr"})
"""Languages in which a rare word in small letters is more often a form of a common one than a name."""
CANONICAL = {"wuu": "zh", "yue": "zh", "nb": "no", "nn": "no"}


@lru_cache(maxsize=2048)
def language_of(text: str) -> str:
    """Tell the language of a text by its beginning and its middle; empty where it is too short to tell."""
    if len(text) > 2 * SAMPLE_CHARS:
        text = f"{text[:SAMPLE_CHARS]} {text[len(text) // 2 :][:SAMPLE_CHARS]}"
    is_short = sum(map(str.isalpha, text)) < MIN_LETTERS and sum(map(is_unspaced, text)) < MIN_UNSPACED
    return "" if is_short else _classify(text)[0]


@lru_cache(maxsize=2048)
def language_of_question(question: str) -> str:
    """Tell the language of a question; empty where it is not sure.

    More function words of English than of another language tell English. One that is too short for
    `language_of` is in its likeliest where that has `MIN_PROBABILITY`, or where it has a function word of it,
    two of English."""
    language, probability = _classify(question)
    words = set(re.findall(r"\w+", question.casefold()))
    matches = words & stop_words(language) - (stop_words(ENGLISH) if language != ENGLISH else frozenset())
    english_words = words & stop_words(ENGLISH) - stop_words(language)
    if len(english_words) > len(matches) and not any(map(is_unspaced, question)):
        return ENGLISH
    is_sure = probability >= MIN_PROBABILITY or len(matches) > (language == ENGLISH)
    return language_of(question) or (language if is_sure else "")


def main_languages(counts: Mapping[str, int]) -> tuple[str, ...]:
    """List the languages that at least `MIN_SHARE` of some documents have."""
    minimum = MIN_SHARE * sum(counts.values())
    return tuple(sorted(language for language, count in counts.items() if language and count >= minimum))


def _classify(text: str) -> tuple[str, float]:
    """Return the likeliest language of a text and how sure it is; none where none can be told."""
    identifier = _identifier()
    if identifier is None:
        return "", 0.0
    name, probability = identifier.classify(text)
    return CANONICAL.get(str(name), str(name)), float(probability)


@cache
def _identifier() -> "LanguageIdentifier | None":
    """Return what tells languages; None where there is no room to unpack its model."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    try:
        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except OSError as error:
        log.warning("languages_not_told", error=str(error), hint="free 50 MB where TMPDIR is")
        return None
    identifier.set_languages(sorted({*STEMMERS, *UNSTEMMED, *CANONICAL}.intersection(identifier.labels)))
    return identifier


@cache
def stop_words(language: str) -> frozenset[str]:
    """List the words of a language that carry no topic; empty where no list is known."""
    from stopwordsiso import stopwords

    return frozenset(stopwords(language))
