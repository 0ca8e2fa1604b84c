"""How well the extractive back end finds and quotes the right abstract, on PubMedQA's questions.

    python benchmarks/pubmedqa.py [--sample 100] [--seed 3] [--half held-out]

For each question the steps of a run's first iteration are executed: gaps, searches of the bundled library
through its source, judge, write. PubMedQA's questions are the titles of the abstracts they were asked of, so
the figures are given twice: with titles, and with the titles removed from search, judge and writer. Each time
the same is done with the gold abstract itself removed, which shows how confident the judge is where the
answer is missing.

The ranking's weights were chosen on the half called `tuning`; only figures of `held-out` say how good it is.
"""

import argparse
import asyncio
import gzip
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx

from activities.contracts.evidence import Evidence, Filters, Query, SourceOption
from activities.contracts.judge import JudgeInput
from activities.contracts.plan import GapsInput, SelectInput
from activities.contracts.profile import Criterion, Profile
from activities.contracts.write import WriteInput
from activities.evidence_store import make_ref
from activities.extractive import passages, searching
from activities.settings import Settings
from activities.sources.base import Source, search
from activities.sources.http.client import Http
from activities.sources.library.source import LibrarySource
from activities.text.sentences import sentences

SAMPLE = Path(__file__).parents[1] / "activities" / "sources" / "sample" / "documents" / "pubmedqa.jsonl.gz"
SPLIT_SEED = 7
RESULTS_PER_SEARCH = 10
THRESHOLD = 0.8
PROFILE = Profile(
    name="biomedical",
    description="Biomedicine.",
    criteria=(Criterion(name="relevance", description="The question is addressed."),),
    confidence_threshold=THRESHOLD,
)


@dataclass
class Tally:
    """Counts over the questions of one setting."""

    questions: int = 0
    found: int = 0
    cited: int = 0
    first: int = 0
    conclusion: int = 0
    claims: int = 0
    gold_claims: int = 0
    claims_without: int = 0
    answered_without: int = 0
    seconds: list[float] = field(default_factory=list)

    def show(self, title: str) -> None:
        def share(count: int, of: int) -> str:
            return f"{100 * count / max(of, 1):.1f} %"

        asked = max(self.questions, 1)
        rows = (
            ("questions", str(self.questions)),
            ("gold abstract among what was found", share(self.found, self.questions)),
            ("gold abstract cited", share(self.cited, self.questions)),
            ("first quote is of the gold abstract", share(self.first, self.questions)),
            ("its conclusion is quoted", share(self.conclusion, self.questions)),
            ("of all quotes, those of the gold abstract", share(self.gold_claims, self.claims)),
            ("quotes a question", f"{self.claims / asked:.1f}"),
            ("without the gold abstract: anything is quoted", share(self.answered_without, self.questions)),
            ("without the gold abstract: quotes a question", f"{self.claims_without / asked:.1f}"),
            ("median wall time of a question", f"{1000 * statistics.median(self.seconds):.0f} ms"),
        )  # fmt: skip
        print(f"\n{title}")
        for name, value in rows:
            print(f"  {name:<52}{value:>8}")


async def find(source: Source, option: SourceOption, question: str, folder: str) -> list[Evidence]:
    """What the searches of a first iteration bring, without duplicates."""
    about = {"run_id": "benchmark", "question": question, "profile": PROFILE}
    gaps = searching.evaluate_gaps(GapsInput.model_validate({**about, "iteration": 1}))
    step = SelectInput.model_validate(
        {**about, "iteration": 1, "gaps": gaps.outstanding_gaps, "sources": (option,)}
    )
    found: dict[str, Evidence] = {}
    filters = Filters(options={"library": folder} if folder else {})
    for task in searching.select_tools(step).tasks:
        answer = await search(source, Query(text=task.query, limit=RESULTS_PER_SEARCH, filters=filters))
        for record in answer.records:
            found.setdefault(record.evidence_id, record)
    return list(found.values())


