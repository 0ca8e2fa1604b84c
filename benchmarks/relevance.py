"""Does the back end without a model answer what was asked, refuse what is not there, and know which is which?

    python -m benchmarks.relevance [--corpus FILE] [--half choosing|held-out|all] [--limit 60] [--other FILE]

From PubMedQA (the bundled sample, or a file of its distribution), or from a BioASQ golden file whose snippets
are the library, questions are made by code (`variants`):

    original       as they are
    titles hidden  the same, over a library without titles
    reworded       an abbreviation, another spelling, another order of words, a synonym
    exchanged      one key word replaced by one of the same kind from another question; of both libraries
    unanswerable   original, the document it was made of removed from the library, of both libraries (the
                   one without titles is no part of the figures on confidence);
                   and, with --other, the questions of a BioASQ file, asked of this library

With a BioASQ file any of a question's documents is the right one, there are no titles to hide, and taking the
documents of a question out leaves those of its neighbours, which may answer it too: those rows are printed
by themselves, and are no part of the figures on confidence.

A question is answered when the command would end with exit code 0. Half of the questions, by a hash of their
id, is for choosing rules and weights; only figures of `held-out` say how good they are. Confidence is scored
over all of these questions against whether the right document is the first that is cited (AUC, Brier score,
expected calibration error in ten bins), once over all and once over the answered ones; and so is directness,
the estimate that the work is on the question, which confidence is computed from. It is the calibrated one:
confidence is lower where few or small studies were found, however well they fit the question. The direction
line is compared with PubMedQA's labels, which the sample does not hold: give the file.
`benchmarks/directions.py` measures it on every question.
"""

import argparse
import asyncio
import gzip
import json
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np

from activities.settings import Settings
from activities.sources.http.client import Http
from activities.sources.library import build
from benchmarks import bioasq
from benchmarks.pipeline import Answer, ask
from benchmarks.variants import Corpus, Item, number

SAMPLE = Path(__file__).parents[1] / "activities" / "sources" / "sample" / "documents" / "pubmedqa.jsonl.gz"
BINS = 10


@dataclass(frozen=True)
class Result:
    """One question and what became of it."""

    kind: str
    way: str
    question: str
    answered: bool
    right: bool
    """The right document is the first that is cited."""
    cited: bool
    confidence: float
    stop_reason: str
    directness: float
    """The estimate that the work is on the question, from the reasons for the confidence; 0 where refused."""


def load(path: Path) -> list[Item]:
    """The questions of PubMedQA's own file, or of the bundled sample."""
    return _of_pubmedqa(path, _text(path))


def material(path: Path) -> tuple[list[Item], dict[str, frozenset[str]], dict[str, list[str]]]:
    """The questions; by their identity the ids of the documents that answer them; and, of a BioASQ file, the
    snippets of each document."""
    text = _text(path)
    if '"ideal_answer"' not in text[:100_000]:
        items = _of_pubmedqa(path, text)
        return items, {i.identity: frozenset({i.identity}) for i in items}, {}
    entries = json.loads(text)["questions"]
    gold = {
        entry["id"]: frozenset(f"pmid:{s['document'].rsplit('/', 1)[-1]}" for s in entry["snippets"])
        for entry in entries
    }
    questions = [
        Item(
            identity=entry["id"],
            question=" ".join(entry["body"].split()),
            abstract=" ".join(s["text"] for s in entry["snippets"]),
            conclusion="",
            year=None,
            mesh=(),
            label="",
        )
        for entry in entries
    ]
    return questions, gold, bioasq.load(path)[1]


def _text(path: Path) -> str:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read()


def _of_pubmedqa(path: Path, text: str) -> list[Item]:
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        return [_of_sample(json.loads(line)) for line in text.split("\n") if line]
    return [
        Item(
            identity=f"pmid:{pmid}",
            question=record["QUESTION"].strip(),
            abstract="\n\n".join(
                f"{label}: {said}"
                for label, said in zip(
                    (*record["LABELS"], "CONCLUSIONS"),
                    (*record["CONTEXTS"], record["LONG_ANSWER"]),
                    strict=True,
                )
            ),
            conclusion=record["LONG_ANSWER"],
            year=int(record["YEAR"]) if record.get("YEAR") else None,
            mesh=tuple(record["MESHES"]),
            label=record.get("final_decision", ""),
        )
        for pmid, record in sorted(json.loads(text).items())
    ]


