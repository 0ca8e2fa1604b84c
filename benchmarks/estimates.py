"""Estimates against what runs used: `python -m benchmarks.estimates`.

Each row is a run of the product as shipped against the model of `benchmarks.end_to_end` (HTTP, a fixed time a
call): mode, what was estimated before its first call and from what, what it used, the larger of the two over
the smaller one, and whether what was used lies within the bounds that were printed, for calls, tokens and
time. A home has its first run of each mode from the plan.

What follows `--` is given to `ask`: `python -m benchmarks.estimates --modes deep -- --effort large`. `--web`
searches an engine and reads the pages that it names (`benchmarks.pages`) in place of a folder.
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
from benchmarks.pages import Web
from tests.client.harness import COMMAND, determinator
from tests.fake_openai import PATH, FakeOpenAI
from tests.replay import Asked, Reply

FILLER = "Participants were followed by their general practitioners and by the registers of two countries. "
USAGE = re.compile(rb'\{"prompt_tokens": [^}]*\}')
COLUMNS = ("calls", "tokens", "seconds")
TITLES = ("mode", "from", *(title for name in COLUMNS for title in (name, "used", "factor", "bounds")))


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
    parser.add_argument("--chars", type=int, default=0, help="of a document, at least")
    parser.add_argument(
        "--at-once", default="0", help="calls that the model's server answers; 0 for any number"
    )
    parser.add_argument("--web", action="store_true", help="search an engine in place of a folder")
    parser.add_argument("flags", nargs="*", help="given to `ask`")
    given = parser.parse_args()
    within, inside = Counter[str](), Counter[str]()
    rows = 0
    with tempfile.TemporaryDirectory() as name, FakeOpenAI() as server, Web() as web:
        library = papers(Path(name) / "papers")
        for paper in library.iterdir():
            paper.write_text(f"{paper.read_text()} {FILLER * (given.chars // len(FILLER))}")
        searched = ["--source", "searxng"] if given.web else ["--library", str(library)]
        os.environ.update(
            DETERMINATOR_MODEL="stub",
            DETERMINATOR_MODEL_CONCURRENCY=given.at_once,
            DETERMINATOR_HOME=str(Path(name) / "home"),
            DETERMINATOR_OFFLINE=str(not given.web).lower(),
            DETERMINATOR_PRIVATE_PAGES='["127.0.0.0/8"]',
            OPENAI_API_KEY="none",
            OPENAI_BASE_URL=server.base_url,
            SEARXNG_URL=web.engine,
        )
        print(f"| {' | '.join(TITLES)} |\n|{' --- |' * len(TITLES)}")
        try:
            for mode in given.modes:
                for number in range(given.runs):
                    model = Counted(given.seconds, 5, given.rounds[number % len(given.rounds)])
                    server.on(PATH, model)
                    asked = TOPIC.format(years=rows + 2)
                    ran = determinator("ask", asked, "--mode", mode, *searched, "--json", *given.flags)
                    kept = Path(name) / "home" / "evidence" / "reports" / ran.json()["run_id"] / "report.json"
                    method = json.loads(kept.read_text())["methodology"]
                    said = method["estimate"]
                    rows += 1
                    cells = [mode, said["basis"]]
                    for what in COLUMNS:
                        guess, least, most = said[what], said["least"][what], said["most"][what]
                        used = method["model_calls" if what == "calls" else what]
                        within[what] += factor(guess, used) <= 1.5
                        inside[what] += least <= used <= most
                        cells += [f"{guess:,.0f}", f"{used:,.0f}", f"{factor(guess, used):.2f}"]
                        cells.append(f"{least:,.0f} to {most:,.0f}")
                    print(f"| {' | '.join(cells)} |", flush=True)
                    if given.roles:
                        print(dict(Counter(call.role for call in model.calls)))
        finally:
            subprocess.run([*COMMAND, "down"], capture_output=True, check=False)
    for counted, where in ((within, "within 1.5"), (inside, "inside the bounds")):
        print(", ".join(f"{what}: {counted[what]} of {rows} {where}" for what in COLUMNS))


if __name__ == "__main__":
    main()
