"""Every mode on the same questions, as a person compares them: `python -m benchmarks.modes`.

The questions are titles of the bundled sample library that are questions, drawn with a fixed seed; the
library is all that is searched. Each is asked once with `ask --mode ... --mode ...` without a language model,
and once with a scripted model over HTTP that answers every role, is satisfied by what it is shown first, and
takes a fixed time for a call. The modes of a question run at the same time on one worker, so their seconds
can only be compared with each other. Printed for each back end and mode: medians over the questions, the runs
that found an answer, and the stop reasons.
"""

import argparse
import gzip
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from activities.sources import sample
from tests.client.harness import COMMAND
from tests.fake_openai import PATH, FakeOpenAI, sensible
from tests.replay import Asked, Reply
from workflows.modes import MODES

LIBRARY = Path(str(sample.__path__[0])) / "documents" / "pubmedqa.jsonl.gz"
SEED = 11
SECONDS = 900
"""Seconds after which a question is given up."""
FIGURES = ("verified_claims", "references", "confidence", "calls", "tokens", "seconds")


def questions(count: int) -> list[str]:
    """Titles of the sample library that are questions."""
    with gzip.open(LIBRARY, "rt") as lines:
        titles = [str(json.loads(line)["title"]) for line in lines]
    return random.Random(SEED).sample(sorted(title for title in titles if title.endswith("?")), count)


def ask(question: str, modes: Sequence[str], env: Mapping[str, str]) -> list[dict[str, Any]]:
    """What the comparison prints as JSON. Raises SystemExit when it fails."""
    flags = [flag for mode in modes for flag in ("--mode", mode)]
    command = [*COMMAND, "ask", question, *flags, "--profile", "biomedical", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env={**os.environ, **env})
    if done.returncode not in (0, 4):
        raise SystemExit(f"ask ended with {done.returncode}: {done.stderr[-2000:]}")
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def show(back_end: str, modes: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Print a table in Markdown."""
    print(f"\n{back_end}\n")
    print("| mode | claims verified | references | confidence | model calls | tokens | seconds | answered |")
    print("|---|---|---|---|---|---|---|---|")
    for mode in modes:
        own = [row for row in rows if row["mode"] == mode]
        values = [statistics.median(float(row[name]) for row in own) for name in FIGURES]
        claims, references, confidence, calls, tokens, seconds = values
        answered = sum(bool(row["answered"]) for row in own)
        print(
            f"| `{mode}` | {claims:g} | {references:g} | {confidence:.2f} | {calls:g} | {tokens:,.0f} "
            f"| {seconds:.1f} | {answered} of {len(own)} |"
        )
    for mode in modes:
        reasons = Counter(str(row["status"]) for row in rows if row["mode"] == mode)
        print(f"  {mode}: " + ", ".join(f"{name} {count}" for name, count in reasons.most_common()))
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--questions", type=int, default=10)
    parser.add_argument("--modes", nargs="+", choices=list(MODES), default=list(MODES))
    parser.add_argument("--seconds", type=float, default=0.2, help="a model call takes")
    parser.add_argument(
        "--back-ends", nargs="+", choices=["extractive", "model"], default=["extractive", "model"]
    )
    given = parser.parse_args()

    def model(asked: Asked) -> Reply:
        time.sleep(given.seconds)
        return sensible(asked)

    with tempfile.TemporaryDirectory() as name, FakeOpenAI() as server:
        server.on(PATH, model)
        for back_end in given.back_ends:
            env = {"DETERMINATOR_HOME": str(Path(name) / back_end), "DETERMINATOR_OFFLINE": "true"}
            if back_end == "model":
                env |= {
                    "OPENAI_BASE_URL": server.base_url,
                    "OPENAI_API_KEY": "none",
                    "DETERMINATOR_MODEL": "stub",
                    "DETERMINATOR_MODEL_CONCURRENCY": "8",
                }
            try:
                rows = [
                    row for question in questions(given.questions) for row in ask(question, given.modes, env)
                ]
            finally:
                subprocess.run(
                    [*COMMAND, "down"], capture_output=True, check=False, env={**os.environ, **env}
                )
            show(back_end, given.modes, rows)


if __name__ == "__main__":
    main()
