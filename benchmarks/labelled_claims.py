"""Claims and sentences that somebody labelled, as the checks of the product see them (evaluation only).

AttributionBench (https://github.com/OSU-NLP-Group/AttributionBench): a claim with the references it was given
with, which are its quotes. WiCE (https://github.com/ryokamoi/wice): a claim of Wikipedia with the page it
cites; `own` rests it on the sentences that annotators chose (their first choice), `page` on the whole page.
Sentences written for this product (`r4`, `r5`): with the work and sentence that each names; a reservation
names none.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from activities.contracts.evidence import Evidence, Support
from benchmarks.corpus import number

_TITLE = re.compile(r"^(?:\(meta data\) )?title:\s*(.+)$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, eq=False)
class Labelled:
    """One sentence, what it rests on, and what its label says."""

    corpus: str
    kind: str
    """The source of the claim, or what was planted; empty for a true sentence."""
    text: str
    label: str
    """`true`, `partly` or `false`."""
    support: tuple[Support, ...]
    works: tuple[Evidence, ...]
    """All works that the writer was shown."""
    question: str = ""
    reservation: bool = False

    @property
    def half(self) -> int:
        """0 or 1, by the text alone."""
        return number("half " + self.text) % 2


def people(folder: Path) -> Iterator[Labelled]:
    """The claims that people labelled."""
    for path in sorted(folder.glob("attributionbench*.jsonl")):
        for row in _rows(path):
            works = tuple(
                Evidence(evidence_id=f"ref:{place}", source="", title=_title(text), text=text)
                for place, text in enumerate(row["references"], 1)
            )
            label = "true" if row["attribution_label"] == "attributable" else "false"
            support = tuple(Support(evidence_id=work.evidence_id, quote=work.text) for work in works)
            kind = row["src_dataset"]
            yield Labelled("AttributionBench", kind, row["claim"], label, support, works, row["question"])
    for path in sorted(folder.glob("wice*.jsonl")):
        for row in _rows(path):
            yield from _wice(row)


def _wice(row: dict[str, Any]) -> Iterator[Labelled]:
    label = {"supported": "true", "partially_supported": "partly"}.get(row["label"], "false")
    lines = row["evidence"]
    page = "\n".join(lines)
    work = Evidence(evidence_id="ref:1", source="", title=_title(page), text=page)
    chosen = row["supporting_sentences"][0]
    text = row["claim"]
    if chosen:
        own = tuple(Support(evidence_id="ref:1", quote=lines[place]) for place in chosen)
        yield Labelled("WiCE, own sentences", "", text, label, own, (work,))
    whole = tuple(Support(evidence_id="ref:1", quote=one) for one in lines)
    yield Labelled("WiCE, whole page", "", text, label, whole, (work,))


def written(folder: Path) -> Iterator[Labelled]:
    """The sentences that a strong model wrote, true ones and planted lies."""
    for path in sorted(folder.glob("*.jsonl")):
        prompts = json.loads(path.with_suffix(".works.json").read_text("utf-8"))
        for row in _rows(path):
            prompt = prompts[str(row["prompt"])]
            works = tuple(
                Evidence(
                    evidence_id=name,
                    source="",
                    title=work["title"],
                    text=" ".join(work["sentences"]),
                )
                for name, work in prompt["works"].items()
            )
            support = tuple(
                Support(evidence_id=one["work"], quote=one["sentence"]) for one in row["rests_on"]
            )
            label = "true" if row["true"] else "false"
            yield Labelled(
                path.stem,
                row["lie"],
                row["text"],
                label,
                support,
                works,
                prompt["question"],
                row["where"] == "reservation",
            )


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip())


def _title(text: str) -> str:
    found = _TITLE.search(text)
    return found[1].strip() if found else ""
