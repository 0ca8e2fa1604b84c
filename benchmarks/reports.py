"""How a finished report reads, in figures: `python -m benchmarks.reports REPORT.json ...`.

For each report (`determinator report RUN --format json`): words of each chapter; signs of references and of
general knowledge for each 100 words; words before the first sentence of the answer; how often a quote is
printed in each format (one place: 1.0); the share of sentences that lean on another one; sentences that are
printed twice; counts that do not add up; names of fields (`clinical_evidence`) among its words.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import takewhile
from pathlib import Path

from activities.report.formats import MissingExtra, render
from activities.report.formats.blocks import Chapter, Document, Quote, Text
from activities.report.formats.markdown import write
from activities.report.formats.page import document
from activities.report.formats.prose import GENERAL_SIGN
from activities.report.formats.references import words_of
from activities.report.schema import Report
from tests.activities.report.rendered import words_of as text_of

FORMATS = ("md", "html", "docx", "pdf")
MIN_REPEATED_WORDS = 6
"""Words of a sentence from which its second occurrence is a repetition."""
CITATION = r"\[\d+[a-z]*(?:(?:, |\u2013)\d+[a-z]*)*\]"
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
FIELD = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")


def texts(value: object) -> Iterator[str]:
    """The words of blocks as they stand on the page, without quotes that are folded."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Quote):
        return
    elif is_dataclass(value):
        for one in fields(value):
            if one.name not in ("anchor", "url", "svg", "rank", "style", "kind"):
                yield from texts(getattr(value, one.name))
    elif isinstance(value, tuple):
        for entry in value:
            yield from texts(entry)


def words(chapter: Chapter) -> int:
    return len(" ".join(texts(chapter.blocks)).split())


def signs(document_of: Document) -> str:
    """How many signs stand among the words of the chapters that are open, in sentences and in tables."""
    body = [c for c in document_of.chapters if c.kind in ("plain", "answer") and c.anchor != "references"]
    made = Document("", "", (), tuple(body))
    text = re.sub(r"\\\[|\\\]", "", write(made).decode())
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("|"))
    return ", ".join(
        f"{name} {100 * len(re.findall(f'{CITATION}|{GENERAL_SIGN}', part)) / max(len(part.split()), 1):.1f}"
        for name, part in (("all", text), ("outside tables", prose))
    )


def words_before(document_of: Document) -> int:
    """How many words a reader passes before the first sentence of the answer."""
    first = document_of.chapters[0].blocks if document_of.chapters else ()
    before = takewhile(lambda block: not (isinstance(block, Text) and block.is_written), first)
    return len(" ".join(texts((document_of.head, tuple(before)))).split())


def quotes_by_format(report: Report) -> Iterator[str]:
    """How often each quote is printed, on average and at most."""
    quotes = {support.quote for claim in report.sentences() for support in claim.support}
    plain = {" ".join(quote.split()) for quote in quotes}
    for name in FORMATS:
        try:
            text = text_of(report, name)
        except MissingExtra as error:
            yield f"{name}: {error}"
            continue
        counts = [text.count(quote) for quote in plain]
        found = [count for count in counts if count]
        mean = sum(found) / len(found) if found else 0.0
        yield f"{name}: {len(text.split()):,} words, {mean:.2f} times each, at most {max(counts, default=0)}"


def repeated(report: Report) -> list[str]:
    """Sentences that the Markdown prints more than once outside its tables and what it folds."""
    text = FOLDED.sub("", render(report, "md").decode()).rpartition("\n## References")[0]
    lines = [line for line in text.splitlines() if not line.startswith("|")]
    every = [one.strip() for line in lines for one in re.split(rf"(?<=[.!?])(?: {CITATION})? ", line)]
    counts = Counter(words_of(re.sub(CITATION, "", one)) for one in every)
    return [" ".join(key) for key, n in counts.items() if n > 1 and len(key) >= MIN_REPEATED_WORDS]


def wrong_counts(report: Report) -> Iterator[str]:
    """Counts that do not add up."""
    counts, check = report.methodology.counts, report.verification
    if counts.identified != counts.duplicates + counts.screened + counts.not_screened:
        yield f"identified {counts.identified} is not the sum of what became of it"
    if counts.included != len(report.references):
        yield f"included {counts.included}, references {len(report.references)}"
    if check.by_quote + check.by_reader + check.computed < check.verified:
        yield f"{check.verified} sentences stand, {check.by_quote} by quote and {check.by_reader} by reader"


def show(path: Path) -> None:
    report = Report.model_validate_json(path.read_bytes())
    made = document(report, with_pictures=False)
    chapters = made.chapters
    claims = list(report.claims())
    leaning = sum(claim.leans for claim in claims)
    names = sorted(set(FIELD.findall(" ".join(text for one in chapters for text in texts(one.blocks)))))
    print(f"{path.name}: {report.title}")
    rows = {
        "words by chapter": ", ".join(f"{chapter.title} {words(chapter):,}" for chapter in chapters),
        "signs for 100 words": signs(made),
        "words before the answer": str(words_before(made)),
        "quotes": "; ".join(quotes_by_format(report)),
        "sentences that lean on another": f"{leaning} of {len(claims)}",
        "printed twice": repeated(report) or "none",
        "counts that do not add up": list(wrong_counts(report)) or "none",
        "names of fields": names or "none",
    }
    for title, value in rows.items():
        print(f"  {title}: {value if isinstance(value, str) else '; '.join(value)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reports", nargs="+", type=Path)
    for path in parser.parse_args().reports:
        show(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
