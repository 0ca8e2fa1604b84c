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
    contraction    `didn't` for `did not`
    two works      two conclusions, joined by `and`, with the labels of both

With `--bioasq`, each sentence of the experts' answers is a wording and the snippet nearest to it the quote.
These are paraphrases by people; an expert's sentence may say more than one snippet, so a part of what is
refused there is refused rightly.

False wordings are those of `tests.activities.roles.lies`, and another sentence of the same work under the
label of a sentence that does not say it.

    python -m benchmarks.claim_checks --people DIR --sentences DIR [--halves] [--draw N --seed N]
        [--model NAME [--base-url URL] [--plain]]

measures on labels of people and on sentences of a strong model (`benchmarks.labelled_claims`) instead. With
`--model` what code leaves open is read by that model as second reader, in calls of several sentences on the
same works with control sentences among them: balanced accuracy by source, where a sentence that code lets
stand counts as a yes and one that it refuses as a no, and how well the model read by the controls. `--plain`
adds the reader alone, without code: every sentence is read, and its yes counts without labels and controls.
`--draw` takes so many sentences at random, as many from either folder.
"""

import argparse
import asyncio
import gzip
import json
import random
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from rapidfuzz import fuzz, process
from scipy.stats import binomtest

from activities.contracts.errors import ModelError
from activities.contracts.evidence import Evidence, ModelChoice, Support, Vigilance
from activities.contracts.write import DraftClaim, VerifyInput
from activities.evidence_store import EvidenceStore
from activities.models.client import OpenAIModel
from activities.models.prices import effort_of
from activities.profiles.loader import load_profile
from activities.report.formats import words as report_words
from activities.roles.allowances import allowance_for
from activities.roles.runner import RoleThinker
from activities.roles.validation import supports
from activities.settings import Settings
from activities.text.numbers import figures
from activities.text.sentences import sentences, split
from activities.verification import gate
from activities.verification.computed import Computations
from benchmarks.corpus import SAMPLE, Item, half, load, number, respelled
from benchmarks.labelled_claims import Labelled, people, written
from tests.activities.roles.lies import LIES, pairs

_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_DIGIT = re.compile(r"(?<![\w.,%-])([2-9])(?![\w.,%-])")
_SPELLED = re.compile(r"\b(" + "|".join(_NUMBERS) + r")\b")
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_NOT = re.compile(r"\b(did|does|do|is|are|was|were|has|have|could|should) not\b")
MIN_NEAR = 60.0
"""Percent of shared words from which a snippet is what an expert's sentence rests on."""


def conclusions(items: list[Item]) -> list[str]:
    """The sentences that conclude, one work after the other."""
    return [
        sentence.quote
        for item in items
        for sentence in split(item.identity, item.conclusion)
        if sentence.quote in item.abstract
    ]


def true_claims(quote: str) -> Iterator[tuple[str, str]]:
    """(way, claim) of the same meaning."""
    yield "own", quote
    item = Item("", quote, quote, quote, None, (), "")
    ways = (
        ("brackets", _BRACKETS.sub("", quote)),
        ("spelling", respelled(item)),
        ("figures", _refigured(quote)),
        ("contraction", _NOT.sub(r"\1n't", quote)),
    )
    yield from ((way, claim) for way, claim in ways if any(map(str.isalnum, claim)) and claim != quote)


def _refigured(quote: str) -> str:
    if _DIGIT.search(quote):
        return _DIGIT.sub(lambda m: _NUMBERS[int(m[1]) - 2], quote)
    return _SPELLED.sub(lambda m: str(_NUMBERS.index(m[1]) + 2), quote)


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
        yield "another sentence of the work", said.quote, supports([pair.said]), (pair.one,)


def experts(path: Path) -> Iterator[tuple[str, str]]:
    """(claim, quote): the sentences of the experts' answers with the snippet nearest to each."""
    raw = path.read_bytes()
    for question in json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)["questions"]:
        snippets = [" ".join(snippet["text"].split()) for snippet in question["snippets"]]
        for text in question["ideal_answer"]:
            for sentence in split(question["id"], " ".join(text.split())):
                near = process.extractOne(sentence.quote, snippets, scorer=fuzz.token_set_ratio)
                if near is not None and near[1] >= MIN_NEAR:
                    yield sentence.quote, near[0]


def outcome(text: str, cites: tuple[Support, ...], shown: Sequence[Evidence]) -> DraftClaim:
    """What the gate makes of a wording."""
    documents = {document.evidence_id: document for document in shown}
    claim = DraftClaim(id="s1.1", text=text, support=cites)
    return gate.with_decision(claim, decided(text, cites, documents))


def decided(
    text: str,
    cites: Sequence[Support],
    documents: Mapping[str, Evidence],
    about: str = "",
    shown: Sequence[str] = (),
) -> gate.Decision:
    works = [*map(gate.text_of, documents.values()), about]
    return gate.sentence(
        text,
        [quote.evidence_id for quote in cites],
        documents,
        about,
        quotes=[quote.quote for quote in cites],
        computations=Computations(shown, works, works),
    )


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


