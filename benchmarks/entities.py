"""Precision and recall of drug and disease names from outside the vocabularies' packages.

    python -m benchmarks.entities --recorded FOLDER [--bioasq FILE] [--misses]

`--recorded` is a folder of API responses with `ctgov/*.json` and `openfda/*.json`. What the registries'
fields say is the truth: a study's condition is a disease, an intervention of type DRUG or BIOLOGICAL is a
drug, one of another type (DEVICE, PROCEDURE, BEHAVIORAL ...) is none; a label's generic, brand and substance
names are drugs; a reaction of an adverse event report is a disease or symptom. A name counts as found when an
entity of the kind is linked in it; as a false one when an entity of the kind is linked in a name of another
kind.

`--bioasq` is a BioASQ golden file (`.json` or `.json.gz`): answers to questions that ask for drugs or
diseases. Each is looked up alone, and in the snippets that hold it.

Each list is printed in two halves (by a hash of the name), so that a change made while looking at the misses
of the first (`--misses` prints those of the first only) is judged on the second.
"""

import argparse
import gzip
import hashlib
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

from activities.text.entities import link, prepare

DRUG, DISEASE, OTHER = "drug", "disease", "other"
KINDS = {DRUG: ("drug", "drug_class"), DISEASE: ("disease", "phenotype")}
_NO_DRUG = re.compile(r"placebo|sham|standard of care|usual care|control", re.IGNORECASE)
_NO_NAME = re.compile(
    r"what (?:is|was|are) the (?:cause|incid|phase|alternative|types)|when|how", re.IGNORECASE
)
_ASKS = {
    DRUG: re.compile(r"\b(drugs?|generic name|medications?|which treatments?)\b", re.IGNORECASE),
    DISEASE: re.compile(r"\b(diseases?|which cancer|disorders?|myopathies|triad|symptoms)\b", re.IGNORECASE),
}


def recorded(folder: Path) -> Iterator[tuple[str, str]]:
    """(name, kind) of the fields of recorded responses."""
    for path in sorted(folder.glob("*/*.json")):
        try:
            body = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            continue  # a recorded failure
        yield from _names(body)


def _names(body: object) -> Iterator[tuple[str, str]]:
    if isinstance(body, list):
        for part in body:
            yield from _names(part)
    if not isinstance(body, dict):
        return
    yield from ((name, DISEASE) for name in _texts(body.get("conditions")))
    yield from ((name, DISEASE) for name in _texts(body.get("reactionmeddrapt")))
    for field in ("generic_name", "brand_name", "substance_name", "activesubstancename", "medicinalproduct"):
        yield from ((name, DRUG) for name in _texts(body.get(field)))
    interventions = body.get("interventions")
    for intervention in interventions if isinstance(interventions, list) else []:
        if isinstance(intervention, dict) and "type" in intervention:
            kind = DRUG if intervention["type"] in ("DRUG", "BIOLOGICAL") else OTHER
            if not (kind == DRUG and _NO_DRUG.search(intervention["name"])):
                yield intervention["name"], kind
    for value in body.values():
        yield from _names(value)


def _texts(value: object) -> list[str]:
    """The strings of a field that holds one or a list of them."""
    return [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]


def bioasq(path: Path) -> Iterator[tuple[str, str, list[str]]]:
    """(answer, kind, snippets that hold it) for questions that ask for drugs or diseases."""
    data = path.read_bytes()
    questions = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)["questions"]
    for question in questions:
        kind = next((k for k, pattern in _ASKS.items() if pattern.search(question["body"])), None)
        if kind is None or question["type"] not in ("factoid", "list") or _NO_NAME.match(question["body"]):
            continue
        texts = [snippet["text"] for snippet in question.get("snippets", [])]
        for answer in question["exact_answer"]:
            name = answer[0] if isinstance(answer, list) else answer
            yield name, kind, [text for text in texts if name.casefold() in text.casefold()]


def half(name: str) -> int:
    """0 or 1, by a hash of the name."""
    return hashlib.sha256(name.casefold().encode()).digest()[0] % 2


def found(text: str, kind: str) -> bool:
    """True when an entity of the kind is linked in the text."""
    return any(entity.kind in KINDS[kind] for entity in link(text))


def ratio(part: int, whole: int) -> str:
    """A share with its numbers."""
    return f"{part / whole:5.1%} ({part}/{whole})" if whole else "    - (0)"


def show(title: str, names: list[tuple[str, str]], *, misses: bool) -> None:
    """Print precision and recall for each kind and half."""
    for kind in (DRUG, DISEASE):
        for which in (0, 1):
            own = [(name, k) for name, k in names if half(name) == which]
            right = [name for name, k in own if k == kind and found(name, kind)]
            wrong = [name for name, k in own if k != kind and found(name, kind)]
            missed = [name for name, k in own if k == kind and not found(name, kind)]
            print(
                f"{title:<10} {kind:<8} half {which + 1}: "
                f"recall {ratio(len(right), len(right) + len(missed))}, "
                f"precision {ratio(len(right), len(right) + len(wrong))}"
            )
            if misses and which == 0:
                print("   missed:", "; ".join(missed))
                print("   false: ", "; ".join(wrong))


def main() -> None:
    """Entry of `python -m benchmarks.entities`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recorded", type=Path, help="folder with ctgov/*.json and openfda/*.json")
    parser.add_argument("--bioasq", type=Path, help="a BioASQ golden file")
    parser.add_argument("--misses", action="store_true", help="print the misses of the first half")
    arguments = parser.parse_args()
    start = time.perf_counter()
    prepare()
    print(f"index opened in {time.perf_counter() - start:.2f} s")
    if arguments.recorded:
        show("registries", sorted(set(recorded(arguments.recorded))), misses=arguments.misses)
    if arguments.bioasq:
        answers = list(bioasq(arguments.bioasq))
        show("bioasq", sorted({(name, kind) for name, kind, _ in answers}), misses=arguments.misses)
        for kind in (DRUG, DISEASE):
            held = [(name, text) for name, k, texts in answers if k == kind for text in texts]
            seen = sum(
                any(e.kind in KINDS[kind] and e.surface.casefold() in name.casefold() for e in link(text))
                for name, text in held
            )
            print(f"bioasq     {kind:<8} in the snippets that hold it: {ratio(seen, len(held))}")
        sample = " ".join(text for _, _, texts in answers for text in texts)[:2000]
        start = time.process_time()
        for number in range(20):
            link(f"{sample} {number}")
        print(f"linking 2,000 characters: {(time.process_time() - start) / 20 * 1000:.1f} ms")


if __name__ == "__main__":
    main()
