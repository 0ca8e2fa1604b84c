"""What becomes of a writer's wordings by the checks of code alone: true ones and false ones.

    python -m benchmarks.claim_checks [--corpus FILE] [--half choosing|held-out|all] [--bioasq FILE]

A wording stands by itself, is left to the verifier (`activities.roles.verifier`), or is refused. Without a
verifier's yes a wording that is left to it is replaced by its quote.

True wordings are made of the conclusions of PubMedQA's abstracts (the bundled sample, or a file of its
distribution) by code that changes no meaning:

    own            the sentence itself
    brackets       without what stands in brackets
    spelling       American spelling for British, or the other way round
    figures        small numbers in digits for words, or the other way round
    synonym        one noun replaced by a synonym of its first sense in the thesaurus
    contraction    `didn't` for `did not`
    two works      two conclusions, joined by `and`, with the labels of both

With `--bioasq`, each sentence of the experts' answers is a wording and the snippet nearest to it the quote.
These are paraphrases by people; an expert's sentence may say more than one snippet, so a part of what is
refused there is refused rightly.

False wordings are those of `tests.activities.roles.lies`, and another sentence of the same work under the
label of a sentence that does not say it.
"""

import argparse
import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from rapidfuzz import fuzz, process

from activities.drafts import DraftClaim
from activities.roles.role import Prompt
from activities.roles.validation import supports
from activities.roles.written import checked
from activities.text import thesaurus
from activities.text.sentences import sentences, split
from activities.types import Evidence, Support
from benchmarks.corpus import SAMPLE, Item, half, load, number, respelled, words
from tests.activities.roles.lies import LIES, pairs

_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_DIGIT = re.compile(r"(?<![\w.,%-])([2-9])(?![\w.,%-])")
_SPELLED = re.compile(r"\b(" + "|".join(_NUMBERS) + r")\b")
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_NOT = re.compile(r"\b(did|does|do|is|are|was|were|has|have|could|should) not\b")
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


def false_wordings(count: int) -> Iterator[tuple[str, str, tuple[Support, ...], tuple[Evidence, ...]]]:
    """(kind, wording, what it cites, the works shown)."""
    for kind, lie in LIES.items():
        for pair in pairs(count, 7, kind):
            if text := lie(pair):
                cites = (pair.said, pair.said_there) if kind.startswith("two works") else (pair.said,)
                yield kind, text, supports(cites), (pair.one, pair.other)
    for pair in pairs(count, 7):
        own = [one for one in sentences(pair.one) if one.quote != pair.said.quote]
        said = own[number(pair.said.quote) % len(own)]
        yield "another sentence of the work", said.text, supports([pair.said]), (pair.one,)


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


def outcome(text: str, cites: tuple[Support, ...], shown: Sequence[Evidence]) -> DraftClaim:
    """What the writer's check makes of a wording."""
    labels = {f"E{place}": document for place, document in enumerate(shown, 1)}
    return checked(text, cites, Prompt("", "", "", shown=labels))


def true_wordings(
    items: list[Item], bioasq: Path | None
) -> Iterator[tuple[str, str, tuple[Support, ...], tuple[Evidence, ...]]]:
    """(way, wording, what it cites, the works shown)."""
    before: tuple[str, Evidence] | None = None
    for item in items:
        work = Evidence(
            evidence_id=f"pmid:{item.identity}", source="", title=item.question, text=item.abstract
        )
        for quote in conclusions([item]):
            cites = Support(evidence_id=work.evidence_id, quote=quote)
            for way, text in true_claims(quote):
                yield way, text, (cites,), (work,)
            if before:
                joined = f"{before[0].rstrip('.')}, and {quote[0].lower()}{quote[1:]}"
                there = Support(evidence_id=before[1].evidence_id, quote=before[0])
                yield "two works", joined, (there, cites), (before[1], work)
            before = quote, work
    for text, quote in experts(bioasq) if bioasq else ():
        work = Evidence(evidence_id="x:1", source="", title="A snippet", text=quote)
        yield "experts", text, (Support(evidence_id="x:1", quote=quote),), (work,)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=SAMPLE)
    parser.add_argument("--half", choices=("choosing", "held-out", "all"), default="held-out")
    parser.add_argument("--bioasq", type=Path, default=None, help="a BioASQ golden file")
    parser.add_argument("--lies", type=int, default=150, help="of each kind")
    parser.add_argument(
        "--verbose", action="store_true", help="list true ones refused, false ones that stand"
    )
    options = parser.parse_args()
    items = half(load(options.corpus), options.half)
    for name, rows, wrong in (
        ("true", true_wordings(items, options.bioasq), "failed"),
        ("false", false_wordings(options.lies), "stands"),
    ):
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for way, text, cites, shown in rows:
            claim = outcome(text, cites, shown)
            counts[way][claim.state] += 1
            if options.verbose and claim.state == wrong:
                quotes = "\n   quote: ".join(one.quote for one in cites)
                print(f"{way}: {claim.problem or 'stands'}\n   text:  {text}\n   quote: {quotes}")
        print(f"| {name} wordings | of | stand | to the verifier | refused |\n|---|---|---|---|---|")
        for way, found in (*counts.items(), ("all", sum(counts.values(), Counter()))):
            shares = " | ".join(
                f"{found[state] / found.total():.1%}" for state in ("stands", "unverified", "failed")
            )
            print(f"| {way} | {found.total()} | {shares} |")


if __name__ == "__main__":
    main()