def measured(claim: Labelled) -> DraftClaim:
    """A labelled sentence with what the gate decides of it."""
    documents = {document.evidence_id: document for document in claim.works}
    cites = () if claim.reservation else claim.support
    draft = DraftClaim(id="s1.1", text=claim.text, support=cites)
    return gate.with_decision(draft, decided(claim.text, cites, documents, claim.question, sums(claim)))


def sums(claim: Labelled) -> list[str]:
    """The sums of the figures that a sentence cites, in place of the computation that a writer shows: the
    corpora are older than that. Of long quotes there are none."""
    amounts = [number.text for one in claim.support for number in figures(one.quote)]
    sizes = (2, 3) if len(amounts) <= MAX_AMOUNTS else ()
    return [" + ".join(some) for size in sizes for some in combinations(amounts, size)]


OUTCOMES = ("stands", "ask", "refused")
"""By code; left to a second reader; not printed."""


def print_outcomes(
    claims: Iterable[Labelled], drafts: Mapping[Labelled, DraftClaim], *, verbose: bool
) -> None:
    """What code makes of the claims of each corpus, and of each kind of lie."""
    rows: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    lies: dict[str, Counter[str]] = defaultdict(Counter)
    for claim in claims:
        corpus = f"{claim.corpus}, reservations" if claim.reservation else claim.corpus
        state = drafts[claim].state
        rows[corpus, claim.label][state] += 1
        if claim.question and claim.label == "false" and claim.corpus != "AttributionBench":
            lies[claim.kind][state] += 1
        wrong = "refused" if claim.label == "true" else "stands"
        if verbose and state == wrong:
            print(f"{corpus}, {claim.label}: {wrong}: {claim.text}")
    for title, counts in (
        ("corpus, label", {f"{corpus}, {label}": found for (corpus, label), found in sorted(rows.items())}),
        ("lie", lies),
    ):
        print(f"| {title} | of | stands | to the verifier | refused |\n|---|---|---|---|---|")
        for name, found in counts.items():
            shares = " | ".join(f"{found[one]} ({found[one] / found.total():.1%})" for one in OUTCOMES)
            print(f"| {name} | {found.total()} | {shares} |")


PEOPLES = ("AttributionBench", "WiCE")
"""The corpora that people labelled; the others were written for the product."""
MAX_AMOUNTS = 8
"""Figures of the cited sentences whose sums are tried."""
SENTENCES_A_CALL = 12
"""Labelled sentences on the same works that are read in one call."""
CALLS_AT_ONCE = 12


async def read(
    drafts: Mapping[Labelled, DraftClaim], model: str, base_url: str | None, home: Path, *, plain: bool
) -> tuple[Mapping[Labelled, str], Vigilance]:
    """The verdict of a model as second reader on each claim, and how well it read; a claim that it did not
    answer on is missing. `plain`: a yes counts as it is said."""
    settings = Settings(home=home, openai_base_url=base_url)
    store = EvidenceStore.at(str(home / "evidence"))
    client = OpenAIModel(settings, store)
    choice = ModelChoice(backend="openai", model=model)
    choice = choice.replace(effort=await effort_of(settings, choice))
    thinker = RoleThinker(lambda _: client, store, settings, lambda: True)
    calls: dict[tuple[str, ...], list[list[Labelled]]] = defaultdict(list)
    for claim in drafts:
        own = calls[claim.question, *(work.text for work in claim.works)]
        if not own or len(own[-1]) >= SENTENCES_A_CALL:
            own.append([])
        own[-1].append(claim)
    verdicts: dict[Labelled, str] = {}
    vigilance, at_once = Vigilance(), asyncio.Semaphore(CALLS_AT_ONCE)

    async def ask(place: int, claims: Sequence[Labelled]) -> None:
        nonlocal vigilance
        asked = [drafts[claim].replace(id=f"s1.{n}", state="ask") for n, claim in enumerate(claims, 1)]
        step = VerifyInput(
            run_id="benchmark",
            question=claims[0].question or "What does the source say?",
            profile=load_profile("general"),
            model=choice,
            scope=f"{place}/verifier",
            sentences=tuple(asked),
            evidence=tuple([await store.put(work) for work in claims[0].works]),
        )
        step = step.replace(allowance=allowance_for("verifier", choice, step))
        try:
            async with at_once:
                done = await thinker.think("verifier", step)
        except ModelError:
            return
        by_id = {one.id: claim for one, claim in zip(asked, claims, strict=True)}
        vigilance += done.output.vigilance
        believed = plain or done.output.vigilance.is_believed
        for verdict in done.output.verdicts:
            code = verdict.problem.code if verdict.problem else ""
            yes = not code or (plain and code == "not_carried")
            verdicts[by_id[verdict.id]] = "yes" if yes and believed else "no"

    every = [call for own in calls.values() for call in own]
    await asyncio.gather(*(ask(place, claims) for place, claims in enumerate(every)))
    await client.aclose()
    return verdicts, vigilance


