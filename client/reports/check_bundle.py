"""Checks an exported report with nothing but Python 3.11: the files' sums, and every quote.

Put beside `report.json` and `evidence.jsonl` by `determinator export`; run it as `python check.py`. It is
written apart from the program that made the report, so that neither has to be trusted for the other.
`determinator verify` checks more: whole words, numbering, retractions, and that the text says no more than
the claims.
"""

import hashlib
import json
import sys
import unicodedata
from pathlib import Path

LEAST_CHARS = 25
PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u2039\u203a\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58", "-"),
    }
)


def plain(text: str) -> str:
    """Compatibility forms, white space, quotation marks and dashes made one; case kept."""
    return " ".join(unicodedata.normalize("NFKC", text).translate(PLAIN).split())


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
    texts = {item["evidence_id"]: plain(item["text"]) for item in map(json.loads, filter(None, lines))}
    bearers = [(claim["id"], claim) for section in report["sections"] for claim in section["claims"]]
    bearers += [(candidate["name"], candidate) for candidate in report["candidates"]]
    for place, passage in enumerate(report.get("near", ()), start=1):  # quoted in place of an answer
        near = {"evidence_id": passage["work"]["evidence_id"], "quote": passage["quote"]}
        bearers.append((f"near {place}", {"support": [near]}))
    count, wrong = 0, []
    for name, bearer in bearers:
        for support in [*bearer["support"], *bearer.get("against", ()), *bearer.get("records", ())]:
            count += 1
            quote = plain(support["quote"])
            if len(quote) < LEAST_CHARS or quote not in texts.get(support["evidence_id"], ""):
                wrong.append(f"{name}: not in the text of {support['evidence_id']}: {support['quote']}")
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
