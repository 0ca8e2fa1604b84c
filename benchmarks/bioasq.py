"""Factoid, list and yes/no questions of a BioASQ batch, asked end to end of a library of its own snippets.

    python -m benchmarks.bioasq PATH [--half choosing|held-out] [--limit N] [--verbose]

The library holds one document for each PubMed article the batch cites: the snippets of all questions in the
order of the article. Every question is asked as a user asks it; what counts is what the report says.

    factoid   strict: the first claim holds one of the exact answers; lenient: one of the first five does
              (BioASQ's measures over the first and the first five answers). The same of the report's
              `answers`: the first one is an exact answer, one of the first five is; `shown` is how many
              reports give any, `right of shown` how many of those have the right one first.
    list      the share of the exact answers that the claims hold (recall); recall, precision and F1 of the
              report's `answers`
    yes/no    the answer that the works' directions give, most works deciding; accuracy over all questions,
              with how many are left without an answer, and accuracy over those that have one

An answer is an exact one when the stems of one are a run of the other's and at least half of them, or when
half of all their stems are common.

BioASQ's data may not be copied into the project: give the path of a golden file (`.json` or `.json.gz`).
"""

import argparse
import asyncio
import gzip
import hashlib
import json
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from pydantic import JsonValue, TypeAdapter

from activities.report.schema import Report
from activities.settings import Settings
from activities.sources.http.client import Http
from activities.sources.library import build
from activities.text.tokens import fold, stem
from benchmarks.pipeline import ask

FIRST = 5
_QUESTIONS = TypeAdapter(list[dict[str, JsonValue]])


@dataclass(frozen=True)
class Question:
    body: str
    kind: str
    exact: tuple[tuple[str, ...], ...]
    """Each answer with its synonyms; for yes/no a single `yes` or `no`."""


@dataclass
class Score:
    """What one kind of question came to."""

    rows: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, **values: float) -> None:
        for name, value in values.items():
            self.rows[name].append(value)

    def show(self, kind: str) -> None:
        shown = ", ".join(f"{name} {100 * sum(v) / len(v):.1f} %" for name, v in self.rows.items() if v)
        count = max((len(v) for v in self.rows.values()), default=0)
        print(f"{kind:8} n = {count:3}: {shown}")


def load(path: Path) -> tuple[list[Question], dict[str, list[str]]]:
    """The questions, and PubMed id -> its snippets in order, each once."""
    raw = path.read_bytes()
    data = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    questions: list[Question] = []
    snippets: dict[str, dict[str, tuple[str, int]]] = defaultdict(dict)
    for entry in data["questions"]:
        exact = entry.get("exact_answer")
        if entry["type"] == "yesno":
            answers: tuple[tuple[str, ...], ...] = ((str(exact).casefold(),),)
        else:
            answers = tuple(tuple(map(str, e)) if isinstance(e, list) else (str(e),) for e in (exact or ()))
        if entry["type"] == "factoid" and answers:
            answers = (tuple(name for group in answers for name in group),)
        questions.append(Question(" ".join(entry["body"].split()), entry["type"], answers))
        for snippet in entry["snippets"]:
            pmid = snippet["document"].rsplit("/", 1)[-1]
            order = (snippet["beginSection"] != "title") * 10**6 + int(snippet["offsetInBeginSection"])
            snippets[pmid].setdefault(snippet["text"].strip(), (snippet["beginSection"], order))
    documents = {
        pmid: [text for text, _ in sorted(found.items(), key=lambda s: s[1][1])]
        for pmid, found in snippets.items()
    }
    return questions, documents


