"""Does the back end without a model find the right passage, and show what a work does not mention?

    python -m benchmarks.passages [--set hidden|own|reworded|exchanged|things|pairs|everyday ...]
                                  [--bioasq FILE] [--limit N] [--seed TEXT] [--misses] [--encoded]
                                  [--vectors FILE]

Everything is asked as a user's run asks it: the library is searched with the question, and the passages are
written from what was found. Counted strictly the right passage is under Findings, loosely it is on the page.
With --encoded a library is encoded whole before it is asked, as it is some minutes after a first question.

    hidden      the question (title) of each abstract of the bundled sample, over abstracts without titles
    own         `own_words*.tsv`: questions in a person's own words over the bundled sample
    reworded    the same questions with one word replaced by a synonym, another order, or an abbreviation or
                its long form, over abstracts with titles
    exchanged   one name replaced by one of the same kind from another question, which the work does not have:
                the work stands below and not under Findings. Beside it the share of right works, for the
                questions as they are, of which is said that they do not use a word
    things      `exchanged_things*.tsv`: a question about a work, and the same with its thing exchanged for
                one that no work of the sample has with it: the work is not under Findings, and nothing is
    pairs       two wordings of one question: more than half of the first five works are the same, and how
                many are on average; of `PAIRS`, and of `wordings.tsv`, on which the ranking was chosen
    everyday    `everyday.jsonl`, a folder of documents of everyday kinds with a user's questions: the
                sentence with the answer is quoted among the first three passages
    --bioasq    questions of a BioASQ golden file over its snippets, of which those of one document make a
                text: nDCG@10 of the library's search, by words alone, by the encoder alone and by both, and
                whether a right document is among the first three passages

Files whose name ends in `held_out` or `fresh` were written before the last changes were made and were not
looked into for them. Names were chosen on some of the abstracts whose PMID has an even digest; `odd` are the
others alone. With another --seed other names and words are exchanged than those that thresholds were chosen
on.
"""

import argparse
import gzip
import hashlib
import json
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any

from activities.contracts.evidence import Evidence
from activities.contracts.write import Passage, SectionDraft, WriteInput
from activities.extractive.passages import write
from activities.profiles.loader import load_profile
from activities.sources.library import SAMPLE
from activities.sources.library.index import Libraries, LibraryIndex
from activities.text import ranking, thesaurus
from activities.text.embeddings import keep_in
from activities.text.entities import abbreviations, of_kind, resolve, same

FOUND = 20
"""Works that a search gives the writer."""
FIRST = 3
HERE = Path(__file__).parent
EVERYDAY = {"everyday": HERE / "everyday.jsonl", "everyday, fresh": HERE / "everyday_fresh.jsonl"}
OWN_WORDS = {
    "own words": HERE / "own_words.tsv",
    "own words, held out": HERE / "own_words_held_out.tsv",
    "own words, fresh": HERE / "own_words_fresh.tsv",
}
WORDINGS = {"chosen on": HERE / "wordings.tsv", "fresh": HERE / "wordings_fresh.tsv"}
THINGS = {"things": HERE / "exchanged_things.tsv", "things, fresh": HERE / "exchanged_things_fresh.tsv"}
PAIRS = (
    (
        "Is laparoscopic surgery as safe as open surgery?",
        "Do laparoscopic operations have more complications?",
    ),
    (
        "What predicts survival in prostate cancer?",
        "Which factors determine how long men with prostate cancer live?",
    ),
    (
        "How are stroke patients rehabilitated?",
        "Rehabilitation of people after a cerebrovascular accident",
    ),
    (
        "Does breast cancer screening by mammography help?",
        "What is the use of mammograms for detecting breast tumours?",
    ),
    (
        "Does smoking harm the lungs?",
        "Pulmonary damage of smokers",
    ),
    (
        "Is ultrasound able to diagnose appendicitis?",
        "How accurate is sonography for acute appendicitis?",
    ),
    (
        "Is quality of life impaired after a heart attack?",
        "How well do people live after a myocardial infarction?",
    ),
    (
        "What happens to the kidneys of diabetics?",
        "Renal complications of diabetes mellitus",
    ),
    (
        "Is depression frequent in old people?",
        "How common are depressive symptoms among the elderly?",
    ),
    (
        "Does obesity in children come from their parents?",
        "Are overweight parents a cause of childhood obesity?",
    ),
    (
        "Do caesarean sections harm the newborn?",
        "Risks of cesarean delivery for neonates",
    ),
    (
        "How do I treat high blood pressure?",
        "Treatment of hypertension",
    ),
)
_WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")


