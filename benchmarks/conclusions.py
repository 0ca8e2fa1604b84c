"""Measure the conclusions of reports against those of reviewers.

    python -m benchmarks.conclusions --corpus DIR --model NAME [--base-url URL] [--seed 1] [--questions 20]
        [--without 2 3] [--out DIR] [--at-once 4] [--plain] [-- options of `determinator ask`]

DIR holds `abstract.jsonl` of MedEvidence (https://github.com/zy-f/med-evidence): questions of Cochrane
reviews with the studies they rest on, the reviewers' answer and the certainty of their evidence. Each is
asked by the command line with a library of its own, the records of those studies; its report is kept in
`--out`, so that a measurement goes on where it ended. `--seed` and `--questions` draw; without them every
question is asked. `--without` leaves out what other seeds draw, so that questions
which the product was developed on are not measured on; what a second `--without` names draws from what the
first one left.

Printed are the answers that agree, by the reviewers' answer and by their certainty, how often the certainty
is theirs, how often a conclusion was stated as certain (high or moderate) where theirs was very low, and what
the model's own proposals would have reached without code, and how many conclusions were stated as certain
and are not the reviewers'. A report without a conclusion counts as one that disagrees. With `--plain` the
same model is shown the same works in one call, and its answers are a row beside those of the reports. Nothing
here is known to the product.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from openai import OpenAI
from pydantic import BaseModel

from activities.contracts.appraisal import PART as CONCLUSIONS
from activities.contracts.appraisal import Certainty, ConclusionDirection
from activities.report.schema import Report
from benchmarks.plain import ask as ask_plainly
from benchmarks.plain import client_of, works_text

COMMAND = (sys.executable, "-m", "client.cli.main")
ANSWERS: Mapping[str, str] = {
    "higher": "higher",
    "lower": "lower",
    "no difference": "no_difference",
    "uncertain effect": "uncertain",
    "insufficient data": "not_enough_data",
}
"""The reviewers' words -> ours."""
NONE = "none"
"""A report without a conclusion."""
CERTAIN = ("high", "moderate")
OPEN = ("uncertain", "not_enough_data", NONE)
"""Answers without a direction."""
PLAIN = (
    "You are asked what studies taken together say on a question that compares. Use these studies only.\n\n"
    "Question: {question}\n\n{works}\n\n"
    "`direction` of the outcome: higher, lower, no_difference, uncertain (the evidence is too uncertain to "
    "say) or not_enough_data (the studies do not report it). `certainty`: that of the evidence, as GRADE "
    "grades it."
)


class PlainAnswer(BaseModel):
    """What a plain model answers."""

    direction: ConclusionDirection
    certainty: Certainty


@dataclass(frozen=True)
class Question:
    """A question of a review."""

    name: str
    text: str
    answer: str
    certainty: str
    needs_full_text: bool
    works: tuple[Mapping[str, str], ...]


@dataclass(frozen=True)
class Outcome:
    """What a report concluded on a question."""

    question: Question
    direction: str
    certainty: str
    proposed: str
    """The direction that the model proposed."""

    @property
    def agrees(self) -> bool:
        return self.direction == self.question.answer

    @property
    def is_certain_and_wrong(self) -> bool:
        return self.certainty in CERTAIN and self.direction not in OPEN and not self.agrees


def questions(folder: Path) -> list[Question]:
    """The questions of the corpus, by their number."""
    rows = map(json.loads, (folder / "abstract.jsonl").read_text("utf-8").splitlines())
    found = [
        Question(
            name=f"{row['question_id']:03}",
            text=row["question"],
            answer=ANSWERS[row["answer"].strip().lower()],
            certainty=str(row["evidence_certainty"] or "not graded").strip().lower().replace(" ", "_"),
            needs_full_text=str(row["fulltext_required"]).lower() in ("yes", "true"),
            works=tuple(row["sources"].values()),
        )
        for row in rows
    ]
    return sorted(found, key=lambda question: question.name)


def drawn(every: Sequence[Question], seed: int | None, count: int | None) -> list[Question]:
    """So many questions by a seed, in the order of the corpus; all of them without a seed."""
    if seed is None and count is None:
        return list(every)
    chosen = random.Random(seed).sample(list(every), min(count or len(every), len(every)))
    return sorted(chosen, key=lambda question: question.name)


def without(every: Sequence[Question], seeds: Sequence[int], count: int | None) -> list[Question]:
    """The questions that none of the seeds draws from them."""
    left_out = {question.name for seed in seeds for question in drawn(every, seed, count)}
    return [question for question in every if question.name not in left_out]


def library(question: Question, folder: Path) -> Path:
    """A folder with the records of a question's studies."""
    folder.mkdir(parents=True, exist_ok=True)
    for work in question.works:
        record = {
            "pmid": work["article_id"],
            "title": work.get("title", ""),
            "abstract": work["content"],
            "year": str(work.get("date", ""))[:4],
        }
        (folder / f"{work['article_id']}.json").write_text(json.dumps(record), "utf-8")
    return folder


