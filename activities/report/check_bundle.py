"""Checks an exported report with nothing but Python 3.11: the files' sums, every quote, and the references.

`determinator export` puts this file beside `report.json` and `evidence.jsonl`; run it as `python check.py`.
`determinator verify` holds to the same rules, and to those that `UNSEEN` names (`activities.report.audit`).
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from activities.text.normal_form import min_chars, normalise, occurs

SUMS = "SHA256SUMS"
UNSEEN = """\
Not checked here: whether README.md, report.md, report.html and the other files say what report.json says,
whether its sections and its summary say what its claims say, and whether its conclusions and the fields of
its candidates follow from what they cite. Who has the run checks the last two by `determinator verify RUN`.
"""


@dataclass(frozen=True)
class CheckedQuote:
    """One quote and the item it is attributed to."""

    evidence_id: str
    number: int | None
    """The reference; None when it is not among them."""
    quote: str
    problem: str = ""
    """A sentence on what is wrong; empty when the quote holds."""


@dataclass(frozen=True)
class CheckedBearer:
    """What quotes, with the results for its quotes."""

    kind: str
    """`claim`, `candidate`, `conclusion`, `cell` or `judgement`."""
    name: str
    """The claim's id, the candidate's name, the outcome, or the id of the work."""
    text: str = ""
    quotes: tuple[CheckedQuote, ...] = ()
    problems: tuple[str, ...] = ()
    """Beyond those of single quotes."""

    @property
    def holds(self) -> bool:
        return not self.faults()

    def faults(self) -> tuple[str, ...]:
        return (*(quote.problem for quote in self.quotes if quote.problem), *self.problems)


def check_sums(names: Iterable[str], read_file: Callable[[str], bytes | None]) -> list[str]:
    """Name files that are not as they were exported, or were not exported.

    `names`: of all files; `read_file`: a file by its name, None for one that is not there.
    """
    sums = read_file(SUMS)
    if sums is None:
        return [f"{SUMS} is missing"]
    faults = []
    digests: dict[str, str] = {}
    for line in sums.decode(errors="replace").splitlines():
        digest, _, name = line.partition("  ")
        if digests.setdefault(name, digest) != digest:
            faults.append(f"{name} is listed twice with different sums")
    for name, digest in digests.items():
        data = read_file(name)
        if data is None:
            faults.append(f"{name} is missing")
        elif hashlib.sha256(data).hexdigest() != digest:
            faults.append(f"{name} is not the file that was exported")
    return faults + [
        f"{name} is not listed in {SUMS}" for name in sorted(names) if name not in digests and name != SUMS
    ]


def check_report(
    report: Mapping[str, Any], items: Sequence[Mapping[str, Any]]
) -> tuple[list[CheckedBearer], list[str]]:
    """List everything that quotes, with its faults, and the faults of the numbering.

    `items`: the evidence. Raises ValueError, KeyError, TypeError and AttributeError for what is no report
    or no evidence.
    """
    works = report.get("references", [])
    numbers = {work["evidence_id"]: work["number"] for work in works}
    texts = {item["evidence_id"]: normalise(item["text"]) for item in items}
    retracted_ids = {item["evidence_id"] for item in (*items, *works) if item.get("standing") == "retracted"}

    def problem(label: str, kind: str, name: str, quote: str) -> str:
        if name not in texts:
            return f"{label} cites {name}, which is not among the evidence"
        normal_quote = normalise(quote)
        if not occurs(normal_quote, texts[name]):
            is_short = len(normal_quote) < min_chars(normal_quote)
            short = f" (shorter than {min_chars(normal_quote)} characters)" if is_short else ""
            return f'{label}: not in the text of {name}: "{quote}"{short}'
        if name in retracted_ids:
            return f"{label} rests on {name}, which is retracted"
        if name not in numbers and kind != "judgement":  # what was judged need not be cited
            return f"{label} cites {name}, which is not among the references"
        return ""

    bearers = []
    cited_ids = set()
    for label, bearer, supports in _bearers(report):
        pairs = [(support["evidence_id"], support["quote"]) for support in supports]
        kind = bearer.kind
        quotes = (CheckedQuote(n, numbers.get(n), q, problem(label, kind, n, q)) for n, q in pairs)
        bearers.append(replace(bearer, quotes=tuple(quotes)))
        cited_ids |= {name for name, _ in pairs if kind != "judgement"}
    faults = [
        f"reference {work['number']} is never cited" for work in works if work["evidence_id"] not in cited_ids
    ]
    if [work["number"] for work in works] != list(range(1, len(works) + 1)):
        faults.append("the references are not numbered from 1 without gaps")
    if len(numbers) < len(works):
        faults.append("a work is listed more than once among the references")
    return bearers, faults


def _bearers(report: Mapping[str, Any]) -> Iterator[tuple[str, CheckedBearer, Sequence[dict[str, str]]]]:
    """Everything that quotes, in the order of the report: what it is called, itself, and what it quotes."""
    sections = report["sections"]
    claims = [claim for part in ("answer", "summary", "mechanism") for claim in report.get(part, [])]
    for section in sections:
        claims += [*section.get("answer", []), *section.get("claims", [])]
    bases = {claim["id"] for claim in claims if not claim.get("rests_on")}
    for claim in claims:
        name, quotes = claim["id"], claim.get("support", [])
        faults = [
            f"rests on claim {n}, which is not in the report"
            for n in claim.get("rests_on", [])
            if n not in bases
        ]
        if not quotes and claim.get("kind") not in ("inference", "background"):
            faults.insert(0, "has no support")
        problems = tuple(f"claim {name} {fault}" for fault in faults)
        yield f"claim {name}", CheckedBearer("claim", name, claim["text"], problems=problems), quotes
    for candidate in report.get("candidates", []):
        name, text = candidate["name"], candidate.get("proposed_mechanism") or candidate.get("mechanism", "")
        kinds = ("support", "against", "records", "safety")
        quotes = [support for kind in kinds for support in candidate.get(kind, [])]
        quotes = list({(quote["evidence_id"], quote["quote"]): quote for quote in quotes}.values())
        problems = () if candidate.get("support") else (f"candidate {name} has no support",)
        yield f"candidate {name}", CheckedBearer("candidate", name, text, problems=problems), quotes
    for conclusion in report.get("conclusions", []):
        quotes = [support for work in conclusion.get("works", []) for support in work.get("support", [])]
        name = conclusion["outcome"]
        yield f"conclusion {name}", CheckedBearer("conclusion", name, conclusion["direction"]), quotes
    for row in report.get("table", {}).get("rows", []):
        name = row["evidence_id"]
        for column, cell in row.get("cells", {}).items():
            label, support = f"{column} of {name}", cell.get("support")
            is_cited = support is not None and support["evidence_id"] == name
            problems = () if is_cited else (f"{label} has no sentence of that work",)
            quotes = [support] if support else []
            yield label, CheckedBearer("cell", name, cell["text"], problems=problems), quotes
    for work in report.get("judgements", []):
        name, finding, quotes = work["evidence_id"], work.get("finding", ""), work.get("support", [])
        if quotes or finding:
            problems = () if quotes else (f"the finding of {name} has no quote",)
            yield f"judgement of {name}", CheckedBearer("judgement", name, finding, problems=problems), quotes


def main() -> int:
    """Say what holds; 0 when everything does, 1 when something does not."""
    folder = Path(__file__).resolve().parent

    def read_file(name: str) -> bytes | None:
        path = (folder / name).resolve()
        return path.read_bytes() if path.is_relative_to(folder) and path.is_file() else None

    quotes = 0
    try:
        names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
        faults = check_sums(names, read_file)
        lines = (folder / "evidence.jsonl").read_text(encoding="utf-8").split("\n")
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        bearers, problems = check_report(report, [json.loads(line) for line in lines if line.strip()])
        faults += [*(fault for bearer in bearers for fault in bearer.faults()), *problems]
        quotes = sum(len(bearer.quotes) for bearer in bearers)
        if not bearers:
            faults.append("there is nothing to check: the report makes no claim")
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        faults = [f"report.json, evidence.jsonl or {SUMS} cannot be read: {error!r}"]
    for text in faults:
        sys.stdout.write(text + "\n")
    counts = ((quotes, "quote"), (len(faults), "problem"))
    summary = ", ".join(f"{number} {name}{'' if number == 1 else 's'}" for number, name in counts)
    sys.stdout.write(f"{summary}\n{UNSEEN}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
