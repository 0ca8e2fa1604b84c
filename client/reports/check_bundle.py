"""Checks an exported report with nothing but Python 3.11: the files' sums, every quote, and the references.

Put beside `report.json` and `evidence.jsonl` by `determinator export`; run it as `python check.py`. Whatever
it finds `determinator verify` finds as well. `UNSEEN` says what only the latter sees.
"""

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from activities.text.normal_form import normalise, occurs

SUMS = "SHA256SUMS"
UNSEEN = """\
Not checked here, but by `determinator verify .`: whether README.md, report.md, report.html and the other
files say what report.json says, whether its sections and its summary say what its claims say, and whether
its conclusions and the fields of its candidates follow from what they cite.
"""


class Bearer(NamedTuple):
    """What quotes, by a name that the report knows it by."""

    name: str
    quotes: list[dict[str, str]]
    cites: bool = True
    """Whether its works are among the references; those that were only judged need not be."""
    problem: str = ""


def check_sums(folder: Path) -> list[str]:
    """Files that are not what they were when they were exported, or were not exported."""
    if not (folder / SUMS).is_file():
        return [f"{SUMS} is missing"]
    wrong = []
    listed = {SUMS: ""}
    for line in (folder / SUMS).read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        path = (folder / name).resolve()
        if listed.setdefault(name, digest) != digest:
            wrong.append(f"{name} is listed twice with different sums")
        elif not path.is_relative_to(folder.resolve()) or not path.is_file():
            wrong.append(f"{name} is missing")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            wrong.append(f"{name} is not the file that was exported")
    present = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return wrong + [f"{name} is not listed in {SUMS}" for name in present if name not in listed]


def check_quotes(folder: Path) -> tuple[int, list[str]]:
    """How many quotes there are, and what is wrong with quotes and references. Raises ValueError, KeyError,
    TypeError and OSError when report or evidence cannot be read."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    lines = (folder / "evidence.jsonl").read_text(encoding="utf-8").split("\n")
    items = [json.loads(line) for line in lines if line.strip()]
    works = report.get("references", [])
    retracted = {
        item["evidence_id"] for item in [*items, *works] if item.get("standing", "unknown") == "retracted"
    }
    texts = {item["evidence_id"]: normalise(item["text"]) for item in items}
    referenced = [work["evidence_id"] for work in works]
    bearers = list(_bearers(report))
    wrong = [bearer.problem for bearer in bearers if bearer.problem]
    for bearer in bearers:
        for support in bearer.quotes:
            cited = support["evidence_id"]
            if not occurs(normalise(support["quote"]), texts.get(cited, "")):
                wrong.append(f"{bearer.name}: not in the text of {cited}: {support['quote']}")
            elif cited in retracted:
                wrong.append(f"{bearer.name} rests on {cited}, which is retracted")
            elif bearer.cites and cited not in referenced:
                wrong.append(f"{bearer.name} cites {cited}, which is not among the references")
    used = {support["evidence_id"] for bearer in bearers if bearer.cites for support in bearer.quotes}
    wrong += [f"{name} is among the references and never cited" for name in referenced if name not in used]
    if [work["number"] for work in works] != list(range(1, len(works) + 1)):
        wrong.append("the references are not numbered from 1 without gaps")
    if len(set(referenced)) < len(referenced):
        wrong.append("a work is listed more than once among the references")
    if not bearers:
        wrong.append("there is nothing to check: the report makes no claim")
    return sum(len(bearer.quotes) for bearer in bearers), wrong


def _bearers(report: dict[str, Any]) -> Iterator[Bearer]:
    """Everything that quotes, in the order of the report."""
    sections = report["sections"]
    claims = [claim for part in ("answer", "summary", "mechanism") for claim in report.get(part, [])]
    for section in sections:
        claims += [*section.get("answer", []), *section.get("claims", [])]
    bases = {claim["id"] for claim in claims if not claim.get("rests_on")}
    for claim in claims:
        lacking = [name for name in claim.get("rests_on", []) if name not in bases]
        if not claim.get("support") and claim.get("kind") != "missing":
            lacking.append("support")
        problem = f"{claim['id']} has not what it rests on: {', '.join(lacking)}" if lacking else ""
        yield Bearer(claim["id"], claim.get("support", []), problem=problem)
    for one in report.get("candidates", []):
        kinds = ("support", "against", "records", "safety")
        quotes = [support for kind in kinds for support in one.get(kind, [])]
        yield Bearer(
            one["name"], quotes, problem="" if one.get("support") else f"{one['name']} has no support"
        )
    for conclusion in report.get("conclusions", []):
        quotes = [support for work in conclusion.get("works", []) for support in work.get("support", [])]
        yield Bearer(conclusion["outcome"], quotes)
    for passage in [passage for section in sections for passage in section.get("related", [])]:
        name = passage["evidence_id"]
        quotes = [{"evidence_id": name, "quote": quote} for quote in passage["quotes"]]
        yield Bearer(f"passage of {name}", quotes)
    for row in report.get("table", {}).get("rows", []):
        for column, cell in row.get("cells", {}).items():
            name, support = f"{column} of {row['evidence_id']}", cell.get("support")
            own = support is not None and support["evidence_id"] == row["evidence_id"]
            problem = "" if own else f"{name} has no sentence of that work"
            yield Bearer(name, [support] if support else [], problem=problem)
    for work in report.get("judgements", []):
        quotes, name = work.get("support", []), f"judgement of {work['evidence_id']}"
        if quotes or work.get("finding"):
            yield Bearer(name, quotes, cites=False, problem="" if quotes else f"{name} has no quote")


def main() -> int:
    """Say what holds; 0 when everything does, 1 when something does not."""
    folder = Path(__file__).resolve().parent
    count = 0
    try:
        wrong = check_sums(folder)
        count, others = check_quotes(folder)
        wrong += others
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        wrong = [f"report.json, evidence.jsonl or {SUMS} cannot be read: {error!r}"]
    for problem in wrong:
        sys.stdout.write(problem + "\n")
    counts = ((count, "quote"), (len(wrong), "problem"))
    said = ", ".join(f"{number} {name}{'' if number == 1 else 's'}" for number, name in counts)
    sys.stdout.write(f"{said}\n{UNSEEN}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