def answer(question: str, documents: Sequence[Evidence]) -> list[tuple[str, str]]:
    """What is quoted of the documents, the first first: id of the work and quote."""
    about = {"run_id": "benchmark", "question": question, "profile": PROFILE}
    refs = tuple(make_ref(d, "blob") for d in documents)
    judgement = passages.judge(
        JudgeInput.model_validate({**about, "iteration": 1, "evidence": refs}), documents
    )
    by_id = {d.evidence_id: d for d in documents}
    kept = [by_id[i] for i in judgement.relevant]
    step = WriteInput.model_validate({**about, "evidence": tuple(make_ref(d, "blob") for d in kept)})
    draft = passages.write(step, kept)
    quotes = [(p.evidence_id, quote) for p in draft.passages for quote in p.quotes]
    claims = [claim for paragraph in draft.paragraphs for claim in paragraph.claims]
    return quotes + [(s.evidence_id, s.quote) for claim in claims for s in claim.support]


async def measure(source: Source, pairs: Sequence[tuple[str, str]], folder: str, *, titles: bool) -> Tally:
    """Every question (gold id, question) in one setting."""
    option = SourceOption(info=source.info, enabled=True)
    tally = Tally()
    await find(source, option, "warm up", folder)
    for gold, question in pairs:
        started = time.perf_counter()
        documents = await find(source, option, question, folder)
        if not titles:
            documents = [d.replace(title="") for d in documents]
        quoted = answer(question, documents)
        tally.seconds.append(time.perf_counter() - started)
        from_gold = [work == gold for work, _ in quoted]
        quotes = {quote for _, quote in quoted}
        right = [d for d in documents if d.evidence_id == gold]
        tally.questions += 1
        tally.found += bool(right)
        tally.cited += any(from_gold)
        tally.first += bool(from_gold) and from_gold[0]
        tally.conclusion += any(
            s.quote in quotes for d in right for s in sentences(d) if not s.before_findings
        )
        tally.claims += len(quoted)
        tally.gold_claims += sum(from_gold)
        without = answer(question, [d for d in documents if d.evidence_id != gold])
        tally.claims_without += len(without)
        tally.answered_without += bool(without)
    return tally


def questions(half: str, sample: int, seed: int) -> list[tuple[str, str]]:
    """(gold id, question) of the chosen half of the bundled sample, at most `sample` of them."""
    with gzip.open(SAMPLE, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    pairs = sorted((f"pmid:{r['pmid']}", str(r["title"])) for r in records)
    random.Random(SPLIT_SEED).shuffle(pairs)
    middle = len(pairs) // 2
    chosen = {"tuning": pairs[:middle], "held-out": pairs[middle:], "all": pairs}[half]
    return random.Random(seed).sample(chosen, min(sample, len(chosen))) if sample else chosen


def without_titles(folder: Path) -> str:
    """A copy of the sample library whose records have no title."""
    with gzip.open(SAMPLE, "rt", encoding="utf-8") as lines:
        records = [{**json.loads(line), "title": ""} for line in lines]
    text = "\n".join(json.dumps(record) for record in records)
    (folder / "untitled.jsonl").write_text(text + "\n", encoding="utf-8")
    return str(folder)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sample", type=int, default=0, help="number of questions; 0 for all of the half")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--half", choices=("tuning", "held-out", "all"), default="held-out")
    options = parser.parse_args()
    pairs = questions(options.half, options.sample, options.seed)
    print(f"PubMedQA over the bundled library, half: {options.half}")
    with tempfile.TemporaryDirectory() as folder:
        async with Http(httpx.AsyncClient()) as http:
            source = LibrarySource(Settings(home=Path(folder) / "home", library=None), http)
            (await measure(source, pairs, "", titles=True)).show("with titles")
            bare = Path(folder) / "library"
            bare.mkdir()
            (await measure(source, pairs, without_titles(bare), titles=False)).show("titles hidden")


if __name__ == "__main__":
    asyncio.run(main())
