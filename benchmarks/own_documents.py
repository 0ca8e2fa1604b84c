"""Does the back end without a model answer from a user's own documents that are not medical?

    python -m benchmarks.own_documents [--half choosing|held-out|blind|all] [--verbose]

`own_documents.jsonl` holds short texts on history, law, economics, engineering and a company's affairs,
written for this benchmark. Of each: questions that it answers, in other words than its own (`asked`), and
questions that no text answers although this one comes near (`absent`). They are read as a user's folder:
Markdown with a heading, or plain text without one, named by a number. Half of the texts, by a hash of their
id, is for choosing rules; the library holds both halves. Those marked `blind` are of other fields, notes on
patients with lay questions among them: their questions were written before any was asked, and nothing was
chosen or corrected on them. For these the library holds all texts.
"""

import argparse
import asyncio
import json
import tempfile
from pathlib import Path
from typing import NotRequired, TypedDict

import httpx

from activities.extractive.nearest import nearest
from activities.settings import Settings
from activities.sources.http.client import Http
from activities.sources.library import build
from benchmarks.pipeline import ask
from benchmarks.relevance import Result, calibration, result, share
from benchmarks.variants import number

TEXTS = Path(__file__).with_suffix(".jsonl")


class Text(TypedDict):
    """One document and its questions."""

    id: str
    title: str
    text: str
    asked: list[str]
    absent: list[str]
    half: NotRequired[str]


def half(text: Text) -> str:
    """Which part of the benchmark a text belongs to."""
    return text.get("half") or ("choosing", "held-out")[number("half " + text["id"]) % 2]


def load() -> list[Text]:
    """All texts."""
    return [json.loads(line) for line in TEXTS.read_text(encoding="utf-8").splitlines()]


def library(texts: list[Text], folder: Path) -> None:
    """A folder of files, as a user would have it."""
    folder.mkdir()
    for place, text in enumerate(texts):
        if text["title"]:
            content = f"# {text['title']}\n\n{text['text']}\n"
            (folder / f"{place:02}.md").write_text(content, encoding="utf-8")
        else:
            (folder / f"{place:02}.txt").write_text(text["text"] + "\n", encoding="utf-8")


async def run(options: argparse.Namespace, home: Path) -> tuple[list[Result], list[bool]]:
    """What became of each question; and of each that was refused although a text answers it, whether the
    report names that text among those that come nearest."""
    texts = [text for text in load() if options.half in ("blind", "all") or half(text) != "blind"]
    library(texts, home / "library")
    found: list[Result] = []
    named: list[bool] = []
    async with httpx.AsyncClient() as client:
        source = build(Settings(home=home, library=home / "library"), Http(client))
        for place, text in enumerate(texts):
            if options.half not in (half(text), "all"):
                continue
            for kind, questions in (("asked", text["asked"]), ("absent", text["absent"])):
                for question in questions:
                    answer = await ask(question, source)
                    ids = [d.evidence_id for d in answer.found.values() if text["text"][:60] in d.text]
                    row = result(kind, f"{place:02}", question, answer, ids if kind == "asked" else ())
                    found.append(row)
                    if kind == "asked" and not row.answered:
                        near = nearest(question, tuple(answer.found.values()))
                        named.append(any(work.evidence_id in ids for work in near))
                    if options.verbose and (row.answered if kind == "absent" else not row.right):
                        said = [c.text for s in answer.report.sections for c in s.claims]
                        print(f"{kind:7}{row.confidence:.2f} {question}")
                        print(f"        {(said or answer.report.limitations)[:1]}")
    return found, named


def show(rows: list[Result], named: list[bool]) -> None:
    asked, absent = ([r for r in rows if r.kind == kind] for kind in ("asked", "absent"))
    print(f"asked:  answered {share(r.answered for r in asked)}")
    print(f"        right one cited {share(r.cited for r in asked)}, first {share(r.right for r in asked)}")
    print(f"        refused, right one named as near {share(named)}")
    print(f"absent: answered {share(r.answered for r in absent)}")
    for name, some in (("all", rows), ("answered", [r for r in rows if r.answered])):
        for measure, of in (("confidence", lambda r: r.confidence), ("directness", lambda r: r.directness)):
            area, brier, error = calibration(some, of)
            print(f"{measure}, {name}, n = {len(some)}: AUC {area:.3f}, Brier {brier:.3f}, ECE {error:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--half", choices=("choosing", "held-out", "blind", "all"), default="held-out")
    parser.add_argument("--verbose", action="store_true", help="list what went wrong")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        show(*asyncio.run(run(options, Path(home))))


if __name__ == "__main__":
    main()
