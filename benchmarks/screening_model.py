"""How well a model screens titles and abstracts by the published criteria of a review.

    python -m benchmarks.screening_model FOLDER --review NAME [--included 30] [--excluded 30] [--seed TEXT]
        [--calls 6] [--model NAME [--base-url URL]]

FOLDER is that of `benchmarks.screening`. Records are drawn at random among those included and the others, and
put in a random order; the model reads them by the screener's own prompt, each sentence of the published
criteria as a criterion. Printed: sensitivity and specificity against the decisions after full texts, with
exact intervals (unsure excludes nothing), the quotes that stand in their records, and wrong decisions.
"""

import argparse
import asyncio
import gzip
import json
import random
import tempfile
from pathlib import Path

from activities.contracts.evidence import Evidence, ModelChoice
from activities.evidence_store import EvidenceStore
from activities.models.client import OpenAIModel
from activities.models.prices import effort_of
from activities.profiles.loader import load_profile
from activities.review.decisions import LETTERS, OPEN
from activities.review.protocol import Criterion
from activities.review.rounds import accuracy_of
from activities.review.steps import RecordDecision, ScreenInput
from activities.roles.allowances import allowance_of
from activities.roles.runner import RoleThinker
from activities.settings import Settings
from activities.text.normal_form import normalise


def criteria_of(text: str) -> tuple[Criterion, ...]:
    """Make a criterion of each sentence or line, of the kind that its heading or its verb says."""
    rules: list[Criterion] = []
    in_exclusions = False
    for line in filter(None, map(str.strip, text.splitlines())):
        if len(line) < 40 and "clusion" in line:
            in_exclusions = line.casefold().startswith("exclusion")
            continue
        for part in line.split(". "):
            is_exclusion = in_exclusions or "xclu" in part
            kind = "exclude" if is_exclusion else "include"
            rules.append(Criterion(id=f"C{len(rules) + 1}", text=part.strip(), kind=kind))
    return tuple(rules)


def sample_of(
    folder: Path, name: str, included: int, excluded: int, seed: str
) -> list[tuple[Evidence, bool]]:
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    choice = random.Random(seed)
    sample = choice.sample([row for row in rows if row["included"] and row["abstract"]], included)
    sample += choice.sample([row for row in rows if not row["included"] and row["abstract"]], excluded)
    choice.shuffle(sample)
    return [
        (
            Evidence(
                evidence_id=f"s2:{place}",
                source="openalex",
                title=row["title"] or "",
                text=row["abstract"],
                year=row["year"],
            ),
            bool(row["included"]),
        )
        for place, row in enumerate(sample)
    ]


async def decisions(
    works: list[Evidence],
    question: str,
    criteria: tuple[Criterion, ...],
    calls: int,
    args: argparse.Namespace,
) -> dict[str, RecordDecision]:
    home = Path(tempfile.mkdtemp(prefix="screening-"))
    settings = Settings(home=home, openai_base_url=args.base_url or Settings().openai_base_url)
    store = EvidenceStore.at(str(home / "evidence"))
    model = OpenAIModel(settings, store)
    thinker = RoleThinker(lambda _: model, store, settings, lambda: True)
    choice = ModelChoice(backend="openai", model=args.model)
    choice = choice.replace(effort=await effort_of(settings, choice))
    size = -(-len(works) // calls)
    by_id: dict[str, RecordDecision] = {}
    for start in range(0, len(works), size):
        step = ScreenInput(
            run_id="screening",
            question=question,
            profile=load_profile("general"),
            model=choice,
            allowance=allowance_of("screener", choice),
            evidence=tuple([await store.put(work) for work in works[start : start + size]]),
            criteria=criteria,
        )
        answer = await thinker.think("screener", step)
        by_id |= {row.evidence_id: row for row in answer.output.decisions}
    await model.aclose()
    return by_id


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--review", required=True)
    parser.add_argument("--included", type=int, default=30)
    parser.add_argument("--excluded", type=int, default=30)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--calls", type=int, default=6, help="calls for all records together")
    parser.add_argument("--model", required=True)
    parser.add_argument("--base-url")
    args = parser.parse_args()
    about = json.loads((args.folder / f"{args.review}.review.json").read_text("utf-8"))
    sample = sample_of(args.folder, args.review, args.included, args.excluded, args.seed)
    works = [work for work, _ in sample]
    truth = {work.evidence_id: included for work, included in sample}
    criteria = criteria_of(about["criteria"])
    by_id = asyncio.run(decisions(works, about["title"], criteria, args.calls, args))
    letters = "".join(LETTERS[by_id[name].verdict] if name in by_id else OPEN for name in truth)
    labels = "".join("i" if included else "e" for included in truth.values())
    result = accuracy_of(args.model, letters, labels)
    for name, rate in (("sensitivity", result.sensitivity), ("specificity", result.specificity)):
        print(f"{name} {rate.hits} of {rate.of} ({rate.low:.1%} to {rate.high:.1%})")
    text = {work.evidence_id: normalise(work.text) for work in works}
    quotes = [(name, words) for name, row in by_id.items() for words in row.words]
    quote_count = sum(normalise(words) in text[name] for name, words in quotes)
    print(
        f"decided on {len(by_id)} of {len(works)}; "
        f"unsure {sum(row.verdict == 'unsure' for row in by_id.values())}"
    )
    print(
        f"quotes that stand: {quote_count} of {len(quotes)}; decisions with a quote "
        f"{sum(bool(row.words) for row in by_id.values())}"
    )
    for work in works:
        decision = by_id.get(work.evidence_id)
        if decision is not None and (decision.verdict != "exclude") != truth[work.evidence_id]:
            print(f"wrong: {decision.verdict} ({decision.criterion}) {work.title[:90]}")


if __name__ == "__main__":
    main()
