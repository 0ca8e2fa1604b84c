"""What the table of works says of a study, against a reading by hand: precision and recall by field.

    python -m benchmarks.study_facts [--misses] [--others COUNT]

`study_facts.jsonl` has abstracts of the sample, chosen by a hash of their PMID and read by hand before
the rules were written: for each field, the words or numbers of which a right value contains one (of a
comparison, one for each side); an empty list where the abstract does not state the field. A value is right
when it contains one of them; precision counts every value, recall every work that states the field. Places
that are not in their work are counted too.

`--others` prints what is read from that many works which nobody has read by hand, to look at while changing
the rules: those of the gold list are then not looked at.
"""

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from activities.sources.library.records import read_record
from activities.text.study_facts import Fact, read_facts
from activities.types import Evidence
from activities.verification.quote_check import normalise

GOLD = Path(__file__).with_name("study_facts.jsonl")
SAMPLE = Path(__file__).parents[1] / "activities/sources/sample/documents/pubmedqa.jsonl.gz"
FIELDS = ("design", "n", "population", "comparison", "outcome", "effects")
FILLED = 100
"""Works that nobody has read in which filled fields are counted."""
Gold = Mapping[str, JsonValue]


def works() -> Iterator[Evidence]:
    """The bundled abstracts."""
    with gzip.open(SAMPLE, "rt", encoding="utf-8") as lines:
        yield from (read_record(json.loads(line), "sample") for line in lines)


def is_right(field: str, value: str, gold: Sequence[JsonValue]) -> bool:
    """Whether a value contains what the reading by hand asks of it."""
    plain = normalise(value).casefold()
    if field == "n":
        return int(value) in gold
    if field == "comparison":
        return bool(gold) and all(any(_holds(plain, word) for word in side) for side in gold)  # type: ignore[union-attr]  # a list of lists
    if field == "effects":
        return any(re.search(rf"(?<![\d.]){re.escape(str(number).lower())}(?!\d)", plain) for number in gold)
    return any(_holds(plain, word) for word in gold)


def _holds(plain: str, word: JsonValue) -> bool:
    return str(word).casefold() in plain


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--misses", action="store_true")
    options.add_argument("--others", type=int, default=0)
    options.add_argument("--skip", type=int, default=0, help="others to leave out before the first")
    chosen = options.parse_args()
    gold: dict[str, Gold] = {row["pmid"]: row for row in map(json.loads, GOLD.read_text().splitlines())}
    filled, others = Counter[str](), 0
    values, right, stated, found, displaced = (Counter[str]() for _ in range(5))
    for work in works():
        pmid = work.identifiers.pmid or ""
        if pmid not in gold and others >= chosen.skip + max(chosen.others, FILLED):
            continue
        facts = read_facts(work)
        if pmid not in gold:
            others += 1
            filled.update(name for name in FIELDS if facts.get(name))
            if chosen.skip < others <= chosen.skip + chosen.others:
                _show(work, facts)
            continue
        whole = normalise(f"{work.title}\n{work.text}")
        for name in FIELDS:
            wanted = gold[pmid][name]
            assert isinstance(wanted, list)
            said = facts.get(name, ())
            good = [fact for fact in said if is_right(name, fact.text, wanted)]
            values[name] += len(said)
            right[name] += len(good)
            stated[name] += bool(wanted)
            found[name] += bool(good)
            displaced[name] += sum(normalise(fact.place) not in whole for fact in said)
            if chosen.misses and (len(good) < len(said) or (wanted and not good)):
                print(f"{pmid} {name}: read {[f.text for f in said]}, wanted {wanted}")
    print(f"{'field':12} {'precision':>16} {'recall':>14} {'not in the work':>16} {'filled elsewhere':>17}")
    for name in FIELDS:
        print(
            f"{name:12} {_share(right[name], values[name]):>16} {_share(found[name], stated[name]):>14} "
            f"{displaced[name]:>16} {filled[name] / max(others, 1):>17.0%}"
        )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%} ({part}/{whole})" if whole else "-"


def _show(work: Evidence, facts: Mapping[str, Sequence[Fact]]) -> None:
    print(f"{work.identifiers.pmid} {work.title}")
    for name in FIELDS:
        for fact in facts.get(name, ()):
            print(f"    {name}: {fact.text}")


if __name__ == "__main__":
    main()
