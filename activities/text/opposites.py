"""Whether a sentence states the change that a question asks for, or the opposite one, of the same thing.

`Lowered mortality` is the opposite of what `does it increase mortality?` asks, and so is `impaired memory` of
`does it improve memory?`. The words are those by which studies of any subject state a rise, a fall, a gain or
a loss. A change belongs to what stands right behind it; where that is not the thing asked about, and a
sentence has both, or changes something else, or the change is of what is compared (`a lower intake`), nothing
is certain.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from activities.text.entities import link
from activities.text.negation import NEGATIONS
from activities.text.tokens import fold, is_function, terms

Trend = Literal["rise", "fall", "gain", "loss"]
Change = Literal["as asked", "opposite", "uncertain", "none"]

_FREQUENT = r"(?:likely|frequent(?:ly)?|common(?:ly)?|often|prevalent)"
_TRENDS: dict[Trend, str] = {
    "rise": (
        r"increas\w+|rais(?:e[sd]?|ing)|elevat\w+|higher|greater|rise[sn]?|rose|up-?regulat\w+|augment\w*"
        r"|stimulat\w+|activat\w+|promot\w+|enhanc\w+|accelerat\w+|prolong\w*|longer"
        rf"|more {_FREQUENT}"
    ),
    "fall": (
        r"decreas\w+|reduc\w+|lower(?:s|ed|ing)?|diminish\w*|down-?regulat\w+|suppress\w*|inhibit\w*"
        r"|attenuat\w+"
        r"|repress\w*|block(?:s|ed|ing|ade)?|prevent\w*|protect\w*|shorten\w*|shorter|slow(?:s|ed|ing"
        r"|er)?|fewer|less"
        r"|ameliorat\w+|alleviat\w+|reliev\w+|mitigat\w+|abolish\w*"
    ),
    "gain": r"improv\w+|better|benefi\w+|restor(?:e[sd]?|ing|ation)",
    "loss": (
        r"worse(?:n\w*)?|impair\w*|deteriorat\w+|aggravat\w+|exacerbat\w+|poorer|detriment\w*"
        r"|harm(?:s|ful|ed)?"
    ),
}
_WORDS = re.compile("|".join(rf"\b(?P<{trend}>{words})\b" for trend, words in _TRENDS.items()), re.IGNORECASE)
_OPPOSITE: dict[Trend, Trend] = {"rise": "fall", "fall": "rise", "gain": "loss", "loss": "gain"}
_WINDOW = 4
"""Content words on either side of a word of change among which the thing that changes is named."""
HARM = re.compile(
    r"\b(?:mortality|deaths?|complications?|morbidity|recurrences?|infections?|pain|failures?|bleeding|costs?"
    r"|toxicity|injur\w+|damage|relapses?|symptoms?|risks?|burden|severity|decline|loss|events?|leak\w*"
    r"|re-?admissions?|malformations?)\b",
    re.IGNORECASE,
)
"""What is better the less there is of it."""
_ELSEWHERE = re.compile(
    r"\b(?:in|among|after|during|following|with|for|from|at|by|under|before)\b", re.IGNORECASE
)
_SOME_CHANGE = re.compile(
    r"\b(?:effects?|impact(?:s|ed)?|influenc\w+|affect\w*|alter(?:s|ed)?|chang(?:e[sd]?|ing))\b",
    re.IGNORECASE,
)
_POSITIVE = re.compile(
    r"\b(?:positive|beneficial|favou?rable) (?:\w+ )?(?:effects?|impact|influence)\b", re.IGNORECASE
)
_TOKEN = re.compile(r"[^\W_]+(?:[-'/][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class _Stated:
    trend: Trend
    before: tuple[str, ...]
    after: tuple[str, ...]
    start: int
    end: int


def change(question: str, sentence: str) -> Change:
    """What a sentence says of the change that a question asks for; `none` where the question asks for none or
    the sentence has no word for a change of it."""
    wanted = list(_stated(question))
    if len({one.trend for one in wanted}) != 1:
        return "none"
    asked = wanted[0]
    things = _forms(_changed(question, asked))
    stated = list(_stated(sentence))
    near = [one for one in stated if things & _forms(one.after)]
    attached = len({one.trend for one in near}) == 1
    if not attached:  # `an activator of A and an inhibitor of B` does one to each
        near = [one for one in stated if things & _forms(one.before + one.after)]
    if not near:
        return "none"
    of = {_read(asked.trend, one.trend, " ".join(asked.after or asked.before)) for one in near}
    if of == {"as asked"}:
        return "as asked"
    if of == {"opposite"} and (attached or len(near) == len(stated)):
        return "opposite"
    return "uncertain"


def _forms(words: Iterable[str]) -> set[str]:
    return {form for word in words for form in terms(word)}


def _changed(question: str, asked: _Stated) -> tuple[str, ...]:
    """The words of the thing that a question asks the change of: up to the preposition that says of whom or
    where (`readmission in heart failure`)."""
    own = _ELSEWHERE.split(question[asked.end :], maxsplit=1)[0]
    words = tuple(word for word in asked.after if word in fold(own))
    if not words and len(own) < len(question[asked.end :]):
        words = asked.before  # `is mortality higher in A?`
    return words or asked.after or asked.before


def changed(question: str) -> tuple[str, ...]:
    """The words of the thing whose change a question asks for; empty where it asks for none."""
    wanted = list(_stated(question))
    return _changed(question, wanted[0]) if len(wanted) == 1 and wanted[0].after else ()


def undirected(question: str, sentence: str) -> bool:
    """Whether a question asks for a change and a sentence says only that there was some: `had an impact on
    mortality` answers neither `does it raise` nor `does it lower mortality?`. A positive effect is a gain."""
    wanted = {one.trend for one in _stated(question)}
    if not wanted or any(True for _ in _stated(sentence)) or not _SOME_CHANGE.search(sentence):
        return False
    return wanted != {"gain"} or not _POSITIVE.search(sentence)


def denies_opposite(question: str, denied: str) -> bool:
    """Whether what a text denies is only the opposite of the change asked for: `did not lower` does not
    answer `does it increase?`."""
    wanted = {one.trend for one in _stated(question)}
    said = {one.trend for one in _stated(NEGATIONS.sub(" ", denied))}
    return len(wanted) == 1 and bool(said) and said <= {_OPPOSITE[trend] for trend in wanted}


def _read(asked: Trend, stated: Trend, thing: str) -> Change:
    if asked == stated:
        return "as asked"
    if _OPPOSITE[asked] == stated:
        return "opposite"
    if {asked, stated} & {"rise", "fall"} and {asked, stated} & {"gain", "loss"}:
        bad = bool(HARM.search(thing)) or any(e.kind in ("disease", "phenotype") for e in link(thing))
        better: Trend = "fall" if bad else "rise"
        pair = {asked, stated}
        return "as asked" if pair in ({"gain", better}, {"loss", _OPPOSITE[better]}) else "uncertain"
    return "uncertain"


def _stated(text: str) -> Iterator[_Stated]:
    plain = fold(text)
    if len(plain) != len(text):
        plain = text.casefold()
    for match in _WORDS.finditer(plain):
        trend: Trend = next(t for t in _TRENDS if match[t])
        before = [w for w in _TOKEN.findall(plain[: match.start()]) if not is_function(w)]
        after = [w for w in _TOKEN.findall(plain[match.end() :]) if not is_function(w)]
        yield _Stated(trend, tuple(before[-_WINDOW:]), tuple(after[:_WINDOW]), match.start(), match.end())
