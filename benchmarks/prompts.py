"""What a model reads that serves the answer: `python -m benchmarks.prompts`.

The command line asks over the bundled sample, and a scripted model plans three sections, judges each work by
its text, and cites every work that it judged to answer. Of the characters of all prompts, the JSON schemas
among them, those count as serving that are of works which the report cites, of claims, or the question. One
row for each role.
"""

import json
import os
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tests.client.harness import COMMAND
from tests.fake_openai import (
    PATH,
    FakeOpenAI,
    cited,
    criteria_of,
    evidence_of,
    labels_by_work,
    question_of,
    role_of,
    says,
    sensible,
    sentences_of,
)
from tests.replay import Asked, Reply

QUESTION = "Is laparoscopic surgery as safe and effective as open surgery, and for which operations?"
PARTS = {
    "How safe is laparoscopic surgery of the stomach and for reflux?": ("reflux", "gastr", "hernia"),
    "How safe is laparoscopic surgery of the bowel?": ("crohn", "colorect", "ileocol", "appendi", "rect"),
    "How safe is laparoscopic surgery in urology and gynaecology?": ("prostat", "nephr", "myom", "adrenal"),
}
"""Question of a section -> words of works that answer it, beside `laparoscop`."""
HEADING = re.compile(r"\[E\d+\] (.*) \([^()\n]*\)\n")
WORKS = re.compile(r"\nWorks:\n<<<evidence-\w+\n(.*?)\nevidence-\w+>>>", re.DOTALL)
CLAIMS = re.compile(r"<<<claims-\w+\n(.*?)\nclaims-\w+>>>", re.DOTALL)


class Model:
    """Answers every role, and keeps what it was sent."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []

    def __call__(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        role, works = role_of(asked), labels_by_work(asked)
        if role == "planner":
            sections = [
                {"title": f"Part {n}", "key_question": part, "queries": [f"laparoscopic {words[0]}"]}
                for n, (part, words) in enumerate(PARTS.items(), 1)
            ]
            return says({"report_title": "A report", "sections": sections})(asked)
        if role == "judge":
            return says(self._judged(asked, works))(asked)
        if role == "writer":
            sentences = sentences_of(asked)
            copied = [cited(sentences[labels[-1]], work) for work, labels in works.items() if labels]
            own = cited("Laparoscopic surgery was feasible in several operations", *list(works)[:3])
            blocks = [" ".join(copied[at : at + 4]) for at in range(0, len(copied), 4)]
            report = "\n\n".join([own, "## Findings", *blocks])
            return says({"report": report, "sentences": []})(asked)
        return sensible(asked)

    def _judged(self, asked: Asked, works: dict[str, list[str]]) -> dict[str, Any]:
        texts, words = evidence_of(asked), PARTS.get(question_of(asked), ("",))
        judged = [
            {
                "work": work,
                "answers": 3 if "laparoscop" in text and any(word in text for word in words) else 1,
                "sentences": labels[:1],
                "reason": "Said.",
            }
            for work, labels in works.items()
            if (text := texts[work].casefold())
        ]
        scores = [{"criterion": name, "score": 8} for name in criteria_of(asked)]
        return {"works": judged, "scores": scores, "recommendation": "synthesize", "gaps": [], "searches": []}


def serving(text: str, question: str, cited: set[str]) -> int:
    """Characters of a prompt that are of cited works, of claims, or the question."""
    found = len(question) + sum(len(claims) for claims in CLAIMS.findall(text))
    works = WORKS.search(text)
    for block in re.split(r"\n\n(?=\[E\d+\] )", works[1]) if works else ():
        heading = HEADING.match(block)
        if heading and any(title.startswith(heading[1].removesuffix("…")) for title in cited):
            found += len(block)
    return found


def report(model: Model, cited: set[str]) -> None:
    """Print a row for each role, and one for all."""
    calls, every, good = Counter[str](), Counter[str](), Counter[str]()
    for asked in model.asked:
        body: Any = asked.json()
        text = "\n\n".join(message["content"] for message in body["messages"])
        for role in (role_of(asked), "all"):
            calls[role] += 1
            every[role] += len(text) + len(json.dumps(body.get("response_format", "")))
            good[role] += serving(text, question_of(asked), cited)
    print(f"{len(cited)} works cited\n\n| role | calls | characters | serving |\n| --- | --- | --- | --- |")
    for role in sorted(every, key=lambda role: every[role]):
        print(f"| {role} | {calls[role]} | {every[role]:,} | {good[role] / every[role]:.0%} |")


def main() -> None:
    model = Model()
    with tempfile.TemporaryDirectory() as home, FakeOpenAI() as server:
        os.environ.update(
            DETERMINATOR_HOME=str(Path(home) / "home"),
            DETERMINATOR_MODEL="stub",
            DETERMINATOR_OFFLINE="true",
            DETERMINATOR_MODEL_CONCURRENCY="0",
            OPENAI_API_KEY="none",
            OPENAI_BASE_URL=server.base_url,
        )
        server.on(PATH, model)
        try:
            subprocess.run([*COMMAND, "ask", QUESTION, "--mode", "deep"], capture_output=True, check=True)
            done = subprocess.run(
                [*COMMAND, "report", "last", "--format", "json"], capture_output=True, check=True
            )
        finally:
            subprocess.run([*COMMAND, "down"], capture_output=True, check=False)
    report(model, {reference["title"] for reference in json.loads(done.stdout)["references"]})


if __name__ == "__main__":
    main()
