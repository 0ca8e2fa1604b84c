"""What `benchmarks.own_documents` and `benchmarks.lay_questions` have in common: questions that one text of a
library answers (`asked`), and near misses that none does (`absent`), each in a half of its own."""

import argparse
import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import httpx

from activities.extractive.nearest import nearest
from activities.report.schema import Report
from activities.settings import Settings
from activities.sources.http.client import Http
from activities.sources.library import build
from activities.types import Evidence
from benchmarks.pipeline import ask
from benchmarks.relevance import Result, calibration, result, share
from benchmarks.variants import number

HALVES = ("choosing", "held-out")


@dataclass(frozen=True)
class Case:
    """A question."""

    kind: Literal["asked", "absent"]
    question: str
    answers: Callable[[Evidence], bool]
    """Whether a document is the one that answers it."""
    of: str = ""
    """The text that it was written about."""
    said: str = ""
    """Words of the sentence that answers, where they are known."""


class First(NamedTuple):
    """What a reader meets first in the answer to a question of which the answering words are known."""

    quoted: bool
    """Whether the first claim of the summary has them."""
    named: bool
    """Whether something is named in answer."""
    rightly: bool
    """Whether what is named first is, holds or is part of these words."""


def half(text: str) -> str:
    """To which half something belongs, by a hash of its text."""
    return HALVES[number("half " + text) % 2]


def main(description: str | None, prepare: Callable[[str, Path], Sequence[Case]]) -> None:
    """The program. `prepare` writes the library to a folder and returns the questions of a part."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--half", choices=(*HALVES, "notes", "blind", "blind_two", "all"), default="held-out")
    parser.add_argument("--verbose", action="store_true", help="list what went wrong")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "library"
        cases = prepare(options.half, folder)
        show(*asyncio.run(run(cases, Path(home), folder, verbose=options.verbose)))


async def run(
    cases: Sequence[Case], home: Path, folder: Path, *, verbose: bool
) -> tuple[list[Result], list[bool], list[First]]:
    """What became of each question; of each that was refused although a text answers it, whether the
    report names that text among those that come nearest; and of each that was answered and of which the
    answering words are known, what comes first."""
    found: list[Result] = []
    named: list[bool] = []
    firsts: list[First] = []
    async with httpx.AsyncClient() as client:
        source = build(Settings(home=home, library=folder), Http(client))
        for case in cases:
            answer = await ask(case.question, source)
            ids = [name for name, document in answer.found.items() if case.answers(document)]
            row = result(case.kind, case.of, case.question, answer, ids if case.kind == "asked" else ())
            found.append(row)
            if case.kind == "asked" and not row.answered:
                near = nearest(case.question, tuple(answer.found.values()))
                named.append(any(work.evidence_id in ids for work in near))
            if case.said and row.answered:
                firsts.append(first(answer.report, case.said))
            if verbose and (row.answered if case.kind == "absent" else not row.right):
                said = [c.text for s in answer.report.sections for c in s.claims]
                print(f"{case.kind:7}{row.confidence:.2f} {case.question}")
                print(f"        {(said or answer.report.limitations)[:1]}")
    return found, named, firsts


def first(report: Report, said: str) -> First:
    """What comes first in a report, compared with the words that answer."""
    leading = report.summary_claims[0]
    text = next(c.text for section in report.sections for c in section.claims if c.id == leading)
    words = said.casefold()
    names = [answer.text.casefold() for answer in report.answers]
    return First(words in text.casefold(), bool(names), any(n in words or words in n for n in names[:1]))


def show(rows: list[Result], named: list[bool], firsts: list[First]) -> None:
    """Print the shares."""
    asked, absent = ([r for r in rows if r.kind == kind] for kind in ("asked", "absent"))
    print(f"asked:  answered {share(r.answered for r in asked)}")
    print(f"        right one cited {share(r.cited for r in asked)}, first {share(r.right for r in asked)}")
    print(f"        refused, right one named as near {share(named)}")
    if firsts:
        right = share(f.rightly for f in firsts if f.named)
        print(f"        of those answered, answering sentence first {share(f.quoted for f in firsts)}")
        print(f"        of those with a name in answer, the right one first {right}")
    print(f"absent: answered {share(r.answered for r in absent)}")
    for name, some in (("all", rows), ("answered", [r for r in rows if r.answered])):
        for measure, of in (("confidence", lambda r: r.confidence), ("directness", lambda r: r.directness)):
            area, brier, error = calibration(some, of)
            print(f"{measure}, {name}, n = {len(some)}: AUC {area:.3f}, Brier {brier:.3f}, ECE {error:.3f}")
