"""Whether a model asks back where a question is vague, and only there.

`python -m benchmarks.clarity --model NAME`: sixty questions of our own (`clarity.tsv`), thirty vague and
thirty clear. Prints what was asked of each, and how many of each kind were asked about.
"""

import argparse
import asyncio
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from activities.contracts.plan import Clarified, ClarifyInput
from activities.evidence_store import EvidenceStore
from activities.models.client import OpenAIModel
from activities.profiles.loader import load_profile
from activities.roles.allowances import allowance_of
from activities.roles.runner import RoleThinker
from activities.settings import Settings, choice

QUESTIONS = Path(__file__).with_name("clarity.tsv")


async def measure(settings: Settings, model: str, each: int) -> None:
    rows = [line.split("\t") for line in QUESTIONS.read_text().splitlines()]
    asked: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    store = EvidenceStore.at(settings.evidence_url)
    served = OpenAIModel(settings, store)
    thinker, chosen = RoleThinker(served, store, settings), choice(model)
    for kind, question in rows:
        if shown[kind] >= each:
            continue
        shown[kind] += 1
        step = ClarifyInput(
            run_id="clarity",
            question=question,
            profile=load_profile("general"),
            model=chosen,
            allowance=allowance_of("clarifier", chosen),
            scope=question,
        )
        answer: Clarified = (await thinker.think("clarifier", step)).output
        asked[kind] += bool(answer.readings)
        print(f"{kind}\t{question}\t{' | '.join(one.text for one in answer.readings)}", flush=True)
    await served.aclose()
    print(", ".join(f"{kind}: asked about {asked[kind]} of {shown[kind]}" for kind in shown))


def main() -> None:
    parser = argparse.ArgumentParser(description="Whether a model asks back.")
    parser.add_argument("--model", required=True)
    parser.add_argument("--each", type=int, default=30, help="questions of each kind")
    given = parser.parse_args()
    with TemporaryDirectory() as home:
        asyncio.run(measure(Settings(home=Path(home)), given.model, given.each))


if __name__ == "__main__":
    main()
