"""Lies of every kind that a model may tell, made of real abstracts: the answer of a role with one lie."""

import gzip
import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from activities.contracts.evidence import Evidence
from activities.text.sentences import Sentence, sentences

SAMPLE = Path(__file__).parents[3] / "activities" / "sources" / "sample" / "documents" / "pubmedqa.jsonl.gz"
WORKS = 150
"""Of the bundled sample."""
_FIGURE = re.compile(r"(?<![\w.,-])\d+(?:\.\d+)?(?![\w-])")
_OPPOSITES = (
    ("increased", "decreased"), ("higher", "lower"), ("improved", "worsened"), ("more", "less"),
    ("greater", "less"), ("effective", "ineffective"), ("reduced", "increased"), ("better", "worse"),
    ("superior", "inferior"), ("decrease", "increase"), ("increase", "decrease"), ("safe", "unsafe"),
)  # fmt: skip
_ANY = re.compile("")
_FITTING = {
    "a comparison exchanged": re.compile(" than "),
    "a direction turned": re.compile("|".join(rf"\b{word}\b" for pair in _OPPOSITES for word in pair)),
    "a number changed": _FIGURE,
}
"""What a sentence must have for a kind of lie."""
_AUXILIARY = re.compile(r"\b(is|are|was|were|can|may|should|has|have|did)\b(?! not)")
_NAMES = ("metformin", "Wonderpill", "denosumab", "the PIVOT-9 trial", "sildenafil", "tuberculosis")


@dataclass(frozen=True)
class Pair:
    """Two works with a sentence of each."""

    one: Evidence
    said: Sentence
    other: Evidence
    said_there: Sentence


@cache
def works() -> tuple[tuple[Evidence, tuple[Sentence, ...]], ...]:
    """Works of the bundled sample with their sentences of ten words and more."""
    found = []
    for line in gzip.decompress(SAMPLE.read_bytes()).splitlines()[:WORKS]:
        record = json.loads(line)
        document = Evidence(
            evidence_id=f"pmid:{record['pmid']}",
            source="library",
            title=record["title"],
            text=record["abstract"],
        )
        long = tuple(s for s in sentences(document) if len(s.quote.split()) >= 10 and len(s.quote) < 400)
        if len(long) > 3:
            found.append((document, long))
    return tuple(found)


def pairs(count: int, seed: int, kind: str = "") -> Iterator[Pair]:
    """Different pairs, the same in every run, of sentences that a kind of lie can be made of."""
    having = _FITTING.get(kind, _ANY)
    chooser = random.Random(seed)
    fitting = ((document, tuple(s for s in said if having.search(s.quote))) for document, said in works())
    every = [(document, said) for document, said in fitting if said]
    for _ in range(count):
        (one, said), (other, there) = chooser.sample(every, 2)
        yield Pair(one, chooser.choice(said), other, chooser.choice(there))


def number_changed(pair: Pair) -> str:
    match = _FIGURE.search(pair.said.quote)
    if match is None:
        return ""
    value = str(int(float(match.group()) * 37) + 10_007)
    return pair.said.quote[: match.start()] + value + pair.said.quote[match.end() :]


def direction_turned(pair: Pair) -> str:
    for old, new in _OPPOSITES:
        for word, turned in ((old, new), (new, old)):
            if len(re.findall(rf"\b{word}\b", pair.said.quote)) == 1:
                return re.sub(rf"\b{word}\b", turned, pair.said.quote)
    return ""


def denied(pair: Pair) -> str:
    if re.search(r"\b(?:not|no)\b", pair.said.quote):
        return re.sub(r"\bnot ", "", pair.said.quote, count=1) if " not " in pair.said.quote else ""
    return _AUXILIARY.sub(r"\1 not", pair.said.quote, count=1) if _AUXILIARY.search(pair.said.quote) else ""


def name_put_in(pair: Pair) -> str:
    words = pair.said.quote.rstrip(".").split()
    name = _NAMES[len(pair.said.quote) % len(_NAMES)]
    return " ".join([*words[:-2], "with", name]) + "."


def halves_joined(pair: Pair) -> str:
    """The beginning of one work's sentence and the end of the other's."""
    first, second = pair.said.quote.split(), pair.said_there.quote.split()
    return " ".join([*first[: max(len(first) // 2, 4)], *second[len(second) // 2 :]])


def borrowed(pair: Pair) -> str:
    """A statement of the other work."""
    return pair.said_there.quote


def generalised(pair: Pair) -> str:
    """A fact of no work, in plain words."""
    thing = " ".join(pair.said.quote.rstrip(".").split()[:3])
    return f"{thing} saves money for every hospital in the country."


def exchanged(pair: Pair) -> str:
    """The two sides of a comparison exchanged."""
    match = re.search(
        r"\b([a-z]{5,}) ([\w-]+) ((?:[\w-]+ ){0,8}?)than (?:in |the )*([a-z]{5,})", pair.said.quote
    )
    if match is None or {match[1], match[4]} & {"those", "other", "their", "there", "which", "were", "among"}:
        return ""
    if match[1] == match[4]:
        return ""
    turned = f"{match[4]} {match[2]} {match[3]}than {match[1]}"
    return pair.said.quote[: match.start()] + turned + pair.said.quote[match.end() :]


Lie = Callable[[Pair], str]
LIES: dict[str, Lie] = {
    "a number changed": number_changed,
    "a direction turned": direction_turned,
    "a denial put in or left out": denied,
    "a name put in": name_put_in,
    "two works joined into one result": halves_joined,
    "a statement of another work": borrowed,
    "a fact of no work": generalised,
    "a comparison exchanged": exchanged,
}
