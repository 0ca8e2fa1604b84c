"""Does the back end without a model answer from a user's own documents that are not medical?

    python -m benchmarks.own_documents [--half choosing|held-out|notes|blind|blind_two|all] [--verbose]

`own_documents.jsonl` holds short texts on history, law, economics, engineering and a company's affairs,
written for this benchmark. Of each: questions that it answers, in other words than its own (`asked`), and
questions that no text answers although this one comes near (`absent`). They are read as a user's folder:
Markdown with a heading, or plain text without one, named by a number. Half of the texts, by a hash of their
id, is for choosing rules; the library holds both halves. Those marked `blind` are of other fields, notes on
patients with lay questions among them: their questions were written before any was asked, and nothing was
chosen or corrected on them. Those marked `notes` are a person's own (a repair, a lease, minutes), with many
questions for facts that the notes do not say, also written before any was asked; rules are chosen on them.
`blind_two` are twelve more of varied kinds (minutes, e-mail, lab log, policy, curriculum vitae, recipe,
contract, meeting, bug report, travel plan, specification, diary), written before any was asked, of which
nothing but the totals is read. For each of these three the library holds its texts and both halves. `said`,
where it stands, are words of the sentence that answers each question: whether it is quoted first, and what is
named in answer, is compared with them.
"""

import json
from pathlib import Path
from typing import NotRequired, TypedDict

from activities.types import Evidence
from benchmarks.answered_or_refused import HALVES, Case, half, main

TEXTS = Path(__file__).with_suffix(".jsonl")


class Text(TypedDict):
    """One document and its questions."""

    id: str
    title: str
    text: str
    asked: list[str]
    absent: list[str]
    half: NotRequired[str]
    said: NotRequired[list[str]]


def part(text: Text) -> str:
    """Which part of the benchmark a text belongs to."""
    return text.get("half") or half(text["id"])


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


def prepare(name: str, folder: Path) -> list[Case]:
    """Write the library; the questions of a part, or all."""
    texts = [text for text in load() if name == "all" or part(text) in (*HALVES, name)]
    library(texts, folder)
    return [
        case
        for place, text in enumerate(texts)
        if name in (part(text), "all")
        for case in cases(text, f"{place:02}")
    ]


def cases(text: Text, name: str) -> list[Case]:
    """The questions of a text."""

    def answers(document: Evidence) -> bool:
        return text["text"][:60] in document.text

    said = text.get("said", [""] * len(text["asked"]))
    asked = [
        Case("asked", question, answers, name, words)
        for question, words in zip(text["asked"], said, strict=True)
    ]
    return [*asked, *(Case("absent", question, answers, name) for question in text["absent"])]


if __name__ == "__main__":
    main(__doc__, prepare)