def library(documents: dict[str, list[str]], folder: Path) -> Path:
    """The snippets as records; a title is a snippet like any other."""
    lines = (
        json.dumps({"pmid": pmid, "title": "", "abstract": " ".join(_closed(s) for s in texts)})
        for pmid, texts in documents.items()
    )
    (folder / "snippets.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def _closed(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else text + "."


def plain(text: str) -> str:
    """Stems with single spaces and a space at both ends, for finding one text in another."""
    found = re.findall(r"[^\W_]+", fold(text))
    return f" {' '.join(stem(word) for word in found)} "


def holds(text: str, names: Sequence[str]) -> bool:
    """Whether a text says one of the names, in any form of its words."""
    return any(plain(name).strip() and plain(name) in plain(text) for name in names)


def matches(answer: str, names: Sequence[str]) -> bool:
    """Whether an answer is one of the names, in any form of its words (see above)."""
    own = plain(answer).split()
    for name in names:
        short, long = sorted((own, plain(name).split()), key=len)
        if not short:
            continue
        run = f" {' '.join(short)} " in f" {' '.join(long)} " and 2 * len(short) >= len(long)
        if run or 2 * len({*short} & {*long}) >= len({*short, *long}):
            return True
    return False


def claims(report: Report) -> list[str]:
    """What the report says, in its order."""
    return [claim.text for section in report.sections for claim in section.claims]


def yes_or_no(report: Report) -> str:
    """The way most works point; empty where none is sure or they are even."""
    ways = Counter(row.direction for row in report.works)
    if ways["affirms"] == ways["denies"]:
        return ""
    return "yes" if ways["affirms"] > ways["denies"] else "no"


def half(body: str) -> str:
    """Which half a question is in: changes are chosen on one and reported on the other."""
    return "choosing" if hashlib.sha256(body.encode()).digest()[0] % 2 else "held-out"


async def run(options: argparse.Namespace, home: Path) -> None:
    questions, documents = load(options.path)
    folder = home / "library"
    folder.mkdir()
    scores: dict[str, Score] = defaultdict(Score)
    asked = [
        q for q in questions if q.kind in options.kinds.split(",") and options.half in ("", half(q.body))
    ]
    async with httpx.AsyncClient() as client:
        source = build(Settings(home=home, library=library(documents, folder)), Http(client))
        for question in asked[: options.limit or None]:
            answer = await ask(question.body, source)
            said = claims(answer.report)
            score = scores[question.kind]
            score.add(answered=float(answer.answered))
            if question.kind == "factoid":
                names = question.exact[0] if question.exact else ()
                good = any(holds(text, names) for text in said[:FIRST])
                score.add(strict=float(bool(said) and holds(said[0], names)), lenient=float(good))
                right = [matches(a.text, names) for a in answer.report.answers[:FIRST]]
                first = float(right[:1] == [True])
                score.add(shown=float(bool(right)), **{"answers strict": first})
                score.add(**{"answers lenient": float(any(right))})
                if right:
                    score.add(**{"right of shown": first})
            elif question.kind == "list":
                text = " | ".join(said)
                recall = sum(holds(text, names) for names in question.exact) / max(len(question.exact), 1)
                score.add(recall=recall)
                given = [a.text for a in answer.report.answers]
                hit = sum(any(matches(text, names) for text in given) for names in question.exact)
                exact = sum(any(matches(text, names) for names in question.exact) for text in given)
                found, sure = hit / max(len(question.exact), 1), exact / max(len(given), 1)
                score.add(**{"answers recall": found, "answers precision": sure})
                score.add(**{"answers F1": 2 * found * sure / (found + sure) if found + sure else 0.0})
                good = recall > 0.5
            elif question.kind == "yesno":
                way = yes_or_no(answer.report)
                good = way == question.exact[0][0]
                score.add(accuracy=float(good), **{"no direction": float(not way)})
                if way:
                    score.add(**{"right of those with one": float(good)})
            else:
                good = answer.answered
            if options.verbose and not good:
                print(f"{question.kind} {answer.report.confidence:.2f} {question.body} {question.exact}")
                print(f"      answers: {[a.text for a in answer.report.answers]}")
                for text in said[:FIRST]:
                    print(f"      - {text[:200]}")
                if not said:
                    print("      ", answer.report.limitations[:3])
    for kind in ("factoid", "list", "yesno", "summary"):
        if kind in scores:
            scores[kind].show(kind)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--kinds", default="factoid,list,yesno,summary")
    parser.add_argument("--half", choices=("choosing", "held-out"), default="")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--verbose", action="store_true", help="list what went wrong")
    options = parser.parse_args()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(run(options, Path(home)))
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
