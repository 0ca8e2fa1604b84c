"""The design, participants and intervals that the table of works gives, against a reading by hand.

    python -m benchmarks.study_designs [--half choosing|held-out] [--without-terms] [--misses]

`study_designs.jsonl` has eighty abstracts of the sample in the order of the SHA-256 of `study design:` and
the PMID, without those of `study_facts.jsonl`. They were read before the rules; every other one is held out.
`design` is what a reader would call the study, `also` what another reader could call it; `n` has the numbers
that a table may give for the participants, `effects` the estimates that stand with an interval, `year` the
year of the record.

`--without-terms` removes the indexing terms, as from a record that has none. The grade is that of
`activities.report.strength` for the type of evidence, against that of the labelled designs.
"""

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import JsonValue, TypeAdapter

from activities.report.strength import grade_of
from activities.report.works import work_rows
from activities.sources.library.records import read_record
from activities.types import Evidence, EvidenceType, Grade, WorkRow
from activities.verification.quote_check import QuoteChecker
from benchmarks.study_facts import SAMPLE

GOLD = Path(__file__).with_name("study_designs.jsonl")
Design = Literal[
    "randomized trial",
    "non-randomized trial",
    "cohort",
    "case-control",
    "cross-sectional",
    "case series",
    "systematic review",
    "review",
    "animal or laboratory",
    "other",
]
OF_WORDS: tuple[tuple[Design, str], ...] = (
    ("systematic review", r"systematic|meta-?analys"),
    ("non-randomized trial", r"non-?random|not random|quasi-experiment"),
    ("randomized trial", r"\brandom|\brct\b"),
    ("case-control", r"case[- ]control|case-referent"),
    ("cross-sectional", r"cross-?sectional|survey|questionnaire|prevalence"),
    ("case series", r"case (?:report|series)|\bcases? report"),
    ("animal or laboratory", r"preclinical|animal|in vitro|laborator"),
    (
        "cohort",
        r"cohort|retrospective|prospective|observational|longitudinal|follow-?up|registry|record|chart",
    ),
    ("review", r"review"),
    ("non-randomized trial", r"trial|controlled"),
)
"""The first of these words in what the table prints decides; `other` where there is none."""
KINDS: dict[Design, EvidenceType] = {
    "randomized trial": "randomized_trial",
    "non-randomized trial": "clinical_trial",
    "cohort": "observational",
    "case-control": "observational",
    "cross-sectional": "observational",
    "case series": "case_report",
    "systematic review": "systematic_review",
    "review": "review",
    "animal or laboratory": "preclinical",
    "other": "article",
}


class Label(NamedTuple):
    """One abstract as read by hand."""

    pmid: str
    half: Literal["choosing", "held-out"]
    design: Design
    also: tuple[Design, ...]
    n: tuple[int, ...]
    year: int | None
    effects: tuple[str, ...]

    @property
    def designs(self) -> tuple[Design, ...]:
        return (self.design, *self.also)

    @property
    def grades(self) -> set[Grade]:
        return {grade_of(KINDS[design]) for design in self.designs}


def labels() -> list[Label]:
    """The labelled abstracts, in the order of their hashes."""
    known = TypeAdapter(dict[str, JsonValue])
    rows = map(known.validate_json, GOLD.read_text().splitlines())
    return [TypeAdapter(Label).validate_python(row) for row in rows]


def works(pmids: set[str], without_terms: bool) -> Iterator[Evidence]:
    """The works of the sample with these PMIDs."""
    with gzip.open(SAMPLE, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            if record["pmid"] in pmids:
                kept = {key: value for key, value in record.items() if key != "mesh" or not without_terms}
                yield read_record(kept, "sample")


def class_of(words: str) -> Design:
    """The class of a design as the table prints it."""
    return next((name for name, form in OF_WORDS if re.search(form, words, re.IGNORECASE)), "other")


def holds(number: str, estimate: str) -> bool:
    """Whether a printed effect begins with an estimate, and has an interval."""
    return bool(re.search(rf"(?<![\d.]){re.escape(estimate)}(?!\d)", number.replace("·", "."))) and bool(
        re.search(r"\d\s*%?\s*(?:to|-|\u2013|,|;)\s*\d", number)
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--half", choices=("choosing", "held-out"), default="held-out")
    options.add_argument("--without-terms", action="store_true")
    options.add_argument("--misses", action="store_true")
    chosen = options.parse_args()
    gold = {label.pmid: label for label in labels() if label.half == chosen.half}
    read = list(works(set(gold), chosen.without_terms))
    rows = work_rows((), read, QuoteChecker({work.evidence_id: work for work in read}))
    counts, confused = Counter[str](), Counter[str]()
    for work, row in zip(read, rows, strict=True):
        label = gold[work.identifiers.pmid or ""]
        _count(counts, confused, label, work, row, chosen.misses)
    print(f"{len(read)} works, half: {chosen.half}")
    for name, part, whole in (
        ("design as labelled", "design", "works"),
        ("design, or another reader's", "design or also", "works"),
        ("design said to be other than any reader's", "wrong", "works"),
        ("n precision", "n right", "n given"),
        ("n recall", "n found", "n stated"),
        ("year", "year", "year stated"),
        ("intervals recall", "effects found", "effects stated"),
        ("intervals precision", "intervals right", "intervals given"),
        ("grade as labelled", "grade", "works"),
    ):
        share = f"{counts[part] / counts[whole]:.0%}" if counts[whole] else "-"
        print(f"{name:44} {share:>5} ({counts[part]}/{counts[whole]})")
    for pair, count in confused.most_common():
        print(f"    {count:3} {pair}")


def _count(
    counts: Counter[str], confused: Counter[str], label: Label, work: Evidence, row: WorkRow, misses: bool
) -> None:
    said, grade = class_of(row.design), grade_of(work.evidence_type)
    right = said in label.designs
    counts.update(("works", *["design"] * (said == label.design), *["design or also"] * right))
    counts["wrong"] += not right and said != "other"
    counts["grade"] += grade in label.grades
    if not right:
        confused[f"{label.design} read as {said}"] += 1
    if grade not in label.grades:
        confused[f"{label.design} graded {grade}"] += 1
    counts["n stated"] += bool(label.n)
    counts["n given"] += row.n is not None
    counts["n right"] += row.n in label.n
    counts["n found"] += row.n in label.n
    counts["year stated"] += label.year is not None
    counts["year"] += label.year is not None and row.year == label.year
    found = [e for e in label.effects if any(holds(number, e) for number in row.numbers)]
    counts["effects stated"] += len(label.effects)
    counts["effects found"] += len(found)
    given = [n for n in row.numbers if re.search(r"\bCI|interval", n)]
    good = [n for n in given if any(holds(n, e) for e in label.effects)]
    counts["intervals given"] += len(given)
    counts["intervals right"] += len(good)
    wrong_n = row.n not in label.n if label.n or row.n else False
    if misses and (not right or wrong_n or len(good) < len(given) or grade not in label.grades):
        print(f"{label.pmid} {work.title[:90]}")
        print(f"    printed {row.design!r} ({work.evidence_type}, {work.facts.get('evidence_type_from')})")
        print(f"    labelled {label.designs}, n {label.n} read {row.n}, intervals {given} of {label.effects}")


if __name__ == "__main__":
    main()
