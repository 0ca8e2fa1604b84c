"""Estimates against what runs used: `python -m benchmarks.estimates`.

Each row is a run of the product as shipped against the model of `benchmarks.end_to_end` (HTTP, a fixed time a
call): mode, what was estimated before its first call and from what, what it used, and the larger of the two
over the smaller one, for calls, tokens and time. A home has its first run of each mode from the plan.
"""

import argparse
import json
import os
import re
import subprocess
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

from benchmarks.end_to_end import TOPIC, Model, papers
from tests.client.harness import COMMAND, determinator
from tests.fake_openai import PATH, FakeOpenAI
from tests.replay import Asked, Reply

USAGE = re.compile(rb'\{"prompt_tokens": [^}]*\}')
TITLES = ("mode", "from", "calls", "used", "factor", "tokens", "used", "factor", "s", "used", "factor")


class Counted(Model):
    """The same model, which reports tokens by the length of what it read and wrote."""

    def __call__(self, asked: Asked) -> Reply:
        reply = super().__call__(asked)
        said = sum(map(len, reply.chunks or ())) // 12  # events are some three times their text
        used = {"prompt_tokens": len(asked.body) // 4, "completion_tokens": said}
        new = json.dumps({**used, "total_tokens": sum(used.values())}).encode()
        return replace(reply, chunks=tuple(USAGE.sub(new, chunk) for chunk in reply.chunks or ()))


def factor(one: float, other: float) -> float:
    """The larger over the smaller."""
    return max(one, other) / max(min(one, other), 1e-9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--modes", nargs="+", default=["simple", "iterative", "deep", "auto"])
    parser.add_argument("--runs", type=int, default=3, help="of each mode")
    parser.add_argument(
        "--rounds", type=int, nargs="+", default=[1, 2, 3], help="of a run's searches, in turn"
    )
    parser.add_argument("--seconds", type=float, default=2.0, help="a model call takes")
    parser.add_argument("--roles", action="store_true", help="print the calls of each role too")
    given = parser.parse_args()
    within: Counter[str] = Counter()
    rows = 0
    with tempfile.TemporaryDirectory() as name, FakeOpenAI() as server:
        library = papers(Path(name) / "papers")
        os.environ.update(
            DETERMINATOR_MODEL="stub",
            DETERMINATOR_MODEL_CONCURRENCY="0",
            DETERMINATOR_HOME=str(Path(name) / "home"),
            DETERMINATOR_OFFLINE="true",
            OPENAI_API_KEY="none",
            OPENAI_BASE_URL=server.base_url,
        )
        print(f"| {' | '.join(TITLES)} |\n|{' --- |' * len(TITLES)}")
        try:
            for mode in given.modes:
                for number in range(given.runs):
                    model = Counted(given.seconds, 5, given.rounds[number % len(given.rounds)])
                    server.on(PATH, model)
                    asked = TOPIC.format(years=rows + 2)
                    ran = determinator("ask", asked, "--mode", mode, "--library", str(library), "--json")
                    kept = Path(name) / "home" / "evidence" / "reports" / ran.json()["run_id"] / "report.json"
                    method = json.loads(kept.read_text())["methodology"]
                    rows += 1
                    cells = [mode, method["estimate"]["basis"]]
                    for what in ("calls", "tokens", "seconds"):
                        guess = method["estimate"][what]
                        used = method["model_calls" if what == "calls" else what]
                        within[what] += factor(guess, used) <= 1.5
                        cells += [f"{guess:,.0f}", f"{used:,.0f}", f"{factor(guess, used):.2f}"]
                    print(f"| {' | '.join(cells)} |", flush=True)
                    if given.roles:
                        print(dict(Counter(call.role for call in model.calls)))
        finally:
            subprocess.run([*COMMAND, "down"], capture_output=True, check=False)
    print(
        ", ".join(f"{what}: {within[what]} of {rows} within 1.5" for what in ("calls", "tokens", "seconds"))
    )


if __name__ == "__main__":
    main()
