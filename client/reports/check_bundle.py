"""Checks an exported report with nothing but Python 3.11: the files' sums, and every quote.

Put beside `report.json` and `evidence.jsonl` by `determinator export`; run it as `python check.py`. It
holds to the same rules of quotes and retractions as `determinator verify`, which also checks the numbering
and that the text says no more than the claims.
"""

import hashlib
import json
import sys
from pathlib import Path

from activities.verification.normal_form import normalise, occurs


def check_sums(folder: Path) -> list[str]:
    """Files that are not what they were when they were exported."""
    wrong = []
    for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, name = line.split("  ", 1)
        path = folder / name
        if not path.is_file():
            wrong.append(f"{name} is missing")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            wrong.append(f"{name} is not the file that was exported")
    return wrong


def check_quotes(folder: Path) -> tuple[int, list[str]]:
    """How many quotes there are, and those that are not in the text of the item they are attributed to."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    lines = (folder / "evidence.jsonl").read_text(encoding="utf-8").split("\n")
    items = [json.loads(line) for line in filter(None, lines)]
    retracted = {item["evidence_id"] for item in items if item.get("standing") == "retracted"}
    retracted |= {work["evidence_id"] for work in report["references"] if work["standing"] == "retracted"}
    texts = {item["evidence_id"]: normalise(item["text"]) for item in items}
    sections = report["sections"]
    claims = [*report["answer"], *report["summary"], *report["mechanism"]]
    claims += [claim for section in sections for claim in [*section["answer"], *section["claims"]]]
    bearers = [(claim["id"], claim) for claim in claims]
    bearers += [(candidate["name"], candidate) for candidate in report["candidates"]]
    bearers += [(f"judgement of {work['evidence_id']}", work) for work in report["judgements"]]
    for row in report["table"]["rows"]:
        for column, cell in row["cells"].items():
            bearers.append((f"{column} of {row['evidence_id']}", {"support": [cell["support"]]}))
    for passage in [passage for section in sections for passage in section["related"]]:
        name = passage["evidence_id"]
        quotes = [{"evidence_id": name, "quote": quote} for quote in passage["quotes"]]
        bearers.append((f"passage of {name}", {"support": quotes}))
    count, wrong = 0, []
    for name, bearer in bearers:
        for support in [*bearer["support"], *bearer.get("against", ()), *bearer.get("records", ())]:
            count += 1
            cited = support["evidence_id"]
            if not occurs(normalise(support["quote"]), texts.get(cited, "")):
                wrong.append(f"{name}: not in the text of {cited}: {support['quote']}")
            elif cited in retracted:
                wrong.append(f"{name} rests on {cited}, which is retracted")
    return count, wrong


def main() -> int:
    """Say what holds; 0 when everything does, 1 when something does not."""
    folder = Path(__file__).resolve().parent
    count, wrong = check_quotes(folder)
    wrong = check_sums(folder) + wrong
    for problem in wrong:
        sys.stdout.write(problem + "\n")
    sys.stdout.write(f"{count} quotes, {len(wrong)} problems\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