def _of_sample(record: dict[str, str]) -> Item:
    return Item(
        identity=f"pmid:{record['pmid']}",
        question=record["title"],
        abstract=record["abstract"],
        conclusion=record["abstract"].rsplit("CONCLUSIONS: ", 1)[-1],
        year=int(record["year"]) if record.get("year") else None,
        mesh=tuple(record.get("mesh", ())),
        label="",
    )


def half(items: Iterable[Item], name: str) -> list[Item]:
    """The items of a half, in an order that follows from their ids."""
    ordered = sorted(items, key=lambda i: number(i.identity))
    parity = {"choosing": 0, "held-out": 1}.get(name)
    return [i for i in ordered if parity is None or number("half " + i.identity) % 2 == parity]


def library(items: Iterable[Item], folder: Path, *, titles: bool) -> Path:
    """A library of the documents."""
    folder.mkdir(parents=True)
    lines = (
        json.dumps(
            {
                "pmid": i.identity.removeprefix("pmid:"),
                "title": i.question if titles else "",
                "abstract": i.abstract,
                "year": i.year,
                "mesh": i.mesh,
            }
        )
        for i in items
    )
    (folder / "documents.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def result(kind: str, way: str, question: str, answer: Answer, gold: Collection[str]) -> Result:
    cited = answer.cited
    return Result(
        kind=kind,
        way=way,
        question=question,
        answered=answer.answered,
        right=bool(cited) and cited[0] in gold,
        cited=any(name in gold for name in cited),
        confidence=answer.report.confidence,
        stop_reason=answer.stop_reason,
        directness=directness(answer),
    )


def directness(answer: Answer) -> float:
    """The percentage among the reasons for the confidence, as a share."""
    reasons = {reason.code: reason for reason in answer.report.confidence_reasons}
    direct = reasons.get("confidence_direct")
    return direct.number("percent") / 100 if direct else 0.0


def auc(right: Sequence[float], wrong: Sequence[float]) -> float:
    """The chance that a right one has the higher confidence; ties count half."""
    if not right or not wrong:
        return float("nan")
    a, b = np.array(right)[:, None], np.array(wrong)[None, :]
    return float(((a > b) + 0.5 * (a == b)).mean())


def calibration(
    results: Sequence[Result], of: Callable[[Result], float] = lambda r: r.confidence
) -> tuple[float, float, float]:
    """AUC, Brier score, expected calibration error of confidence (or of `of`) against being right."""
    sure = np.array([of(r) for r in results])
    true = np.array([float(r.right) for r in results])
    area = auc([of(r) for r in results if r.right], [of(r) for r in results if not r.right])
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    error = sum(
        (bins == b).mean() * abs(sure[bins == b].mean() - true[bins == b].mean()) for b in set(bins.tolist())
    )
    return area, float(((sure - true) ** 2).mean()), float(error)


def share(found: Iterable[bool]) -> str:
    """`95.0 % of 60`."""
    rows = list(found)
    return f"{100 * sum(rows) / max(len(rows), 1):5.1f} % of {len(rows)}"


async def run(options: argparse.Namespace, home: Path) -> None:
    items, right, snippets = material(options.corpus)
    corpus = Corpus(items)
    chosen = half(items, options.half)[: options.limit or None]
    results: list[Result] = []
    directions: list[tuple[Item, str]] = []
    async with httpx.AsyncClient() as client:
        http = Http(client)
        if snippets:
            (home / "titled").mkdir()
            bioasq.library(snippets, home / "titled")
        else:
            library(items, home / "titled", titles=True)
            library(items, home / "bare", titles=False)
        titled = build(Settings(home=home / "a", library=home / "titled"), http)
        bare = None if snippets else build(Settings(home=home / "b", library=home / "bare"), http)
        for item in chosen:
            gold = right[item.identity]
            original = await ask(item.question, titled)
            results.append(result("original", "", item.question, original, gold))
            directions.append((item, direction_shown(original, item.identity)))
            if bare is not None:
                answer = await ask(item.question, bare)
                results.append(result("titles hidden", "", item.question, answer, gold))
            for variant in corpus.reworded(item):
                answer = await ask(variant.question, titled)
                results.append(result("reworded", variant.way, variant.question, answer, gold))
            exchanged = corpus.exchanged(item)
            if exchanged:
                answer = await ask(exchanged.question, titled)
                results.append(result("exchanged", exchanged.way, exchanged.question, answer, ()))
                if bare is not None:
                    answer = await ask(exchanged.question, bare)
                    results.append(result(UNTITLED, exchanged.way, exchanged.question, answer, ()))
            answer = await ask(item.question, titled, hidden=gold)
            way = NEIGHBOURS if snippets else "document taken out"
            results.append(result("unanswerable", way, item.question, answer, ()))
            if bare is not None:
                answer = await ask(item.question, bare, hidden=gold)
                results.append(result(OWN_REMOVED, way, item.question, answer, ()))
        for question in others(options.other)[: options.limit or None]:
            answer = await ask(question, titled)
            results.append(result("unanswerable", "another corpus", question, answer, ()))
    show(results, directions, options)


def others(path: Path | None) -> list[str]:
    """The questions of another corpus."""
    return [] if path is None else [item.question for item in half(material(path)[0], "all")]


def direction_shown(answer: Answer, gold: str) -> str:
    """`yes`, `no` or, where it is mixed, `maybe`, as the report says of the right document; else empty."""
    ways = {row.evidence_id: row.direction for row in answer.report.works}
    return {"affirms": "yes", "denies": "no", "mixed": "maybe"}.get(ways.get(gold) or "", "")


def show(
    results: Sequence[Result], directions: Sequence[tuple[Item, str]], options: argparse.Namespace
) -> None:
    kinds: dict[str, list[Result]] = defaultdict(list)
    for r in results:
        kinds[r.kind].append(r)
        if r.way and r.kind not in ("exchanged", UNTITLED, OWN_REMOVED):
            kinds[f"{r.kind}: {r.way}"].append(r)
    print(f"{options.corpus.name}, half: {options.half}\n")
    print(f"{'':34}{'answered (exit 0)':>20}{'right one cited':>20}{'confidence':>12}")
    for kind in sorted(kinds, key=lambda k: (KINDS.index(k.split(":")[0]), k)):
        rows = kinds[kind]
        answerable = kind.split(":")[0] in KINDS[:3]
        cited = share(r.cited for r in rows) if answerable else ""
        middle = float(np.median([r.confidence for r in rows]))
        print(f"{kind:34}{share(r.answered for r in rows):>20}{cited:>20}{middle:>12.2f}")
    print()
    scored = [r for r in results if r.way != NEIGHBOURS and r.kind != OWN_REMOVED]
    for name, rows in (
        ("all questions", scored),
        ("answered questions", [r for r in scored if r.answered]),
    ):
        measures: tuple[tuple[str, Callable[[Result], float]], ...] = (
            ("confidence", lambda r: r.confidence),
            ("directness", lambda r: r.directness),
        )
        for measure, of in measures:
            area, brier, error = calibration(rows, of)
            print(
                f"{measure}, {name + ',':20} n = {len(rows):4}: AUC {area:.3f}, Brier {brier:.3f}, ECE "
                f"{error:.3f}"
            )
    labelled = [(item, way) for item, way in directions if item.label]
    if labelled:
        shown = [(item.label, way) for item, way in labelled if way]
        print(f"\ndirection line shown: {share(bool(way) for _, way in labelled)}")
        print(f"right of those shown: {share(label == way for label, way in shown)}")
        for (label, way), count in sorted(Counter(shown).items()):
            print(f"    label {label:6} shown {way:4} {count:4}")
    stops = Counter(r.stop_reason for r in results if r.answered)
    print("\nstop reasons of answered questions:", ", ".join(f"{k} {v}" for k, v in stops.most_common()))
    if options.verbose:
        for r in results:
            bad = not r.cited if r.kind in KINDS[:3] else r.answered
            if bad:
                print(f"  {r.kind:14}{r.confidence:.2f} {r.way:24} {r.question}")
        for item, way in labelled:
            if way and way != item.label:
                print(f"  direction {way}, label {item.label}: {item.question} -- {item.conclusion}")


NEIGHBOURS = "documents taken out, neighbours left"
UNTITLED = "exchanged, titles hidden"
OWN_REMOVED = "unanswerable, titles hidden"
KINDS = ("original", "titles hidden", "reworded", "exchanged", UNTITLED, "unanswerable", OWN_REMOVED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=SAMPLE)
    parser.add_argument(
        "--other", type=Path, default=None, help="another corpus, for questions from elsewhere"
    )
    parser.add_argument("--half", choices=("choosing", "held-out", "all"), default="held-out")
    parser.add_argument("--limit", type=int, default=60, help="questions; 0 for all of the half")
    parser.add_argument("--verbose", action="store_true", help="list what went wrong")
    options = parser.parse_args()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(run(options, Path(home)))
    print(f"\n{time.perf_counter() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
