"""Do broad questions get claims on their topic, and are none refused that the library covers?

    python -m benchmarks.overviews --pubmedqa FILE --bioasq FILE [--half held-out] [--keep FOLDER] [--show]

`overviews.jsonl` holds broad questions about three libraries: the bundled sample, PubMedQA's abstracts
without titles, and the snippets that a BioASQ batch cites. Each library covers what is asked of it. Every
question is asked in deep mode by the command line, without a model. `overviews_labels.jsonl` says of each
claim that a person read whether it is on the topic: whether it answers its section's question about the
subject of the main question. A claim is named by its section, the work and a digest of the quote, since
BioASQ's data may not be copied. One that nobody has read is printed and counted by itself. Beside the share
on the topic stands how many of the quotes that were ever found to be on it the report has, in any section: a
rule that leaves out more than it should lowers that. Half of the questions is for choosing rules; the other
half says how good they are.
"""

import argparse
import gzip
import hashlib
import json
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from activities.report.schema import Report
from benchmarks import bioasq
from client.embedded.server import stop_embedded
from tests.client.harness import COMMAND

QUESTIONS = Path(__file__).with_suffix(".jsonl")
LABELS = QUESTIONS.with_name("overviews_labels.jsonl")
_ABSTRACTS = TypeAdapter(dict[str, dict[str, object]])


class Question(BaseModel):
    """A broad question and the library that covers it."""

    model_config = ConfigDict(frozen=True)

    id: str
    library: Literal["sample", "untitled", "snippets"]
    half: Literal["choosing", "held-out"]
    question: str


class Label(BaseModel):
    """What a reader found of one claim."""

    model_config = ConfigDict(frozen=True)

    question: str
    """`Question.id`."""
    section: str
    work: str
    quote: str
    """`digest` of the quote."""
    on_topic: bool


@dataclass(frozen=True, slots=True)
class Made:
    """A claim of a report."""

    section: str
    asked: str
    work: str
    quote: str


def digest(text: str) -> str:
    """A short name of a quote."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:12]


def questions() -> list[Question]:
    """All questions."""
    return [Question.model_validate_json(line) for line in QUESTIONS.read_text("utf-8").splitlines()]


def labels() -> Mapping[tuple[str, str, str, str], bool]:
    """Whether a claim that was read is on the topic, by question, section, work and digest."""
    read = (Label.model_validate_json(line) for line in LABELS.read_text("utf-8").splitlines())
    return {(one.question, one.section, one.work, one.quote): one.on_topic for one in read}


def libraries(pubmedqa: Path, batch: Path, folder: Path) -> Mapping[str, Path | None]:
    """The folder of each library; none for the sample."""
    untitled, snippets = folder / "untitled", folder / "snippets"
    untitled.mkdir()
    snippets.mkdir()
    with gzip.open(pubmedqa, "rb") as file:
        records = _ABSTRACTS.validate_json(file.read())
    (untitled / "abstracts.jsonl").write_text(
        "".join(json.dumps(_abstract(pmid, record)) + "\n" for pmid, record in records.items()), "utf-8"
    )
    bioasq.library(bioasq.load(batch)[1], snippets)
    return {"sample": None, "untitled": untitled, "snippets": snippets}


def _abstract(pmid: str, record: Mapping[str, object]) -> dict[str, object]:
    """A record of PubMedQA without its title, which is made of its question."""
    names, said = TypeAdapter(list[str]), record.get("CONTEXTS")
    parts = [
        *zip(names.validate_python(record.get("LABELS")), names.validate_python(said), strict=True),
        ("CONCLUSIONS", str(record["LONG_ANSWER"])),
    ]
    text = "\n\n".join(f"{label}: {part}" for label, part in parts)
    return {"pmid": pmid, "title": "", "abstract": text, "year": record.get("YEAR")}


def ask(question: Question, library: Path | None, home: Path) -> Report:
    """The report that a user gets. Raises SystemExit when the command fails."""
    place = home / f"{question.id}.json"
    command = [*COMMAND, "ask", question.question, "--mode", "deep", "--output", str(place)]
    command += ["--library", str(library)] if library else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 4):
        raise SystemExit(f"{question.question}: exit code {done.returncode}: {done.stderr[-1000:]}")
    return Report.model_validate_json(place.read_bytes())


def claims(report: Report) -> Iterator[Made]:
    """The claims of a report, in its order."""
    for section in report.sections:
        for claim in section.claims:
            support = claim.support[0]
            yield Made(section.title, section.key_question, support.evidence_id, support.quote)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--pubmedqa", type=Path, required=True, help="PubMedQA's file of labelled abstracts")
    parser.add_argument("--bioasq", type=Path, required=True, help="a BioASQ golden file")
    parser.add_argument("--half", choices=("choosing", "held-out", "all"), default="held-out")
    parser.add_argument("--keep", type=Path, help="keep the reports in this folder")
    parser.add_argument("--show", action="store_true", help="print each claim with its label")
    given = parser.parse_args()
    known, found = labels(), dict[str, Counter[str]]()
    with tempfile.TemporaryDirectory() as name:
        home = given.keep or Path(name)
        home.mkdir(exist_ok=True)
        os.environ.update(DETERMINATOR_HOME=str(Path(name) / "home"), DETERMINATOR_OFFLINE="true")
        folders = libraries(given.pubmedqa, given.bioasq, Path(name))
        try:
            for question in questions():
                if given.half in (question.half, "all"):
                    report = ask(question, folders[question.library], home)
                    _count(question, report, known, found, show=given.show)
        finally:
            stop_embedded(Path(name) / "home")
    show(found)


def _count(
    question: Question,
    report: Report,
    known: Mapping[tuple[str, str, str, str], bool],
    found: dict[str, Counter[str]],
    *,
    show: bool,
) -> None:
    """Count the claims of a report by what was found of them."""
    row = found.setdefault(question.half, Counter())
    made = list(claims(report))
    good = {(key[2], key[3]) for key, on_topic in known.items() if on_topic and key[0] == question.id}
    row.update(good=len(good), kept=len(good & {(claim.work, digest(claim.quote)) for claim in made}))
    row.update(questions=1, refused=not made)
    if show:
        print(f"\n{question.id} {question.question} confidence {report.confidence:.2f}")
    for claim in made:
        key = (question.id, claim.section, claim.work, digest(claim.quote))
        label = {True: "on topic", False: "off topic", None: "unread"}[known.get(key)]
        row[label] += 1
        if show or label == "unread":
            print(f"{label:9} {json.dumps(key)} | {claim.asked} | {claim.quote}")


def show(found: Mapping[str, Counter[str]]) -> None:
    """Print the shares of each half."""
    for half, row in found.items():
        read = row["on topic"] + row["off topic"]
        share = f"{100 * row['on topic'] / read:.0f} %" if read else "none"
        print(
            f"{half}: {row['questions']} questions, {row['refused']} refused; {share} of {read} claims on"
            f" topic ({row['on topic']}), {row['unread']} not read; good claims quoted, of all labelled good:"
            f" {row['kept']} of {row['good']}"
        )


if __name__ == "__main__":
    main()
