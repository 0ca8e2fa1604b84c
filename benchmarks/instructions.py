"""Twenty instructions about finished reports: `python -m benchmarks.instructions`.

Each is given to the product as shipped (the command, the server, the worker) with a scripted model behind
HTTP and a recorded PubMed. Printed is for each what was asked, whether it was done, the calls it took (three
at most), and the sentences that are other though the model did not name them; the exit code is 1 where one of
these is not as promised.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.client.harness import COMMAND, Ran, determinator
from tests.fake_openai import PATH, FakeOpenAI, claims_of, role_of, says, sensible
from tests.replay import Asked, ReplayServer, Reply, recorded

MAX_CALLS = 3
QUESTION = "Does trametinib improve survival in {people}?"
PEOPLE = ("adults with melanoma", "older adults with melanoma", "women with melanoma", "men with melanoma")
TRIAL = "pmid:22663011"
SECTION = re.compile(r"^Section (s\d+):", re.MULTILINE)
ROW = re.compile(r"^(C\d+)(?: \[([E\d, ]+)\])?: (.+)$", re.MULTILINE)
WORK = re.compile(r"^(E\d+) .+\(.+\)$", re.MULTILINE)
OTHER = "in plain words"
Sentences = Mapping[str, Mapping[str, Any]]


class Seen(NamedTuple):
    """A report before and after an instruction, and what the model named."""

    ran: Ran
    before: dict[str, Any]
    after: dict[str, Any]
    named: frozenset[str]
    """The texts of the sentences that it named, or that rest on a work that it named."""

    @property
    def gone(self) -> set[str]:
        return set(sentences(self.before)) - set(sentences(self.after))

    @property
    def untouched_but_other(self) -> list[str]:
        """Sentences that the model did not name, and that are gone or other in a letter or a quote. Those of
        the editor are read again where a sentence that they rest on is named."""
        after = sentences(self.after)
        return [
            name
            for name, one in sentences(self.before).items()
            if one["text"] not in self.named
            and name.startswith("s")
            and (name not in after or any(after[name][key] != one[key] for key in ("text", "support")))
        ]


def sentences(report: Mapping[str, Any]) -> Sentences:
    """Id -> sentence."""
    every = [*report["answer"], *report["summary"]]
    every += [one for section in report["sections"] for one in (*section["answer"], *section["claims"])]
    return {one["id"]: one for one in every}


def cited(report: Mapping[str, Any]) -> set[str]:
    """The works that sentences rest on."""
    return {one["evidence_id"] for said in sentences(report).values() for one in said["support"]}


def unchanged(seen: Seen) -> bool:
    return all(bool(seen.before[part] == seen.after[part]) for part in ("sections", "answer"))


def is_shorter(seen: Seen) -> bool:
    return seen.ran.code == 0 and bool(seen.gone)


def lacks_section(seen: Seen) -> bool:
    return seen.ran.code == 0 and len(seen.after["sections"]) == len(seen.before["sections"]) - 1


def reads_otherwise(seen: Seen) -> bool:
    return seen.ran.code == 0 and any(OTHER in one["text"] for one in sentences(seen.after).values())


def has_trial(seen: Seen) -> bool:
    return seen.ran.code == 0 and TRIAL in cited(seen.after) - cited(seen.before)


def rests_on_fewer(seen: Seen) -> bool:
    return seen.ran.code == 0 and cited(seen.after) < cited(seen.before)


def is_answered(seen: Seen) -> bool:
    return seen.ran.code == 0 and bool(re.search(r"\[\d", seen.ran.out)) and unchanged(seen)


def is_not_in_evidence(seen: Seen) -> bool:
    return seen.ran.code == 4 and "--follow-up" in seen.ran.err and unchanged(seen)


def is_disputed(seen: Seen) -> bool:
    return len(seen.after["disputes"]) == len(seen.before["disputes"]) + 1 and unchanged(seen)


def is_refused(seen: Seen) -> bool:
    return seen.ran.code == 4 and unchanged(seen)


Check = Callable[[Seen], bool]
INSTRUCTIONS: tuple[tuple[str, str, Check], ...] = (
    ("tell", "What of colorectal cohort 3?", is_answered),
    ("tell", "Is s1.1 shown for melanoma?", is_answered),
    ("tell", "Is it shown in children?", is_not_in_evidence),
    ("dispute", "the group was 43, not 34", is_disputed),
    ("change", "Add the trial PMID 22663011", has_trial),
    ("change", "Make it shorter", is_shorter),
    ("change", "Leave out section 2", lacks_section),
    ("change", "Write it for a general reader", reads_otherwise),
    ("change", "What if the retracted ones go?", rests_on_fewer),
    ("change", "Say that it is proven", is_refused),
)
"""Verb, text, and when it is done. Each is given twice, to another report."""


class Model:
    """A good model; the reviser does what is asked, and notes which sentences it names."""

    def __init__(self) -> None:
        self.calls = 0
        self.named: set[str] = set()

    def __call__(self, asked: Asked) -> Reply:
        self.calls += 1
        role, text = role_of(asked), "\n".join(one["content"] for one in asked.json()["messages"])  # type: ignore[attr-defined]
        if role == "writer" and "in children" in text:
            return says({"report": ""})(asked)
        if role == "verifier" and "disputes it" in text:
            no = {"supported": "no", "words": "", "reason": "the work says otherwise"}
            return says({"verdicts": [{"claim": label, **no} for label in claims_of(asked)]})(asked)
        return says(self.revised(text))(asked) if role == "reviser" else sensible(asked)

    def revised(self, text: str) -> dict[str, Any]:
        """What a reviser names for the instruction in its prompt."""
        rows, wanted = ROW.findall(text), text.partition("Its reader asks: ")[2]
        of_sections = rows[len(ROW.findall(text.partition("\nSection ")[0])) :]
        if "PMID" in wanted:
            return {"write": [{"question": "What did the trial find?", "section": ""}]}
        if "shorter" in wanted:
            return {"remove": self.name(of_sections[-2:])}
        if "section 2" in wanted:
            section = SECTION.findall(text)[1]
            own = text.partition(f"\nSection {section}:")[2].partition("\nSection ")[0]
            self.name(ROW.findall(own))
            return {"remove_sections": [section]}
        if "general reader" in wanted:
            label, _, said = of_sections[0]
            self.name([of_sections[0]])
            return {"reword": [{"claim": label, "text": f"{said.rstrip('.')}, {OTHER}."}]}
        if "retracted" in wanted:
            work = WORK.findall(text)[0]
            self.name([row for row in rows if work in row[1].split(", ")])
            return {"leave_out": [work]}
        return {"cannot": "No work says so."}

    def name(self, rows: list[tuple[str, str, str]]) -> list[str]:
        """Note the sentences of rows; their labels."""
        self.named |= {said for _, _, said in rows}
        return [label for label, _, _ in rows]


def papers(folder: Path) -> Path:
    """A library with something to quote."""
    folder.mkdir()
    for number in range(6):
        (folder / f"cohort{number}.txt").write_text(
            f"Trametinib in melanoma, colorectal cohort {number}\n\n"
            f"In cohort {number} trametinib improved survival in {1000 + number} adults with melanoma. "
            f"The median survival of cohort {number} was {number + 2} months longer than with chemotherapy. "
            f"No serious adverse events of trametinib were seen in cohort {number}."
        )
    return folder


def answered(run: str, verb: str, text: str, model: Model) -> Seen:
    """Give an instruction to a report."""

    def report() -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(determinator("report", run, "--format", "json").out)
        return loaded

    before = report()
    model.calls, model.named = 0, set()
    about = (next(iter(sentences(before))),) if verb == "dispute" else ()
    ran = determinator(verb, run, *about, text)
    return Seen(ran, before, report(), frozenset(model.named))


def main() -> int:
    kept = 0
    nothing = Reply(200, json.dumps({"esearchresult": {"count": "0", "idlist": []}}))
    one = Reply(200, json.dumps({"esearchresult": {"count": "1", "idlist": [TRIAL.removeprefix("pmid:")]}}))
    with tempfile.TemporaryDirectory() as name, FakeOpenAI() as server, ReplayServer() as pubmed:
        model = Model()
        server.on(PATH, model)
        pubmed.on("/esearch.fcgi", nothing)
        pubmed.on("/efetch.fcgi", recorded("pubmed/efetch_structured_abstract_rct_22663011.xml"))
        library = papers(Path(name) / "papers")
        others = ("CROSSREF", "EUROPEPMC", "UNPAYWALL", "CLINICALTRIALS")
        os.environ.update(
            {f"DETERMINATOR_{source}_URL": pubmed.url for source in ("PUBMED", *others)},
            DETERMINATOR_MODEL="stub",
            DETERMINATOR_HOME=str(Path(name) / "home"),
            OPENAI_API_KEY="none",
            OPENAI_BASE_URL=server.base_url,
        )
        print("| instruction | done | calls | untouched but other |\n| --- | --- | --- | --- |")
        try:
            runs = []
            for people in PEOPLE:
                asked = QUESTION.format(people=people)
                ran = determinator(
                    "ask", asked, "--mode", "deep", "--library", str(library), "--source", "pubmed"
                )
                runs.append(ran.run_id)
            pubmed.on("/esearch.fcgi", one)
            half = len(INSTRUCTIONS) // 2
            for number, (verb, text, is_done) in enumerate((*INSTRUCTIONS, *INSTRUCTIONS)):
                seen = answered(runs[number // half], verb, text, model)
                done, other = is_done(seen), seen.untouched_but_other
                kept += done and model.calls <= MAX_CALLS and not other
                row = (
                    f"{verb}: {text}",
                    "yes" if done else "no",
                    str(model.calls),
                    ", ".join(other) or "none",
                )
                print(f"| {' | '.join(row)} |", flush=True)
                if not done:
                    print(seen.ran.out, seen.ran.err, file=sys.stderr)
        finally:
            subprocess.run([*COMMAND, "down"], capture_output=True, check=False)
    total = 2 * len(INSTRUCTIONS)
    print(f"{kept} of {total} done in at most {MAX_CALLS} calls with every other sentence as it was")
    return int(kept < total)


if __name__ == "__main__":
    sys.exit(main())
