"""Are yes-or-no questions answered rightly, asked end to end without a model?

    python -m benchmarks.yes_no [--bioasq PATH] [--half choosing|held-out|all] [--verbose]

`yes_no.jsonl` holds questions that were written, before any was asked, on works drawn at random: of the
bundled sample (`library` is `sample`; on findings other than the one its title asks for) and of a BioASQ
batch (`bioasq`; on its snippets, and none of its own yes-or-no questions), whose golden file has to be
given. The answer is `yes`, `no`, `unsettled` (the work that speaks of it says that it is uncertain) or
`absent` (no work of the library answers). Halves are by a hash of the work, or of the question where none
is named.

    shown             a direction is shown, of the questions with the answer yes or no
    right of shown    of those, the answer is the labelled one; by label below it
    right of all      of all questions with the answer yes or no
    refused           ended with exit code 4, of the same
    unsettled called  a direction is shown all the same
    absent answered   did not end with exit code 4; called: a direction is shown
"""

import argparse
import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict

import httpx

from activities.settings import Settings
from activities.sources.http.client import Http
from activities.sources.library import build
from benchmarks import bioasq
from benchmarks.answered_or_refused import HALVES, half
from benchmarks.pipeline import ask
from benchmarks.relevance import SAMPLE, library, load, share

QUESTIONS = Path(__file__).with_suffix(".jsonl")


class Asked(TypedDict):
    """A question, what answers it and how."""

    library: Literal["sample", "bioasq"]
    question: str
    answer: Literal["yes", "no", "unsettled", "absent"]
    work: str | None


@dataclass(frozen=True)
class Row:
    """What a report said to one question."""

    label: str
    shown: str
    answered: bool


def questions(name: str, of: str) -> list[Asked]:
    """The questions of a half on one library."""
    loaded: list[Asked] = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    here = [asked for asked in loaded if asked["library"] == of]
    return [asked for asked in here if name in ("all", half(asked["work"] or asked["question"]))]


async def run(asked: Sequence[Asked], folder: Path, home: Path, *, verbose: bool) -> list[Row]:
    """Ask each question of the library in a folder."""
    rows: list[Row] = []
    async with httpx.AsyncClient() as client:
        source = build(Settings(home=home, library=folder), Http(client))
        for one in asked:
            answer = await ask(one["question"], source)
            row = Row(one["answer"], bioasq.yes_or_no(answer.report), answer.answered)
            rows.append(row)
            if verbose and row.shown != row.label and (row.shown or row.label in ("yes", "no")):
                end = row.shown or ("no direction" if row.answered else "refused")
                print(f"{row.label:9} -> {end:12} {one['question']}")
                for work in answer.report.works:
                    print(f"      {work.evidence_id} {work.direction or '-'}")
                for text in bioasq.claims(answer.report)[:3]:
                    print(f"      - {text[:300]}")
    return rows


def show(name: str, rows: Sequence[Row]) -> None:
    """Print the shares."""
    decided = [row for row in rows if row.label in ("yes", "no")]
    shown = [row for row in decided if row.shown]
    print(f"{name}: {len(rows)} questions")
    print(f"    shown             {share(bool(row.shown) for row in decided)}")
    print(f"    right of shown    {share(row.shown == row.label for row in shown)}")
    for (label, way), count in sorted(Counter((row.label, row.shown) for row in shown).items()):
        print(f"        label {label:3} shown {way:3} {count:3}")
    print(f"    right of all      {share(row.shown == row.label for row in decided)}")
    print(f"    refused           {share(not row.answered for row in decided)}")
    print(f"    unsettled called  {share(bool(row.shown) for row in rows if row.label == 'unsettled')}")
    absent = [row for row in rows if row.label == "absent"]
    print(f"    absent answered   {share(row.answered for row in absent)}")
    print(f"    absent called     {share(bool(row.shown) for row in absent)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bioasq", type=Path, help="golden file of batch 4 of BioASQ 11")
    parser.add_argument("--half", choices=(*HALVES, "all"), default="held-out")
    parser.add_argument("--verbose", action="store_true", help="list what went wrong")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        root = Path(home)
        folders = {"sample": library(load(SAMPLE), root / "sample", titles=True)}
        if options.bioasq:
            folder = root / "snippets"
            folder.mkdir()
            folders["bioasq"] = bioasq.library(bioasq.load(options.bioasq)[1], folder)
        every: list[Row] = []
        for name, folder in folders.items():
            asked = questions(options.half, name)
            rows = asyncio.run(run(asked, folder, root / "home", verbose=options.verbose))
            show(f"{name}, half: {options.half}", rows)
            every.extend(rows)
        if len(folders) > 1:
            show(f"both, half: {options.half}", every)


if __name__ == "__main__":
    main()
