"""How often do the checks of numbers, direction and negation refuse a claim that is true, and a false one?

    python -m benchmarks.claim_checks [--corpus FILE] [--half choosing|held-out|all] [--bioasq FILE]

A pair is a claim and the quote it rests on. True pairs are made of the conclusions of PubMedQA's abstracts
(the bundled sample, or a file of its distribution) by code that changes no meaning:

    own            the sentence itself
    brackets       without what stands in brackets
    spelling       American spelling for British, or the other way round
    figures        small numbers in digits for words, or the other way round
    synonym        one noun replaced by a synonym of its first sense in the thesaurus
    contraction    `didn't` for `did not`

With `--bioasq`, each sentence of the experts' answers is a claim and the snippet nearest to it the quote.
These are paraphrases by people; an expert's sentence may say more than one snippet, so a part of what is
refused there is refused rightly.

False pairs turn the same sentences round: a `not` put in or left out, a number changed, a direction reversed.
Printed is the share refused: of true pairs it is to be low, of false ones high.
"""

import argparse
import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from rapidfuzz import fuzz, process

from activities.text import thesaurus
from activities.text.sentences import split
from activities.verification.claim_check import missing_number, reversal
from activities.verification.quote_check import normalise
from benchmarks.corpus import SAMPLE, Item, half, load, number, respelled, words

_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_DIGIT = re.compile(r"(?<![\w.,%-])([2-9])(?![\w.,%-])")
_SPELLED = re.compile(r"\b(" + "|".join(_NUMBERS) + r")\b")
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_NOT = re.compile(r"\b(did|does|do|is|are|was|were|has|have|could|should) not\b")
_AUXILIARY = re.compile(r"\b(is|are|was|were|can|may|should|has|have|does|did)\b")
_FIGURE = re.compile(r"(?<![\w.,-])\d+(?:\.\d+)?(?![\w-])")
_OPPOSITES = (
    ("increased", "decreased"), ("increase", "decrease"), ("increases", "decreases"), ("higher", "lower"),
    ("improved", "worsened"), ("improves", "worsens"), ("more", "less"), ("effective", "ineffective"),
    ("safe", "unsafe"), ("superior", "inferior"),
)  # fmt: skip
LEAST_NEAR = 60.0
"""Percent of shared words from which a snippet is what an expert's sentence rests on."""


def conclusions(items: list[Item]) -> list[str]:
    """The sentences that conclude, one work after the other."""
    return [
        sentence.quote
        for item in items
        for sentence in split(item.identity, item.abstract)
        if sentence.part == "conclusion"
    ]


def true_claims(quote: str) -> Iterator[tuple[str, str]]:
    """(way, claim) of the same meaning."""
    yield "own", quote
    item = Item("", quote, quote, quote, None, (), "")
    ways = (
        ("brackets", _BRACKETS.sub("", quote)),
        ("spelling", respelled(item)),
        ("figures", _refigured(quote)),
        ("synonym", _with_synonym(quote)),
        ("contraction", _NOT.sub(r"\1n't", quote)),
    )
    yield from ((way, claim) for way, claim in ways if claim and claim != quote)


def _refigured(quote: str) -> str:
    if _DIGIT.search(quote):
        return _DIGIT.sub(lambda m: _NUMBERS[int(m[1]) - 2], quote)
    return _SPELLED.sub(lambda m: str(_NUMBERS.index(m[1]) + 2), quote)


def _with_synonym(quote: str) -> str:
    for word in sorted(set(words(quote)), key=lambda w: number(quote + w)):
        others = (
            sorted(thesaurus.synonyms(word, mostly=True))
            if word.islower() and thesaurus.mostly_noun(word)
            else []
        )
        if len(word) > 4 and others:
            return re.sub(rf"\b{word}\b", others[0], quote)
    return ""


def false_claims(quote: str) -> Iterator[tuple[str, str]]:
    """(way, claim) that the quote does not support."""
    if re.search(r"\bnot\b", quote):
        yield "not left out", re.sub(r"\bnot ", "", quote, count=1)
    elif _AUXILIARY.search(quote):
        yield "not put in", _AUXILIARY.sub(r"\1 not", quote, count=1)
    if match := _FIGURE.search(quote):
        changed = str(int(float(match.group()) * 2) + 1)
        yield "number changed", quote[: match.start()] + changed + quote[match.end() :]
    for one, other in _OPPOSITES:
        for old, new in ((one, other), (other, one)):
            if re.search(rf"\b{old}\b", quote):
                yield "direction reversed", re.sub(rf"\b{old}\b", new, quote)
                return


def experts(path: Path) -> Iterator[tuple[str, str]]:
    """(claim, quote): the sentences of the experts' answers with the snippet nearest to each."""
    raw = path.read_bytes()
    for question in json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)["questions"]:
        snippets = [" ".join(snippet["text"].split()) for snippet in question["snippets"]]
        for text in question["ideal_answer"]:
            for sentence in split(question["id"], " ".join(text.split())):
                near = process.extractOne(sentence.quote, snippets, scorer=fuzz.token_set_ratio)
                if near is not None and near[1] >= LEAST_NEAR:
                    yield sentence.quote, near[0]


def refused(claim: str, quote: str) -> str:
    """Why a claim is refused; empty when it is kept."""
    plain, own = normalise(claim), normalise(quote)
    missing = missing_number(plain, [own], (), 1)
    return f"number {missing}" if missing else reversal(plain, own)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=SAMPLE)
    parser.add_argument("--half", choices=("choosing", "held-out", "all"), default="held-out")
    parser.add_argument("--bioasq", type=Path, default=None, help="a BioASQ golden file")
    parser.add_argument("--verbose", action="store_true", help="list false alarms and what was let through")
    options = parser.parse_args()
    rows: dict[tuple[bool, str], list[bool]] = defaultdict(list)

    def judge(true: bool, way: str, claim: str, quote: str) -> None:
        reason = refused(claim, quote)
        rows[true, way].append(bool(reason))
        if options.verbose and bool(reason) == true:
            print(f"{way}: {reason or 'kept'}\n   claim: {claim}\n   quote: {quote}")

    for quote in conclusions(half(load(options.corpus), options.half)):
        for way, claim in true_claims(quote):
            judge(True, way, claim, quote)
        for way, claim in false_claims(quote):
            judge(False, way, claim, quote)
    for claim, quote in experts(options.bioasq) if options.bioasq else ():
        judge(True, "experts", claim, quote)
    for true in (True, False):
        print("true pairs refused (false alarms)" if true else "false pairs refused")
        own = {way: found for (kind, way), found in rows.items() if kind == true}
        for way, found in own.items():
            print(f"    {way:20}{100 * sum(found) / len(found):6.1f} % of {len(found)}")
        every = [one for way, found in own.items() if way != "experts" for one in found]
        print(f"    {'all but experts':20}{100 * sum(every) / max(len(every), 1):6.1f} % of {len(every)}")


if __name__ == "__main__":
    main()