@dataclass(frozen=True)
class Asked:
    """One question over one library."""

    question: str
    right: frozenset[str]
    """Evidence ids."""
    said: str = ""
    """Words of the sentence that answers."""


Ask = Callable[[str], SectionDraft]


ENCODED_SECONDS = 3_600
"""How long a library is waited for."""


def asker(index: LibraryIndex, profile: str = "biomedical", *, encoded: bool = False) -> Ask:
    """What a run without a model does for one question. `encoded`: of a library that is encoded whole."""
    chosen = load_profile(profile)
    if encoded and index.encoding is not None:
        index.encoding.start()
        index.encoding.wait(ENCODED_SECONDS)

    def ask(question: str) -> SectionDraft:
        found, _ = index.search(question, FOUND)
        return write(
            WriteInput(run_id="benchmark", question=question, profile=chosen), [f.document for f in found]
        )

    return ask


def shown(draft: SectionDraft) -> list[str]:
    """Evidence ids in the order of the page."""
    return [passage.evidence_id for passage in (*draft.passages, *draft.related)]


def is_finding(draft: SectionDraft, asked: Asked) -> bool:
    """Whether the right work, and the right sentence where it is known, is under Findings."""
    return _is_among(draft.passages, asked)


def is_shown(draft: SectionDraft, asked: Asked) -> bool:
    """Whether it is anywhere on the page."""
    return _is_among((*draft.passages, *draft.related), asked)


def is_first(draft: SectionDraft, asked: Asked) -> bool:
    """Whether it is among the first three passages."""
    return _is_among((*draft.passages, *draft.related)[:FIRST], asked)


def _is_among(passages: Sequence[Passage], asked: Asked) -> bool:
    return any(
        passage.evidence_id in asked.right
        and asked.said in " ".join(" ".join((*passage.quotes, passage.before, passage.after)).split())
        for passage in passages
    )


def ndcg(ranked: Sequence[str], right: frozenset[str], depth: int = 10) -> float:
    """Normalised discounted cumulative gain of ids (K. Jarvelin and J. Kekalainen, ACM TOIS 2002)."""
    gained = sum(1 / log2(place + 2) for place, name in enumerate(ranked[:depth]) if name in right)
    return gained / sum(1 / log2(place + 2) for place in range(min(depth, len(right))))


