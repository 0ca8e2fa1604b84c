"""The questions of PubMedQA, with the abstract that answers each, from its own file or the bundled sample."""

import gzip
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SAMPLE = Path(__file__).parents[1] / "activities" / "sources" / "sample" / "documents" / "pubmedqa.jsonl.gz"
_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_SPELLED = re.compile(
    r"aemi|haem|oedem|oesoph|oestr|paedi|anaest|isation|ising\b|umour|aviour|olour|rrhoea|gynaec"
)
_AMERICAN = re.compile(
    r"(?<=[a-z])emi(?=[ac])|\bhem(?=[ao])|\bedem|\besoph|\bestr(?=og)|\bpedi(?=a)|anesth|ization|izing\b|"
    r"umor|avior|rrhea|gynec"
)
_BRITISH = {
    "emi": "aemi", "hem": "haem", "edem": "oedem", "esoph": "oesoph", "estr": "oestr", "pedi": "paedi",
    "anesth": "anaesth", "ization": "isation", "izing": "ising", "umor": "umour", "avior": "aviour",
    "rrhea": "rrhoea", "gynec": "gynaec",
}  # fmt: skip
_TO_AMERICAN = {british: american for american, british in _BRITISH.items()} | {
    "anaest": "anest", "olour": "olor",
}  # fmt: skip


@dataclass(frozen=True)
class Item:
    """One question of a corpus and the document that answers it."""

    identity: str
    question: str
    abstract: str
    conclusion: str
    year: int | None
    mesh: tuple[str, ...]
    label: str
    """`yes`, `no`, `maybe`; empty where the corpus does not say."""


def number(text: str) -> int:
    """A number that follows from a text alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def words(text: str) -> list[str]:
    """The words of a text as they stand."""
    return _WORD.findall(text)


def respelled(item: Item) -> str:
    """American spelling made British, or the other way round."""
    text = item.question
    if _SPELLED.search(text):
        return _SPELLED.sub(lambda m: _TO_AMERICAN.get(m.group(), m.group()), text)
    return _AMERICAN.sub(lambda m: _BRITISH.get(m.group(), m.group()), text)


def load(path: Path) -> list[Item]:
    """The questions of PubMedQA's own file, or of the bundled sample."""
    return _of_pubmedqa(path, _text(path))


def _text(path: Path) -> str:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read()


def _of_pubmedqa(path: Path, text: str) -> list[Item]:
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        return [_of_sample(json.loads(line)) for line in text.split("\n") if line]
    return [
        Item(
            identity=f"pmid:{pmid}",
            question=record["QUESTION"].strip(),
            abstract="\n\n".join(
                f"{label}: {said}"
                for label, said in zip(
                    (*record["LABELS"], "CONCLUSIONS"),
                    (*record["CONTEXTS"], record["LONG_ANSWER"]),
                    strict=True,
                )
            ),
            conclusion=record["LONG_ANSWER"],
            year=int(record["YEAR"]) if record.get("YEAR") else None,
            mesh=tuple(record["MESHES"]),
            label=record.get("final_decision", ""),
        )
        for pmid, record in sorted(json.loads(text).items())
    ]


def _of_sample(record: dict[str, str]) -> Item:
    return Item(
        identity=f"pmid:{record['pmid']}",
        question=record["title"],
        abstract=record["abstract"],
        conclusion=record["abstract"].rsplit("CONCLUSIONS: ", 1)[-1],
        year=int(record["year"]) if record.get("year") else None,
        mesh=tuple(record.get("mesh", ())),
        label="",
    )


def half(items: Iterable[Item], name: str) -> list[Item]:
    """The items of a half, in an order that follows from their ids."""
    ordered = sorted(items, key=lambda i: number(i.identity))
    parity = {"choosing": 0, "held-out": 1}.get(name)
    return [i for i in ordered if parity is None or number("half " + i.identity) % 2 == parity]
