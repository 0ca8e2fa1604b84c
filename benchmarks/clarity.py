"""Whether a model asks back where a question is vague, and only there.

`python -m benchmarks.clarity --model NAME`: sixty questions of our own (`clarity.tsv`), thirty vague and
thirty clear, drawn and asked in an order that tells nothing of their kind. Prints what was asked of each, and
how many of each kind were asked about.
"""

import argparse
import asyncio
import random
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from activities.contracts.plan import Clarified, ClarifyInput
from activities.contracts.step import Reading
from activities.evidence_store import EvidenceStore
from activities.models.client import OpenAIModel
from activities.profiles.loader import load_profile
from activities.roles.allowances import allowance_of
from activities.roles.runner import RoleThinker
from activities.settings import Settings, choice

QUESTIONS = Path(__file__).with_name("clarity.tsv")


async def measure(settings: Settings, model: str, each: int, seed: int) -> None:
    lines = (line.partition("\t") for line in QUESTIONS.read_text().splitlines())
    rows = [(kind, question) for kind, _, question in lines]
    random.Random(seed).shuffle(rows)
    kinds = sorted({kind for kind, _ in rows})
    drawn = {kind: [question for of, question in rows if of == kind][:each] for kind in kinds}
    rows = [(kind, question) for kind, question in rows if question in drawn[kind]]
    store = EvidenceStore.at(settings.evidence_url)
    served = OpenAIModel(settings, store)
    thinker, chosen = RoleThinker(lambda _: served, store, settings), choice(model)

    async def readings(question: str) -> tuple[Reading, ...]:
        step = ClarifyInput(
            run_id="clarity",
            question=question,
            profile=load_profile("general"),
            model=chosen,
            allowance=allowance_of("clarifier", chosen),
            scope=question,
        )
        answer: Clarified = (await thinker.think("clarifier", step)).output
        return answer.readings

    answers = await asyncio.gather(*(readings(question) for _, question in rows))
    await served.aclose()
    asked: Counter[str] = Counter()
    for (kind, question), back in sorted(zip(rows, answers, strict=True)):
        asked[kind] += bool(back)
        print(f"{kind}\t{question}\t{' | '.join(one.text for one in back)}")
    print(", ".join(f"{kind}: asked about {asked[kind]} of {len(drawn[kind])}" for kind in kinds))


def main() -> None:
    parser = argparse.ArgumentParser(description="Whether a model asks back.")
    parser.add_argument("--model", required=True)
    parser.add_argument("--each", type=int, default=30, help="questions of each kind")
    parser.add_argument("--seed", type=int, default=1, help="of the order, and of which are drawn")
    given = parser.parse_args()
    with TemporaryDirectory() as home:
        asyncio.run(measure(Settings(home=Path(home)), given.model, given.each, given.seed))


if __name__ == "__main__":
    main()