def digest(text: str) -> int:
    """A number that follows from a text alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def library(folder: Path, documents: Sequence[Evidence], *, titled: bool) -> LibraryIndex:
    """A user's folder of these documents."""
    folder.mkdir(parents=True)
    rows = [{"id": d.evidence_id, "title": d.title if titled else "", "abstract": d.text} for d in documents]
    (folder / "records.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return Libraries(folder.parent / "cache").open(folder)


def by_text(index: LibraryIndex) -> dict[str, str]:
    """Text of a document -> its id in the library."""
    return {" ".join(document.text.split()): document.evidence_id for document in index.documents}


def reworded(document: Evidence, seed: str) -> Iterator[str]:
    """The question in other words, by each way that applies."""
    question = document.title
    for short, long in abbreviations(document.text).items():
        for one, other in ((long, short), (short, long)):
            if re.search(rf"\b{re.escape(one)}\b", question):
                yield re.sub(rf"\b{re.escape(one)}\b", other, question, count=1)
    if match := re.fullmatch(r"([^:?]{10,}): ([^:?]{10,})\?", question):
        yield f"{match[2]} ({match[1]})?"
    for word in sorted(_WORD.findall(question), key=lambda w: digest(seed + question + w)):
        others = sorted(thesaurus.synonyms(word.casefold(), mostly=True))
        others = [o for o in others if o[:5] != word.casefold()[:5] and len(o) > 3]
        if thesaurus.mostly_noun(word) and others:
            yield question.replace(word, others[digest(seed + question + word) % len(others)])
            return


def exchanged(document: Evidence, others: Sequence[Evidence], seed: str) -> str | None:
    """The question with one name of it replaced by one of the same kind, which the work does not have."""
    whole = f"{document.title} {document.text}".casefold()
    for entity in of_kind(
        document.title, ("drug", "disease", "phenotype", "drug_class", "protein", "chemical")
    ):
        if whole.count(entity.surface.casefold()[:6]) < 2:
            continue  # the work is not about it
        for other in sorted(others, key=lambda d: digest(seed + document.evidence_id + d.evidence_id)):
            for given in of_kind(other.title, (entity.kind,)):
                known = {name.casefold()[:6] for name in (given.surface, given.name, *given.synonyms)}
                another = resolve(given.surface) and not same(given.surface, entity.surface)
                if another and not any(name in whole for name in known):
                    return document.title.replace(entity.surface, given.surface)
    return None


def sample() -> list[Evidence]:
    """The bundled abstracts."""
    with tempfile.TemporaryDirectory() as folder:
        return list(Libraries(Path(folder)).open(SAMPLE).documents)


class Report:
    """Counts, and what was missed."""

    def __init__(self, *, misses: bool, encoded: bool = False) -> None:
        self._misses = misses
        self.encoded = encoded

    def asker(self, index: LibraryIndex, profile: str = "biomedical") -> Ask:
        """See `asker`."""
        return asker(index, profile, encoded=self.encoded)

    def passages(self, name: str, asked: Sequence[tuple[SectionDraft, Asked]], goals: Sequence[str]) -> None:
        """The right passage under Findings, on the page, and among the first three."""
        for what, goal, test in zip(
            ("under Findings", "on the page", "among the first three"),
            goals,
            (is_finding, is_shown, is_first),
            strict=True,
        ):
            self.row(f"{name}, {what}", [(one.question, test(draft, one)) for draft, one in asked], goal)

    def row(self, name: str, results: Sequence[tuple[str, bool]], goal: str, *, wrong: bool = False) -> None:
        """One figure. `wrong`: what is counted is missed."""
        good = sum(right for _, right in results)
        print(
            f"{name:36} {good / max(len(results), 1):6.1%}  ({good}/{len(results)}; wanted {goal})",
            flush=True,
        )
        for question, right in results if self._misses else ():
            if right == wrong:
                print(f"    {question}")


def over_sample(report: Report, sets: Sequence[str], folder: Path, limit: int, seed: str) -> None:
    """The sets made of the bundled sample."""
    documents = sample()
    chosen = sorted(documents, key=lambda d: digest(d.evidence_id))[:limit]
    odd = {d.evidence_id for d in documents if digest(d.evidence_id) % 2}
    for name in sets:
        index = library(folder / name, documents, titled=name != "hidden")
        ids, ask = by_text(index), report.asker(index)
        asked: list[tuple[SectionDraft, Asked]] = []
        held: list[tuple[SectionDraft, Asked]] = []
        right_works: list[tuple[SectionDraft, Asked]] = []
        for document in chosen:
            right = frozenset({ids[" ".join(document.text.split())]})
            questions = (
                [document.title]
                if name == "hidden"
                else list(reworded(document, seed))
                if name == "reworded"
                else [text for text in (exchanged(document, documents, seed),) if text]
            )
            for question in questions:
                one = ask(question), Asked(question, right)
                asked.append(one)
                if document.evidence_id in odd:
                    held.append(one)
            if name == "exchanged" and questions:
                right_works.append((ask(document.title), Asked(document.title, right)))
        for title, rows in ((name, asked), (f"{name}, odd", held)):
            if name == "exchanged":
                report.row(
                    f"{title}, not under Findings",
                    [(one.question, not is_finding(draft, one)) for draft, one in rows],
                    "85 %",
                )
            else:
                report.passages(title, rows, ("90 %", "95 %", "95 %"))
        if name == "exchanged":
            report.row(
                "right works said to lack a word",
                [(one.question, lacks(draft, one)) for draft, one in right_works],
                "at most 5 %",
                wrong=True,
            )


def lacks(draft: SectionDraft, asked: Asked) -> bool:
    """Whether the page says of a right work that it does not use a word of the question."""
    return any(p.lacks for p in (*draft.passages, *draft.related) if p.evidence_id in asked.right)


def rows_of(file: Path) -> list[list[str]]:
    """The rows of a file of tab-separated values."""
    return [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()]


def over_things(report: Report, folder: Path) -> None:
    """Questions whose thing is exchanged for one that the work does not have, and the same with its own."""
    documents = sample()
    index = library(folder / "things", documents, titled=True)
    ids, ask = by_text(index), report.asker(index)
    by_id = {d.evidence_id: ids[" ".join(d.text.split())] for d in documents}
    for title, file in THINGS.items():
        rows = [(frozenset({by_id[name]}), own, other) for name, own, other in rows_of(file)]
        own = [(ask(question), Asked(question, right)) for right, question, _ in rows]
        other = [(ask(question), Asked(question, right)) for right, _, question in rows]
        for name, results in (
            ("own, under Findings", [(a.question, is_finding(d, a)) for d, a in own]),
            ("exchanged, not there", [(a.question, not is_finding(d, a)) for d, a in other]),
            ("exchanged, no Findings", [(a.question, not d.passages) for d, a in other]),
        ):
            report.row(f"{title}, {name}", results, "85 %")


def over_own_words(report: Report, folder: Path, limit: int) -> None:
    """Questions in a person's own words over the bundled sample."""
    documents = sample()
    index = library(folder / "own", documents, titled=True)
    ids, ask = by_text(index), report.asker(index)
    by_id = {d.evidence_id: ids[" ".join(d.text.split())] for d in documents}
    for title, file in OWN_WORDS.items():
        rows = rows_of(file)[:limit]
        asked = [(ask(question), Asked(question, frozenset({by_id[name]}))) for name, question in rows]
        report.passages(title, asked, ("85 %", "95 %", "85 %"))
        report.row(
            "right works said to lack a word",
            [(one.question, lacks(draft, one)) for draft, one in asked],
            "at most 5 %",
            wrong=True,
        )


def over_pairs(report: Report, folder: Path) -> None:
    """Two wordings of one question, over the bundled sample."""
    ask = report.asker(library(folder / "pairs", sample(), titled=True))
    every: dict[str, Sequence[Sequence[str]]] = {"with mostly the same works": PAIRS}
    every |= {name: rows_of(file) for name, file in WORDINGS.items()}
    for name, pairs in every.items():
        results, shares = [], []
        for one, other in pairs:
            first, second = (shown(ask(text))[:5] for text in (one, other))
            same, least = len(set(first) & set(second)), min(len(first), len(second))
            results.append((f"{one} | {other}", 2 * same > least))
            shares.append(same / 5)
        report.row(f"pairs, {name}", results, "most")
        print(f"    {sum(shares) / len(shares):.0%} of the first five are the same")


def over_everyday(report: Report, folder: Path) -> None:
    """Folders of a user's documents."""
    for name, file in EVERYDAY.items():
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        own = folder / name / "papers"
        own.mkdir(parents=True)
        for row in rows:
            (own / row["file"]).write_text(row["text"], encoding="utf-8")
        index = Libraries(folder / name / "cache").open(own)
        ask = report.asker(index, "general")
        asked = []
        for row in rows:
            for one in row["asked"]:
                question, said = one["question"], one["said"]
                right = frozenset(d.evidence_id for d in index.documents if said in " ".join(d.text.split()))
                asked.append((ask(question), Asked(question, right, said)))
        report.passages(name, asked, ("80 %", "80 %", "80 %"))


def over_bioasq(report: Report, folder: Path, file: Path, limit: int) -> None:
    """Questions of a BioASQ file over its snippets."""
    with gzip.open(file) as stream:
        questions: list[dict[str, Any]] = json.load(stream)["questions"]
    texts: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for question in questions:
        for snippet in question["snippets"]:
            texts[snippet["document"]][snippet["text"]] = None
    whole = {name: " ".join(parts) for name, parts in texts.items()}
    rows = [Evidence(evidence_id=name, source="bioasq", title="", text=text) for name, text in whole.items()]
    index = library(folder / "bioasq", rows, titled=False)
    ids, ask = by_text(index), report.asker(index)
    asked, gains = [], defaultdict[str, list[float]](list)
    for question in questions[:limit]:
        right = frozenset(
            ids[text] for s in question["snippets"] if (text := " ".join(whole[s["document"]].split())) in ids
        )
        body = question["body"]
        for name, ranked in searches(index, body):
            gains[name].append(ndcg([found.document.evidence_id for found in ranked], right))
        asked.append((ask(body), Asked(body, right)))
    for name, gained in gains.items():
        print(f"bioasq, nDCG@10, {name:17} {sum(gained) / len(gained):6.3f}  (of {len(rows)} documents)")
    report.passages("bioasq", asked, ("95 %", "95 %", "95 %"))


def searches(index: LibraryIndex, question: str) -> Iterator[tuple[str, list[ranking.Item]]]:
    """What the library's search finds, by words alone, by the encoder alone, and by both as the product
    does."""
    for name, weights in (("words alone", (1, 0)), ("encoder alone", (0, 1)), ("both", None)):
        with weighed(weights):
            yield name, index.search(question, FOUND)[0]


@contextmanager
def weighed(weights: tuple[int, int] | None) -> Iterator[None]:
    """Words and meaning by other weights than the product's."""
    before = ranking.WORDS, ranking.MEANING
    ranking.WORDS, ranking.MEANING = weights or before
    ranking._rank.cache_clear()  # noqa: SLF001 - what other weights gave
    try:
        yield
    finally:
        ranking.WORDS, ranking.MEANING = before


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = ("hidden", "own", "reworded", "exchanged", "things", "pairs", "everyday")
    parser.add_argument("--set", nargs="+", choices=names, default=list(names))
    parser.add_argument("--bioasq", type=Path)
    parser.add_argument("--limit", type=int, default=1_000)
    parser.add_argument("--seed", default="", help="another choice of the words that are exchanged")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--encoded", action="store_true")
    parser.add_argument(
        "--vectors", type=Path, help="a file that keeps what the encoder has read, as a home's"
    )
    options = parser.parse_args()
    if options.vectors:
        keep_in(options.vectors)
    report, started = Report(misses=options.misses, encoded=options.encoded), time.process_time()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        over_sample(
            report,
            [n for n in ("hidden", "reworded", "exchanged") if n in options.set],
            folder,
            options.limit,
            options.seed,
        )
        if "own" in options.set:
            over_own_words(report, folder, options.limit)
        if "things" in options.set:
            over_things(report, folder)
        if "pairs" in options.set:
            over_pairs(report, folder)
        if "everyday" in options.set:
            over_everyday(report, folder)
        if options.bioasq:
            over_bioasq(report, folder, options.bioasq, options.limit)
    print(f"{time.process_time() - started:.0f} s of processor time")


if __name__ == "__main__":
    main()