def ask(question: Question, place: Path, options: Sequence[str]) -> Outcome:
    """The conclusion of the report on a question, which is asked unless its report is there."""
    report = place / f"{question.name}.json"
    if not report.is_file():
        works = library(question, place / "libraries" / question.name)
        command = [*COMMAND, "ask", question.text, "--library", str(works), "--output", str(report), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        (place / f"{question.name}.log").write_text(done.stdout + done.stderr, "utf-8")
        print(f"{question.name} ended with {done.returncode}", file=sys.stderr, flush=True)
    return outcome(question, report)


def outcome(question: Question, path: Path) -> Outcome:
    """The first conclusion of a report on what is asked."""
    made = CONCLUSIONS.of_report(Report.model_validate_json(path.read_bytes())) if path.is_file() else ()
    if not made:
        return Outcome(question, NONE, NONE, NONE)
    first = next((conclusion for conclusion in made if conclusion.asked), made[0])
    proposed = first.proposed.direction if first.proposed else NONE
    return Outcome(question, first.direction, first.certainty, proposed)


def plain(question: Question, place: Path, client: OpenAI, model: str) -> Outcome:
    """What the model answers in one call that shows it the works of a question."""
    path = place / f"{question.name}.plain.json"
    if not path.is_file():
        works = works_text([(work.get("title", ""), work["content"]) for work in question.works])
        answer = ask_plainly(client, model, PLAIN.format(question=question.text, works=works), PlainAnswer)
        path.write_text(answer.model_dump_json() if answer else "null", "utf-8")
    read = json.loads(path.read_bytes())
    if read is None:
        return Outcome(question, NONE, NONE, NONE)
    return Outcome(question, read["direction"], read["certainty"], read["direction"])


def beside(product: Sequence[Outcome], plainly: Sequence[Outcome]) -> str:
    """The product and the plain model in a row each, and the questions that one alone has right."""
    rows = ["| | agree | certain and wrong |", "|---|---|---|"]
    for name, outcomes in (("product", product), ("plain", plainly)):
        wrong = [one.question.name for one in outcomes if one.is_certain_and_wrong]
        rows.append(f"| {name} | {share(outcomes)} | {len(wrong)} {' '.join(wrong)} |")
    pairs = list(zip(product, plainly, strict=True))
    won = [one.question.name for one, other in pairs if one.agrees > other.agrees]
    lost = [one.question.name for one, other in pairs if one.agrees < other.agrees]
    alone = (f"product alone right: {' '.join(won)}", f"plain alone right: {' '.join(lost)}")
    return "\n".join([*rows, "", *alone])


def share(outcomes: Sequence[Outcome]) -> str:
    """`3 of 4 (75 %)`."""
    right = sum(one.agrees for one in outcomes)
    return f"{right} of {len(outcomes)} ({right / len(outcomes):.0%})" if outcomes else "0 of 0"


def tables(outcomes: Sequence[Outcome]) -> str:
    """The measurement as Markdown."""
    rows = ["| what | agree |", "|---|---|", f"| all | {share(outcomes)} |"]
    by_answer, by_certainty = defaultdict(list), defaultdict(list)
    for one in outcomes:
        by_answer[one.question.answer].append(one)
        by_certainty[one.question.certainty].append(one)
    rows += [f"| answer {name} | {share(by_answer[name])} |" for name in ANSWERS.values() if by_answer[name]]
    rows += [f"| certainty {name} | {share(found)} |" for name, found in sorted(by_certainty.items())]
    abstracts = [one for one in outcomes if not one.question.needs_full_text]
    rows.append(f"| abstracts suffice | {share(abstracts)} |")
    same = sum(one.certainty == one.question.certainty for one in outcomes)
    low = [one for one in outcomes if one.question.certainty == "very_low"]
    certain = sum(one.certainty in CERTAIN and one.direction != "uncertain" for one in low)
    own = sum(one.proposed == one.question.answer for one in outcomes)
    wrong = sum(one.is_certain_and_wrong for one in outcomes)
    pairs = Counter((one.question.answer, one.direction) for one in outcomes)
    return "\n".join(
        [
            *rows,
            "",
            f"certainty as the reviewers': {same} of {len(outcomes)}",
            f"stated as certain where theirs is very low: {certain} of {len(low)}",
            f"certain and wrong: {wrong} of {len(outcomes)}",
            f"proposals of the model that agree: {own} of {len(outcomes)}",
            "",
            "| reviewers | report | questions |",
            "|---|---|---|",
            *(f"| {theirs} | {ours} | {count} |" for (theirs, ours), count in sorted(pairs.items())),
        ]
    )


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--base-url", default=os.environ.get("OPENAI_BASE_URL", ""))
    parser.add_argument("--seed", type=int)
    parser.add_argument("--questions", type=int)
    parser.add_argument("--without", type=int, nargs="+", action="append", default=[], metavar="SEED")
    parser.add_argument("--out", type=Path, default=Path("conclusions"))
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--plain", action="store_true", help="a row of the same model in one call beside it")
    parser.add_argument("more", nargs="*", help="options of `determinator ask`, after --")
    given = parser.parse_args(arguments)
    address = ["--base-url", given.base_url] if given.base_url else []
    options = ["--profile", "biomedical", "--mode", "simple", "--model", given.model, *address, *given.more]
    place = given.out.absolute()
    place.mkdir(parents=True, exist_ok=True)
    every = questions(given.corpus)
    for seeds in given.without:
        every = without(every, seeds, given.questions)
    chosen = drawn(every, given.seed, given.questions)
    with ThreadPoolExecutor(given.at_once) as pool:
        outcomes = list(pool.map(lambda question: ask(question, place, options), chosen))
        client = client_of(given.base_url)
        asked = chosen if given.plain else []
        plainly = list(pool.map(lambda question: plain(question, place, client, given.model), asked))
    print(tables(outcomes))
    if given.plain:
        print(f"\n{beside(outcomes, plainly)}")


if __name__ == "__main__":
    main(sys.argv[1:])