def print_accuracy(
    drafts: Mapping[Labelled, DraftClaim], options: argparse.Namespace, *, plain: bool
) -> None:
    """Balanced accuracy by source, of code and second reader together, or of the reader alone (`plain`). What
    people labelled as partly supported is not supported."""
    unread = {claim: draft for claim, draft in drafts.items() if plain or draft.state == "ask"}
    with tempfile.TemporaryDirectory() as home:
        verdicts, vigilance = asyncio.run(
            read(unread, options.model, options.base_url, Path(home), plain=plain)
        )
    counts: dict[str, Counter[tuple[bool, bool]]] = defaultdict(Counter)
    for claim, draft in drafts.items():
        stands = (draft.state == "stands" and not plain) or verdicts.get(claim) == "yes"
        source = f"{claim.corpus}, {claim.kind}" if claim.corpus == "AttributionBench" else claim.corpus
        whose = "all by people" if claim.corpus.startswith(PEOPLES) else "all for the product"
        for name in (source, whose, "all"):
            counts[name][claim.label == "true", stands] += 1
        if options.verbose and stands is not (claim.label == "true"):
            print(f"{claim.corpus}, {claim.label}, {'printed' if stands else 'not printed'}: {claim.text}")
    who = "the reader alone" if plain else "code and reader"
    print(f"{who}: {len(unread)} read by {options.model}, {len(unread) - len(verdicts)} without an answer")
    if not plain:
        print(report_words.vigilance(vigilance))
    print("| source | of | true that stand | false that stand | balanced accuracy |\n|---|---|---|---|---|")
    for source, counted in sorted(counts.items()):
        (true, right), (false, wrong) = (_share(counted, of=of) for of in (True, False))
        print(f"| {source} | {counted.total()} | {right} | {wrong} | {(true + 1 - false) / 2:.1%} |")


def _share(counted: Counter[tuple[bool, bool]], *, of: bool) -> tuple[float, str]:
    """The share of the true, or of the false, sentences that stand, and the same with its exact interval."""
    standing, total = counted[of, True], counted[of, True] + counted[of, False]
    if not total:
        return 0.0, "none"
    low, high = binomtest(standing, total).proportion_ci()
    share = standing / total
    return share, f"{standing} of {total} ({share:.1%}, {100 * low:.1f} to {100 * high:.1f})"


def measure_labelled(options: argparse.Namespace) -> None:
    """The tables on labelled claims."""
    folders = [
        list(people(options.people) if options.people else ()),
        list(written(options.sentences) if options.sentences else ()),
    ]
    if options.draw:
        chooser = random.Random(options.seed)
        share = options.draw // max(sum(map(bool, folders)), 1)
        folders = [chooser.sample(own, min(share, len(own))) for own in folders]
    claims = [claim for own in folders for claim in own]
    drafts = {claim: measured(claim) for claim in claims}
    for part in (0, 1) if options.halves else (None,):
        if part is not None:
            print(f"half {part}")
        own = [one for one in claims if part is None or one.half == part]
        print_outcomes(own, drafts, verbose=options.verbose)
    if options.model:
        print_accuracy(drafts, options, plain=False)
        if options.plain:
            print_accuracy(drafts, options, plain=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=SAMPLE)
    parser.add_argument("--half", choices=("choosing", "held-out", "all"), default="held-out")
    parser.add_argument("--bioasq", type=Path, default=None, help="a BioASQ golden file")
    parser.add_argument("--lies", type=int, default=150, help="of each kind")
    parser.add_argument(
        "--verbose", action="store_true", help="list true ones refused, false ones that stand"
    )
    parser.add_argument("--people", type=Path, help="a folder with claims that people labelled")
    parser.add_argument("--sentences", type=Path, help="a folder with sentences of a model, true and false")
    parser.add_argument("--halves", action="store_true", help="the halves of the labelled claims apart")
    parser.add_argument("--draw", type=int, default=0, help="so many of the labelled claims")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plain", action="store_true", help="the reader alone as well")
    parser.add_argument("--model", help="a second reader for the labelled claims")
    parser.add_argument("--base-url", default=None)
    options = parser.parse_args()
    if options.people or options.sentences:
        measure_labelled(options)
        return
    items = half(load(options.corpus), options.half)
    for name, rows, wrong in (
        ("true", true_wordings(items, options.bioasq), "refused"),
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
                f"{found[state] / found.total():.1%}" for state in ("stands", "ask", "refused")
            )
            print(f"| {way} | {found.total()} | {shares} |")


if __name__ == "__main__":
    main()
