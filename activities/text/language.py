"""The language of a text, told by a library, and what each language needs: stems, stop words, scripts.

Languages are ISO 639-1 codes. A text too short to tell has none.
"""

import lzma
import re
from array import array
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

from activities.logs import log
from activities.private_files import user_cache, write_whole
from activities.text.normal_form import is_unspaced

if TYPE_CHECKING:
    import Stemmer
    from py3langid.langid import LanguageIdentifier

ENGLISH = "en"
MIN_LETTERS, MIN_UNSPACED = 30, 4
"""Letters from which a text tells its language, and those of a script without blanks. Of 567 questions each
in English, German and Spanish 563, 566 and 566 are told right."""
SURE = 0.85
"""Probability from which the language of a short question is believed: `Wer ist Kassenwart?` has 0.93, `Does
aspirin help?` 0.63 and `metformin survival` 0.11."""
MIN_SHARE = 0.02
"""Share of documents from which their language counts among those of a folder."""
READ = 300
"""Characters at the beginning of a text, and in its middle, that are read for its language."""
STEMMERS = frozenset({
    "ar", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu", "fa", "fi", "fr", "ga", "hi", "hu", "hy",
    "id", "it", "lt", "ne", "nl", "no", "pl", "pt", "ro", "ru", "sr", "sv", "ta", "tr", "yi",
})  # fmt: skip
"""Languages whose words PyStemmer reduces."""
OTHERS = frozenset({"bg", "he", "hr", "ja", "ko", "lv", "ms", "sk", "sl", "th", "tl", "uk", "ur", "vi", "zh"})
"""Further languages that are told apart; their words are compared as they stand."""
RARE_FORMS = frozenset({"de", "et", "eu", "fi", "hu", "tr"})
"""Languages in which a rare word in small letters is more often a form of a common one than a name."""
SAME = {"wuu": "zh", "yue": "zh", "nb": "no", "nn": "no"}


@lru_cache(maxsize=2048)
def language_of(text: str) -> str:
    """Tell the language of a text by its beginning and its middle; empty where it is too short to tell."""
    if len(text) > 2 * READ:
        text = f"{text[:READ]} {text[len(text) // 2 :][:READ]}"
    letters = sum(map(str.isalpha, text))
    if letters < MIN_LETTERS and sum(map(is_unspaced, text)) < MIN_UNSPACED:
        return ""
    return _classified(text)[0]


@lru_cache(maxsize=2048)
def language_of_question(question: str) -> str:
    """Tell the language of a question.

    One that is too short for `language_of` is in its likeliest language where that is `SURE`, or where it has
    a function word of it that English has not, or two of English; else the answer is empty. More function
    words of English than of that language tell English, whatever the names in a question look like."""
    language, sure = _classified(question)
    words = set(re.findall(r"\w+", question.casefold()))
    own = words & stop_words(language) - (stop_words(ENGLISH) if language != ENGLISH else frozenset())
    english = words & stop_words(ENGLISH) - stop_words(language)
    if len(english) > len(own) and not any(map(is_unspaced, question)):
        return ENGLISH
    return language_of(question) or (language if sure >= SURE or len(own) > (language == ENGLISH) else "")


def main_languages(counts: Mapping[str, int]) -> tuple[str, ...]:
    """List the languages that at least `MIN_SHARE` of some documents have.

    Of an odd text the language may be told wrong."""
    least = MIN_SHARE * sum(counts.values())
    return tuple(sorted(language for language, count in counts.items() if language and count >= least))


def _classified(text: str) -> tuple[str, float]:
    """Return the likeliest language of a text and how sure it is; none where none can be told."""
    identifier = _identifier()
    if identifier is None:
        return "", 0.0
    name, sure = identifier.classify(text)
    return SAME.get(str(name), str(name)), float(sure)


@cache
def _identifier() -> "LanguageIdentifier | None":
    """Return what tells languages; None where there is no room for its model.

    It is kept unpacked, for every process: to unpack it takes most of a second."""
    from py3langid.langid import MODEL_DIR, MODEL_FILE

    place = user_cache("languages") / f"{version('py3langid')}.npz"
    with suppress(OSError, KeyError, ValueError, BadZipFile):  # not there yet, or damaged
        return _opened(place)
    try:
        for former in place.parent.glob("*.npz"):
            former.unlink()
        write_whole(place, lzma.decompress((MODEL_DIR / MODEL_FILE).read_bytes()))
        return _opened(place)
    except OSError as error:
        hint = f"free 70 MB for {place.parent}, or name another folder in DETERMINATOR_CACHE"
        log.warning("languages_not_told", error=str(error), hint=hint)
        return None


def _opened(place: Path) -> "LanguageIdentifier":
    """Open an unpacked model for our languages. Raises OSError, KeyError, ValueError, BadZipFile."""
    import numpy as np
    from py3langid.langid import LanguageIdentifier

    with place.open("rb") as file, np.load(file) as model:
        moves, rows = (
            array(row.dtype.char, row.tobytes()) for row in (model["nextmove"], model["nextmove_row"])
        )
        classes, outputs = model["classes"].tolist(), model["out_feat"].tolist()
        identifier = LanguageIdentifier(
            model["ptc"], model["pc"], classes, moves, outputs, norm_probs=True, tk_row=rows
        )
    identifier.set_languages(sorted({*STEMMERS, *OTHERS, *SAME}.intersection(classes)))
    return identifier


def stemmer(language: str) -> "Stemmer.Stemmer | None":
    """Return a stemmer of a language; None where there is none."""
    if language not in STEMMERS:
        return None
    from Stemmer import Stemmer

    return Stemmer(language, 0)  # made in some microseconds; threads must not share one


@cache
def stop_words(language: str) -> frozenset[str]:
    """List the words of a language that carry no topic; empty where no list is known."""
    from stopwordsiso import stopwords

    return frozenset(stopwords(language))
